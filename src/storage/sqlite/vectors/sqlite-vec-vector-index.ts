/**
 * Compares vectors with the package sqlite-vec instead of our own scan. It gets copies of the vectors in a table in
 * memory that follows the database as our blocks do, so that a file never depends on the package.
 *
 * A search holds the thread for as long as sqlite-vec takes, which goes through all of the owner's numbers at once.
 */
import { AppError } from '../../../lib/errors.ts'
import { innerProduct, isZeroVector } from '../../../lib/vector-math.ts'
import { assertVectorFits, type VectorIndex } from '../../vector-index.ts'
import type { CachedDatabase } from '../cache/cached-database.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlRow } from '../connection/sqlite-driver.ts'
import { encodeFloats } from './vector-record.ts'
import {
  NO_CACHED_VECTORS,
  type ScanResult,
  searchVectors,
  type VectorSearchContext,
} from './vector-search.ts'
import {
  findOwnerVectors,
  type OwnerVectorSpace,
  readStoredVector,
  STORED_VECTOR_COLUMNS,
} from './vector-tables.ts'

const PACKAGE = 'sqlite-vec'
const ROWS_PER_READ = 128

/** Rows in one piece of the table. The default of 1,024 would take a megabyte for every owner. */
const CHUNK_ROWS = 128

/** sqlite-vec gives no more hits than this. */
const HITS_MAX = 4_096
const HITS_MIN = 64
const GROWTH = 4

/** What sums of single precision may be off by. */
const ROUNDING = 1e-5

/** What is copied of an owner's vectors. */
type OwnerCopy = {
  lastSequence: number
  rows: number
  /** By how much the length of a vector differs from one, at most. */
  stretch: number
  loading: Promise<void> | null
}

/** The rest of the index is `builtIn`, which also answers where more hits are needed than sqlite-vec gives. */
export async function openSqliteVecIndex(
  database: CachedDatabase,
  builtIn: VectorIndex,
): Promise<VectorIndex> {
  await loadExtension(database)
  const copies = new Map<string, OwnerCopy>()
  return {
    ...builtIn,

    async search(space, scope, query) {
      assertVectorFits(space.dimensions, query.vector)
      if (query.limit <= 0 || isZeroVector(query.vector)) return []
      const owner = findOwnerVectors(database, space, scope)
      if (owner === null || owner.vectorCount === 0) return []
      let isCutOff = false
      const hits = await searchVectors(
        database,
        owner,
        scope,
        query,
        async (search, place, collect) => {
          const copy = await copyOf(search, copies)
          const ranking = new VecRanking(search, place, copy)
          const collected = await collect(ranking.scanned)
          isCutOff = ranking.isCutOff
          return collected
        },
      )
      return isCutOff ? builtIn.search(space, scope, query) : hits
    },

    report() {
      return { ...builtIn.report(), kind: PACKAGE, cachedOwners: copies.size }
    },

    async close() {
      copies.clear()
      await builtIn.close()
    },
  }
}

