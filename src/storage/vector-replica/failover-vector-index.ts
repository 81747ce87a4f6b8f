/**
 * A vector index with a replica and automatic failover. The primary index is stored with the
 * memories, holds every vector and is the source of truth; the replica serves searches while it is
 * healthy and up to date. Callers notice no difference: a replica that fails, lags or is being
 * filled fails no request, and `status` reports its state.
 */
import type { EntryKind } from '../../domain/entries/entry.ts'
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
  /** The index stored with the memories. */
  readonly vectors: VectorIndex
  readonly clock: Clock
  /** The configured replica; read again on every settings change, and periodically. */
  readonly configuration: () => Promise<ReplicaConfiguration>
  readonly timeouts?: Partial<ReplicaTimeouts>
  /** The most changed memories tracked one by one while the replica is unavailable. */
  readonly lagMax?: number
  readonly schedule?: ScheduleTimer
}

export type ReplicatedStore<Kept extends Store = Store> = {
  readonly store: Kept
  readonly vectors: VectorIndex
  readonly replication: VectorReplication & {
    /** Waits until the replica is up to date, or known to be unavailable. */
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
  const controller = new ReplicaController({
    ...{ store, vectors, clock, configuration },
    onChanged: (changed) => store.notifyRemote?.(changed),
    schedule: options.schedule ?? scheduleUnref,
    timeouts: { searchTimeoutMs: SEARCH_MS, backgroundTimeoutMs: WORK_MS, ...deadlines },
    lagMax: options.lagMax ?? BEHIND_MAX,
  })
  const stopListening = store.onRemoteChange?.(({ kinds, memories }) => {
    if (kinds === 'any' || kinds.some(isKindOfSettings)) void controller.reloadSettings()
    controller.recordRemoteChange(memories)
  })
  return {
    store: {
      ...store,
      commit: async (changes) => {
        const outcome = await store.commit(changes)
        if (outcome.kind === 'committed') recordCommit(controller, changes)
        return outcome
      },
      checkIntegrity: async (wanted) => [
        ...(await store.checkIntegrity(wanted)),
        ...(await inspectMirror(controller, wanted.repair)),
      ],
    },
    vectors: createFailoverIndex(vectors, controller, () => stopListening?.()),
    replication: createReplicaAdmin(store, clock, controller),
  }
}

function createFailoverIndex(
  vectors: VectorIndex,
  controller: ReplicaController,
  stopListening: () => void,
): VectorIndex {
  /** Null where the primary index has to serve the search. */
  const byMirror = async (
    ...[space, scope, query]: Parameters<VectorIndex['search']>
  ): Promise<readonly VectorHit[] | null> => {
    const replica = controller.selectReplica(scope.owner, query.where.validAt)
    if (replica === null) return null
    if (typeof replica === 'string' || !isReplicaQuery(query)) {
      controller.recordSearch(typeof replica === 'string' ? replica : 'unsupported_filter')
      return null
    }
    const searched = await searchReplica({ vectors, replica }, space, scope, query)
    controller.recordSearch(searched.kind)
    if (searched.kind === 'answered') return searched.hits
    if (searched.kind === 'failed') controller.recordFailure(replica, searched.error)
    else if (searched.isEmpty) controller.requestCheck()
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
      for (const [owner, ids] of owners) controller.recordChange(owner, ids, space)
    },
    remove: async (space, scope, ids) => {
      await vectors.remove(space, scope, ids)
      controller.recordChange(scope.owner, ids, space)
    },
    search: async (space, scope, query) => {
      assertVectorFits(space.dimensions, query.vector)
      if (query.limit <= 0 || isZeroVector(query.vector)) return []
      return (await byMirror(space, scope, query)) ?? vectors.search(space, scope, query)
    },
    vectorsOf: (space, scope, ids) => vectors.vectorsOf(space, scope, ids),
    ...(vectors.similaritiesOf === undefined
      ? {}
      : { similaritiesOf: vectors.similaritiesOf.bind(vectors) }),
    list: (space, scope, page) => vectors.list(space, scope, page),
    count: (space, scope) => vectors.count(space, scope),
    spaces: () => vectors.spaces(),
    drop: async (space) => {
      await vectors.drop(space)
      controller.recordDrop(space)
    },
    report: () => {
      const { backend, servedBy, state } = controller.status()
      const replica =
        backend === null ? {} : { replicaBackend: backend, servedBy, replicaState: state }
      return { ...vectors.report(), ...replica }
    },
    close: async () => {
      stopListening()
      await controller.close()
      await vectors.close()
    },
  }
}

