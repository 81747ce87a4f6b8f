/**
 * Vector index in PostgreSQL with pgvector. Vectors are deleted in the same transaction as their
 * documents, so a search never finds the vector of a deleted document.
 */
import { hashEmbeddingText } from '../../../domain/embedding-text.ts'
import type { MemoryId, OwnerId } from '../../../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../../../domain/limits.ts'
import { isWithinScope, type Scope } from '../../../domain/scope.ts'
import { DOCUMENT_KINDS, type DocumentKind } from '../../../domain/search-document.ts'
import { AppError } from '../../../lib/errors.ts'
import { isZeroVector } from '../../../lib/vector-math.ts'
import { toStorable } from '../../../text/storable-text.ts'
import {
  assertVectorFits,
  type SpaceReport,
  type VectorEntry,
  type VectorIndex,
  type VectorSpace,
} from '../../vector-index.ts'
import type { QueryFunction, QueryRunner } from '../connection/postgres-driver.ts'
import {
  hashOwner,
  hashUser,
  type SqlIdentifiers,
  toLockingBegin,
  toOwnerLocks,
} from '../schema/identifiers.ts'
import { DOCUMENT_NUMBER_MIN, ROW_CONDITION_BY_KIND, unionKinds } from '../store/document-kinds.ts'
import { decodeText, type PlaceColumns, parseProvenance, readPlace } from '../store/row-codec.ts'
import { createParameterBinder, toScopeConditions } from '../store/sql-filters.ts'
import { type AnnIndexes, createAnnIndexes, NO_ANN_INDEXES } from './ann-indexes.ts'
import {
  decodeVector,
  encodeVectors,
  getDimensionsMax,
  selectVectorColumn,
  toReadExpression,
  toStoredExpression,
} from './vector-format.ts'
import {
  HASH_JOIN_SETTINGS,
  toHashJoin,
  toLateralJoin,
  toVectorConditions,
} from './vector-joins.ts'
import { createSpaceLocationCache, searchNearest } from './vector-search.ts'
import {
  ensureSpace,
  findSpace,
  readSpace,
  type StoredSpace,
  toFindSpaceStatement,
  type VectorStorage,
} from './vector-spaces.ts'

export type PostgresVectorIndexOptions = {
  readonly tables: VectorStorage
  /** Where searches run: on the primary or on a read replica. */
  readonly runSearch: <T>(
    owner: OwnerId,
    search: (tables: VectorStorage) => Promise<T>,
  ) => Promise<T>
  /** The most vectors of one owner that are compared exactly. */
  readonly exactSearchVectorsMax: number
}

/** The most numbers in one statement; a single vector may exceed it. */
const STATEMENT_NUMBERS_MAX = 500_000
const DROPPED_AT_ONCE = 10_000

export function createPostgresVectorIndex(options: PostgresVectorIndexOptions): VectorIndex {
  const { tables, runSearch: searching, exactSearchVectorsMax: scannedMax } = options
  const { format: form } = tables
  const indexes =
    form.kind === 'plain'
      ? NO_ANN_INDEXES
      : createAnnIndexes({ ...tables, format: form }, scannedMax)
  const facts =
    form.kind === 'plain' ? { reason: form.reason } : { version: form.version, scannedMax }
  const known = createSpaceLocationCache()
  return {
    put: (space, entries) => put(tables, indexes, space, entries),
    remove: (space, scope, ids) => remove(tables, space, scope, ids),
    search: (space, scope, query) =>
      searching(scope.owner, (on) => searchNearest(on, known, space, scope, query)),
    vectorsOf: (space, scope, ids) => vectorsOf(tables, space, scope, ids),
    list: (space, scope, page) => list(tables, space, scope, page),
    count: (space, scope) => count(tables, space, scope),
    spaces: () => spaces(tables),
    drop: (space) => drop(tables, indexes, space),
    report: () => ({ kind: form.kind, ...facts, ...indexes.report() }),
    // The store owns the connections; a running index build may finish.
    close: async () => {},
  }
}

