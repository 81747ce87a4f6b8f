/** Vectors in the database. `migrations.ts` says how the tables belong together. */
import { hashEmbeddingText, isByteSpace } from '../../../domain/embedding-text.ts'
import type { MemoryId } from '../../../domain/ids.ts'
import { isWithinScope, type Scope } from '../../../domain/scope.ts'
import { DOCUMENT_TYPES } from '../../../domain/search-document.ts'
import { AppError } from '../../../lib/errors.ts'
import { fromStorable } from '../../../text/storable-text.ts'
import type { SpaceReport, VectorEntry, VectorSpace } from '../../vector-index.ts'
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
export function findSpace(session: SqliteDatabase, space: VectorSpace): SpaceRow | null {
  const [row] = session.all('SELECT number, dimensions FROM vector_space WHERE signature = ?', [
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
  session: SqliteDatabase,
  space: VectorSpace,
  scope: Scope,
): OwnerVectorSpace | null {
  const found = findSpace(session, space)
  const ownerNumber = session.findOwnerNumber(scope)
  if (found === null || ownerNumber === null) return null
  const [row] = session.all(
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
  session: SqliteDatabase,
  space: VectorSpace,
  entries: readonly VectorEntry[],
): void {
  session.runInTransaction(() => {
    const fitting = entries.flatMap((entry) => {
      const row = memoryOf(session, entry)
      return row === null ? [] : [{ entry, row }]
    })
    if (fitting.length === 0) return
    const number = findSpace(session, space)?.number ?? addSpace(session, space)
    const isWhole = isByteSpace(space.signature)
    const growth = new Map<number, { sequence: number; added: number }>()
    for (const { entry, row } of fitting) {
      const ownerNumber = Number(row.owner_number)
      session.ownerCache.markStale(ownerNumber, entry.id)
      const grown = growth.get(ownerNumber) ?? {
        sequence: lastSequence(session, number, ownerNumber),
        added: 0,
      }
      grown.sequence++
      grown.added++
      growth.set(ownerNumber, grown)
      insertVector(session, number, entry, row, grown.sequence, isWhole)
    }
    for (const [ownerNumber, { sequence, added }] of growth) {
      session.run(
        `INSERT INTO vector_owner (space, owner_number, last_sequence, vectors) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET last_sequence = ?3, vectors = vectors + ?4`,
        [number, ownerNumber, sequence, added],
      )
    }
  })
}

/** The memory that a vector is of: where the entry says it is, and still with the text that was embedded. */
function memoryOf(session: SqliteDatabase, entry: VectorEntry): SqlRow | null {
  const [row] = session.all(
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

function addSpace(session: SqliteDatabase, { signature, dimensions }: VectorSpace): number {
  const { lastInsertRowid } = session.run(
    'INSERT INTO vector_space (signature, dimensions) VALUES (?, ?)',
    [signature, dimensions],
  )
  return lastInsertRowid
}

function lastSequence(session: SqliteDatabase, space: number, ownerNumber: number): number {
  const [row] = session.all(
    'SELECT last_sequence FROM vector_owner WHERE space = ? AND owner_number = ?',
    [space, ownerNumber],
  )
  return Number(row?.last_sequence ?? 0)
}

function insertVector(
  session: SqliteDatabase,
  space: number,
  { vector, textHash }: VectorEntry,
  memory: SqlRow,
  sequence: number,
  isWhole: boolean,
): void {
  const { number = null, owner_number = null, place_number } = memory
  session.run('DELETE FROM vector WHERE memory = ? AND space = ?', [number, space])
  const exact = isWhole
    ? null
    : session.run('INSERT INTO vector_exact (numbers) VALUES (?)', [encodeFloats(vector)])
        .lastInsertRowid
  const record = encodeRecord({ vector, sequence, place: Number(place_number), isWhole })
  session.run(
    `INSERT INTO vector (space, owner_number, sequence, memory, exact, text_hash, record)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [space, owner_number, sequence, number, exact, textHash, record],
  )
}

export function removeVectors(
  session: SqliteDatabase,
  space: VectorSpace,
  scope: Scope,
  ids: readonly MemoryId[],
): void {
  const found = findSpace(session, space)
  if (found === null || ids.length === 0) return
  for (const id of ids) session.ownerCache.markStale(session.findOwnerNumber(scope), id)
  const filters = toDocumentConditions({ ids, types: DOCUMENT_TYPES })
  const where = joinConditions([
    ...toScopeConditions('memory', scope, session, filters),
    ...filters,
  ])
  session.run(
    `DELETE FROM vector
     WHERE space = ? AND memory IN (SELECT memory.number FROM memory WHERE ${where.sql})`,
    [found.number, ...where.values],
  )
}

/** Rows of an owner behind a sequence, one after the other as the scan reads them. */
export function readRecords(
  session: SqliteDatabase,
  { space, ownerNumber }: OwnerVectorSpace,
  after: number,
  limit: number,
): { readonly records: Uint8Array; readonly lastSequence: number } {
  // Joined by SQLite: an object for each row takes four times as long.
  const [row] = session.all(
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
  session: SqliteDatabase,
  dimensions: number,
  from: string,
  values: readonly SqlValue[],
  id: 'memory.id' | 'NULL' = 'memory.id',
): readonly StoredVector[] {
  const [row] = session.all(
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
  session: SqliteDatabase,
  space: VectorSpace,
  scope: Scope,
  ids: readonly MemoryId[],
): ReadonlyMap<MemoryId, Float32Array> {
  const found = findSpace(session, space)
  if (found === null || ids.length === 0) return new Map()
  const filters = toDocumentConditions({ ids, types: DOCUMENT_TYPES })
  const where = joinConditions([
    ...toScopeConditions('memory', scope, session, filters),
    ...filters,
  ])
  const kept = readStoredVectorsBatch(
    session,
    found.dimensions,
    `memory CROSS JOIN vector ON vector.memory = memory.number AND vector.space = ?
     LEFT JOIN vector_exact ON vector_exact.number = vector.exact
     WHERE ${where.sql}`,
    [found.number, ...where.values],
  )
  return new Map(kept.flatMap(({ id, vector }) => (id === null ? [] : [[id, vector]])))
}

export function listVectors(
  session: SqliteDatabase,
  space: VectorSpace,
  scope: Scope,
  page: { readonly limit: number; readonly after?: MemoryId },
): readonly { readonly id: MemoryId; readonly textHash: string }[] {
  const found = findSpace(session, space)
  if (found === null || page.limit <= 0) return []
  const beyond = page.after === undefined ? [] : [{ sql: 'memory.id > ?', values: [page.after] }]
  const where = joinConditions([...toScopeConditions('memory', scope, session, []), ...beyond])
  return session
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

export function countVectors(session: SqliteDatabase, space: VectorSpace, scope: Scope): number {
  const owner = findOwnerVectors(session, space, scope)
  if (owner === null) return 0
  if (scope.user === undefined && scope.session === undefined) return owner.vectorCount
  const where = joinConditions(toScopeConditions('memory', scope, session, []))
  const [row] = session.all(
    `SELECT count(*) AS vectors
     FROM memory CROSS JOIN vector ON vector.memory = memory.number AND vector.space = ?
     WHERE ${where.sql}`,
    [owner.space, ...where.values],
  )
  return Number(row?.vectors)
}

export function reportSpaces(session: SqliteDatabase): readonly SpaceReport[] {
  return session
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
