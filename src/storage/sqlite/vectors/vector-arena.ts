/**
 * Memory that the scan can read, cut into segments of one size. Owners' blocks borrow as many as they need, so that
 * thousands of small owners cost neither an instance nor a memory each.
 */
import { innerProduct } from '../../../lib/vector-math.ts'
import { countRecordBytes, padDimensions } from './vector-record.ts'
import {
  createWasmMemory,
  loadScanKernel,
  type ScanKernel,
  type WasmMemory,
} from './wasm/scan-kernel.ts'

const SEGMENT_BYTES = 65_536
/** WebAssembly addresses no more than this many pages, which are as large as our segments. */
const SEGMENTS_MAX = 65_535
/**
 * At the front: the query, the results of one segment, a segment for rows that don't stay, the query in full or the centre
 * of sketches, and for sketches that of the query, how many differ by how much, and which rows were chosen.
 */
const QUERY_AT = 0
const RESULTS_AT = SEGMENT_BYTES / 2
const PASSING_AT = SEGMENT_BYTES
const FULL_QUERY_AT = 2 * SEGMENT_BYTES
const SKETCHED_QUERY_AT = 3 * SEGMENT_BYTES
const DIFFERENCES_AT = SKETCHED_QUERY_AT + SEGMENT_BYTES / 4
const CHOSEN_AT = SKETCHED_QUERY_AT + SEGMENT_BYTES / 2
const RESERVED_SEGMENTS = 4
/** Rows that a segment holds at most: those of the fewest numbers. */
const ROWS_PER_SEGMENT_MAX = SEGMENT_BYTES / countRecordBytes(1)
/** Segments added at once: growing costs a few microseconds, whatever the amount. */
const GROWTH_SEGMENTS = 16

/** How rows of one length lie in segments. */
export type SegmentLayout = { readonly rowBytes: number; readonly rowsPerSegment: number }

export type PreparedQuery = {
  readonly numbers: Int16Array
  /** What one of the numbers is worth. */
  readonly scale: number
  readonly length: number
  readonly errorBound: number
}

/** Sketches that follow each other, of so many bytes each. */
export type SketchRange = { readonly at: number; readonly bytes: number }

/** Rows that were chosen, and the most that each can be; both overwritten by the next scan. */
export type SelectedRows = {
  readonly count: number
  readonly rows: Uint32Array
  readonly upperBounds: Float32Array
}

