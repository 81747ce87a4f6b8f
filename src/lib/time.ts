import type { Branded } from './brand.ts'

/** Milliseconds since the epoch. ISO text exists only on the wire. */
export type Instant = Branded<number, 'instant'>
/** The range of dates; anything else could not be written as ISO text. */
export const INSTANT_MAX = 8640000000000000
