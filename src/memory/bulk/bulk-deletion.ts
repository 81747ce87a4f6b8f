/** Deletes many memories by filter. One call is one change, so it can be undone in one step. */

import type { ChangeId, MemoryId } from '../../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../../domain/limits.ts'
import type { Memory } from '../../domain/memory.ts'
import { type Scope, toUserScope } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import { yieldToEventLoop } from '../../lib/event-loop.ts'
import { createChangeStamp, type PlannedCommit } from '../../storage/access/optimistic-commit.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change, MemoryFilter } from '../../storage/store.ts'
import { planSuppression } from '../deletion/turn-suppression.ts'
import {
  buildReplacement,
  type ChangeStamp,
  commitInBatches,
  MEMORIES_PER_COMMIT,
} from '../memory-changes.ts'
import { buildErasure, type ErasureCounts, erase } from '../memory-editor.ts'
import { type ReadFilter, toMemoryFilter } from '../memory-reader.ts'
import { buildTombstoneChanges, deduplicateTombstones } from '../tombstones.ts'
import type { MemoryDependencies } from '../types.ts'
import { type BulkProgress, MEMORIES_PER_REPORT, reloadMatching } from './bulk-edit.ts'

export type BulkDeleteOptions = {
  /** Only counts the matches. */
  readonly dryRun?: boolean
  /** Erases memories with their history, instead of moving them to the trash. */
  readonly erase?: boolean
  readonly onProgress?: BulkProgress
}

export type BulkDeleteResult = {
  readonly matched: number
  readonly forgotten: number
  readonly erased: number
  /** Turns that state the memories and are disabled now. */
  readonly turnsDisabled: number
  /** The change to undo; null when nothing was moved to the trash. */
  readonly change: ChangeId | null
  /** The first matches. */
  readonly ids: readonly MemoryId[]
}

const REPORTED_IDS_MAX = 100

export async function deleteMatching(
  deps: MemoryDependencies,
  scope: Scope,
  query: ReadFilter,
  { dryRun = false, erase: isErasure = false, onProgress }: BulkDeleteOptions,
): Promise<BulkDeleteResult> {
  const stamp = createChangeStamp(deps)
  const counts = { matched: 0, forgotten: 0, erased: 0, turnsDisabled: 0 }
  const ids: MemoryId[] = []
  const where = toMemoryFilter(query, stamp.now)
  const total = onProgress === undefined ? 0 : (await deps.store.countMemories(scope, where)).total
  const matching = { where, order: 'oldest', limit: MEMORIES_PER_REPORT } as const
  for await (const page of pages(deps.store, 'memory', scope, matching)) {
    const matches = page.filter(({ status }) => isErasure || status !== 'forgotten')
    counts.matched += matches.length
    ids.push(...matches.slice(0, REPORTED_IDS_MAX - ids.length).map(({ id }) => id))
    if (dryRun) continue
    const { memories, turns } = isErasure
      ? await eraseAll(deps, matches)
      : await trashAll(deps, matches, where, stamp)
    if (isErasure) counts.erased += memories
    else counts.forgotten += memories
    counts.turnsDisabled += turns
    onProgress?.(Math.min(total, counts.matched), total)
  }
  return { ...counts, change: counts.forgotten > 0 ? stamp.change : null, ids }
}

type DeletionCounts = { readonly memories: number; readonly turns: number }

async function trashAll(
  deps: MemoryDependencies,
  memories: readonly Memory[],
  where: MemoryFilter,
  stamp: ChangeStamp,
): Promise<DeletionCounts> {
  const counts = await commitInBatches(deps, memories, (batch) =>
    planTrash(deps, batch, where, stamp),
  )
  return sumCounts(counts)
}

async function planTrash(
  deps: MemoryDependencies,
  batch: readonly Memory[],
  where: MemoryFilter,
  stamp: ChangeStamp,
): Promise<PlannedCommit<DeletionCounts>> {
  const reloaded = await reloadMatching(deps, batch, where)
  const matches = reloaded.filter(({ status }) => status !== 'forgotten')
  const changes = await Promise.all(matches.map((memory) => buildTrashChanges(deps, memory, stamp)))
  const suppression = await planSuppression(deps, matches, stamp.now)
  return {
    changes: [...deduplicateTombstones(changes.flat()), ...suppression.changes],
    result: { memories: matches.length, turns: suppression.turns },
  }
}

async function buildTrashChanges(
  deps: MemoryDependencies,
  memory: Memory,
  { change, now }: ChangeStamp,
): Promise<readonly Change[]> {
  const after: Memory = {
    ...memory,
    status: 'forgotten',
    version: memory.version + 1,
    change,
    updatedAt: now,
  }
  return [
    ...buildReplacement(deps, memory, after),
    ...(await buildTombstoneChanges(deps, memory, now)),
  ]
}

async function eraseAll(
  deps: MemoryDependencies,
  memories: readonly Memory[],
): Promise<DeletionCounts> {
  const counts: DeletionCounts[] = []
  for (let start = 0; start < memories.length; start += MEMORIES_PER_COMMIT) {
    counts.push(await eraseBatch(deps, memories.slice(start, start + MEMORIES_PER_COMMIT)))
    await yieldToEventLoop()
  }
  return sumCounts(counts)
}

async function eraseBatch(
  deps: MemoryDependencies,
  batch: readonly Memory[],
): Promise<DeletionCounts> {
  const erasures = await Promise.all(batch.map((memory) => buildErasure(deps, memory)))
  const suppression = await planSuppression(deps, batch, deps.clock.now(), { isErasure: true })
  const changes = [
    ...deduplicateTombstones(erasures.flatMap(({ revisions, rest }) => [...revisions, ...rest])),
    ...suppression.changes,
  ]
  if (changes.length <= COMMIT_CHANGES_MAX) {
    const outcome = await deps.store.commit(changes)
    if (outcome.kind === 'committed') return { memories: batch.length, turns: suppression.turns }
  }
  // A long history or a concurrent change: erase the memories one by one in their current versions.
  const counts: DeletionCounts[] = []
  for (const memory of batch) {
    const erased = await eraseIfPresent(deps, memory)
    if (erased !== null) counts.push({ memories: erased.memories, turns: erased.turnsDisabled })
  }
  return sumCounts(counts)
}

/** Null when the memory is already gone. */
async function eraseIfPresent(
  deps: MemoryDependencies,
  { id, place }: Memory,
): Promise<ErasureCounts | null> {
  try {
    return await erase(deps, toUserScope(place), id)
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}

function sumCounts(counts: readonly DeletionCounts[]): DeletionCounts {
  return {
    memories: counts.reduce((sum, { memories }) => sum + memories, 0),
    turns: counts.reduce((sum, { turns }) => sum + turns, 0),
  }
}
