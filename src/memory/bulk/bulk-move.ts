/**
 * Moves memories to another user of the owner. Each is written there anew and supersedes the one that it came from, so
 * that undo, history and vectors need nothing of their own, and a source stays with the user who said it.
 */

import { createInvalidInputError } from '../../domain/field-parsers.ts'
import type { MemoryId, UserId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import { parseScope, type Scope } from '../../domain/scope.ts'
import type { PlannedCommit } from '../../storage/access/optimistic-commit.ts'
import type { Change } from '../../storage/store.ts'
import { buildReplacement, type ChangeStamp, stampMemory } from '../memory-changes.ts'
import type { MemoryDependencies } from '../types.ts'

export function parseTargetUser({ owner, user }: Scope, target: string | null): UserId | null {
  const parsed = parseScope({ owner, user: target }).user ?? null
  if (user !== undefined && user === parsed) {
    throw createInvalidInputError('toUser', '`toUser` must be another user than `user`.')
  }
  return parsed
}

/** Those that are in use elsewhere, and whose key the target user has not taken. */
export async function planMove(
  deps: MemoryDependencies,
  matches: readonly Memory[],
  user: UserId | null,
  stamp: ChangeStamp,
): Promise<PlannedCommit<readonly MemoryId[]>> {
  const changes: Change[] = []
  const moved: MemoryId[] = []
  const takenHere = new Set<string>()
  for (const memory of matches) {
    const isInUse = memory.status === 'active' || memory.status === 'disabled'
    if (!isInUse || memory.place.user === user) continue
    if (memory.key !== null) {
      if (takenHere.has(memory.key) || (await isKeyTaken(deps, memory, user))) continue
      takenHere.add(memory.key)
    }
    const id = deps.ids.next('mem', stamp.now)
    const { change, now } = stamp
    const row: Memory = {
      ...memory,
      ...{ id, place: { ...memory.place, user }, conflictsWith: null },
      ...{ version: 1, change, updatedAt: now },
    }
    const before: Memory = { ...memory, status: 'superseded', supersededBy: id }
    changes.push(
      { op: 'put', table: 'memory', row, expect: 'absent' },
      ...buildReplacement(deps, memory, stampMemory(before, stamp)),
    )
    moved.push(id)
  }
  return { changes, result: moved }
}

async function isKeyTaken(
  { store }: MemoryDependencies,
  { key, place }: Memory,
  user: UserId | null,
): Promise<boolean> {
  const where = { key: key ?? '', statuses: ['active', 'disabled'] } as const
  const { rows } = await store.find('memory', { owner: place.owner, user }, { where, limit: 1 })
  return rows.length > 0
}