export class VectorArena {
  readonly limitBytes: number
  readonly #segmentsMax: number
  readonly #memory: WasmMemory
  readonly #kernel: ScanKernel
  readonly #free: number[] = []
  #borrowed = 0
  #view: DataView
  #bytes: Uint8Array
  #floats: Float32Array
  #chosen: Uint32Array
  #results: Float32Array
  /** What stands in the places for them: searches take turns. */
  #query: Int16Array | null = null
  #fullQuery: Float32Array | null = null
  #sketchedQuery: Uint8Array | null = null

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes
    const wanted = RESERVED_SEGMENTS + Math.floor(limitBytes / SEGMENT_BYTES)
    this.#segmentsMax = Math.min(SEGMENTS_MAX, wanted)
    this.#memory = createWasmMemory(RESERVED_SEGMENTS, this.#segmentsMax)
    this.#kernel = loadScanKernel(this.#memory)
    const { buffer } = this.#memory
    this.#view = new DataView(buffer)
    this.#bytes = new Uint8Array(buffer)
    this.#floats = new Float32Array(buffer)
    this.#chosen = new Uint32Array(buffer, CHOSEN_AT, ROWS_PER_SEGMENT_MAX)
    this.#results = new Float32Array(buffer, RESULTS_AT, ROWS_PER_SEGMENT_MAX)
  }

  /** Valid until a segment is borrowed. */
  get dataView(): DataView {
    return this.#view
  }

  get bytes(): Uint8Array {
    return this.#bytes
  }

  /** A place for rows that are scanned at once and not kept. */
  get scratchAddress(): number {
    return PASSING_AT
  }

  get segmentBytes(): number {
    return SEGMENT_BYTES
  }

  get allocatedBytes(): number {
    return this.#borrowed * SEGMENT_BYTES
  }

  layoutFor(dimensions: number): SegmentLayout {
    const rowBytes = countRecordBytes(dimensions)
    return { rowBytes, rowsPerSegment: Math.floor(SEGMENT_BYTES / rowBytes) }
  }

  /** How many vectors in full fit into a segment. */
  vectorsPerSegment(dimensions: number): number {
    return Math.floor(SEGMENT_BYTES / (dimensions * Float32Array.BYTES_PER_ELEMENT))
  }

  /** Valid until a segment is borrowed. */
  readFloats(address: number, count: number): Float32Array {
    return new Float32Array(this.#memory.buffer, address, count)
  }

  /** As `innerProduct` sums it. A search does this with thousands of vectors, and a view of each takes longer than the sum. */
  computeInnerProduct(address: number, query: Float32Array): number {
    const floats = this.#floats
    const start = address / Float32Array.BYTES_PER_ELEMENT
    let sum = 0
    for (let index = 0; index < query.length; index++) {
      sum += (query[index] ?? 0) * (floats[start + index] ?? 0)
    }
    return sum
  }

  /** The same but for the last digits, and many times as fast. */
  estimateInnerProduct(address: number, query: Float32Array): number {
    if (this.#fullQuery !== query) {
      this.#floats.set(query, FULL_QUERY_AT / Float32Array.BYTES_PER_ELEMENT)
      this.#fullQuery = query
    }
    return this.#kernel.estimate(FULL_QUERY_AT, address, query.length)
  }

  /** The address of a segment, or null when none may be had. */
  allocateSegment(): number | null {
    if (this.#free.length === 0) this.#grow()
    const segment = this.#free.pop()
    if (segment === undefined) return null
    this.#borrowed++
    return segment
  }

  releaseSegments(segments: readonly number[]): void {
    this.#free.push(...segments)
    this.#borrowed -= segments.length
  }

  #grow(): void {
    const size = this.#memory.buffer.byteLength / SEGMENT_BYTES
    const added = Math.min(GROWTH_SEGMENTS, this.#segmentsMax - size)
    if (added <= 0) return
    try {
      this.#memory.grow(added)
    } catch {
      return // the system has no more
    }
    const { buffer } = this.#memory
    this.#view = new DataView(buffer)
    this.#bytes = new Uint8Array(buffer)
    this.#floats = new Float32Array(buffer)
    this.#chosen = new Uint32Array(buffer, CHOSEN_AT, ROWS_PER_SEGMENT_MAX)
    this.#results = new Float32Array(buffer, RESULTS_AT, ROWS_PER_SEGMENT_MAX)
    for (let segment = size + added - 1; segment >= size; segment--) {
      this.#free.push(segment * SEGMENT_BYTES)
    }
  }

  clearSegment(segment: number): void {
    this.#bytes.fill(0, segment, segment + SEGMENT_BYTES)
  }

  /** Scans rows within one segment. The results are overwritten by the next scan. */
  scan(rows: number, count: number, query: PreparedQuery, place: number): Float32Array {
    const { numbers, scale: unit, length, errorBound: slack } = query
    this.#setQuery(numbers)
    const stride = countRecordBytes(numbers.length)
    this.#kernel.scan(rows, count, stride, QUERY_AT, unit, length, slack, place, RESULTS_AT)
    return this.#results.subarray(0, count)
  }

  /** Likewise, those rows only whose sketches differ from the query's in at most `reach` bits; rows count from `first`. */
  scanSketched(
    rows: number,
    count: number,
    query: PreparedQuery,
    { at, bytes }: SketchRange,
    sketched: Uint8Array,
    reach: number,
    first: number,
  ): SelectedRows {
    const { numbers, scale: unit, length, errorBound: slack } = query
    this.#setQuery(numbers)
    this.#setSketchedQuery(sketched)
    const chosen = this.#kernel.scanNear(
      rows,
      count,
      countRecordBytes(numbers.length),
      at,
      bytes,
      SKETCHED_QUERY_AT,
      reach,
      QUERY_AT,
      unit,
      length,
      slack,
      first,
      CHOSEN_AT,
      RESULTS_AT,
    )
    return { count: chosen, rows: this.#chosen, upperBounds: this.#results }
  }

  /** Makes sketches of rows within one segment: of each number, whether it is above that of the centre. */
  writeSketches(
    rows: number,
    count: number,
    centre: Float32Array,
    { at, bytes }: SketchRange,
  ): void {
    this.#fullQuery = null
    const place = FULL_QUERY_AT / Float32Array.BYTES_PER_ELEMENT
    this.#floats.fill(0, place, place + padDimensions(centre.length))
    this.#floats.set(centre, place)
    this.#kernel.sketch(rows, count, countRecordBytes(centre.length), FULL_QUERY_AT, at, bytes)
  }

  /** Of so many sketches in each place, how many differ from the query's in no bit, in one, and so on. */
  countDifferences(
    sketches: Iterable<SketchRange>,
    rowsEach: number,
    sketched: Uint8Array,
  ): Uint32Array {
    this.#setSketchedQuery(sketched)
    const counts = new Uint32Array(this.#memory.buffer, DIFFERENCES_AT, sketched.length * 8 + 1)
    counts.fill(0)
    for (const { at, bytes } of sketches) {
      this.#kernel.countDifferences(at, rowsEach, bytes, SKETCHED_QUERY_AT, DIFFERENCES_AT)
    }
    return counts.slice()
  }

  #setQuery(numbers: Int16Array): void {
    this.#fullQuery = null // a caller may use one array for several queries
    if (this.#query === numbers) return
    new Int16Array(this.#memory.buffer, QUERY_AT, numbers.length).set(numbers)
    this.#query = numbers
  }

  #setSketchedQuery(sketched: Uint8Array): void {
    if (this.#sketchedQuery === sketched) return
    this.#bytes.set(sketched, SKETCHED_QUERY_AT)
    this.#sketchedQuery = sketched
  }
}

/** How far the number that a byte's worth is made from can be off in single precision, for each unit of that worth. */
const PEAK_ERROR = 127 * 2 ** -22

/**
 * The same query for rows that have lost nothing of their largest number, which stands at `peak` in all of them: what they
 * lost counts by the rest of the query only. Some models give all texts one large number in common; beside it the others are
 * rounded so much that any row may be near, unless this is known.
 */
export function tightenForPeak(prepared: PreparedQuery, peak: number): PreparedQuery {
  const there = (prepared.numbers[peak] ?? 0) * prepared.scale
  // The query was rounded as well, by half a unit at most.
  const rest = prepared.length ** 2 - Math.max(0, Math.abs(there) - prepared.scale) ** 2
  const length = Math.min(prepared.length, Math.sqrt(Math.max(0, rest)) * (1 + 1e-9))
  const slack = prepared.errorBound + (Math.abs(there) + prepared.scale) * PEAK_ERROR
  return { ...prepared, length, errorBound: slack }
}

const NUMBER_MAX = 32_767
const BYTE_MAX = 127
/** A little less than 32 bits hold, because rounding may lengthen the query. */
const SUM_MAX = 2 ** 31 * 0.999

/**
 * The query in 16 bits: fine enough that hardly any of the uncertainty comes from it, and no sum of products leaves 32
 * bits. An inner product is at most the product of the lengths, which bounds both.
 */
export function prepareQuery(vector: Float32Array): PreparedQuery {
  const length = Math.sqrt(innerProduct(vector, vector))
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const rowLengthMax = BYTE_MAX * Math.sqrt(vector.length)
  const levels = Math.min(NUMBER_MAX, Math.floor((SUM_MAX / rowLengthMax) * (largest / length)))
  const unit = largest / levels
  const numbers = new Int16Array(padDimensions(vector.length))
  let squares = 0
  for (const [index, value] of vector.entries()) {
    const number = Math.round(value / unit)
    numbers[index] = number
    squares += (value - number * unit) ** 2
  }
  return { numbers, scale: unit, length, errorBound: Math.sqrt(squares) * rowLengthMax }
}
