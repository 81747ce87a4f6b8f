import type { Instant, JobId, Place } from './ids.ts'
import type { JsonObject } from './memory.ts'

/** Background work. It is a row, so that it survives a crash; putting the same key again re-arms it. */
export type Job = {
  readonly id: JobId
  readonly place: Place
  readonly version: number
  readonly kind: string
  readonly key: string
  readonly input: JsonObject
  readonly runAt: Instant
  readonly attempts: number
  readonly leasedUntil: Instant | null
}
