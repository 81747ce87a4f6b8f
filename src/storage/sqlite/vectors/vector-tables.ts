/** Vectors in the database. `migrations.ts` says how the tables belong together. */
import { hashEmbeddingText, isByteSpace } from '../../../domain/embedding-text.ts'
import type { MemoryId } from '../../../domain/ids.ts'
import { isWithinScope, type Scope } from '../../../domain/scope.ts'
import { DOCUMENT_TYPES } from '../../../domain/search-document.ts'
import { AppError } from '../../../lib/errors.ts'
import type { TimeSlice } from '../../../lib/event-loop.ts'
import { fromStorable } from '../../../text/storable-text.ts'
import type { SpaceReport, VectorEntry, VectorSpace } from '../../vector-index.ts'
import type { CachedDatabase } from '../cache/cached-database.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlRow, SqlValue } from '../connection/sqlite-driver.ts'
import { readPlace } from '../store/row-codec.ts'
import { joinConditions, toDocumentConditions, toScopeConditions } from '../store/sql-filters.ts'
import {
  decodeFloats,
  decodeVector,
  decodeVectors,
  encodeFloats,
  encodeRecord,
} from './vector-record.ts'

/** What an owner has in a space. */
export type OwnerVectorSpace = {
  readonly space: number
  readonly dimensions: number
  readonly ownerNumber: number
  readonly lastSequence: number
  readonly vectorCount: number
}

type SpaceRow = { readonly number: number; readonly dimensions: number }

/** The space, or null when nothing was ever put into it. */
export function findSpace(database: SqliteDatabase, space: VectorSpace): SpaceRow | null {
  const [row] = database.all('SELECT number, dimensions FROM vector_space WHERE signature = ?', [
    space.signature,
  ])
  if (row === undefined) return null
  if (row.dimensions === space.dimensions) {
    return { number: Number(row.number), dimensions: space.dimensions }
  }
  throw new AppError(
    'invalid_input',
    `The vectors of "${space.signature}" have ${row.dimensions} dimensions, not ${space.dimensions}.`,
    { dimensions: space.dimensions, expected: Number(row.dimensions) },
  )
}

export function findOwnerVectors(
  database: SqliteDatabase,
  space: VectorSpace,
  scope: Scope,
): OwnerVectorSpace | null {
  const found = findSpace(database, space)
  const ownerNumber = database.findOwnerNumber(scope)
  if (found === null || ownerNumber === null) return null
  const [row] = database.all(
    'SELECT last_sequence, vectors FROM vector_owner WHERE space = ? AND owner_number = ?',
    [found.number, ownerNumber],
  )
  if (row === undefined) return null
  return {
    space: found.number,
    dimensions: found.dimensions,
    ownerNumber,
    lastSequence: Number(row.last_sequence),
    vectorCount: Number(row.vectors),
  }
}

/** Writes vectors, those of one call together. */
export function putVectors(
  database: CachedDatabase,
  space: VectorSpace,
  entries: readonly VectorEntry[],
): void {
  database.runInTransaction(() => {
    const fitting = entries.flatMap((entry) => {
      const row = memoryOf(database, entry)
      return row === null ? [] : [{ entry, row }]
    })
    if (fitting.length === 0) return
    const number = findSpace(database, space)?.number ?? addSpace(database, space)
    const isWhole = isByteSpace(space.signature)
    const growth = new Map<number, { sequence: number; added: number }>()
    for (const { entry, row } of fitting) {
      const ownerNumber = Number(row.owner_number)
      database.ownerCache.markStale(ownerNumber, entry.id)
      const grown = growth.get(ownerNumber) ?? {
        sequence: lastSequence(database, number, ownerNumber),
        added: 0,
      }
      grown.sequence++
      grown.added++
      growth.set(ownerNumber, grown)
      insertVector(database, number, entry, row, grown.sequence, isWhole)
    }
    for (const [ownerNumber, { sequence, added }] of growth) {
      database.run(
        `INSERT INTO vector_owner (space, owner_number, last_sequence, vectors) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET last_sequence = ?3, vectors = vectors + ?4`,
        [number, ownerNumber, sequence, added],
      )
    }
  })
}

/** The memory that a vector is of: where the entry says it is, and still with the text that was embedded. */
function memoryOf(database: SqliteDatabase, entry: VectorEntry): SqlRow | null {
  const [row] = database.all(
    `SELECT memory.number, memory.owner_number, memory.place_number, memory.session, memory.content,
       memory.provenance, place.owner, place.user
     FROM memory JOIN place ON place.number = memory.place_number WHERE memory.id = ?`,
    [entry.id],
  )
  if (row === undefined) return null
  const { owner, user } = entry.place
  const isThere =
    isWithinScope({ owner, user }, readPlace(row)) && computeRowTextHash(row) === entry.textHash
  return isThere ? row : null
}