async function put(
  tables: VectorStorage,
  indexes: AnnIndexes,
  space: VectorSpace,
  entries: readonly VectorEntry[],
): Promise<void> {
  assertDimensionsSupported(tables, space)
  for (const { vector } of entries) assertVectorFits(space.dimensions, vector)
  if (entries.length === 0) return
  const { runnerFor: of, names } = tables
  const owners = new Set(entries.map(({ place }) => place.owner))
  // The owner locks exclude concurrent commits, so vectors match the current memories.
  const { kept, rows } = await of([...owners]).transaction(
    toLockingBegin(toOwnerLocks(names, owners)),
    async (query) => {
      const known = await ensureSpace(query, tables, space)
      const current = await rowsFor(query, tables, entries)
      for (const batch of batches(current, space.dimensions)) {
        await insert(query, tables, known, batch)
      }
      return { kept: known, rows: current }
    },
  )
  for (const owner of owners) {
    const hash = hashOwner(owner)
    for (const kind of DOCUMENT_KINDS) {
      const written = rows.filter((row) => row.kind === kind && row.owner_hash === hash).length
      if (written > 0) await indexes.buildIfDue(kept, { owner, kind }, written)
    }
  }
}

function assertDimensionsSupported(
  { format: form }: VectorStorage,
  { dimensions }: VectorSpace,
): void {
  const most = getDimensionsMax(form)
  if (dimensions <= most) return
  throw new AppError(
    'invalid_input',
    `pgvector supports up to ${most} dimensions; got ${dimensions}.`,
    { dimensions },
  )
}

type EntryRow = {
  readonly memory: number
  readonly kind: DocumentKind
  readonly owner_hash: string
  readonly user_hash: number
  readonly text_hash: string
  /** Null for a zero vector. */
  readonly vector: Float32Array | null
}

/**
 * The entries whose document exists with the embedded text; of several for one document, the last.
 */
async function rowsFor(
  query: QueryFunction,
  { names }: VectorStorage,
  entries: readonly VectorEntry[],
): Promise<readonly EntryRow[]> {
  const given = new Map(entries.map((entry) => [entry.id, entry]))
  const memories = await query<
    PlaceColumns & { number: number; id: MemoryId; content: string; provenance: string }
  >(
    `SELECT number, id, owner_id, user_id, session_id, content, provenance
     FROM ${names.memory} WHERE id = ANY ($1::text[])`,
    [[...given.keys()].map(toStorable)],
  )
  return memories.flatMap((columns) => {
    const entry = given.get(decodeText(columns.id))
    if (entry === undefined) return []
    const { owner, user } = entry.place
    const textHash = hashEmbeddingText({
      content: decodeText(columns.content),
      provenance: parseProvenance(columns.provenance),
    })
    // The session only records where a memory was learned; it does not affect the vector.
    const isCurrent =
      isWithinScope({ owner, user }, readPlace(columns)) && textHash === entry.textHash
    return isCurrent ? [entryRow(columns.number, entry)] : []
  })
}

function entryRow(memory: number, { place, textHash, vector }: VectorEntry): EntryRow {
  return {
    memory,
    kind: memory > 0 ? 'memory' : 'turn',
    owner_hash: hashOwner(place.owner),
    user_hash: hashUser(place.user),
    text_hash: textHash,
    vector: isZeroVector(vector) ? null : vector,
  }
}

function* batches(rows: readonly EntryRow[], dimensions: number): Generator<readonly EntryRow[]> {
  const size = Math.max(1, Math.floor(STATEMENT_NUMBERS_MAX / dimensions))
  for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size)
}

