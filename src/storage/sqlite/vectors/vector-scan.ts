/**
 * Scans over an owner's vectors in bytes, which give each row the most that its similarity can be: all rows of a block in
 * memory, only those of it whose sketches are near to that of the query, or rows as they come from the database.
 */

import { BucketQueue } from './bucket-queue.ts'
import {
  type PreparedQuery,
  prepareQuery,
  type SelectedRows,
  tightenForPeak,
  type VectorArena,
} from './vector-arena.ts'
import {
  boundSummationError,
  type VectorBlock,
  type VectorBlockCache,
} from './vector-block-cache.ts'
import { readSequence } from './vector-record.ts'
import {
  NO_CACHED_VECTORS,
  type ScanResult,
  type VectorScanner,
  type VectorSearchContext,
} from './vector-search.ts'
import type { VectorSketches } from './vector-sketches.ts'
import { readRecords } from './vector-tables.ts'

/** Chosen by their sketches, as a rule. */
const EXPECTED_ROWS = 16_384

/** Scans blocks in memory, or the database where an owner's block doesn't fit. */
export function createBlockScanner(blocks: VectorBlockCache): VectorScanner {
  return async (search, place, collect) => {
    const block = await blocks.acquire(search.owner, search.timeSlice)
    if (block === null) return collect(await scanFromDatabase(search, blocks, place))
    try {
      const { sketches } = block
      // The rows of one place may be few, and far from most that are near.
      const nearby =
        sketches === null || place !== 0
          ? null
          : await collect(await scanNear(search, blocks, block, sketches))
      return nearby ?? (await collect(await scanAll(search, blocks, block, place)))
    } finally {
      blocks.release(block)
    }
  }
}

async function scanAll(
  search: VectorSearchContext,
  blocks: VectorBlockCache,
  block: VectorBlock,
  place: number,
): Promise<ScanResult> {
  const { arena } = blocks
  const { rows, rowsPerSegment } = block
  const prepared = prepareQuery(search.query.vector)
  const fitted = createQueryFitter(prepared, block)
  const ranking = new BucketQueue(rows)
  for (let row = 0; row < rows; row += rowsPerSegment) {
    const count = Math.min(rowsPerSegment, rows - row)
    const query = fitted(row / rowsPerSegment)
    ranking.pushAll(arena.scan(block.rowAddress(row), count, query, place))
    if (search.timeSlice.isExpired) await search.timeSlice.yieldThread()
  }
  return {
    candidates: ranking,
    rankMemories: async () =>
      ranking.select(await blocks.flagMemories(block, search.owner, search.timeSlice)),
    ...createBlockAccess(search, blocks, block, prepared),
  }
}

/** Those rows only whose sketches are near, and those that have none. */
async function scanNear(
  search: VectorSearchContext,
  blocks: VectorBlockCache,
  block: VectorBlock,
  sketches: VectorSketches,
): Promise<ScanResult> {
  const { arena } = blocks
  const { rows, rowsPerSegment } = block
  const prepared = prepareQuery(search.query.vector)
  const fitted = createQueryFitter(prepared, block)
  const { sketch, distanceMax: reach } = sketches.prepareQuery(search.query.vector)
  const chosen = new ChosenRows(EXPECTED_ROWS)
  for (let row = 0; row < rows; row += rowsPerSegment) {
    const segment = row / rowsPerSegment
    const count = Math.min(rowsPerSegment, rows - row)
    const sketched = sketches.findSegmentSketches(segment)
    const [address, query] = [block.rowAddress(row), fitted(segment)]
    if (sketched === null) chosen.addAll(arena.scan(address, count, query, 0), row)
    else chosen.add(arena.scanSketched(address, count, query, sketched, sketch, reach, row))
    if (search.timeSlice.isExpired) await search.timeSlice.yieldThread()
  }
  return {
    candidates: chosen.ranked(),
    isPartial: true,
    ...createBlockAccess(search, blocks, block, prepared),
  }
}

