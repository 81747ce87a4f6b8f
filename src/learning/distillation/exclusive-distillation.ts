import { toAppError } from '../../domain/errors.ts'
import type { SessionPlace } from '../../domain/scope.ts'
import { type AloneParts, type AskedOptions, alone, NEVER } from '../../jobs/run-exclusive.ts'
import type { Change } from '../../storage/store.ts'
import { countPending } from '../signals.ts'
import { dueAt } from './distillation-job.ts'
import { findEpisode } from './episode-writer.ts'
import { type Distillation, telling } from './outcome.ts'

/**
 * Never fails: the outcome tells. Where others are at it for too long, a job does it as soon as they are done, and the
 * outcome is `skipped:busy`.
 */
export async function distilAlone(
  parts: AloneParts,
  place: SessionPlace,
  options: AskedOptions,
  work: (signal: AbortSignal, fence?: () => Promise<Change>) => Promise<Distillation>,
): Promise<Distillation> {
  const { ports, jobs } = parts
  const { signal = NEVER } = options
  let pending = 0
  try {
    pending = await countPending(ports, place)
    // With nothing to distil there is nothing that others could do at the same time.
    if (pending === 0) return await work(signal)
    return await alone(parts, place.owner, options, (hold) => work(hold.signal, () => hold.fence()))
  } catch (thrown) {
    const { code } = toAppError(thrown)
    if (code === 'cancelled') return telling('skipped:cancelled', { pending })
    if (code !== 'busy') return telling(`error:${code}`, { pending })
    await jobs.schedule(dueAt(place, ports.clock.now())).catch(() => {}) // there may be one already
    const episode = await findEpisode(ports, place).catch(() => null)
    return telling('skipped:busy', { pending, episode: episode?.id ?? null })
  }
}
