/**
 * Distilling and consolidating because somebody asks for it: never while a job or another call does the same for the
 * owner, in this process or another one.
 */

import type { OwnerId } from '../domain/ids.ts'
import { NEVER_ABORTED } from '../lib/abort.ts'
import { AppError } from '../lib/errors.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { ForegroundJob, Hold, Jobs } from './jobs.ts'

export type ExclusiveRunDependencies = { readonly ports: StoreDependencies; readonly jobs: Jobs }

const WAIT_MS = 30_000

/** Fails with `busy` when others are at it for too long. With a task, it is a job while it goes on and after it. */
export async function runExclusive<Result>(
  { jobs }: ExclusiveRunDependencies,
  whose: OwnerId | ForegroundJob<Result>,
  { signal = NEVER_ABORTED, waitMs = WAIT_MS }: WaitOptions,
  work: (hold: Hold) => Promise<Result>,
): Promise<Result> {
  const options = { signal, waitMs }
  const held =
    typeof whose === 'string'
      ? await jobs.withOwnerLock(whose, work, options)
      : await jobs.runForeground(whose, work, options)
  if (held.kind === 'done') return held.result
  const message = 'Others work on the memories of this owner. Try again in a moment.'
  throw new AppError('busy', message, { waitedMs: waitMs })
}

export type WaitOptions = {
  readonly signal?: AbortSignal
  /** How long to wait for others who work for the owner at the moment. Default: half a minute. */
  readonly waitMs?: number
}
