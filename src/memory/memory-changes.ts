import type { MemoryId } from '../domain/ids.ts'
import type { Memory } from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import type { Change } from '../storage/store.ts'
import type { MemoryDependencies } from './types.ts'

/** Puts `after` in the place of `before` and keeps `before` in the history. */
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

/** Two memories that say the same share a trace; in one commit it is left, or lifted, once. */
export function deduplicateTombstones(changes: readonly Change[]): readonly Change[] {
  const traces = new Set<string>()
  return changes.filter((change) => {
    if (change.op === 'count' || change.table !== 'tombstone') return true
    const id = change.op === 'put' ? change.row.id : change.id
    if (traces.has(id)) return false
    traces.add(id)
    return true
  })
}

export async function getMemoryOrThrow(
  { store }: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<Memory> {
  const memory = await store.get('memory', scope, id)
  if (memory === null) throw new AppError('not_found', `There is no memory ${id} here.`, { id })
  return memory
}
