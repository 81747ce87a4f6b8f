/**
 * The vector index of a store with a mirror beside it. The index that is kept with the memories holds every vector and is
 * what everything else is made from; the mirror answers while it is well and up to date. For callers nothing changes:
 * a mirror that fails, lags or is being filled costs no request, and `status` says what it is.
 */
import type { EntryKind } from '../../domain/entry.ts'
import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import { SYSTEM_OWNER } from '../../domain/scope.ts'
import { toDocumentId } from '../../domain/search-document.ts'
import type { Clock } from '../../lib/clock.ts'
import { toAppError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import { isZeroVector } from '../../lib/vector-math.ts'
import type { Change, IntegrityProblem, Store } from '../store.ts'
import { assertVectorFits, type VectorHit, type VectorIndex } from '../vector-index.ts'
import type { VectorReplication } from '../vector-replication.ts'
import {
  createReplicaUnavailableError,
  type ReplicaConfiguration,
  ReplicaController,
  type ScheduleTimer,
} from './replica-controller.ts'
import { isReplicaQuery, searchReplica } from './replica-search.ts'
import type { ReplicaSync } from './replica-sync.ts'
import type { ReplicaTimeouts } from './replica-timeouts.ts'

export type FailoverVectorIndexOptions<Kept extends Store = Store> = {
  readonly store: Kept
  /** The index that is kept with the memories. */
  readonly vectors: VectorIndex
  readonly clock: Clock
  /** The mirror that the settings name; asked again whenever they change, and from time to time. */
  readonly configuration: () => Promise<ReplicaConfiguration>
  readonly timeouts?: Partial<ReplicaTimeouts>
  /** How many changed memories are remembered one by one while the mirror can't be told. */
  readonly lagMax?: number
  readonly schedule?: ScheduleTimer
}

export type ReplicatedStore<Kept extends Store = Store> = {
  readonly store: Kept
  readonly vectors: VectorIndex
  readonly replication: VectorReplication & {
    /** Waits until the mirror is up to date, or it is known that it can't be now. */
    settle(): Promise<void>
  }
}

const SEARCH_MS = 1_000
const WORK_MS = 30_000
const BEHIND_MAX = 10_000

export function withVectorReplica<Kept extends Store>(
  options: FailoverVectorIndexOptions<Kept>,
): ReplicatedStore<Kept> {
  const { store, vectors, clock, configuration, timeouts: deadlines = {} } = options
  const keeper = new ReplicaController({
    ...{ store, vectors, clock, configuration },
    onChanged: (changed) => store.notifyRemote?.(changed),
    schedule: options.schedule ?? scheduleUnref,
    timeouts: { searchTimeoutMs: SEARCH_MS, backgroundTimeoutMs: WORK_MS, ...deadlines },
    lagMax: options.lagMax ?? BEHIND_MAX,
  })
  const stopListening = store.onRemoteChange?.(({ kinds, memories }) => {
    if (kinds === 'any' || kinds.some(isKindOfSettings)) void keeper.reloadSettings()
    keeper.recordRemoteChange(memories)
  })
  return {
    store: {
      ...store,
      commit: async (changes) => {
        const outcome = await store.commit(changes)
        if (outcome.kind === 'committed') recordCommit(keeper, changes)
        return outcome
      },
      checkIntegrity: async (wanted) => [
        ...(await store.checkIntegrity(wanted)),
        ...(await inspectMirror(keeper, wanted.repair)),
      ],
    },
    vectors: createFailoverIndex(vectors, keeper, () => stopListening?.()),
    replication: createReplicaAdmin(store, clock, keeper),
  }
}

function createFailoverIndex(
  vectors: VectorIndex,
  keeper: ReplicaController,
  stopListening: () => void,
): VectorIndex {
  /** Null where the index of the memories has to answer. */
  const byMirror = async (
    ...[space, scope, query]: Parameters<VectorIndex['search']>
  ): Promise<readonly VectorHit[] | null> => {
    const mirror = keeper.selectReplica(scope.owner, query.where.validAt)
    if (mirror === null) return null
    if (typeof mirror === 'string' || !isReplicaQuery(query)) {
      keeper.recordSearch(typeof mirror === 'string' ? mirror : 'unsupported_filter')
      return null
    }
    const searched = await searchReplica({ vectors, replica: mirror }, space, scope, query)
    keeper.recordSearch(searched.kind)
    if (searched.kind === 'answered') return searched.hits
    if (searched.kind === 'failed') keeper.recordFailure(mirror, searched.error)
    else if (searched.isEmpty) keeper.requestCheck()
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
      for (const [owner, ids] of owners) keeper.recordChange(owner, ids, space)
    },
    remove: async (space, scope, ids) => {
      await vectors.remove(space, scope, ids)
      keeper.recordChange(scope.owner, ids, space)
    },
    search: async (space, scope, query) => {
      assertVectorFits(space.dimensions, query.vector)
      if (query.limit <= 0 || isZeroVector(query.vector)) return []
      return (await byMirror(space, scope, query)) ?? vectors.search(space, scope, query)
    },
    vectorsOf: (space, scope, ids) => vectors.vectorsOf(space, scope, ids),
    list: (space, scope, page) => vectors.list(space, scope, page),
    count: (space, scope) => vectors.count(space, scope),
    spaces: () => vectors.spaces(),
    drop: async (space) => {
      await vectors.drop(space)
      keeper.recordDrop(space)
    },
    report: () => {
      const { backend, servedBy, state } = keeper.status()
      const replica =
        backend === null ? {} : { replicaBackend: backend, servedBy, replicaState: state }
      return { ...vectors.report(), ...replica }
    },
    close: async () => {
      stopListening()
      await keeper.close()
      await vectors.close()
    },
  }
}

