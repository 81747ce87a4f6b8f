/** A mirror that nobody waits for longer than they should. */
import { AppError } from '../../lib/errors.ts'
import { runWithTimeout } from '../../lib/timeout.ts'
import type { VectorReplica } from '../vector-replica.ts'

export type ReplicaTimeouts = {
  /** For a search that somebody waits for. */
  readonly searchTimeoutMs: number
  /** For whatever is done in the background. */
  readonly backgroundTimeoutMs: number
}

export function withReplicaTimeouts(
  mirror: VectorReplica,
  { searchTimeoutMs: searchMs, backgroundTimeoutMs: workMs }: ReplicaTimeouts,
) {
  const within = <Result>(ms: number, work: () => Promise<Result>): Promise<Result> => {
    const message = `${mirror.name} took longer than ${ms} ms.`
    return runWithTimeout(ms, work, { onTimeout: () => new AppError('unavailable', message) })
  }
  const timely: VectorReplica = {
    name: mirror.name,
    prepare: (space) => within(workMs, () => mirror.prepare(space)),
    upsert: (space, points) => within(workMs, () => mirror.upsert(space, points)),
    remove: (space, owner, ids) => within(workMs, () => mirror.remove(space, owner, ids)),
    search: (space, filter, query) => within(searchMs, () => mirror.search(space, filter, query)),
    list: (space, page) => within(workMs, () => mirror.list(space, page)),
    count: (space, owner) => within(workMs, () => mirror.count(space, owner)),
    removeExpired: (space, before) => within(workMs, () => mirror.removeExpired(space, before)),
    drop: (space) => within(workMs, () => mirror.drop(space)),
    health: async () => {
      try {
        return await within(searchMs, () => mirror.health())
      } catch (error) {
        const detail = error instanceof Error ? error.message : 'It fails.'
        return { isReady: false, latencyMs: searchMs, detail }
      }
    },
    close: () => mirror.close(),
  }
  return timely
}
