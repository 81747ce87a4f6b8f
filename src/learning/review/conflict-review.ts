/** Review of contradictions that neither rules nor a model could decide. */

import type { MemoryId } from '../../domain/ids.ts'
import { type Memory, TRUSTED_LEVELS } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import { parseEdit } from '../../memory/draft.ts'
import { buildReplacement, getMemoryOrThrow } from '../../memory/memory-changes.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { commitWithRetry, createChangeStamp } from '../../storage/access/optimistic-commit.ts'
import { parseCursor, parseLimit } from '../../storage/access/page-request.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Page } from '../../storage/store.ts'
import {
  buildConflictResolution,
  buildMerge,
  clearConflict,
  type MemoryReplacement,
  redirectConflict,
} from './conflict-resolution.ts'
import type { ReviewQuery } from './suspect-review.ts'

/** `memory` contradicts the older `other`. */
export type Conflict = { readonly memory: Memory; readonly other: Memory }

export type ResolvedConflict = {
  readonly kept: Memory
  readonly dropped: Memory
}

const LIST_LIMIT = 50

/** Suspect memories are reviewed first, on their own list. */
const OPEN = {
  hasConflict: true,
  statuses: ['active'],
  trusts: TRUSTED_LEVELS,
} as const

/** Newest first. A page may hold fewer rows than `limit`, because conflicts with a missing side are dropped. */
export async function listConflicts(
  { store }: MemoryDependencies,
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

/** Keeps one memory, optionally with a new wording, and supersedes the other in one change. */
export async function resolveMemoryConflict(
  ports: MemoryDependencies,
  scope: Scope,
  ids: { readonly keep: MemoryId; readonly drop: MemoryId },
  wording?: string,
): Promise<ResolvedConflict> {
  const content = wording === undefined ? null : (parseEdit({ content: wording }).content ?? null)
  if (ids.keep === ids.drop) {
    throw new AppError('invalid_input', '`keep` and `drop` must be different memories.', {
      field: 'drop',
    })
  }
  return commitWithRetry(ports, async () => {
    const keep = assertActive(await getMemoryOrThrow(ports, scope, ids.keep))
    const drop = assertActive(await getMemoryOrThrow(ports, scope, ids.drop))
    assertSameUser(keep, drop)
    const mark = createChangeStamp(ports)
    const chosen = buildConflictResolution({ keep, drop, content }, mark)
    const others = await loadConflicting(ports, drop, keep)
    const moved = others.map((memory) => redirectConflict(memory, keep, mark))
    const [dropped, kept] = chosen
    return {
      changes: buildReplacements(ports, [...chosen, ...moved]),
      result: { kept: kept.after, dropped: dropped.after },
    }
  })
}

/** The most memories that are merged at once. */
export const MERGED_MEMORIES_MAX = 50

/** Merges memories of one user into the first of them, as one change. The others are superseded. */
export async function mergeMemories(
  ports: MemoryDependencies,
  scope: Scope,
  ids: readonly MemoryId[],
  wording: string,
): Promise<{ readonly kept: Memory; readonly dropped: readonly Memory[] }> {
  const content = parseEdit({ content: wording }).content ?? wording
  const distinct = [...new Set(ids)]
  if (distinct.length < 2 || distinct.length > MERGED_MEMORIES_MAX) {
    const message = `\`ids\` must hold 2 to ${MERGED_MEMORIES_MAX} memories; got ${distinct.length}.`
    throw new AppError('invalid_input', message, { field: 'ids' })
  }
  return commitWithRetry(ports, async () => {
    const loaded = await Promise.all(distinct.map((id) => getMemoryOrThrow(ports, scope, id)))
    const [keep, ...drops] = loaded.map(assertActive)
    if (keep === undefined) throw new AppError('internal', 'There is nothing to merge.')
    for (const drop of drops) assertSameUser(keep, drop)
    const stamp = createChangeStamp(ports)
    const [kept, ...dropped] = buildMerge([keep, ...drops], content, stamp)
    const conflicting = await Promise.all(drops.map((drop) => loadConflicting(ports, drop, keep)))
    const moved = new Map(
      conflicting.flat().map((memory) => [memory.id, redirectConflict(memory, keep, stamp)]),
    )
    for (const id of distinct) moved.delete(id)
    return {
      // The dropped memories come first, so that their keys are free for the kept one.
      changes: buildReplacements(ports, [...dropped, kept, ...moved.values()]),
      result: { kept: kept.after, dropped: dropped.map(({ after }) => after) },
    }
  })
}

/** Clears the conflict: both statements hold. */
export async function keepBoth(
  ports: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<Memory> {
  return commitWithRetry(ports, async () => {
    const memory = assertActive(await getMemoryOrThrow(ports, scope, id))
    if (memory.conflictsWith === null) {
      throw new AppError('conflict', `Memory ${id} has no open conflict.`, { id })
    }
    const settled = clearConflict(memory, createChangeStamp(ports))
    return { changes: buildReplacements(ports, [settled]), result: settled.after }
  })
}

/** Other memories that conflict with a memory; conflicts are rare, so all of them are scanned. */
async function loadConflicting(
  { store }: MemoryDependencies,
  { id, place }: Memory,
  besides: Memory,
): Promise<readonly Memory[]> {
  const found: Memory[] = []
  const home = { owner: place.owner, user: place.user }
  const where = { hasConflict: true, statuses: ['active'] } as const
  for await (const page of pages(store, 'memory', home, { where })) {
    found.push(...page.filter((each) => each.conflictsWith === id && each.id !== besides.id))
  }
  return found
}

function buildReplacements(ports: MemoryDependencies, replaced: readonly MemoryReplacement[]) {
  return replaced.flatMap(({ before, after }) => buildReplacement(ports, before, after))
}

function assertActive(memory: Memory): Memory {
  const { id, status, trust } = memory
  if (status !== 'active') {
    throw new AppError(
      'conflict',
      `Memory ${id} is ${status}: only active memories can be in conflict.`,
      {
        id,
        status,
      },
    )
  }
  if (trust !== 'suspect') return memory
  throw new AppError('conflict', `Memory ${id} waits for review. Approve or reject it first.`, {
    id,
  })
}

function assertSameUser(keep: Memory, drop: Memory): void {
  if (keep.place.user === drop.place.user) return
  throw new AppError('invalid_input', '`keep` and `drop` must belong to the same user.', {
    field: 'drop',
  })
}
