/**
 * Distilling and consolidating because somebody asks for it: never while a job or another call does the same for the
 * owner, in this process or another one.
 */
import { AppError, toAppError } from '../domain/errors.ts'
import type { OwnerId } from '../domain/ids.ts'
import type { EnginePorts } from '../engine/engine-dependencies.ts'
import type { SessionPlace } from '../learning/distillation/distiller.ts'
import { findEpisode } from '../learning/distillation/episode-writer.ts'
import { type Distillation, telling } from '../learning/distillation/outcome.ts'
import { dueAt } from '../learning/signal-writer.ts'
import { countPending } from '../learning/signals.ts'
import type { Change } from '../storage/store.ts'
import type { Hold, Jobs, Task } from './jobs.ts'

export type AskedOptions = {
  readonly signal?: AbortSignal
  /** How long to wait for others who work for the owner at the moment. Default: half a minute. */
  readonly waitMs?: number
}

type AloneParts = { readonly ports: EnginePorts; readonly jobs: Jobs }

const NEVER = new AbortController().signal
const WAIT_MS = 30_000

/** Fails with `busy` when others are at it for too long. With a task, it is a job while it goes on and after it. */
export async function alone<Result>(
  { jobs }: AloneParts,
  whose: OwnerId | Task<Result>,
  { signal = NEVER, waitMs = WAIT_MS }: AskedOptions,
  work: (hold: Hold) => Promise<Result>,
): Promise<Result> {
  const options = { signal, waitMs }
  const held =
    typeof whose === 'string'
      ? await jobs.hold(whose, work, options)
      : await jobs.perform(whose, work, options)
  if (held.kind === 'done') return held.result
  const message = 'Others work on the memories of this owner. Try again in a moment.'
  throw new AppError('busy', message, { waitedMs: waitMs })
}

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
