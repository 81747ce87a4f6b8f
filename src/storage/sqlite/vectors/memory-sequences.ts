/**
 * A bit set of the vectors of an owner that belong to memories and not to turns, by sequence number. A sequence number is
 * never reused, so only new ones are read.
 */
import type { TimeSlice } from '../../../lib/event-loop.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { OwnerVectorSpace } from './vector-tables.ts'

/** Ids of turns sort after those of memories. */
export const TURN_ID_MIN = 'turn_'
/** Rows per statement. */
const PAGE_ROWS = 1_000

export class MemorySequences {
  #bits = new Uint8Array()
  /** Sequences up to this one are known. */
  #read = 0
  #reading: Promise<void> | null = null

  has(sequence: number): boolean {
    return ((this.#bits[sequence >> 3] ?? 0) & (1 << (sequence & 7))) !== 0
  }

  /** Reads the sequence numbers that were added since the last call. */
  async extend(
    database: SqliteDatabase,
    owner: OwnerVectorSpace,
    timeSlice: TimeSlice,
  ): Promise<void> {
    while (this.#read < owner.lastSequence) {
      this.#reading ??= this.#extend(database, owner, timeSlice).finally(() => {
        this.#reading = null
      })
      await this.#reading
    }
  }

  async #extend(
    database: SqliteDatabase,
    owner: OwnerVectorSpace,
    timeSlice: TimeSlice,
  ): Promise<void> {
    const last = owner.lastSequence
    this.#makeRoom(last)
    const pages =
      this.#read === 0 ? allPages(database, owner) : newPages(database, owner, this.#read)
    for (const sequences of pages) {
      for (const sequence of sequences) this.#add(sequence)
      if (timeSlice.isExpired) await timeSlice.yieldThread()
    }
    this.#read = last
  }

  #add(sequence: number): void {
    this.#makeRoom(sequence) // it may have been written meanwhile
    const at = sequence >> 3
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (sequence & 7))
  }

  #makeRoom(sequence: number): void {
    const bytes = (sequence >> 3) + 1
    if (bytes <= this.#bits.length) return
    const bits = new Uint8Array(bytes * 2)
    bits.set(this.#bits)
    this.#bits = bits
  }
}

/** Iterates the ids of memories, so that turns cost nothing. */
function* allPages(
  database: SqliteDatabase,
  { space, ownerNumber }: OwnerVectorSpace,
): Generator<readonly number[]> {
  for (let after = ''; ; ) {
    const [page] = database.all(
      `SELECT max(id) AS last FROM
         (SELECT id FROM memory WHERE owner_number = ? AND id > ? AND id < ? ORDER BY id LIMIT ?)`,
      [ownerNumber, after, TURN_ID_MIN, PAGE_ROWS],
    )
    if (typeof page?.last !== 'string') return
    const [row] = database.all(
      `SELECT json_group_array(vector.sequence) AS sequences
       FROM memory CROSS JOIN vector ON vector.memory = memory.number AND vector.space = ?
       WHERE memory.owner_number = ? AND memory.id > ? AND memory.id <= ?`,
      [space, ownerNumber, after, page.last],
    )
    yield JSON.parse(String(row?.sequences))
    after = page.last
  }
}

function* newPages(
  database: SqliteDatabase,
  { space, ownerNumber, lastSequence }: OwnerVectorSpace,
  read: number,
): Generator<readonly number[]> {
  for (let after = read; after < lastSequence; after += PAGE_ROWS) {
    const [row] = database.all(
      `SELECT json_group_array(vector.sequence) AS sequences
       FROM vector CROSS JOIN memory ON memory.number = vector.memory
       WHERE vector.space = ? AND vector.owner_number = ?
         AND vector.sequence > ? AND vector.sequence <= ? AND memory.id < ?`,
      [space, ownerNumber, after, after + PAGE_ROWS, TURN_ID_MIN],
    )
    yield JSON.parse(String(row?.sequences))
  }
}
