/** How decisions become changes, and how a change that lost a race is decided again. */

import type { ChangeId } from '../../domain/ids.ts'
import { AppError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import type { Change, CommitOutcome } from '../store.ts'
import type { StoreDependencies } from './types.ts'

/** Enough to get past a burst of writers; a key that is fought over longer is worth an error. */
const ATTEMPTS_MAX = 8

export type PlannedCommit<Result> = {
  readonly changes: readonly Change[]
  readonly result: Result
}

/** Reads, decides and commits, and does it again when something else changed the same rows in between. */
export async function commitWithRetry<Result>(
  { store }: StoreDependencies,
  decide: () => Promise<PlannedCommit<Result>>,
): Promise<Result> {
  let refused: Extract<CommitOutcome, { kind: 'conflict' }> | undefined
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const { changes, result } = await decide()
    if (changes.length === 0) return result
    const outcome = await store.commit(changes)
    if (outcome.kind === 'committed') return result
    refused = outcome
  }
  const facts = { id: refused?.id ?? null, because: refused?.because ?? null }
  if (refused?.because === 'key') {
    const message = 'Another memory holds the same key. Give one of them another key first.'
    throw new AppError('conflict', message, { ...facts, field: 'key' })
  }
  const message = `Others kept changing the same memory; gave up after ${ATTEMPTS_MAX} attempts.`
  throw new AppError('conflict', message, facts)
}

/** A new change: its id, and the instant at which it is made. */
export function createChangeStamp({ ids, clock }: StoreDependencies): {
  change: ChangeId
  now: Instant
} {
  const now = clock.now()
  return { change: ids.next('chg', now), now }
}
