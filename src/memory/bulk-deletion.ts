/**
 * Clearing: many memories at once, by ids or by what they have in common. All of a call is one change, so that it can
 * be undone in one step; counts are of what was really done.
 */

import type { ChangeId, MemoryId } from '../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../domain/limits.ts'
import type { Memory } from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { Instant } from '../lib/time.ts'
import {
  commitWithRetry,
  createChangeStamp,
  type PlannedCommit,
} from '../storage/access/optimistic-commit.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Change, MemoryFilter } from '../storage/store.ts'
import { buildReplacement, deduplicateTombstones } from './memory-changes.ts'
import {
  buildErasure,
  buildTombstoneChanges,
  type ErasureCounts,
  erase,
  toUserScope,
} from './memory-editor.ts'
import { type ReadFilter, toMemoryFilter } from './memory-reader.ts'
import { planSuppression } from './turn-suppression.ts'
import type { MemoryDependencies } from './types.ts'

export type BulkDeleteOptions = {
  /** Only counts. */
  readonly dryRun?: boolean
  /** For good, with their history, instead of into the bin. */
  readonly erase?: boolean
}

export type BulkDeleteResult = {
  readonly matched: number
  readonly forgotten: number
  readonly erased: number
  /** Turns that stated them and are out of use now. */
  readonly turnsDisabled: number
  /** What `undo` takes; null when nothing was put into the bin. */
  readonly change: ChangeId | null
  /** The first of them. */
  readonly ids: readonly MemoryId[]
}

/** So few that a commit takes some twenty milliseconds: nobody else is answered meanwhile. */
const MEMORIES_PER_COMMIT = 50
const IDS_TOLD_MAX = 100

export async function deleteMatching(
  ports: MemoryDependencies,
  scope: Scope,
  query: ReadFilter,
  { dryRun = false, erase: isForGood = false }: BulkDeleteOptions,
): Promise<BulkDeleteResult> {
  const mark = createChangeStamp(ports)
  const done = {
    matched: 0,
    forgotten: 0,
    erased: 0,
    turnsDisabled: 0,
    change: null,
    ids: [] as MemoryId[],
  }
  const where = toMemoryFilter(query, mark.now)
  for await (const page of pages(ports.store, 'memory', scope, { where, order: 'oldest' })) {
    const meant = page.filter(({ status }) => isForGood || status !== 'forgotten')
    done.matched += meant.length
    done.ids.push(...meant.slice(0, IDS_TOLD_MAX - done.ids.length).map(({ id }) => id))
    if (dryRun) continue
    const { memories, turns } = isForGood
      ? await eraseMatching(ports, meant)
      : await trashMatching(ports, meant, where, mark)
    if (isForGood) done.erased += memories
    else done.forgotten += memories
    done.turnsDisabled += turns
  }
  return { ...done, change: done.forgotten > 0 ? mark.change : null }
}

type Removed = { readonly memories: number; readonly turns: number }

type DeletionStamp = { readonly change: ChangeId; readonly now: Instant }

async function trashMatching(
  ports: MemoryDependencies,
  memories: readonly Memory[],
  where: MemoryFilter,
  mark: DeletionStamp,
): Promise<Removed> {
  const total = { memories: 0, turns: 0 }
  for (let start = 0; start < memories.length; start += MEMORIES_PER_COMMIT) {
    const batch = memories.slice(start, start + MEMORIES_PER_COMMIT)
    const { memories: forgotten, turns } = await forgetTogether(ports, batch, where, mark)
    total.memories += forgotten
    total.turns += turns
    await yieldToEventLoop()
  }
  return total
}

async function forgetTogether(
  ports: MemoryDependencies,
  batch: readonly Memory[],
  where: MemoryFilter,
  mark: DeletionStamp,
): Promise<Removed> {
  const done = await commitWithRetry(ports, async (): Promise<PlannedCommit<Removed | null>> => {
    // Somebody may have changed one of them meanwhile: only what still matches is meant.
    const meant = await filterMatching(ports, batch, where)
    const binned = await Promise.all(meant.map((memory) => buildTrashChanges(ports, memory, mark)))
    const { changes: ofTurns, turns } = await planSuppression(ports, meant, mark.now)
    const changes = [...deduplicateTombstones(binned.flat()), ...ofTurns]
    if (changes.length > COMMIT_CHANGES_MAX && batch.length > 1)
      return { changes: [], result: null }
    return { changes, result: { memories: meant.length, turns } }
  })
  if (done !== null) return done
  // They were said so often that their turns don't fit into one commit.
  const half = Math.ceil(batch.length / 2)
  const first = await forgetTogether(ports, batch.slice(0, half), where, mark)
  const second = await forgetTogether(ports, batch.slice(half), where, mark)
  return { memories: first.memories + second.memories, turns: first.turns + second.turns }
}

async function filterMatching(
  { store }: MemoryDependencies,
  batch: readonly Memory[],
  where: MemoryFilter,
): Promise<readonly Memory[]> {
  const [first] = batch
  if (first === undefined) return []
  const { rows } = await store.find(
    'memory',
    { owner: first.place.owner },
    { where: { ...where, ids: batch.map(({ id }) => id) }, limit: batch.length },
  )
  return rows.filter(({ status }) => status !== 'forgotten')
}

async function buildTrashChanges(
  ports: MemoryDependencies,
  memory: Memory,
  { change, now }: DeletionStamp,
): Promise<readonly Change[]> {
  const after: Memory = {
    ...memory,
    status: 'forgotten',
    version: memory.version + 1,
    change,
    updatedAt: now,
  }
  return [
    ...buildReplacement(ports, memory, after),
    ...(await buildTombstoneChanges(ports, memory, now)),
  ]
}

async function eraseMatching(
  ports: MemoryDependencies,
  memories: readonly Memory[],
): Promise<Removed> {
  const total = { memories: 0, turns: 0 }
  for (let start = 0; start < memories.length; start += MEMORIES_PER_COMMIT) {
    const batch = memories.slice(start, start + MEMORIES_PER_COMMIT)
    const { memories: erased, turns } = await eraseBatch(ports, batch)
    total.memories += erased
    total.turns += turns
    await yieldToEventLoop()
  }
  return total
}

async function eraseBatch(ports: MemoryDependencies, batch: readonly Memory[]): Promise<Removed> {
  const erasures = await Promise.all(batch.map((memory) => buildErasure(ports, memory)))
  const ofMemories = deduplicateTombstones(
    erasures.flatMap(({ revisions, rest }) => [...revisions, ...rest]),
  )
  const ofTurns = await planSuppression(ports, batch, ports.clock.now(), { isErasure: true })
  const changes = [...ofMemories, ...ofTurns.changes]
  if (changes.length <= COMMIT_CHANGES_MAX) {
    const outcome = await ports.store.commit(changes)
    if (outcome.kind === 'committed') return { memories: batch.length, turns: ofTurns.turns }
  }
  // A long history, or somebody changed one of them meanwhile: each on its own, as it is now.
  const total = { memories: 0, turns: 0 }
  for (const memory of batch) {
    const erased = await eraseIfPresent(ports, memory)
    total.memories += erased?.memories ?? 0
    total.turns += erased?.turnsDisabled ?? 0
  }
  return total
}

/** Null when it was already gone. */
async function eraseIfPresent(
  ports: MemoryDependencies,
  memory: Memory,
): Promise<ErasureCounts | null> {
  try {
    return await erase(ports, toUserScope(memory), memory.id)
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}
