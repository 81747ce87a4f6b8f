/**
 * Owners' vectors in memory, as copies of what the database holds.
 *
 * A block only ever learns of new rows: each search reads how far the owner's rows go and loads those that are newer
 * than the block, whoever has written them. Rows that are gone stay in the block until a search meets them, and every
 * search looks its hits up in the database anyway. So no process needs to be told what another one did.
 *
 * Beside the bytes that are scanned, a block keeps those vectors in full that searches have read. The vector of a
 * sequence never changes, so they can't go out of date; where memory is short they go first.
 */
import type { TimeSlice } from '../../../lib/event-loop.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import { MemorySequences } from './memory-sequences.ts'
import type { SegmentLayout, VectorArena } from './vector-arena.ts'
import {
  boundLength,
  countRecordBytes,
  findPeak,
  markDeleted,
  readSequence,
} from './vector-record.ts'
import { VectorSketches } from './vector-sketches.ts'
import { type OwnerVectorSpace, readRecords } from './vector-tables.ts'

const SEGMENTS_PER_READ = 6
/** A block with more rows that are gone than this share of those that are left is loaded anew. */
const GONE_SHARE = 0.25
const GONE_ROWS = 256

/** The vectors of one owner in one space. */
export class VectorBlock {
  readonly key: string
  readonly dimensions: number
  readonly rowBytes: number
  readonly rowsPerSegment: number
  readonly segments: number[] = []
  /** For each segment: where the largest number of all of its vectors stands, or -1; null while it has none. */
  readonly peaks: (number | null)[] = []
  /** Segments for vectors in full, and where in them that of a row begins. */
  readonly fullSegments: number[] = []
  readonly exactVectors = new RowAddresses()
  fullPlaces = 0
  /** No vector of a row is longer than this. */
  lengthMax = 0
  /** Where there are so many rows that it pays to look at less of them first. */
  sketches: VectorSketches | null = null
  /** Which of the rows are those of memories: 1 for each of them, as far as was asked for. */
  memories: MemorySequences | null = null
  memoryFlags = new Uint8Array()
  flaggedRows = 0
  rows = 0
  /** Rows up to this one are loaded, as far as they still were there. */
  lastSequence = 0
  /** Searches that are reading it. It is not given up before they are done. */
  users = 0
  loading: Promise<boolean> | null = null

  constructor(key: string, dimensions: number, shape: SegmentLayout) {
    this.key = key
    this.dimensions = dimensions
    this.rowBytes = shape.rowBytes
    this.rowsPerSegment = shape.rowsPerSegment
  }

  rowAddress(row: number): number {
    const segment = this.segments[Math.floor(row / this.rowsPerSegment)] ?? 0
    return segment + (row % this.rowsPerSegment) * this.rowBytes
  }

  evict(row: number, arena: VectorArena): void {
    markDeleted(arena.dataView, this.rowAddress(row))
    this.exactVectors.delete(row)
  }
}

/** Addresses by row. A search looks up a thousand of them, which a `Map` makes slower than comparing the vectors. */
class RowAddresses {
  #addresses = new Float64Array()

  /** 0 for none: the front of the arena is reserved. */
  get(row: number): number {
    return this.#addresses[row] ?? 0
  }

  set(row: number, address: number): void {
    if (row >= this.#addresses.length) {
      const larger = new Float64Array((row + 1) * 2)
      larger.set(this.#addresses)
      this.#addresses = larger
    }
    this.#addresses[row] = address
  }

  delete(row: number): void {
    if (row < this.#addresses.length) this.#addresses[row] = 0
  }

  clear(): void {
    this.#addresses = new Float64Array()
  }
}

export class VectorBlockCache {
  readonly arena: VectorArena
  readonly #database: SqliteDatabase
  readonly #sketchedFrom: number
  /** Least recently used first. */
  readonly #blocks = new Map<string, VectorBlock>()

  constructor(database: SqliteDatabase, arena: VectorArena, sketchedFrom: number) {
    this.#database = database
    this.arena = arena
    this.#sketchedFrom = sketchedFrom
  }

  get count(): number {
    return this.#blocks.size
  }

  /** The owner's block with everything up to now in it; null when it doesn't fit. Give it back with `release`. */
  async acquire(owner: OwnerVectorSpace, timeSlice: TimeSlice): Promise<VectorBlock | null> {
    if (owner.vectorCount * countRecordBytes(owner.dimensions) > this.arena.limitBytes) {
      this.#giveUp(this.#blocks.get(keyOf(owner)))
      return null
    }
    const block = this.#blockOf(owner)
    this.#blocks.delete(block.key)
    this.#blocks.set(block.key, block)
    block.users++
    try {
      while (block.lastSequence < owner.lastSequence) {
        block.loading ??= this.#load(block, owner, timeSlice).finally(() => {
          block.loading = null
        })
        if (!(await block.loading)) {
          this.release(block)
          this.#giveUp(block)
          return null
        }
      }
      if (block.rows >= this.#sketchedFrom) {
        block.sketches ??= VectorSketches.create(this.arena, block)
        await block.sketches?.buildMissing(timeSlice)
      }
    } catch (error) {
      this.release(block)
      throw error
    }
    return block
  }

