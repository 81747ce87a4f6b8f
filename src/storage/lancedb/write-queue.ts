/**
 * Serializes the writes to one table: concurrent commits would only cause conflicts and retries. A
 * commit costs much the same for one point as for a thousand, so waiting points are batched.
 */
import type { MemoryId } from '../../domain/ids.ts'
import { Mutex } from '../../lib/mutex.ts'
import type { ReplicaPoint } from '../vector-replica.ts'

export type WriteQueue = {
  /** Of points with the same id, the last one wins. */
  upsert(points: readonly ReplicaPoint[]): Promise<void>
  /** Runs after all earlier writes and before all later ones. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** Resolves when the queue is empty. */
  idle(): Promise<void>
}

export function createWriteQueue(
  write: (points: readonly ReplicaPoint[]) => Promise<void>,
  pointsTogetherMax: number,
): WriteQueue {
  const mutex = new Mutex()
  let waiting: {
    readonly points: Map<MemoryId, ReplicaPoint>
    readonly done: Promise<void>
  } | null = null

  function run<Result>(work: () => Promise<Result>): Promise<Result> {
    // Later points must not be batched with earlier ones.
    waiting = null
    return mutex.run(work)
  }

  function upsert(points: readonly ReplicaPoint[]): Promise<void> {
    if (waiting !== null && waiting.points.size + points.length <= pointsTogetherMax) {
      for (const point of points) waiting.points.set(point.id, point)
      return waiting.done
    }
    const gathered = new Map(points.map((point) => [point.id, point]))
    const done = run(() => {
      if (waiting?.points === gathered) waiting = null
      return write([...gathered.values()])
    })
    waiting = { points: gathered, done }
    return done
  }

  return {
    upsert,
    run,
    idle: () => mutex.idle(),
  }
}
