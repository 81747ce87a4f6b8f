/** Wraps a replica with timeouts. */
import { AppError } from '../../lib/errors.ts'
import { runWithTimeout } from '../../lib/timeout.ts'
import type { VectorReplica } from '../vector-replica.ts'

export type ReplicaTimeouts = {
  /** For a search that a caller waits for. */
  readonly searchTimeoutMs: number
  /** For background work. */
  readonly backgroundTimeoutMs: number
}

export function withReplicaTimeouts(
  replica: VectorReplica,
  { searchTimeoutMs: searchMs, backgroundTimeoutMs: workMs }: ReplicaTimeouts,
) {
  const within = <Result>(ms: number, work: () => Promise<Result>): Promise<Result> => {
    const message = `${replica.name} took longer than ${ms} ms.`
    return runWithTimeout(ms, work, { onTimeout: () => new AppError('unavailable', message) })
  }
  const timely: VectorReplica = {
    name: replica.name,
    prepare: (space) => within(workMs, () => replica.prepare(space)),
    upsert: (space, points) => within(workMs, () => replica.upsert(space, points)),
    remove: (space, owner, ids) => within(workMs, () => replica.remove(space, owner, ids)),
    search: (space, filter, query) => within(searchMs, () => replica.search(space, filter, query)),
    list: (space, page) => within(workMs, () => replica.list(space, page)),
    count: (space, owner) => within(workMs, () => replica.count(space, owner)),
    removeExpired: (space, before) => within(workMs, () => replica.removeExpired(space, before)),
    drop: (space) => within(workMs, () => replica.drop(space)),
    health: async () => {
      try {
        return await within(searchMs, () => replica.health())
      } catch (error) {
        const detail = error instanceof Error ? error.message : 'It fails.'
        return { isReady: false, latencyMs: searchMs, detail }
      }
    },
    close: () => replica.close(),
  }
  return timely
}
