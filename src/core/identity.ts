import type { Instant, Place } from './ids.ts'

/** Who the user is: a short list that is always shown, and a narrative derived from memories. */
export type Identity = {
  readonly id: string
  readonly place: Place
  readonly version: number
  readonly overrides: readonly string[]
  readonly narrative: string
  readonly updatedAt: Instant
}
