/**
 * A priority queue of rows by an upper bound of their similarity. Rows are counted into buckets as they arrive, and only the
 * highest buckets are sorted.
 *
 * Plain loops, because a search runs them over every row of an owner.
 */
import { EXCLUDED_SCORE } from './wasm/scan-kernel.ts'

/** Similarities of unit vectors are between -1 and 1; values beyond fall into the outermost buckets. */
const STEPS = 4_096
const STEPS_PER_UNIT = 1_900
const STEP_OF_ZERO = STEPS / 2
/** Rows that are sorted at once: few at first, and more each time. */
const FIRST_ROWS = 128
const ROWS_MAX = 16_384
const GROWTH = 4
/** A row number and the bits of its value fit into one exact number. */
const ROWS_IN_KEY = 2 ** 21

export class BucketQueue {
  #most: Float32Array
  #rows = 0
  readonly #counts = new Uint32Array(STEPS)
  /** Rows of this bucket and above are sorted. */
  #step = STEPS
  #sorted: Uint32Array = new Uint32Array()
  #taken = 0
  #wanted = FIRST_ROWS

  /** `rows`: how many are expected. */
  constructor(rows: number) {
    this.#most = new Float32Array(rows)
  }

  /** Appends rows, before any is taken. */
  pushAll(most: Float32Array): void {
    if (this.#rows + most.length > this.#most.length) {
      const larger = new Float32Array(this.#rows * 2 + most.length)
      larger.set(this.#most)
      this.#most = larger
    }
    this.#most.set(most, this.#rows)
    this.#rows += most.length
    for (let index = 0; index < most.length; index++) this.#count(most[index] ?? EXCLUDED_SCORE)
  }

  /** A queue of the rows that are flagged with 1, none of them taken yet. */
  select(flags: Uint8Array): BucketQueue {
    const selected = new BucketQueue(this.#rows)
    const from = this.#most
    const to = selected.#most
    for (let row = 0; row < this.#rows; row++) {
      const value = flags[row] === 1 ? (from[row] ?? EXCLUDED_SCORE) : EXCLUDED_SCORE
      to[row] = value
      selected.#count(value)
    }
    selected.#rows = this.#rows
    return selected
  }

  #count(value: number): void {
    if (value === EXCLUDED_SCORE) return
    const step = stepOf(value)
    this.#counts[step] = (this.#counts[step] ?? 0) + 1
  }

  /** The highest bound among the rows that were not taken; null when all were. */
  get maxRemaining(): number | null {
    if (this.#taken >= this.#sorted.length) this.#sortMore()
    const row = this.#sorted[this.#taken]
    return row === undefined ? null : (this.#most[row] ?? null)
  }

  popMany(count: number): readonly number[] {
    if (this.#taken >= this.#sorted.length) this.#sortMore()
    const end = Math.min(this.#sorted.length, this.#taken + count)
    const rows: number[] = []
    for (; this.#taken < end; this.#taken++) rows.push(this.#sorted[this.#taken] ?? 0)
    return rows
  }

  #sortMore(): void {
    const above = this.#step
    let count = 0
    while (this.#step > 0 && count < this.#wanted) {
      this.#step--
      count += this.#counts[this.#step] ?? 0
    }
    this.#sorted = this.#between(this.#step, above, count)
    this.#taken = 0
    this.#wanted = Math.min(this.#wanted * GROWTH, ROWS_MAX)
  }

  #between(lowest: number, above: number, count: number): Uint32Array {
    const most = this.#most
    const rows = new Uint32Array(count)
    // The outermost buckets hold all values beyond them.
    const from = lowest === 0 ? Number.NEGATIVE_INFINITY : lowest
    const to = above === STEPS ? Number.POSITIVE_INFINITY : above
    for (let row = 0, found = 0; found < count; row++) {
      const place = placeOf(most[row] ?? EXCLUDED_SCORE)
      if (place >= from && place < to && most[row] !== EXCLUDED_SCORE) rows[found++] = row
    }
    return sortedByMost(rows, most)
  }
}

/** Highest first. Sorts numbers that hold both value and row, because sorting without a comparator is many times as fast. */
function sortedByMost(rows: Uint32Array, most: Float32Array): Uint32Array {
  if (most.length > ROWS_IN_KEY)
    return rows.sort((a, b) => (most[b] ?? EXCLUDED_SCORE) - (most[a] ?? EXCLUDED_SCORE))
  const values = new Float32Array(rows.length)
  for (let at = 0; at < rows.length; at++) values[at] = most[rows[at] ?? 0] ?? EXCLUDED_SCORE
  const bits = new Int32Array(values.buffer)
  const keys = new Float64Array(rows.length)
  for (let at = 0; at < rows.length; at++) {
    const own = bits[at] ?? 0
    // The bits of negative floats order the other way round.
    const ordinal = own >= 0 ? own : -(own & 0x7fff_ffff)
    keys[at] = ordinal * ROWS_IN_KEY - (rows[at] ?? 0)
  }
  keys.sort()
  for (let at = 0; at < rows.length; at++) {
    const key = keys[rows.length - 1 - at] ?? 0
    rows[at] = (Math.ceil(key / ROWS_IN_KEY) * ROWS_IN_KEY - key) >>> 0
  }
  return rows
}

/** The position among the buckets, as a fraction; monotonic. */
function placeOf(value: number): number {
  return value * STEPS_PER_UNIT + STEP_OF_ZERO
}

function stepOf(value: number): number {
  const place = placeOf(value)
  return place < 0 ? 0 : place >= STEPS ? STEPS - 1 : Math.trunc(place)
}
