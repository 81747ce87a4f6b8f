import type { SessionPlace } from '../../domain/scope.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { runExclusive, type WaitOptions } from '../../jobs/run-exclusive.ts'
import { NEVER_ABORTED } from '../../lib/abort.ts'
import { toAppError } from '../../lib/errors.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { Change } from '../../storage/store.ts'
import { countPendingSignals } from '../signals.ts'
import { buildDistillationJobAt } from './distillation-job.ts'
import { findEpisode } from './episode-writer.ts'
import { createDistillation, type Distillation } from './outcome.ts'

/**
 * Never fails: the outcome tells. Where others are at it for too long, a job does it as soon as they are done, and the
 * outcome is `skipped:busy`.
 */
export async function distillExclusive(
  parts: { readonly ports: MemoryDependencies; readonly jobs: Jobs },
  place: SessionPlace,
  options: WaitOptions,
  work: (signal: AbortSignal, fence?: () => Promise<Change>) => Promise<Distillation>,
): Promise<Distillation> {
  const { ports, jobs } = parts
  const { signal = NEVER_ABORTED } = options
  let pending = 0
  try {
    pending = await countPendingSignals(ports, place)
    // With nothing to distil there is nothing that others could do at the same time.
    if (pending === 0) return await work(signal)
    return await runExclusive(parts, place.owner, options, (hold) =>
      work(hold.signal, () => hold.fence()),
    )
  } catch (thrown) {
    const { code } = toAppError(thrown)
    if (code === 'cancelled') return createDistillation('skipped:cancelled', { pending })
    if (code !== 'busy') return createDistillation(`error:${code}`, { pending })
    await jobs.schedule(buildDistillationJobAt(place, ports.clock.now())).catch(() => {}) // there may be one already
    const episode = await findEpisode(ports, place).catch(() => null)
    return createDistillation('skipped:busy', { pending, episode: episode?.id ?? null })
  }
}