  /** Flags the rows of memories with 1. */
  async flagMemories(
    block: VectorBlock,
    owner: OwnerVectorSpace,
    timeSlice: TimeSlice,
  ): Promise<Uint8Array> {
    block.memories ??= new MemorySequences()
    await block.memories.extend(this.#database, owner, timeSlice)
    if (block.rows > block.memoryFlags.length) {
      const flags = new Uint8Array(block.rows * 2)
      flags.set(block.memoryFlags)
      block.memoryFlags = flags
    }
    for (; block.flaggedRows < block.rows; block.flaggedRows++) {
      const sequence = readSequence(this.arena.dataView, block.rowAddress(block.flaggedRows))
      // Rows that were loaded after these sequences were read are flagged by the next search.
      if (sequence > owner.lastSequence) break
      if (block.memories.has(sequence)) block.memoryFlags[block.flaggedRows] = 1
    }
    return block.memoryFlags
  }

  release(block: VectorBlock): void {
    block.users--
    if (this.#blocks.get(block.key) !== block) this.#giveUp(block)
  }

  /**
   * The similarity of a row whose vector a search has read before: exact, or, where it is below `least`, an upper bound.
   * `error`: how far an estimate can be off.
   */
  computeSimilarity(
    block: VectorBlock,
    row: number,
    query: Float32Array,
    error: number,
    least: number,
  ): number | null {
    const address = block.exactVectors.get(row)
    if (address === 0) return null
    const most = this.arena.estimateInnerProduct(address, query) + error
    return most < least ? most : this.arena.computeInnerProduct(address, query)
  }

  /** Keeps a row's vector in full, unless memory is short. */
  cacheExactVector(block: VectorBlock, row: number, vector: Float32Array): void {
    if (this.#blocks.get(block.key) !== block || block.exactVectors.get(row) !== 0) return
    const perSegment = this.arena.vectorsPerSegment(vector.length)
    const place = block.fullPlaces
    if (place === block.fullSegments.length * perSegment) {
      const segment = this.arena.allocateSegment()
      if (segment === null) return
      block.fullSegments.push(segment)
    }
    const segment = block.fullSegments[Math.floor(place / perSegment)] ?? 0
    const address = segment + (place % perSegment) * vector.byteLength
    this.arena.readFloats(address, vector.length).set(vector)
    block.exactVectors.set(row, address)
    block.fullPlaces++
  }

  /** The vectors of these sequences that are at hand in full. */
  findExactVectors(
    owner: OwnerVectorSpace,
    sequences: Iterable<number>,
  ): ReadonlyMap<number, Float32Array> {
    const found = new Map<number, Float32Array>()
    this.#visitExactVectors(owner, sequences, (sequence, address) => {
      found.set(sequence, this.arena.readFloats(address, owner.dimensions).slice())
    })
    return found
  }

  /** The similarities of those sequences whose vectors are at hand in full. */
  computeSimilarities(
    owner: OwnerVectorSpace,
    sequences: Iterable<number>,
    query: Float32Array,
  ): ReadonlyMap<number, number> {
    const found = new Map<number, number>()
    this.#visitExactVectors(owner, sequences, (sequence, address) => {
      found.set(sequence, this.arena.computeInnerProduct(address, query))
    })
    return found
  }

  /** Keeps the vector of a sequence in full, if its row is loaded and memory is not short. */
  cacheSequenceVector(owner: OwnerVectorSpace, sequence: number, vector: Float32Array): void {
    const block = this.#blocks.get(keyOf(owner))
    const row = block === undefined ? -1 : this.#rowOf(block, sequence)
    if (block !== undefined && row >= 0) this.cacheExactVector(block, row, vector)
  }

  #visitExactVectors(
    owner: OwnerVectorSpace,
    sequences: Iterable<number>,
    visit: (sequence: number, address: number) => void,
  ): void {
    const block = this.#blocks.get(keyOf(owner))
    if (block === undefined) return
    for (const sequence of sequences) {
      const row = this.#rowOf(block, sequence)
      const address = row < 0 ? 0 : block.exactVectors.get(row)
      if (address !== 0) visit(sequence, address)
    }
  }

  /** The row of a sequence, by halving: rows come in the order of their sequences. -1 when it isn't loaded. */
  #rowOf(block: VectorBlock, sequence: number): number {
    const sequenceOf = (row: number) => readSequence(this.arena.dataView, block.rowAddress(row))
    let [from, to] = [0, block.rows]
    while (from < to) {
      const middle = (from + to) >> 1
      if (sequenceOf(middle) < sequence) from = middle + 1
      else to = middle
    }
    return from < block.rows && sequenceOf(from) === sequence ? from : -1
  }

  clear(): void {
    for (const block of [...this.#blocks.values()]) this.#giveUp(block)
  }

  #blockOf(owner: OwnerVectorSpace): VectorBlock {
    const known = this.#blocks.get(keyOf(owner))
    if (known !== undefined) {
      const isMostlyThere =
        known.rows - owner.vectorCount < GONE_ROWS + owner.vectorCount * GONE_SHARE
      // Numbers only fall back when a repair had to count anew.
      const isOfThese = known.lastSequence <= owner.lastSequence
      if (isOfThese && (isMostlyThere || known.users > 0)) return known
      if (known.users === 0) this.#giveUp(known)
      else this.#blocks.delete(known.key)
    }
    const { dimensions } = owner
    return new VectorBlock(keyOf(owner), dimensions, this.arena.layoutFor(dimensions))
  }

  /** Appends the rows that the block lacks. False when there is no memory for them. */
  async #load(block: VectorBlock, owner: OwnerVectorSpace, timeSlice: TimeSlice): Promise<boolean> {
    while (block.lastSequence < owner.lastSequence) {
      const free = block.segments.length * block.rowsPerSegment - block.rows
      const limit = free + SEGMENTS_PER_READ * block.rowsPerSegment
      const read = readRecords(this.#database, owner, block.lastSequence, limit)
      const rows = read.records.length / block.rowBytes
      while (block.segments.length * block.rowsPerSegment < block.rows + rows) {
        const segment = this.#borrow()
        if (segment === null) return false
        block.segments.push(segment)
      }
      this.#append(block, read.records, rows)
      // Fewer than asked for: there is nothing behind them.
      block.lastSequence = rows < limit ? owner.lastSequence : read.lastSequence
      if (timeSlice.isExpired) await timeSlice.yieldThread()
    }
    return true
  }

  #append(block: VectorBlock, records: Uint8Array, rows: number): void {
    for (let row = 0; row < rows; ) {
      const room = block.rowsPerSegment - (block.rows % block.rowsPerSegment)
      const count = Math.min(room, rows - row)
      const part = records.subarray(row * block.rowBytes, (row + count) * block.rowBytes)
      this.arena.bytes.set(part, block.rowAddress(block.rows))
      this.#notePeaks(block, part)
      noteLengths(block, part)
      block.rows += count
      row += count
    }
  }

  /** Of rows that are about to stand at the end of the last segment. */
  #notePeaks(block: VectorBlock, records: Uint8Array): void {
    const segment = Math.floor(block.rows / block.rowsPerSegment)
    let peak = block.rows % block.rowsPerSegment === 0 ? null : (block.peaks[segment] ?? null)
    for (let at = 0; at < records.length && peak !== -1; at += block.rowBytes) {
      const found = findPeak(records.subarray(at, at + block.rowBytes), block.dimensions)
      if (found !== null) peak = peak === null || peak === found ? found : -1
    }
    block.peaks[segment] = peak
  }

  /** A segment that is free, or was for vectors in full, or that the owner who was not asked about for longest gives up. */
  #borrow(): number | null {
    for (;;) {
      const segment = this.arena.allocateSegment()
      if (segment !== null) return segment
      const fuller = [...this.#blocks.values()].find(({ fullSegments }) => fullSegments.length > 0)
      if (fuller !== undefined) {
        this.#giveUpFull(fuller)
        continue
      }
      const idle = [...this.#blocks.values()].find(({ users }) => users === 0)
      if (idle === undefined) return null
      this.#giveUp(idle)
    }
  }

  #giveUp(block: VectorBlock | undefined): void {
    if (block === undefined || block.users > 0) return
    this.#giveUpFull(block)
    block.sketches?.release()
    this.arena.releaseSegments(block.segments.splice(0))
    if (this.#blocks.get(block.key) === block) this.#blocks.delete(block.key)
  }

  #giveUpFull(block: VectorBlock): void {
    this.arena.releaseSegments(block.fullSegments.splice(0))
    block.exactVectors.clear()
    block.fullPlaces = 0
  }
}

function noteLengths(block: VectorBlock, records: Uint8Array): void {
  const memory = new DataView(records.buffer, records.byteOffset, records.length)
  for (let at = 0; at < records.length; at += block.rowBytes) {
    block.lengthMax = Math.max(block.lengthMax, boundLength(memory, at, block.dimensions))
  }
}

/** How far two sums of so many products can be apart that were added up in different orders. */
export function boundSummationError(products: number, lengths: number): number {
  return 2 * products * Number.EPSILON * lengths
}

function keyOf({ space, ownerNumber }: OwnerVectorSpace): string {
  return `${space}/${ownerNumber}`
}
