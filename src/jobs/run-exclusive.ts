/**
 * Runs work that a caller waits for under the owner's lock, so that no job and no other call works for the same owner
 * at that time, in this process or another one.
 */
import type { OwnerId } from '../domain/ids.ts'
import { NEVER_ABORTED } from '../lib/abort.ts'
import { AppError } from '../lib/errors.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { ForegroundJob, Hold, Jobs } from './jobs.ts'

export type ExclusiveRunDependencies = { readonly ports: StoreDependencies; readonly jobs: Jobs }

const WAIT_MS = 30_000

export type WaitOptions = {
  readonly signal?: AbortSignal
  /** How long to wait for the owner's lock. Default: 30 seconds. */
  readonly waitMs?: number
}

/** Fails with `busy` after `waitMs`. Given a job instead of an owner, the work shows up as that job. */
export async function runExclusive<Result>(
  { jobs }: ExclusiveRunDependencies,
  target: OwnerId | ForegroundJob<Result>,
  { signal = NEVER_ABORTED, waitMs = WAIT_MS }: WaitOptions,
  work: (hold: Hold) => Promise<Result>,
): Promise<Result> {
  const options = { signal, waitMs }
  const isOwner = typeof target === 'string'
  const run = isOwner
    ? await jobs.withOwnerLock(target, work, options)
    : await jobs.runForeground(target, work, options)
  if (run.kind === 'done') return run.result
  const owner = isOwner ? target : target.request.owner
  const message = `Another job holds the lock of owner "${owner}" (waited ${waitMs} ms). Retry shortly.`
  throw new AppError('busy', message, { waitedMs: waitMs })
}
