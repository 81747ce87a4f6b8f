/** How decisions become changes, and how a change that lost a race is decided again. */
import { AppError } from '../../domain/errors.ts'
import type { ChangeId, Instant, MemoryId, Scope } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import type { EnginePorts } from '../../engine/engine-dependencies.ts'
import type { Change, CommitOutcome } from '../store.ts'

/** Enough to get past a burst of writers; a key that is fought over longer is worth an error. */
const ATTEMPTS_MAX = 8

export type Decided<Result> = {
  readonly changes: readonly Change[]
  readonly result: Result
}

/** Reads, decides and commits, and does it again when something else changed the same rows in between. */
export async function decideAndCommit<Result>(
  { store }: EnginePorts,
  decide: () => Promise<Decided<Result>>,
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

/** Puts `after` in the place of `before` and keeps `before` in the history. */
export function replacing({ ids }: EnginePorts, before: Memory, after: Memory): readonly Change[] {
  return [
    {
      op: 'put',
      table: 'revision',
      row: {
        id: ids.next('rev', after.updatedAt),
        memory: before,
        replacedAt: after.updatedAt,
        replacedBy: after.change,
      },
      expect: 'absent',
    },
    { op: 'put', table: 'memory', row: after, expect: { version: before.version } },
  ]
}

/** Two memories that say the same share a trace; in one commit it is left, or lifted, once. */
export function eachTraceOnce(changes: readonly Change[]): readonly Change[] {
  const traces = new Set<string>()
  return changes.filter((change) => {
    if (change.op === 'count' || change.table !== 'tombstone') return true
    const id = change.op === 'put' ? change.row.id : change.id
    if (traces.has(id)) return false
    traces.add(id)
    return true
  })
}

/** A new change: its id, and the instant at which it is made. */
export function stamp({ ids, clock }: EnginePorts): { change: ChangeId; now: Instant } {
  const now = clock.now()
  return { change: ids.next('chg', now), now }
}

export async function getOrThrow(
  { store }: EnginePorts,
  scope: Scope,
  id: MemoryId,
): Promise<Memory> {
  const memory = await store.get('memory', scope, id)
  if (memory === null) throw new AppError('not_found', `There is no memory ${id} here.`, { id })
  return memory
}
