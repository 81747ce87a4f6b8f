/**
 * Clearing: many memories at once, by ids or by what they have in common. All of a call is one change, so that it can
 * be undone in one step; counts are of what was really done.
 */
import { AppError } from '../core/errors.ts'
import type { ChangeId, Instant, MemoryId, Scope } from '../core/ids.ts'
import { COMMIT_CHANGES_MAX } from '../core/limits.ts'
import type { Memory } from '../core/memory.ts'
import type { Change, MemoryFilter } from '../ports/store.ts'
import { decideAndCommit, eachTraceOnce, replacing, stamp } from './changes.ts'
import { erase, erasureOf, homeOf, leaveTombstones } from './correct.ts'
import { pages } from './paging.ts'
import type { EnginePorts } from './ports.ts'
import { type ReadFilter, toMemoryFilter } from './read.ts'
import { nextTurn } from './turns.ts'

export type ClearOptions = {
  /** Only counts. */
  readonly dryRun?: boolean
  /** For good, with their history, instead of into the bin. */
  readonly erase?: boolean
}

export type Cleared = {
  readonly matched: number
  readonly forgotten: number
  readonly erased: number
  /** What `undo` takes; null when nothing was put into the bin. */
  readonly change: ChangeId | null
  /** The first of them. */
  readonly ids: readonly MemoryId[]
}

/** So few that a commit takes some twenty milliseconds: nobody else is answered meanwhile. */
const MEMORIES_PER_COMMIT = 50
const IDS_TOLD_MAX = 100

export async function clear(
  ports: EnginePorts,
  scope: Scope,
  query: ReadFilter,
  { dryRun = false, erase: isForGood = false }: ClearOptions,
): Promise<Cleared> {
  const mark = stamp(ports)
  const done = { matched: 0, forgotten: 0, erased: 0, change: null, ids: [] as MemoryId[] }
  const where = toMemoryFilter(query, mark.now)
  for await (const page of pages(ports.store, 'memory', scope, { where, order: 'oldest' })) {
    const meant = page.filter(({ status }) => isForGood || status !== 'forgotten')
    done.matched += meant.length
    done.ids.push(...meant.slice(0, IDS_TOLD_MAX - done.ids.length).map(({ id }) => id))
    if (dryRun) continue
    if (isForGood) done.erased += await eraseAll(ports, meant)
    else done.forgotten += await forgetAll(ports, meant, where, mark)
  }
  return { ...done, change: done.forgotten > 0 ? mark.change : null }
}

type Mark = { readonly change: ChangeId; readonly now: Instant }

async function forgetAll(
  ports: EnginePorts,
  memories: readonly Memory[],
  where: MemoryFilter,
  mark: Mark,
): Promise<number> {
  let forgotten = 0
  for (let start = 0; start < memories.length; start += MEMORIES_PER_COMMIT) {
    const batch = memories.slice(start, start + MEMORIES_PER_COMMIT)
    forgotten += await decideAndCommit(ports, async () => {
      // Somebody may have changed one of them meanwhile: only what still matches is meant.
      const meant = await stillMatching(ports, batch, where)
      const changes = await Promise.all(meant.map((memory) => binning(ports, memory, mark)))
      return { changes: eachTraceOnce(changes.flat()), result: meant.length }
    })
    await nextTurn()
  }
  return forgotten
}

async function stillMatching(
  { store }: EnginePorts,
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

async function binning(
  ports: EnginePorts,
  memory: Memory,
  { change, now }: Mark,
): Promise<readonly Change[]> {
  const after: Memory = {
    ...memory,
    status: 'forgotten',
    version: memory.version + 1,
    change,
    updatedAt: now,
  }
  return [...replacing(ports, memory, after), ...(await leaveTombstones(ports, memory, now))]
}

async function eraseAll(ports: EnginePorts, memories: readonly Memory[]): Promise<number> {
  let erased = 0
  for (let start = 0; start < memories.length; start += MEMORIES_PER_COMMIT) {
    const batch = memories.slice(start, start + MEMORIES_PER_COMMIT)
    erased += await eraseTogether(ports, batch)
    await nextTurn()
  }
  return erased
}

async function eraseTogether(ports: EnginePorts, batch: readonly Memory[]): Promise<number> {
  const erasures = await Promise.all(batch.map((memory) => erasureOf(ports, memory)))
  const changes = eachTraceOnce(erasures.flatMap(({ revisions, rest }) => [...revisions, ...rest]))
  if (changes.length <= COMMIT_CHANGES_MAX) {
    const outcome = await ports.store.commit(changes)
    if (outcome.kind === 'committed') return batch.length
  }
  // A long history, or somebody changed one of them meanwhile: each on its own, as it is now.
  let erased = 0
  for (const memory of batch) {
    erased += await counted(() => erase(ports, homeOf(memory), memory.id))
  }
  return erased
}

/** 1, or 0 when it was already gone. */
async function counted(work: () => Promise<unknown>): Promise<0 | 1> {
  try {
    await work()
    return 1
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return 0
    throw error
  }
}
