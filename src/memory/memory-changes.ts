import type { ChangeId, MemoryId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import type { Memory } from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { Instant } from '../lib/time.ts'
import { commitWithRetry, type PlannedCommit } from '../storage/access/optimistic-commit.ts'
import type { Change } from '../storage/store.ts'
import type { MemoryDependencies } from './types.ts'

/** The id and time of a change, see `createChangeStamp`. */
export type ChangeStamp = { readonly change: ChangeId; readonly now: Instant }

/** The next version of a memory, to be modified by the caller. */
export function stampMemory(memory: Memory, { change, now }: ChangeStamp): Memory {
  return { ...memory, version: memory.version + 1, change, updatedAt: now }
}

/** Replaces `before` with `after` and keeps `before` in the history. */
export function buildReplacement(
  { ids }: MemoryDependencies,
  before: Memory,
  after: Memory,
): readonly Change[] {
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

/** A commit of this many memories takes about 20 ms, in which nothing else is served. */
export const MEMORIES_PER_COMMIT = 50

/** Commits changes of many memories in batches, and halves batches whose changes exceed one commit. */
export async function commitInBatches<Item, Result>(
  deps: MemoryDependencies,
  items: readonly Item[],
  plan: (batch: readonly Item[]) => Promise<PlannedCommit<Result>>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let start = 0; start < items.length; start += MEMORIES_PER_COMMIT) {
    results.push(
      ...(await commitBatch(deps, items.slice(start, start + MEMORIES_PER_COMMIT), plan)),
    )
    await yieldToEventLoop()
  }
  return results
}

async function commitBatch<Item, Result>(
  deps: MemoryDependencies,
  batch: readonly Item[],
  plan: (batch: readonly Item[]) => Promise<PlannedCommit<Result>>,
): Promise<readonly Result[]> {
  const committed = await commitWithRetry(
    deps,
    async (): Promise<PlannedCommit<{ readonly result: Result } | null>> => {
      const { changes, result } = await plan(batch)
      const isTooLarge = changes.length > COMMIT_CHANGES_MAX && batch.length > 1
      return isTooLarge ? { changes: [], result: null } : { changes, result: { result } }
    },
  )
  if (committed !== null) return [committed.result]
  const half = Math.ceil(batch.length / 2)
  const first = await commitBatch(deps, batch.slice(0, half), plan)
  return [...first, ...(await commitBatch(deps, batch.slice(half), plan))]
}

export async function getMemoryOrThrow(
  { store }: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<Memory> {
  const memory = await store.get('memory', scope, id)
  if (memory === null) throw createMemoryNotFoundError(id)
  return memory
}

export function createMemoryNotFoundError(id: MemoryId): AppError {
  return new AppError('not_found', `Memory ${id} not found.`, { id })
}

/** Compares field values. Key order matters: values of one field are built by the same code. */
export function isJsonEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
