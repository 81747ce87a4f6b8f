/**
 * The vector index of a store with a mirror beside it. The index that is kept with the memories holds every vector and is
 * what everything else is made from; the mirror answers while it is well and up to date. For callers nothing changes:
 * a mirror that fails, lags or is being filled costs no request, and `status` says what it is.
 */
import type { EntryKind } from '../../domain/entry.ts'
import { toAppError } from '../../domain/errors.ts'
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { SYSTEM_OWNER } from '../../domain/scope.ts'
import { documentId } from '../../domain/search-document.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Instant } from '../../lib/time.ts'
import { isZero } from '../../lib/vector-math.ts'
import type { Change, Store, StoreFault } from '../store.ts'
import { refuseUnfit, type VectorHit, type VectorIndex } from '../vector-index.ts'
import type { VectorTiers } from '../vector-replication.ts'
import { type After, type ConfiguredMirror, Keeper, noMirror } from './replica-controller.ts'
import { isForMirror, searchMirror } from './replica-search.ts'
import type { Upkeep } from './replica-sync.ts'
import type { MirrorDeadlines } from './replica-timeouts.ts'

export type TiersOptions<Kept extends Store = Store> = {
  readonly store: Kept
  /** The index that is kept with the memories. */
  readonly vectors: VectorIndex
  readonly clock: Clock
  /** The mirror that the settings name; asked again whenever they change, and from time to time. */
  readonly configuration: () => Promise<ConfiguredMirror>
  readonly deadlines?: Partial<MirrorDeadlines>
  /** How many changed memories are remembered one by one while the mirror can't be told. */
  readonly behindMax?: number
  readonly after?: After
}

export type Tiers<Kept extends Store = Store> = {
  readonly store: Kept
  readonly vectors: VectorIndex
  readonly tiers: VectorTiers & {
    /** Waits until the mirror is up to date, or it is known that it can't be now. */
    settle(): Promise<void>
  }
}

const SEARCH_MS = 1_000
const WORK_MS = 30_000
const BEHIND_MAX = 10_000

export function withMirror<Kept extends Store>(options: TiersOptions<Kept>): Tiers<Kept> {
  const { store, vectors, clock, configuration, deadlines = {} } = options
  const keeper = new Keeper({
    ...{ store, vectors, clock, configuration },
    onChanged: (changed) => store.tellElsewhere?.(changed),
    after: options.after ?? afterQuietly,
    deadlines: { searchMs: SEARCH_MS, workMs: WORK_MS, ...deadlines },
    behindMax: options.behindMax ?? BEHIND_MAX,
  })
  const stopListening = store.onElsewhere?.(({ kinds, memories }) => {
    if (kinds === 'any' || kinds.some(isKindOfSettings)) void keeper.settingsChanged()
    keeper.changedElsewhere(memories)
  })
  return {
    store: {
      ...store,
      commit: async (changes) => {
        const outcome = await store.commit(changes)
        if (outcome.kind === 'committed') hear(keeper, changes)
        return outcome
      },
      inspect: async (wanted) => [
        ...(await store.inspect(wanted)),
        ...(await inspectMirror(keeper, wanted.repair)),
      ],
    },
    vectors: tieredIndex(vectors, keeper, () => stopListening?.()),
    tiers: tiersOf(store, clock, keeper),
  }
}

function tieredIndex(vectors: VectorIndex, keeper: Keeper, stopListening: () => void): VectorIndex {
  /** Null where the index of the memories has to answer. */
  const byMirror = async (
    ...[space, scope, query]: Parameters<VectorIndex['nearest']>
  ): Promise<readonly VectorHit[] | null> => {
    const mirror = keeper.mirrorFor(scope.owner, query.where.unendedAt)
    if (mirror === null) return null
    if (typeof mirror === 'string' || !isForMirror(query)) {
      keeper.searched(typeof mirror === 'string' ? mirror : 'filter')
      return null
    }
    const searched = await searchMirror({ vectors, mirror }, space, scope, query)
    keeper.searched(searched.kind)
    if (searched.kind === 'answered') return searched.hits
    if (searched.kind === 'failed') keeper.failed(mirror, searched.error)
    else if (searched.isEmpty) keeper.doubted()
    return null
  }
  return {
    put: async (space, entries) => {
      await vectors.put(space, entries)
      const owners = new Map<OwnerId, MemoryId[]>()
      for (const { id, place } of entries) {
        const ids = owners.get(place.owner)
        if (ids === undefined) owners.set(place.owner, [id])
        else ids.push(id)
      }
      for (const [owner, ids] of owners) keeper.changed(owner, ids, space)
    },
    remove: async (space, scope, ids) => {
      await vectors.remove(space, scope, ids)
      keeper.changed(scope.owner, ids, space)
    },
    nearest: async (space, scope, query) => {
      refuseUnfit(space.dimensions, query.vector)
      if (query.limit <= 0 || isZero(query.vector)) return []
      return (await byMirror(space, scope, query)) ?? vectors.nearest(space, scope, query)
    },
    vectorsOf: (space, scope, ids) => vectors.vectorsOf(space, scope, ids),
    list: (space, scope, page) => vectors.list(space, scope, page),
    count: (space, scope) => vectors.count(space, scope),
    spaces: () => vectors.spaces(),
    drop: async (space) => {
      await vectors.drop(space)
      keeper.dropped(space)
    },
    report: () => {
      const { mirror, answering, state } = keeper.status()
      const tier = mirror === null ? {} : { mirror, answering, mirrorState: state }
      return { ...vectors.report(), ...tier }
    },
    close: async () => {
      stopListening()
      await keeper.close()
      await vectors.close()
    },
  }
}

