/**
 * Scans over an owner's vectors in bytes, which give each row the most that its similarity can be: all rows of a block in
 * memory, only those of it whose sketches are near to that of the query, or rows as they come from the database.
 */

import { Ranking } from './bucket-queue.ts'
import {
  type Chosen,
  type PreparedQuery,
  prepareQuery,
  type VectorArena,
  withoutPeak,
} from './vector-arena.ts'
import type { VectorBlock, VectorBlocks } from './vector-block-cache.ts'
import { sequenceAt } from './vector-record.ts'
import { NOTHING_AT_HAND, type Scanned, type VectorSearch, type WithScan } from './vector-search.ts'
import type { Sketches } from './vector-sketches.ts'
import { readRecords } from './vector-tables.ts'

/** Chosen by their sketches, as a rule. */
const EXPECTED_ROWS = 16_384

/** Scans blocks in memory, or the database where an owner's block doesn't fit. */
export function withBlocks(blocks: VectorBlocks): WithScan {
  return async (search, place, collect) => {
    const block = await blocks.use(search.owner, search.breather)
    if (block === null) return collect(await scanPassing(search, blocks, place))
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
  search: VectorSearch,
  blocks: VectorBlocks,
  block: VectorBlock,
  place: number,
): Promise<Scanned> {
  const { arena } = blocks
  const { rows, rowsPerSegment } = block
  const prepared = prepareQuery(search.query.vector)
  const fitted = fitting(prepared, block)
  const ranking = new Ranking(rows)
  for (let row = 0; row < rows; row += rowsPerSegment) {
    const count = Math.min(rowsPerSegment, rows - row)
    const query = fitted(row / rowsPerSegment)
    ranking.add(arena.scan(block.addressOf(row), count, query, place))
    if (search.breather.isDue) await search.breather.pause()
  }
  return { ranking, ...inBlock(search, blocks, block, prepared) }
}

/** Those rows only whose sketches are near, and those that have none. */
async function scanNear(
  search: VectorSearch,
  blocks: VectorBlocks,
  block: VectorBlock,
  sketches: Sketches,
): Promise<Scanned> {
  const { arena } = blocks
  const { rows, rowsPerSegment } = block
  const prepared = prepareQuery(search.query.vector)
  const fitted = fitting(prepared, block)
  const { sketch, reach } = sketches.prepare(search.query.vector)
  const chosen = new ChosenRows(EXPECTED_ROWS)
  for (let row = 0; row < rows; row += rowsPerSegment) {
    const segment = row / rowsPerSegment
    const count = Math.min(rowsPerSegment, rows - row)
    const sketched = sketches.ofSegment(segment)
    const [address, query] = [block.addressOf(row), fitted(segment)]
    if (sketched === null) chosen.addAll(arena.scan(address, count, query, 0), row)
    else chosen.add(arena.scanNear(address, count, query, sketched, sketch, reach, row))
    if (search.breather.isDue) await search.breather.pause()
  }
  return { ranking: chosen.ranked(), isPartial: true, ...inBlock(search, blocks, block, prepared) }
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

  add({ count, rows, most }: Chosen): void {
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

  ranked(): Scanned['ranking'] {
    const ranking = new Ranking(this.#count)
    ranking.add(this.#most.subarray(0, this.#count))
    const rows = this.#rows
    return {
      get bound() {
        return ranking.bound
      },
      take: (count) => ranking.take(count).map((at) => rows[at] ?? 0),
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
function fitting(prepared: PreparedQuery, block: VectorBlock): (segment: number) => PreparedQuery {
  let known = { peak: -1, query: prepared }
  return (segment) => {
    const peak = block.peaks[segment] ?? -1
    if (peak === -1) return prepared
    if (peak !== known.peak) known = { peak, query: withoutPeak(prepared, peak) }
    return known.query
  }
}

/** From the rows of a block to the database. */
function inBlock(
  { query, owner, breather }: VectorSearch,
  blocks: VectorBlocks,
  block: VectorBlock,
  { length }: PreparedQuery,
): Omit<Scanned, 'ranking'> {
  const { arena } = blocks
  return {
    sequenceOf: (row) => sequenceAt(arena.view, block.addressOf(row)),
    noteGone: (row) => block.forget(row, arena),
    similarityOf: (row, least) => blocks.similarity(block, row, query.vector, length, least),
    keep: (row, vector) => blocks.keepFull(block, row, vector),
    memories: () => blocks.memoriesIn(block, owner, breather),
  }
}

/** Scans rows as they come from the database, for owners that are larger than the memory for blocks. */
async function scanPassing(
  { session, owner, query, breather }: VectorSearch,
  { arena }: { readonly arena: VectorArena },
  place: number,
): Promise<Scanned> {
  const prepared = prepareQuery(query.vector)
  const { rowBytes, rowsPerSegment } = arena.shapeOf(owner.dimensions)
  const ranking = new Ranking(owner.vectors)
  const sequences: number[] = []
  for (let after = 0; after < owner.lastSequence; ) {
    const read = readRecords(session, owner, after, rowsPerSegment)
    const count = read.records.length / rowBytes
    if (count === 0) break
    arena.bytes.set(read.records, arena.passing)
    ranking.add(arena.scan(arena.passing, count, prepared, place))
    for (let row = 0; row < count; row++) {
      sequences.push(sequenceAt(arena.view, arena.passing + row * rowBytes))
    }
    after = read.lastSequence
    if (breather.isDue) await breather.pause()
  }
  return {
    ranking,
    sequenceOf: (row) => sequences[row] ?? 0,
    noteGone: () => {},
    ...NOTHING_AT_HAND,
  }
}