/** What stands in the way of sqlite-vec here, as a sentence; null when nothing does. */
export async function describeMissingSqliteVec(database: SqliteDatabase): Promise<string | null> {
  try {
    await loadExtension(database)
    return null
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

async function loadExtension({ connection }: SqliteDatabase): Promise<void> {
  try {
    const name: string = PACKAGE // a variable, so that building does not need it installed
    const { getLoadablePath } = (await import(name)) as { getLoadablePath(): string } // its one use here
    if (connection.loadExtension === undefined) throw new Error('The driver loads no extensions.')
    connection.loadExtension(getLoadablePath())
  } catch (cause) {
    throw new AppError(
      'missing_part',
      `Vectors by ${PACKAGE} need that package, which is not installed or does not load here. Run: npm install ${PACKAGE}`,
      { package: PACKAGE },
      cause,
    )
  }
}

/** The copy of an owner's vectors, up to date. */
async function copyOf(
  search: VectorSearchContext,
  copies: Map<string, OwnerCopy>,
): Promise<OwnerCopy> {
  const { database, owner } = search
  const key = `${owner.space}/${owner.ownerNumber}`
  const known = copies.get(key)
  const copy = known !== undefined && isUsable(known, owner) ? known : emptyCopy(database, owner)
  copies.set(key, copy)
  while (copy.lastSequence < owner.lastSequence) {
    copy.loading ??= extend(copy, search).finally(() => {
      copy.loading = null
    })
    await copy.loading
  }
  return copy
}

/** Rows that are gone leave the copy when they are met; when they are many, it is made anew. */
function isUsable(copy: OwnerCopy, owner: OwnerVectorSpace): boolean {
  const isMostlyThere = copy.rows <= owner.vectorCount * 1.25 + 256
  return copy.loading !== null || (isMostlyThere && copy.lastSequence <= owner.lastSequence)
}

function emptyCopy(database: CachedDatabase, owner: OwnerVectorSpace): OwnerCopy {
  database.connection.exec(
    `CREATE VIRTUAL TABLE IF NOT EXISTS ${tableOf(owner)} USING vec0(
       owner_number INTEGER PARTITION KEY, place_number INTEGER,
       numbers FLOAT[${owner.dimensions}] distance_metric=cosine,
       +sequence INTEGER, chunk_size=${CHUNK_ROWS})`,
  )
  database.run(`DELETE FROM ${tableOf(owner)} WHERE owner_number = ?`, [owner.ownerNumber])
  return { lastSequence: 0, rows: 0, stretch: 0, loading: null }
}

async function extend(
  copy: OwnerCopy,
  { database, owner, timeSlice }: VectorSearchContext,
): Promise<void> {
  while (copy.lastSequence < owner.lastSequence) {
    const rows = rowsAfter(database, owner, copy.lastSequence)
    for (const row of rows) addRow(database, owner, row, copy)
    const last = rows.at(-1)
    copy.lastSequence = last === undefined ? owner.lastSequence : Number(last.sequence)
    copy.rows += rows.length
    if (timeSlice.isExpired) await timeSlice.yieldThread()
  }
}

function tableOf({ space }: OwnerVectorSpace): string {
  return `temp.vector_copy_${space}`
}

function rowsAfter(
  database: CachedDatabase,
  owner: OwnerVectorSpace,
  after: number,
): readonly SqlRow[] {
  return database.all(
    `SELECT vector.sequence, memory.place_number, ${STORED_VECTOR_COLUMNS}
     FROM vector JOIN memory ON memory.number = vector.memory
     LEFT JOIN vector_exact ON vector_exact.number = vector.exact
     WHERE vector.space = ? AND vector.owner_number = ? AND vector.sequence > ?
     ORDER BY vector.sequence LIMIT ${ROWS_PER_READ}`,
    [owner.space, owner.ownerNumber, after],
  )
}

function addRow(
  database: CachedDatabase,
  owner: OwnerVectorSpace,
  row: SqlRow,
  copy: OwnerCopy,
): void {
  const vector = readStoredVector(row, owner.dimensions)
  if (isZeroVector(vector)) return
  const length = Math.sqrt(innerProduct(vector, vector))
  copy.stretch = Math.max(copy.stretch, Math.abs(length - 1))
  database.run(
    `INSERT INTO ${tableOf(owner)} (owner_number, place_number, numbers, sequence)
     VALUES (CAST(? AS INTEGER), CAST(? AS INTEGER), ?, CAST(? AS INTEGER))`,
    [owner.ownerNumber, row.place_number ?? null, encodeFloats(vector), row.sequence ?? null],
  )
}

type VecHit = { readonly rowid: number; readonly sequence: number; readonly most: number }

/** The hits of sqlite-vec, asked for anew and deeper when they did not suffice. */
class VecRanking {
  /** Whether there may be more than sqlite-vec gives. */
  isCutOff = false
  readonly #search: VectorSearchContext
  readonly #place: number
  readonly #copy: OwnerCopy
  #hits: readonly VecHit[] = []
  #taken = 0
  #asked = 0
  #isExhausted = false

  constructor(search: VectorSearchContext, place: number, copy: OwnerCopy) {
    this.#search = search
    this.#place = place
    this.#copy = copy
  }

  get scanned(): ScanResult {
    return {
      candidates: this,
      sequenceOf: (row) => this.#hits[row]?.sequence ?? 0,
      markDeleted: (row) => {
        const { database, owner } = this.#search
        const rowid = this.#hits[row]?.rowid
        if (rowid !== undefined)
          database.run(`DELETE FROM ${tableOf(owner)} WHERE rowid = ?`, [rowid])
      },
      ...NO_CACHED_VECTORS,
    }
  }

  get maxRemaining(): number | null {
    if (this.#taken >= this.#hits.length) this.#ask()
    return this.#hits[this.#taken]?.most ?? null
  }

  popMany(count: number): readonly number[] {
    const end = Math.min(this.#hits.length, this.#taken + count)
    const rows = Array.from({ length: end - this.#taken }, (_, index) => this.#taken + index)
    this.#taken = end
    return rows
  }

  #ask(): void {
    if (this.#isExhausted) return
    if (this.#asked === HITS_MAX) {
      this.isCutOff = true
      return
    }
    const { database, owner, query } = this.#search
    this.#asked = Math.min(HITS_MAX, Math.max(HITS_MIN, query.limit * 2, this.#asked * GROWTH))
    const known = new Set(this.#hits.map(({ rowid }) => rowid))
    const length = Math.sqrt(innerProduct(query.vector, query.vector))
    const found = database
      .all(
        `SELECT rowid, sequence, distance FROM ${tableOf(owner)}
         WHERE numbers MATCH ? AND k = ? AND owner_number = ?
           ${this.#place === 0 ? '' : 'AND place_number = ?'}`,
        [
          encodeFloats(query.vector),
          this.#asked,
          owner.ownerNumber,
          ...(this.#place === 0 ? [] : [this.#place]),
        ],
      )
      .map((row) => ({
        rowid: Number(row.rowid),
        sequence: Number(row.sequence),
        most: length * (1 - Number(row.distance) + this.#copy.stretch + ROUNDING),
      }))
    this.#isExhausted = found.length < this.#asked
    // Rows keep their places: whoever has taken some knows them by those.
    this.#hits = [...this.#hits, ...found.filter(({ rowid }) => !known.has(rowid))]
  }
}
