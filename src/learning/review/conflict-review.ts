/** Memories that say otherwise than others, where neither rules nor a model could tell which one holds. People can. */

import { AppError } from '../../domain/errors.ts'
import type { MemoryId } from '../../domain/ids.ts'
import { BELIEVED_TRUST_LEVELS, type Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import type { EnginePorts } from '../../engine/engine-dependencies.ts'
import { parseEdit } from '../../memory/draft.ts'
import { getOrThrow, replacing } from '../../memory/memory-changes.ts'
import { decideAndCommit, stamp } from '../../storage/access/optimistic-commit.ts'
import { parseCursor, parseLimit } from '../../storage/access/page-request.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Page } from '../../storage/store.ts'
import { choose, inConflictWith, type Replaced, withoutConflict } from './conflict-resolution.ts'
import type { ReviewQuery } from './suspect-review.ts'

/** `memory` says otherwise than `other`, which was there before. */
export type Conflict = { readonly memory: Memory; readonly other: Memory }

export type Settled = {
  readonly kept: Memory
  readonly dropped: Memory
}

const LIST_LIMIT = 50

/** What waits for review is judged there first. */
const OPEN = {
  conflicting: true,
  statuses: ['active'],
  trusts: BELIEVED_TRUST_LEVELS,
} as const

/** Newest first. A page may hold fewer than asked for: with one side gone, there is nothing to settle. */
export async function listConflicts(
  { store }: EnginePorts,
  scope: Scope,
  { limit = LIST_LIMIT, after }: ReviewQuery = {},
): Promise<Page<Conflict>> {
  const { rows, next } = await store.find('memory', scope, {
    where: OPEN,
    order: 'newest',
    limit: parseLimit(limit),
    ...(after === undefined ? {} : { after: parseCursor('mem', after) }),
  })
  const ids = rows.flatMap(({ conflictsWith }) => conflictsWith ?? [])
  // The other side may belong to another session.
  const { session: _, ...home } = scope
  const { statuses, trusts } = OPEN
  const others = await store.find('memory', home, {
    where: { ids, statuses, trusts },
    limit: Math.max(1, ids.length),
  })
  const byId = new Map(others.rows.map((memory) => [memory.id, memory]))
  const conflicts = rows.flatMap((memory) => {
    const other = memory.conflictsWith === null ? undefined : byId.get(memory.conflictsWith)
    return other === undefined ? [] : [{ memory, other }]
  })
  return { rows: conflicts, next }
}

/** One stays, with its words or those given, and takes the place of the other; all in one change. */
export async function settle(
  ports: EnginePorts,
  scope: Scope,
  ids: { readonly keep: MemoryId; readonly drop: MemoryId },
  words?: string,
): Promise<Settled> {
  const content = words === undefined ? null : (parseEdit({ content: words }).content ?? null)
  if (ids.keep === ids.drop) {
    throw new AppError('invalid_input', 'It takes two memories.', { field: 'drop' })
  }
  return decideAndCommit(ports, async () => {
    const keep = requireInUse(await getOrThrow(ports, scope, ids.keep))
    const drop = requireInUse(await getOrThrow(ports, scope, ids.drop))
    requireSameUser(keep, drop)
    const mark = stamp(ports)
    const chosen = choose({ keep, drop, content }, mark)
    const others = await inConflict(ports, drop, keep)
    const moved = others.map((memory) => inConflictWith(memory, keep, mark))
    const [dropped, kept] = chosen
    return {
      changes: replacingAll(ports, [...chosen, ...moved]),
      result: { kept: kept?.after ?? keep, dropped: dropped?.after ?? drop },
    }
  })
}

/** Both hold: what was in doubt is not any more. */
export async function reconcile(ports: EnginePorts, scope: Scope, id: MemoryId): Promise<Memory> {
  return decideAndCommit(ports, async () => {
    const memory = requireInUse(await getOrThrow(ports, scope, id))
    if (memory.conflictsWith === null) {
      throw new AppError('conflict', `The memory ${id} is in no conflict.`, { id })
    }
    const settled = withoutConflict(memory, stamp(ports))
    return { changes: replacingAll(ports, [settled]), result: settled.after }
  })
}

/** Others that are in conflict with a memory, besides `besides`. There are few of these among all. */
async function inConflict(
  { store }: EnginePorts,
  { id, place }: Memory,
  besides: Memory,
): Promise<readonly Memory[]> {
  const found: Memory[] = []
  const home = { owner: place.owner, user: place.user }
  const where = { conflicting: true, statuses: ['active'] } as const
  for await (const page of pages(store, 'memory', home, { where })) {
    found.push(...page.filter((each) => each.conflictsWith === id && each.id !== besides.id))
  }
  return found
}

function replacingAll(ports: EnginePorts, replaced: readonly Replaced[]) {
  return replaced.flatMap(({ before, after }) => replacing(ports, before, after))
}

function requireInUse(memory: Memory): Memory {
  const { id, status, trust } = memory
  if (status !== 'active') {
    throw new AppError('conflict', `Memory ${id} is ${status}: there is nothing to settle.`, {
      id,
      status,
    })
  }
  if (trust !== 'suspect') return memory
  throw new AppError('conflict', `Memory ${id} waits for review. Approve or reject it first.`, {
    id,
  })
}

function requireSameUser(keep: Memory, drop: Memory): void {
  if (keep.place.user === drop.place.user) return
  throw new AppError('invalid_input', 'The two memories belong to different users.', {
    field: 'drop',
  })
}