async function insert(
  query: QueryFunction,
  tables: VectorStorage,
  { column, number, dimensions }: StoredSpace,
  rows: readonly EntryRow[],
): Promise<void> {
  const { format } = tables
  const vectors: Float32Array[] = []
  const given = rows.map(({ vector, ...row }) => ({
    ...row,
    nth: vector === null ? null : vectors.push(vector),
  }))
  const stored = toStoredExpression(format, column, {
    ...{ parameter: '$3', position: 'nth', dimensions },
  })
  await query(
    `INSERT INTO ${tables.names.embedding} (memory, owner_hash, user_hash, space, text_hash, ${column})
     SELECT memory, owner_hash, user_hash, $1, text_hash,
       CASE WHEN nth IS NOT NULL THEN ${stored} END
     FROM json_to_recordset($2)
       AS given(memory bigint, owner_hash bigint, user_hash integer, text_hash text, nth integer)
     ON CONFLICT (memory, space)
     DO UPDATE SET text_hash = excluded.text_hash, ${column} = excluded.${column}`,
    [number, JSON.stringify(given), encodeVectors(format, vectors)],
  )
}

async function remove(
  tables: VectorStorage,
  space: VectorSpace,
  scope: Scope,
  ids: readonly MemoryId[],
): Promise<void> {
  const { runnerFor: of, names } = tables
  const kept = await findSpace(of([scope.owner]).query, tables, space)
  if (kept === null || ids.length === 0) return
  const binder = createParameterBinder()
  const conditions = [`id = ANY (${binder.bind(ids)}::text[])`, ...toScopeConditions(scope, binder)]
  const sql = `DELETE FROM ${names.embedding} WHERE space = ${binder.bind(kept.number)}
    AND memory = ANY (ARRAY(SELECT number FROM ${names.memory} WHERE ${conditions.join(' AND ')}))`
  // The owner lock gives commits and vector writes the same lock order, which prevents deadlocks.
  const begin = toLockingBegin(toOwnerLocks(names, [scope.owner]))
  await of([scope.owner]).transaction(begin, (query) => query(sql, binder.values))
}

async function vectorsOf(
  tables: VectorStorage,
  space: VectorSpace,
  scope: Scope,
  ids: readonly MemoryId[],
): Promise<ReadonlyMap<MemoryId, Float32Array>> {
  if (ids.length === 0) return new Map()
  const { format: form, names } = tables
  const binder = createParameterBinder()
  const number = `(SELECT number FROM ${names.embedding_space} WHERE signature = ${binder.bind(space.signature)})`
  const from = toLateralJoin(tables, DOCUMENT_KINDS, number)
  const vectors = `SELECT id, ${toReadExpression(form, `e.${selectVectorColumn(form, space.signature)}`)} AS vector FROM ${from}
    WHERE id = ANY (${binder.bind(ids)}::text[]) AND ${toScopeConditions(scope, binder).join(' AND ')}`
  const [spaces = [], found = []] = await tables
    .runnerFor([scope.owner])
    .readAllWithSettings([], [toFindSpaceStatement(names, space), [vectors, binder.values]])
  const kept = readSpace(form, space, spaces)
  if (kept === null) return new Map()
  const rows = found as readonly { id: MemoryId; vector: string | null }[] // the row type of the second statement
  const parse = (text: string | null) =>
    text === null ? new Float32Array(kept.dimensions) : decodeVector(form, text)
  return new Map(rows.map(({ id, vector }) => [decodeText(id), parse(vector)]))
}

async function list(
  tables: VectorStorage,
  space: VectorSpace,
  scope: Scope,
  { limit, after }: { readonly limit: number; readonly after?: MemoryId },
): ReturnType<VectorIndex['list']> {
  const { query } = tables.runnerFor([scope.owner])
  const kept = await findSpace(query, tables, space)
  if (kept === null || limit <= 0) return []
  const binder = createParameterBinder()
  const conditions = [...toScopeConditions(scope, binder)]
  if (after !== undefined) conditions.push(`id > ${binder.bind(after)}`)
  const spaceNumber = binder.bind(kept.number)
  const tail = `ORDER BY id LIMIT ${binder.bind(Math.min(limit, PAGE_ROWS_MAX))}`
  const sql = unionKinds(
    DOCUMENT_KINDS,
    tail,
    (kind) => `SELECT id, text_hash FROM ${toLateralJoin(tables, [kind], spaceNumber)}
      WHERE ${[...conditions, ROW_CONDITION_BY_KIND[kind]].join(' AND ')}`,
  )
  const rows = await query<{ id: MemoryId; text_hash: string }>(sql, binder.values)
  return rows.map(({ id, text_hash }) => ({ id: decodeText(id), textHash: text_hash }))
}