/** Rows that are not all there are, and the most that each can be. */
class ChosenRows {
  #rows: Uint32Array
  #most: Float32Array
  #count = 0

  /** `rows`: how many are expected. */
  constructor(rows: number) {
    this.#rows = new Uint32Array(rows)
    this.#most = new Float32Array(rows)
  }

  add({ count, rows, upperBounds: most }: SelectedRows): void {
    this.#makeRoom(count)
    for (let at = 0; at < count; at++) {
      this.#rows[this.#count] = rows[at] ?? 0
      this.#most[this.#count++] = most[at] ?? 0
    }
  }

  /** Rows from `first` on. */
  addAll(most: Float32Array, first: number): void {
    this.#makeRoom(most.length)
    this.#most.set(most, this.#count)
    for (let at = 0; at < most.length; at++) this.#rows[this.#count++] = first + at
  }

  ranked(): ScanResult['candidates'] {
    const ranking = new BucketQueue(this.#count)
    ranking.pushAll(this.#most.subarray(0, this.#count))
    const rows = this.#rows
    return {
      get maxRemaining() {
        return ranking.maxRemaining
      },
      popMany: (count) => ranking.popMany(count).map((at) => rows[at] ?? 0),
    }
  }

  #makeRoom(count: number): void {
    if (this.#count + count <= this.#rows.length) return
    const length = this.#rows.length * 2 + count
    const [rows, most] = [new Uint32Array(length), new Float32Array(length)]
    rows.set(this.#rows)
    most.set(this.#most)
    this.#rows = rows
    this.#most = most
  }
}

/** The query for each segment of a block: without what its rows have lost nothing of. */
function createQueryFitter(
  prepared: PreparedQuery,
  block: VectorBlock,
): (segment: number) => PreparedQuery {
  let known = { peak: -1, query: prepared }
  return (segment) => {
    const peak = block.peaks[segment] ?? -1
    if (peak === -1) return prepared
    if (peak !== known.peak) known = { peak, query: tightenForPeak(prepared, peak) }
    return known.query
  }
}

/** From the rows of a block to the database. */
function createBlockAccess(
  { query }: VectorSearchContext,
  blocks: VectorBlockCache,
  block: VectorBlock,
  { length }: PreparedQuery,
): Omit<ScanResult, 'candidates'> {
  const { arena } = blocks
  const error = boundSummationError(query.vector.length, length * block.lengthMax)
  return {
    sequenceOf: (row) => readSequence(arena.dataView, block.rowAddress(row)),
    markDeleted: (row) => block.evict(row, arena),
    findSimilarity: (row, least) =>
      blocks.computeSimilarity(block, row, query.vector, error, least),
    cacheVector: (row, vector) => blocks.cacheExactVector(block, row, vector),
  }
}

/** Scans rows as they come from the database, for owners that are larger than the memory for blocks. */
async function scanFromDatabase(
  { database, owner, query, timeSlice }: VectorSearchContext,
  { arena }: { readonly arena: VectorArena },
  place: number,
): Promise<ScanResult> {
  const prepared = prepareQuery(query.vector)
  const { rowBytes, rowsPerSegment } = arena.layoutFor(owner.dimensions)
  const ranking = new BucketQueue(owner.vectorCount)
  const sequences: number[] = []
  for (let after = 0; after < owner.lastSequence; ) {
    const read = readRecords(database, owner, after, rowsPerSegment)
    const count = read.records.length / rowBytes
    if (count === 0) break
    arena.bytes.set(read.records, arena.scratchAddress)
    ranking.pushAll(arena.scan(arena.scratchAddress, count, prepared, place))
    for (let row = 0; row < count; row++) {
      sequences.push(readSequence(arena.dataView, arena.scratchAddress + row * rowBytes))
    }
    after = read.lastSequence
    if (timeSlice.isExpired) await timeSlice.yieldThread()
  }
  return {
    candidates: ranking,
    sequenceOf: (row) => sequences[row] ?? 0,
    markDeleted: () => {},
    ...NO_CACHED_VECTORS,
  }
}