/** What of a commit the mirror, or whoever keeps it, must know. A new memory has no vector yet. */
function recordCommit(keeper: ReplicaController, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.op === 'put' && change.table === 'memory' && change.expect !== 'absent') {
      keeper.recordChange(change.row.place.owner, [change.row.id])
    } else if (change.op === 'put' && change.table === 'turn' && change.expect !== 'absent') {
      keeper.recordChange(change.row.place.owner, [toDocumentId(change.row.id)])
    } else if (change.op === 'remove' && change.table === 'memory') {
      keeper.recordChange(change.scope.owner, [change.id])
    } else if (change.op === 'remove' && change.table === 'turn') {
      keeper.recordChange(change.scope.owner, [toDocumentId(change.id)])
    } else if (isOfSettings(change)) {
      void keeper.reloadSettings()
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

function createReplicaAdmin(
  store: Store,
  clock: Clock,
  keeper: ReplicaController,
): ReplicatedStore['replication'] {
  const opened = async () => keeper.mirror ?? (await keeper.runExclusive(async (mirror) => mirror))
  return {
    status: () => keeper.status(),
    current: () => keeper.loadStatus(),
    subscribe: (listener) => keeper.subscribe(listener),
    reconfigure: () => keeper.reconfigure(),
    settle: async () => {
      await keeper.waitUntilSettled()
    },
    health: async () => (await opened())?.health() ?? null,
    searchReplica: async (space, scope, { vector, limit }) => {
      const mirror = await opened()
      if (mirror === null) throw createReplicaUnavailableError(keeper.status())
      const hits = await mirror.search(space, scope, { vector, limit })
      return hits.map(({ id, similarity }) => ({ id, similarity }))
    },
    cleanUp: async ({ dryRun }) => {
      const now = clock.now()
      const removed = await keeper.runExclusive((_, upkeep) =>
        dryRun ? countSuperfluous(store, upkeep, now) : removeSuperfluous(upkeep, now),
      )
      if (removed === null) throw createReplicaUnavailableError(keeper.status())
      return removed
    },
  }
}

async function countSuperfluous(store: Store, upkeep: ReplicaSync, now: Instant): Promise<number> {
  const { stale, orphaned: stray } = await upkeep.compare({ isRepairing: false })
  const owners = new Set((await store.listPlaces()).map(({ owner }) => owner as OwnerId)) // as it told
  let expired = 0
  for (const owner of owners)
    expired += (await store.countMemories({ owner }, { expiredBy: now })).total
  return stale + stray + expired
}

async function removeSuperfluous(upkeep: ReplicaSync, now: Instant): Promise<number> {
  const expired = await upkeep.removeExpired(now)
  const { stale, orphaned: stray } = await upkeep.compare({ isRepairing: true })
  return expired + stale + stray
}

/** What is amiss in the mirror, for `doctor`. All of it can be made again from the memories. */
async function inspectMirror(
  keeper: ReplicaController,
  isRepairing: boolean,
): Promise<readonly IntegrityProblem[]> {
  const fault = (description: string, count: number) => ({ description, count, repairable: true })
  const { progress } = keeper.status()
  if (progress !== null && !isRepairing) {
    return [
      fault('vector that the mirror is still being filled with', progress.total - progress.done),
    ]
  }
  try {
    const found = await keeper.runExclusive(async ({ name }, upkeep) => {
      if (!upkeep.lag.isEmpty) await upkeep.replicatePending()
      return { name, ...(await upkeep.compare({ isRepairing })) }
    })
    if (found === null) {
      const { state, reason: because } = keeper.status()
      return state === 'misconfigured'
        ? [fault(`vector store that can't be used: ${because}`, 1)]
        : []
    }
    const { name, missing, stale, orphaned: stray } = found
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
const scheduleUnref: ScheduleTimer = (ms, work) => {
  const timer = setTimeout(work, ms).unref()
  return () => clearTimeout(timer)
}
