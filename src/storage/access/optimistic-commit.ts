/** Optimistic concurrency: a commit that lost a race is decided again from fresh reads. */

import type { ChangeId } from '../../domain/ids.ts'
import { AppError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import type { Change, CommitOutcome } from '../store.ts'
import type { StoreDependencies } from './types.ts'

/** Enough to get past a burst of writers. A key that is contended for longer deserves an error. */
const ATTEMPTS_MAX = 8

export type PlannedCommit<Result> = {
  readonly changes: readonly Change[]
  readonly result: Result
}

/** Calls `decide`, which reads and plans, and commits the plan; starts over when others changed the same rows. */
export async function commitWithRetry<Result>(
  { store }: StoreDependencies,
  decide: () => Promise<PlannedCommit<Result>>,
): Promise<Result> {
  let conflict: Extract<CommitOutcome, { kind: 'conflict' }> | undefined
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const { changes, result } = await decide()
    if (changes.length === 0) return result
    const outcome = await store.commit(changes)
    if (outcome.kind === 'committed') return result
    conflict = outcome
  }
  const facts = { id: conflict?.id ?? null, reason: conflict?.reason ?? null }
  if (conflict?.reason === 'key') {
    const message = 'Another memory holds the same key. Change the key of one of them first.'
    throw new AppError('conflict', message, { ...facts, field: 'key' })
  }
  const message = `Other writers kept changing the same rows; gave up after ${ATTEMPTS_MAX} attempts. Retry shortly.`
  throw new AppError('conflict', message, facts)
}

/** The id and the instant of a new change. */
export function createChangeStamp({ ids, clock }: StoreDependencies): {
  change: ChangeId
  now: Instant
} {
  const now = clock.now()
  return { change: ids.next('chg', now), now }
}
