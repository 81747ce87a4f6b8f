import type { EpisodeId, Instant, Place } from './ids.ts'

/** The digest of one session. */
export type Episode = {
  readonly id: EpisodeId
  readonly place: Place
  readonly version: number
  readonly summary: string
  readonly topics: readonly string[]
  readonly entities: readonly string[]
  readonly decisions: readonly string[]
  readonly actionItems: readonly string[]
  readonly salience: number
  readonly happenedAt: Instant
  readonly createdAt: Instant
}
