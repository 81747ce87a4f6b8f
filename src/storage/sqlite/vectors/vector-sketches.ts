/**
 * Sketches, for owners with so many vectors that scanning all of them takes long: a bit for each number of a vector, set
 * where it is above the middle of them all. Comparing sketches takes a fifth of the time of comparing bytes, and those that
 * differ least from the query's are of nearly all vectors that are near to it.
 *
 * They are made for whole segments of a block; the rows behind are few, and scanned without.
 */
import type { TimeSlice } from '../../../lib/event-loop.ts'
import type { SketchRange, VectorArena } from './vector-arena.ts'
import { readQuantized } from './vector-record.ts'

/** A sketch lies in parts of so many bits. */
const BITS_PER_PART = 128
const BITS_PER_BYTE = 8
/** What the kernel counts differences in holds no more than this. */
const DIMENSIONS_MAX = 3_968
/** Rows whose mean is taken for the middle of all. */
const CENTRE_ROWS = 2_048
/** Rows by which it is told how far a query has to reach: a few of each segment, since neighbours are alike. */
const SAMPLED_ROWS = 32_768
const SAMPLED_TOGETHER = 16
/** About so many are compared further. Decision 9 tells what is found among fewer or more. */
const CHOSEN_ROWS = 12_000

/** The block of vectors that sketches are made of. */
export type SketchSource = {
  readonly dimensions: number
  readonly rows: number
  readonly rowsPerSegment: number
  rowAddress(row: number): number
}

/** A query in the form in which it is compared with sketches, and in how many bits they may differ. */
export type QuerySketch = { readonly sketch: Uint8Array; readonly distanceMax: number }

export class VectorSketches {
  readonly #arena: VectorArena
  readonly #block: SketchSource
  readonly #centre: Float32Array
  readonly #bytes: number
  /** Of the block, as many as fit into one of ours. */
  readonly #perSegment: number
  readonly #segments: number[] = []
  /** Segments of the block that are sketched, from the first on. */
  #done = 0

  private constructor(arena: VectorArena, block: SketchSource) {
    this.#arena = arena
    this.#block = block
    this.#centre = centreOf(arena, block)
    this.#bytes = (Math.ceil(block.dimensions / BITS_PER_PART) * BITS_PER_PART) / BITS_PER_BYTE
    this.#perSegment = Math.floor(arena.segmentBytes / this.#bytes / block.rowsPerSegment)
  }

  /** Null where vectors are too long for them. */
  static create(arena: VectorArena, block: SketchSource): VectorSketches | null {
    return block.dimensions > DIMENSIONS_MAX ? null : new VectorSketches(arena, block)
  }

  /** Makes those that are missing, as far as there is memory that nobody uses. */
  async buildMissing(timeSlice: TimeSlice): Promise<void> {
    const { rows, rowsPerSegment } = this.#block
    while ((this.#done + 1) * rowsPerSegment <= rows) {
      if (this.#done === this.#segments.length * this.#perSegment) {
        const segment = this.#arena.allocateSegment()
        if (segment === null) return
        this.#arena.clearSegment(segment)
        this.#segments.push(segment)
      }
      const first = this.#block.rowAddress(this.#done * rowsPerSegment)
      this.#arena.writeSketches(first, rowsPerSegment, this.#centre, this.#at(this.#done))
      this.#done++
      if (timeSlice.isExpired) await timeSlice.yieldThread()
    }
  }

  /** Those of one segment of the block; null where there are none. */
  findSegmentSketches(segment: number): SketchRange | null {
    return segment < this.#done ? this.#at(segment) : null
  }

  /** It reaches as far as a sample of all sketches says that it must. Never depends on how many hits are wanted. */
  prepareQuery(query: Float32Array): QuerySketch {
    const sketch = this.#sketchOf(query)
    const { rowsPerSegment } = this.#block
    const together = Math.min(SAMPLED_TOGETHER, rowsPerSegment)
    const step = Math.max(1, Math.floor((this.#done * together) / SAMPLED_ROWS))
    const sampled: SketchRange[] = []
    for (let segment = 0; segment < this.#done; segment += step) sampled.push(this.#at(segment))
    const counts = this.#arena.countDifferences(sampled, together, sketch)
    const share = CHOSEN_ROWS / (this.#done * rowsPerSegment)
    if (share >= 1) return { sketch, distanceMax: sketch.length * BITS_PER_BYTE }
    const wanted = share * sampled.length * together
    let [reach, chosen] = [0, counts[0] ?? 0]
    while (chosen < wanted) chosen += counts[++reach] ?? wanted
    return { sketch, distanceMax: reach }
  }

  release(): void {
    this.#arena.releaseSegments(this.#segments.splice(0))
    this.#done = 0
  }

  #at(segment: number): SketchRange {
    const [own, behind] = [Math.floor(segment / this.#perSegment), segment % this.#perSegment]
    const rows = behind * this.#block.rowsPerSegment
    return { at: (this.#segments[own] ?? 0) + rows * this.#bytes, bytes: this.#bytes }
  }

  #sketchOf(vector: Float32Array): Uint8Array {
    const sketch = new Uint8Array(this.#bytes)
    for (let index = 0; index < vector.length; index++) {
      if ((vector[index] ?? 0) <= (this.#centre[index] ?? 0)) continue
      sketch[index >> 3] = (sketch[index >> 3] ?? 0) | (1 << (index & 7))
    }
    return sketch
  }
}

/** The mean of rows from all over the block. */
function centreOf(arena: VectorArena, block: SketchSource): Float32Array {
  const step = Math.max(1, Math.floor(block.rows / CENTRE_ROWS))
  const sums = new Float64Array(block.dimensions)
  let rows = 0
  for (let row = 0; row < block.rows; row += step, rows++) {
    const { scale, bytes } = readQuantized(arena.dataView, block.rowAddress(row), block.dimensions)
    for (let index = 0; index < bytes.length; index++) {
      sums[index] = (sums[index] ?? 0) + (bytes[index] ?? 0) * scale
    }
  }
  return Float32Array.from(sums, (sum) => sum / rows)
}
