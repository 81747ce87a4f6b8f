/**
 * Writes to one table, one after the other: commits at the same time would only make each other try again.
 *
 * A commit costs much the same for one point as for a thousand, so points that wait together go together.
 */
import type { MemoryId } from '../../domain/ids.ts'
import { Mutex } from '../../lib/mutex.ts'
import type { ReplicaPoint } from '../vector-replica.ts'

export type WriteQueue = {
  /** Of points with the same id, the last one counts. */
  upsert(points: readonly ReplicaPoint[]): Promise<void>
  /** After all that came before it, and before all that comes later. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** Resolves when nothing is waiting. */
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
    // What is added later must not come before this.
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