/** Of a row with `content` and `provenance`. */
export function computeRowTextHash(row: SqlRow): string {
  return hashEmbeddingText({
    content: fromStorable(String(row.content)),
    provenance: { speaker: null, ...JSON.parse(String(row.provenance)) },
  })
}

function addSpace(database: SqliteDatabase, { signature, dimensions }: VectorSpace): number {
  const { lastInsertRowid } = database.run(
    'INSERT INTO vector_space (signature, dimensions) VALUES (?, ?)',
    [signature, dimensions],
  )
  return lastInsertRowid
}

function lastSequence(database: SqliteDatabase, space: number, ownerNumber: number): number {
  const [row] = database.all(
    'SELECT last_sequence FROM vector_owner WHERE space = ? AND owner_number = ?',
    [space, ownerNumber],
  )
  return Number(row?.last_sequence ?? 0)
}

function insertVector(
  database: SqliteDatabase,
  space: number,
  { vector, textHash }: VectorEntry,
  memory: SqlRow,
  sequence: number,
  isWhole: boolean,
): void {
  const { number = null, owner_number = null, place_number } = memory
  database.run('DELETE FROM vector WHERE memory = ? AND space = ?', [number, space])
  const exact = isWhole
    ? null
    : database.run('INSERT INTO vector_exact (numbers) VALUES (?)', [encodeFloats(vector)])
        .lastInsertRowid
  const record = encodeRecord({ vector, sequence, place: Number(place_number), isWhole })
  database.run(
    `INSERT INTO vector (space, owner_number, sequence, memory, exact, text_hash, record)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [space, owner_number, sequence, number, exact, textHash, record],
  )
}

export function removeVectors(
  database: CachedDatabase,
  space: VectorSpace,
  scope: Scope,
  ids: readonly MemoryId[],
): void {
  const found = findSpace(database, space)
  if (found === null || ids.length === 0) return
  for (const id of ids) database.ownerCache.markStale(database.findOwnerNumber(scope), id)
  const filters = toDocumentConditions({ ids, types: DOCUMENT_TYPES })
  const where = joinConditions([
    ...toScopeConditions('memory', scope, database, filters),
    ...filters,
  ])
  database.run(
    `DELETE FROM vector
     WHERE space = ? AND memory IN (SELECT memory.number FROM memory WHERE ${where.sql})`,
    [found.number, ...where.values],
  )
}

/** Rows of an owner behind a sequence, one after the other as the scan reads them. */
export function readRecords(
  database: SqliteDatabase,
  { space, ownerNumber }: OwnerVectorSpace,
  after: number,
  limit: number,
): { readonly records: Uint8Array; readonly lastSequence: number } {
  // Joined by SQLite: an object for each row takes four times as long.
  const [row] = database.all(
    `SELECT CAST(group_concat(record, '') AS BLOB) AS records, max(sequence) AS last
     FROM (SELECT record, sequence FROM vector
           WHERE space = ? AND owner_number = ? AND sequence > ? ORDER BY sequence LIMIT ?)`,
    [space, ownerNumber, after, limit],
  )
  const records = row?.records instanceof Uint8Array ? row.records : new Uint8Array()
  return { records, lastSequence: Number(row?.last ?? after) }
}

/** A memory's vector as it is kept, from `exact` or, where there is none, from `record`. */
export function readStoredVector(row: SqlRow, dimensions: number): Float32Array {
  if (row.exact instanceof Uint8Array) return decodeFloats(row.exact)
  const record = row.record instanceof Uint8Array ? row.record : new Uint8Array()
  return decodeVector(record, dimensions)
}

/** The columns that `keptVector` reads. */
export const STORED_VECTOR_COLUMNS = `vector_exact.numbers AS exact,
  CASE WHEN vector.exact IS NULL THEN vector.record END AS record`

/** A vector that was read together with others. The id is null where the memory was not looked up or not found. */
export type StoredVector = {
  readonly sequence: number
  readonly id: MemoryId | null
  readonly vector: Float32Array
}

/**
 * Reads many vectors at once, from tables that `from` joins. SQLite hands over one list of each column: an object and
 * a buffer for each row take longer than finding the row.
 */
export function readStoredVectorsBatch(
  database: SqliteDatabase,
  dimensions: number,
  from: string,
  values: readonly SqlValue[],
  id: 'memory.id' | 'NULL' = 'memory.id',
): readonly StoredVector[] {
  const [row] = database.all(
    `SELECT json_group_array(sequence) AS sequences, json_group_array(id) AS ids,
       max(is_whole) AS is_whole, CAST(group_concat(kept, '') AS BLOB) AS kept
     FROM (SELECT vector.sequence, ${id} AS id, vector.exact IS NULL AS is_whole,
             CASE WHEN vector.exact IS NULL THEN vector.record ELSE vector_exact.numbers END AS kept
           FROM ${from})
     WHERE kept IS NOT NULL`,
    values,
  )
  if (!(row?.kept instanceof Uint8Array)) return []
  const sequences: readonly number[] = JSON.parse(String(row.sequences))
  const ids: readonly (MemoryId | null)[] = JSON.parse(String(row.ids))
  const vectors = row.is_whole === 1 ? decodeVectors(row.kept, dimensions) : decodeFloats(row.kept)
  if (vectors.length !== sequences.length * dimensions) {
    throw new AppError('damaged', 'Some vectors are not as long as those of their model.', {
      dimensions,
    })
  }
  return sequences.map((sequence, index) => ({
    sequence,
    id: ids[index] ?? null,
    vector: vectors.subarray(index * dimensions, (index + 1) * dimensions),
  }))
}

export function readStoredVectors(
  database: SqliteDatabase,
  space: VectorSpace,
  scope: Scope,
  ids: readonly MemoryId[],
): ReadonlyMap<MemoryId, Float32Array> {
  const found = findSpace(database, space)
  if (found === null || ids.length === 0) return new Map()
  const filters = toDocumentConditions({ ids, types: DOCUMENT_TYPES })
  const where = joinConditions([
    ...toScopeConditions('memory', scope, database, filters),
    ...filters,
  ])
  const kept = readStoredVectorsBatch(
    database,
    found.dimensions,
    `memory CROSS JOIN vector ON vector.memory = memory.number AND vector.space = ?
     LEFT JOIN vector_exact ON vector_exact.number = vector.exact
     WHERE ${where.sql}`,
    [found.number, ...where.values],
  )
  return new Map(kept.flatMap(({ id, vector }) => (id === null ? [] : [[id, vector]])))
}

export function listVectors(
  database: SqliteDatabase,
  space: VectorSpace,
  scope: Scope,
  page: { readonly limit: number; readonly after?: MemoryId },
): readonly { readonly id: MemoryId; readonly textHash: string }[] {
  const found = findSpace(database, space)
  if (found === null || page.limit <= 0) return []
  const beyond = page.after === undefined ? [] : [{ sql: 'memory.id > ?', values: [page.after] }]
  const where = joinConditions([...toScopeConditions('memory', scope, database, []), ...beyond])
  return database
    .all(
      `SELECT memory.id, vector.text_hash
       FROM memory CROSS JOIN vector ON vector.memory = memory.number AND vector.space = ?
       WHERE ${where.sql} ORDER BY memory.id LIMIT ?`,
      [found.number, ...where.values, page.limit],
    )
    .map((row) => ({
      id: String(row.id) as MemoryId, // the column holds nothing else
      textHash: String(row.text_hash),
    }))
}

export function countVectors(database: SqliteDatabase, space: VectorSpace, scope: Scope): number {
  const owner = findOwnerVectors(database, space, scope)
  if (owner === null) return 0
  if (scope.user === undefined && scope.session === undefined) return owner.vectorCount
  const where = joinConditions(toScopeConditions('memory', scope, database, []))
  const [row] = database.all(
    `SELECT count(*) AS vectors
     FROM memory CROSS JOIN vector ON vector.memory = memory.number AND vector.space = ?
     WHERE ${where.sql}`,
    [owner.space, ...where.values],
  )
  return Number(row?.vectors)
}

export function reportSpaces(database: SqliteDatabase): readonly SpaceReport[] {
  return database
    .all(
      `SELECT signature, dimensions, sum(vectors) AS vectors
       FROM vector_space JOIN vector_owner ON vector_owner.space = vector_space.number
       WHERE signature IS NOT NULL GROUP BY number HAVING sum(vectors) > 0 ORDER BY signature`,
    )
    .map((row) => ({
      signature: String(row.signature),
      dimensions: Number(row.dimensions),
      vectors: Number(row.vectors),
    }))
}

const ROWS_PER_STEP = 500

export function markSpaceDropped(database: SqliteDatabase, space: VectorSpace): void {
  database.run('UPDATE vector_space SET signature = NULL WHERE signature = ?', [space.signature])
}

export async function removeDroppedSpacesAsync(
  database: SqliteDatabase,
  timeSlice: TimeSlice,
): Promise<void> {
  while (await database.withBusyRetry(() => removeDroppedBatch(database))) {
    if (timeSlice.isExpired) await timeSlice.yieldThread()
  }
}

/** Removes some vectors of spaces that were discarded. False when none are left. */
export function removeDroppedBatch(database: SqliteDatabase): boolean {
  const [space] = database.all('SELECT number FROM vector_space WHERE signature IS NULL LIMIT 1')
  if (space === undefined) return false
  const number = Number(space.number)
  database.runInTransaction(() => {
    const { changes } = database.run(
      `DELETE FROM vector WHERE space = ?1 AND (owner_number, sequence) IN
         (SELECT owner_number, sequence FROM vector WHERE space = ?1 LIMIT ${ROWS_PER_STEP})`,
      [number],
    )
    if (changes === ROWS_PER_STEP) return
    database.run('DELETE FROM vector_owner WHERE space = ?', [number])
    database.run('DELETE FROM vector_space WHERE number = ?', [number])
  })
  return true
}