async function count(tables: VectorStorage, space: VectorSpace, scope: Scope): Promise<number> {
  const own = tables.runnerFor([scope.owner])
  const kept = await findSpace(own.query, tables, space)
  if (kept === null) return 0
  const binder = createParameterBinder()
  const counts = DOCUMENT_KINDS.map((kind) => {
    const conditions = [
      ...toVectorConditions(kept, scope, kind, binder),
      ...toScopeConditions(scope, binder),
      ROW_CONDITION_BY_KIND[kind],
    ]
    return `(SELECT count(*) FROM ${toHashJoin(tables)} WHERE ${conditions.join(' AND ')})`
  })
  const sql = `SELECT ${counts.join(' + ')} AS count`
  const [row] = await own.readWithSettings<{ count: number }>(
    HASH_JOIN_SETTINGS,
    sql,
    binder.values,
  )
  return row?.count ?? 0
}

async function spaces({ runnerFor: of, names }: VectorStorage): Promise<readonly SpaceReport[]> {
  const rows = await of('everyone').query<{
    signature: string
    dimensions: number
    vectors: number
  }>(
    `SELECT signature, dimensions, vectors FROM ${names.embedding_space} AS s JOIN (
       SELECT space, count(*) AS vectors FROM ${names.embedding} GROUP BY space
     ) AS held ON held.space = s.number
     WHERE signature IS NOT NULL ORDER BY signature`,
  )
  return rows.map((row) => ({ ...row, signature: decodeText(row.signature) }))
}

/**
 * The first statement removes the space; its vectors follow in small batches, so that no writer
 * waits for all of them. The next drop finishes an interrupted one.
 */
async function drop(
  { database, runnerFor: of, names }: VectorStorage,
  indexes: AnnIndexes,
  space: VectorSpace,
): Promise<void> {
  await database.query(
    `UPDATE ${names.embedding_space} SET signature = NULL WHERE signature = $1`,
    [toStorable(space.signature)],
  )
  const dropped = await database.query<{ number: number }>(
    `SELECT number FROM ${names.embedding_space} WHERE signature IS NULL`,
  )
  for (const { number } of dropped) {
    await indexes.drop(number)
    await dropVectors(of('everyone'), names, number)
    await of('everyone').transaction(BEGIN, (query) =>
      query(
        `DELETE FROM ${names.embedding_space} WHERE number = $1
         AND NOT EXISTS (SELECT 1 FROM ${names.embedding} WHERE space = $1)`,
        [number],
      ),
    )
  }
}

const BEGIN = toLockingBegin([])

async function dropVectors(
  runner: QueryRunner,
  names: SqlIdentifiers,
  spaceNumber: number,
): Promise<void> {
  for (let last: number | null = DOCUMENT_NUMBER_MIN; last !== null; ) {
    last = await runner.transaction(BEGIN, (query) => dropBatch(query, names, spaceNumber, last))
  }
}

async function dropBatch(
  query: QueryFunction,
  names: SqlIdentifiers,
  spaceNumber: number,
  after: number | null,
): Promise<number | null> {
  // Rows locked by a commit that deletes them are skipped: waiting could deadlock.
  const [row] = await query<{ last: number | null }>(
    `WITH next AS MATERIALIZED (
         SELECT memory FROM ${names.embedding} WHERE space = $1 AND memory > $2
         ORDER BY memory LIMIT ${DROPPED_AT_ONCE} FOR UPDATE SKIP LOCKED
       ), gone AS (
         DELETE FROM ${names.embedding}
         WHERE space = $1 AND memory = ANY (ARRAY(SELECT memory FROM next))
       )
       SELECT max(memory) AS last FROM next`,
    [spaceNumber, after],
  )
  return row?.last ?? null
}