/** The part of a commit that concerns the replica. A new memory has no vector yet. */
function recordCommit(controller: ReplicaController, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.op === 'put' && change.table === 'memory' && change.expect !== 'absent') {
      controller.recordChange(change.row.place.owner, [change.row.id])
    } else if (change.op === 'put' && change.table === 'turn' && change.expect !== 'absent') {
      controller.recordChange(change.row.place.owner, [toDocumentId(change.row.id)])
    } else if (change.op === 'remove' && change.table === 'memory') {
      controller.recordChange(change.scope.owner, [change.id])
    } else if (change.op === 'remove' && change.table === 'turn') {
      controller.recordChange(change.scope.owner, [toDocumentId(change.id)])
    } else if (isOfSettings(change)) {
      void controller.reloadSettings()
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
  controller: ReplicaController,
): ReplicatedStore['replication'] {
  const opened = async () =>
    controller.replica ?? (await controller.runExclusive(async (replica) => replica))
  return {
    status: () => controller.status(),
    current: () => controller.loadStatus(),
    subscribe: (listener) => controller.subscribe(listener),
    reconfigure: () => controller.reconfigure(),
    settle: async () => {
      await controller.waitUntilSettled()
    },
    health: async () => (await opened())?.health() ?? null,
    searchReplica: async (space, scope, { vector, limit }) => {
      const replica = await opened()
      if (replica === null) throw createReplicaUnavailableError(controller.status())
      const hits = await replica.search(space, scope, { vector, limit })
      return hits.map(({ id, similarity }) => ({ id, similarity }))
    },
    cleanUp: async ({ dryRun }) => {
      const now = clock.now()
      const removed = await controller.runExclusive((_, upkeep) =>
        dryRun ? countSuperfluous(store, upkeep, now) : removeSuperfluous(upkeep, now),
      )
      if (removed === null) throw createReplicaUnavailableError(controller.status())
      return removed
    },
  }
}

async function countSuperfluous(store: Store, upkeep: ReplicaSync, now: Instant): Promise<number> {
  const { stale, orphaned: stray } = await upkeep.compare({ isRepairing: false })
  const owners = new Set((await store.listPlaces()).map(({ owner }) => owner as OwnerId)) // as it reports
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

/** Problems of the replica, for `doctor`. All of them can be repaired from the primary. */
async function inspectMirror(
  controller: ReplicaController,
  isRepairing: boolean,
): Promise<readonly IntegrityProblem[]> {
  const fault = (description: string, count: number) => ({ description, count, repairable: true })
  const { progress } = controller.status()
  if (progress !== null && !isRepairing) {
    return [fault('vector that is not yet replicated', progress.total - progress.done)]
  }
  try {
    const found = await controller.runExclusive(async ({ name }, upkeep) => {
      if (!upkeep.lag.isEmpty) await upkeep.replicatePending()
      return { name, ...(await upkeep.compare({ isRepairing })) }
    })
    if (found === null) {
      const { state, reason: because } = controller.status()
      return state === 'misconfigured'
        ? [fault(`vector store that cannot be used: ${because}`, 1)]
        : []
    }
    const { name, missing, stale, orphaned: stray } = found
    const counted = [
      fault(`vector missing from ${name}`, missing),
      fault(`outdated vector in ${name}`, stale),
      fault(`vector in ${name} without a memory`, stray),
    ]
    return counted.filter(({ count }) => count > 0)
  } catch (error) {
    return [fault(`vector store that could not be compared: ${toAppError(error).message}`, 1)]
  }
}

/** A background timer must not keep the process alive. */
const scheduleUnref: ScheduleTimer = (ms, work) => {
  const timer = setTimeout(work, ms).unref()
  return () => clearTimeout(timer)
}