/** What of a commit the mirror, or whoever keeps it, must know. A new memory has no vector yet. */
function hear(keeper: Keeper, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.op === 'put' && change.table === 'memory' && change.expect !== 'absent') {
      keeper.changed(change.row.place.owner, [change.row.id])
    } else if (change.op === 'put' && change.table === 'turn' && change.expect !== 'absent') {
      keeper.changed(change.row.place.owner, [documentId(change.row.id)])
    } else if (change.op === 'remove' && change.table === 'memory') {
      keeper.changed(change.scope.owner, [change.id])
    } else if (change.op === 'remove' && change.table === 'turn') {
      keeper.changed(change.scope.owner, [documentId(change.id)])
    } else if (isOfSettings(change)) {
      void keeper.settingsChanged()
    }
  }
}

function isOfSettings(change: Change): boolean {
  if (change.op !== 'put' || change.table !== 'entry') return false
  const { kind, about, place } = change.row
  return place.owner === SYSTEM_OWNER && about === null && isKindOfSettings(kind)
}

function isKindOfSettings(kind: EntryKind): boolean {
  return kind === 'setting' || kind === 'secret'
}

function tiersOf(store: Store, clock: Clock, keeper: Keeper): Tiers['tiers'] {
  const opened = async () => keeper.mirror ?? (await keeper.withMirror(async (mirror) => mirror))
  return {
    status: () => keeper.status(),
    current: () => keeper.current(),
    watch: (listener) => keeper.watch(listener),
    reconsider: () => keeper.reconsider(),
    settle: async () => {
      await keeper.settle()
    },
    health: async () => (await opened())?.health() ?? null,
    searchMirror: async (space, scope, { vector, limit }) => {
      const mirror = await opened()
      if (mirror === null) throw noMirror(keeper.status())
      const hits = await mirror.nearest(space, scope, { vector, limit })
      return hits.map(({ id, similarity }) => ({ id, similarity }))
    },
    cleanUp: async ({ dryRun }) => {
      const now = clock.now()
      const removed = await keeper.withMirror((_, upkeep) =>
        dryRun ? countSuperfluous(store, upkeep, now) : removeSuperfluous(upkeep, now),
      )
      if (removed === null) throw noMirror(keeper.status())
      return removed
    },
  }
}

async function countSuperfluous(store: Store, upkeep: Upkeep, now: Instant): Promise<number> {
  const { stale, stray } = await upkeep.compare({ isRepairing: false })
  const owners = new Set((await store.places()).map(({ owner }) => owner as OwnerId)) // as it told
  let expired = 0
  for (const owner of owners) expired += (await store.tally({ owner }, { expiredBy: now })).total
  return stale + stray + expired
}

async function removeSuperfluous(upkeep: Upkeep, now: Instant): Promise<number> {
  const expired = await upkeep.removeExpired(now)
  const { stale, stray } = await upkeep.compare({ isRepairing: true })
  return expired + stale + stray
}

/** What is amiss in the mirror, for `doctor`. All of it can be made again from the memories. */
async function inspectMirror(keeper: Keeper, isRepairing: boolean): Promise<readonly StoreFault[]> {
  const fault = (what: string, count: number) => ({ what, count, repairable: true })
  const { progress } = keeper.status()
  if (progress !== null && !isRepairing) {
    return [
      fault('vector that the mirror is still being filled with', progress.total - progress.done),
    ]
  }
  try {
    const found = await keeper.withMirror(async ({ name }, upkeep) => {
      if (!upkeep.behind.isEmpty) await upkeep.drain()
      return { name, ...(await upkeep.compare({ isRepairing })) }
    })
    if (found === null) {
      const { state, because } = keeper.status()
      return state === 'refused' ? [fault(`vector store that can't be used: ${because}`, 1)] : []
    }
    const { name, missing, stale, stray } = found
    const counted = [
      fault(`vector that is missing in ${name}`, missing),
      fault(`vector in ${name} that is out of date`, stale),
      fault(`vector in ${name} of no memory`, stray),
    ]
    return counted.filter(({ count }) => count > 0)
  } catch (error) {
    return [fault(`vector store that could not be compared: ${toAppError(error).message}`, 1)]
  }
}

/** Whether the process may end is not for this to say. */
const afterQuietly: After = (ms, work) => {
  const timer = setTimeout(work, ms).unref()
  return () => clearTimeout(timer)
}
