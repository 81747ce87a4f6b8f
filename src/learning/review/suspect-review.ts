/** Review of suspect memories, which look like instructions to a model. */

import type { MemoryId } from '../../domain/ids.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import { getMemoryOrThrow } from '../../memory/memory-changes.ts'
import * as correct from '../../memory/memory-editor.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { parseCursor, parseLimit } from '../../storage/access/page-request.ts'
import type { Page } from '../../storage/store.ts'

export type ReviewQuery = { readonly limit?: number; readonly after?: string }

const LIST_LIMIT = 50

/** Newest first. */
export async function listSuspectMemories(
  { store }: MemoryDependencies,
  scope: Scope,
  { limit = LIST_LIMIT, after }: ReviewQuery = {},
): Promise<Page<Memory>> {
  return store.find('memory', scope, {
    where: { trusts: ['suspect'], statuses: ['active'] },
    order: 'newest',
    limit: parseLimit(limit),
    ...(after === undefined ? {} : { after: parseCursor('mem', after) }),
  })
}

/** Trusts the memory as the user's own statement; identity statements are pinned as well. */
export async function approveMemory(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<Memory> {
  const { category, version } = await loadSuspect(ports, scope, id)
  const edit = { trust: 'user', ...(category === 'identity' ? { pinned: true } : {}) } as const
  return correct.edit(ports, scope, id, edit, { version })
}

/** Forgets the memory, so that it is not learned again from the same turns. */
export async function rejectMemory(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<Memory> {
  await loadSuspect(ports, scope, id)
  return correct.forget(ports, scope, id)
}

async function loadSuspect(ports: MemoryDependencies, scope: Scope, id: MemoryId): Promise<Memory> {
  const memory = await getMemoryOrThrow(ports, scope, id)
  if (memory.trust === 'suspect' && memory.status === 'active') return memory
  throw new AppError('conflict', `Memory ${id} is not waiting for review.`, { id })
}
