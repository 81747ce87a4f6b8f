/**
 * The store in a SQLite file.
 *
 * WAL with `synchronous = NORMAL`: an acknowledged write survives the death of the process at any point. A power cut may
 * lose the last moments, but never corrupts the file. `durability: 'full'` waits for the disk in every commit and
 * survives a power cut, too. A single synchronous connection reads and writes, so commits of this process never
 * interleave; other processes wait up to `busyTimeoutMs`.
 */

import type { MemoryId } from '../../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../../domain/limits.ts'
import { comparePlaces, type Scope } from '../../domain/scope.ts'
import { copyDocument, type SearchDocument } from '../../domain/search-document.ts'
import { AppError } from '../../lib/errors.ts'
import { fromStorable, toStorable } from '../../text/storable-text.ts'
import type { MigrationSource } from '../migration-source.ts'
import {
  buildSessionPage,
  encodeCursor,
  NEVER_INSTANT,
  type OrderField,
  parseOrdering,
  parseSessionCursor,
  type SessionListPosition,
  toPageRange,
} from '../page-cursor.ts'
import {
  type Change,
  type DocumentQuery,
  type FindQuery,
  type MemoryCounts,
  type MemoryFilter,
  mapTables,
  type Page,
  type Row,
  type SessionQuery,
  type SessionSummary,
  type Store,
  type Table,
  type Tables,
  type TextQuery,
} from '../store.ts'
import type { CountGroup } from '../tally.ts'
import { sumCounts } from '../tally.ts'
import type { VectorIndex } from '../vector-index.ts'
import { CachedDatabase } from './cache/cached-database.ts'
import type { OwnerCacheOptions } from './cache/owner-cache.ts'
import type { SqliteDatabase } from './connection/sqlite-database.ts'
import {
  type DatabaseKey,
  type OpenConnection,
  openConnection,
  type SqlRow,
} from './connection/sqlite-driver.ts'
import { WalCheckpointer } from './connection/wal-checkpointer.ts'
import { checkStoreIntegrity } from './maintenance/integrity-check.ts'
import { createSqliteMigrationSource } from './maintenance/sqlite-migration-source.ts'
import {
  findPendingMigrations,
  MIGRATIONS,
  migrate,
  type SchemaMigration,
} from './schema/migrations.ts'
import { findNeighbors, searchText } from './search/document-search.ts'
import { applyCommit } from './store/commit.ts'
import { PLACE_IN_USE, placeCountSql } from './store/place-names.ts'
import {
  INDEX_COLUMNS,
  MEMORY_SELECTION,
  readPlace,
  TURN_COLUMNS,
  toDocument,
  toEntry,
  toJob,
  toMemory,
  toRevision,
  toSignal,
  toTombstone,
  toTurn,
} from './store/row-codec.ts'
import {
  joinConditions,
  MEMORY_CONDITION,
  type SqlCondition,
  toDocumentConditions,
  toOrderColumn,
  toScopeConditions,
  toTableConditions,
} from './store/sql-filters.ts'
import { openSqliteVecIndex } from './vectors/sqlite-vec-vector-index.ts'
import { openSqliteVectorIndex } from './vectors/sqlite-vector-index.ts'

/** The engine of vector searches. */
export const VECTOR_SEARCH_ENGINES = ['built-in', 'sqlite-vec'] as const

export type VectorSearchEngine = (typeof VECTOR_SEARCH_ENGINES)[number]

export type SqliteStoreOptions = {
  /** The path of a file, or `:memory:`. */
  readonly path: string
  readonly now: () => number
  readonly key?: DatabaseKey | null
  readonly durability?: 'normal' | 'full'
  readonly busyTimeoutMs?: number
  /** Default: `COMMIT_CHANGES_MAX`. */
  readonly commitChangesMax?: number
  readonly migrations?: readonly SchemaMigration[]
  /** Memory for cached vectors. Vectors of owners that do not fit are read for each search. */
  readonly vectorCacheBytes?: number
  /** Owners with so many vectors are searched by sketches first, which finds nearly all near vectors. */
  readonly sketchVectorsMin?: number
  /** `sqlite-vec` needs the package of that name. Default: `built-in`. */
  readonly vectorSearchEngine?: VectorSearchEngine
  /** The cache of owners with all their documents. */
  readonly ownerCache?: OwnerCacheOptions
  /** For tests that inject driver failures. */
  readonly openConnection?: OpenConnection
}

export type SqliteStore = Store & {
  /** Writes a consistent copy of the database to a new path, with the same encryption. */
  backup(path: string): Promise<void>
  /** Shares the connection, and is closed with the store. */
  readonly vectors: VectorIndex
  /** The source side of a store migration. */
  readonly migrationSource: MigrationSource
}

const BUSY_TIMEOUT_MS = 5_000

/** A commit checkpoints the WAL itself from 40 MiB on, where the background checkpointer has fallen behind. */
const LOG_PAGES_MAX = 10_000

/** Queries of many owners read pages from all over the file. */
const CACHE_KIB = 65_536

export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const key = options.key ?? null
  const connection = await (options.openConnection ?? openConnection)(options.path, key)
  const database = new CachedDatabase(connection, options.ownerCache)
  try {
    connection.exec(`
      PRAGMA busy_timeout = ${options.busyTimeoutMs ?? BUSY_TIMEOUT_MS};
      PRAGMA journal_mode = WAL;
      PRAGMA wal_autocheckpoint = ${LOG_PAGES_MAX};
      PRAGMA synchronous = ${options.durability === 'full' ? 'FULL' : 'NORMAL'};
      PRAGMA foreign_keys = ON;
      PRAGMA secure_delete = ON;
      PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -${CACHE_KIB};
    `)
    migrateIfNeeded(database, options)
    database.enableAsyncBusyWait(options.busyTimeoutMs ?? BUSY_TIMEOUT_MS)
    const builtIn = openSqliteVectorIndex(database, {
      cacheBytes: options.vectorCacheBytes,
      sketchVectorsMin: options.sketchVectorsMin,
    })
    const vectors =
      options.vectorSearchEngine === 'sqlite-vec'
        ? await openSqliteVecIndex(database, builtIn)
        : builtIn
    return sqliteStore(database, options, key !== null, vectors)
  } catch (error) {
    connection.close()
    throw error
  }
}

function migrateIfNeeded(database: CachedDatabase, options: SqliteStoreOptions): void {
  const migrations = options.migrations ?? MIGRATIONS
  const pending = findPendingMigrations(database.connection, migrations)
  if (pending === null) return
  if (pending.from > 0 && options.path !== ':memory:') {
    vacuumInto(database, `${options.path}.before-schema-${pending.to}-${options.now()}`)
  }
  migrate(database.connection, options.now(), migrations)
}

function sqliteStore(
  database: CachedDatabase,
  options: SqliteStoreOptions,
  isEncrypted: boolean,
  vectors: VectorIndex,
): SqliteStore {
  const checkpoints = new WalCheckpointer({ path: options.path, key: options.key ?? null })
  return {
    vectors,
    migrationSource: createSqliteMigrationSource(database),

    async get<T extends Table>(table: T, scope: Scope, id: Tables[T]['id']) {
      const idCondition = { sql: `${table}.id = ?`, values: [id] }
      const conditions = table === 'memory' ? [idCondition, MEMORY_CONDITION] : [idCondition]
      const [row] = select(database, table, scope, conditions)
      return row ?? null
    },

    async find<T extends Table>(table: T, scope: Scope, query: FindQuery<T>) {
      const { limit, offset } = toPageRange(query)
      const cached = findByIds(database, table, scope, query)
      if (cached !== null) return { rows: cached, next: null }
      const range = [limit + 1, offset]
      const rows =
        findCreated(database, table, scope, query) ??
        select(database, table, scope, ...toOrderBy(database, table, scope, query, range))
      const page = rows.slice(0, limit)
      return {
        rows: page,
        next: rows.length > limit ? encodeCursor(query.order, page.at(-1)) : null,
      }
    },

    async findDocuments(scope: Scope, query: DocumentQuery) {
      return findDocuments(database, scope, query)
    },

    async countMemories(scope: Scope, where: MemoryFilter) {
      return countMemories(database, scope, where)
    },

    async searchText(scope: Scope, query: TextQuery) {
      return searchText(database, scope, query)
    },

    async listSessions(scope: Scope, query: SessionQuery) {
      return listSessions(database, scope, query)
    },

    async findNeighbors(scope: Scope, ids: readonly MemoryId[], reach: number) {
      return findNeighbors(database, scope, ids, reach)
    },

    async commit(changes: readonly Change[]) {
      const changesMax = options.commitChangesMax ?? COMMIT_CHANGES_MAX
      if (changes.length > changesMax)
        throw new RangeError(`A commit holds at most ${changesMax} changes.`)
      const outcome = await database.withBusyRetry(() => applyCommit(database, changes))
      checkpoints.recordChanges(changes.length)
      if (outcome.kind === 'committed' && changes.some(hasRemovedContent)) {
        await truncateWal(database, checkpoints)
      }
      return outcome
    },

    async listPlaces(owner) {
      const rows = database.all(
        `SELECT owner, user, ${placeCountSql('memory')} AS memories, ${placeCountSql('turn')} AS turns
         FROM place WHERE ${PLACE_IN_USE} ${owner === undefined ? '' : 'AND owner = ?'}`,
        owner === undefined ? [] : [toStorable(owner)],
      )
      return rows
        .map((row) => ({
          owner: fromStorable(String(row.owner)),
          user: row.user === '' ? null : fromStorable(String(row.user)),
          memories: Number(row.memories),
          turns: Number(row.turns),
        }))
        .sort(comparePlaces)
    },

    async getReport() {
      const number = (sql: string) => Number(Object.values(database.all(sql)[0] ?? {})[0])
      return {
        kind: isEncrypted ? 'sqlite (encrypted)' : 'sqlite',
        location: options.path,
        schemaVersion: number('SELECT count(*) FROM migration'),
        sizeBytes: number('PRAGMA page_count') * number('PRAGMA page_size'),
        rows: mapTables((table) =>
          number(
            `SELECT count(*) FROM ${table} ${table === 'memory' ? `WHERE ${MEMORY_CONDITION.sql}` : ''}`,
          ),
        ),
        facts: {
          sqlite: String(database.all('SELECT sqlite_version() AS version')[0]?.version),
          durability: options.durability ?? 'normal',
          encrypted: isEncrypted,
          vectors: number('SELECT coalesce(sum(vectors), 0) FROM vector_owner'),
        },
      }
    },

    async checkIntegrity({ repair }) {
      database.ownerCache.clear()
      database.documentCache.clear()
      return database.withBusyRetry(() => checkStoreIntegrity(database, repair))
    },

    async backup(path: string) {
      vacuumInto(database, path)
    },

    async close() {
      await vectors.close()
      await checkpoints.close()
      database.ownerCache.clear()
      database.connection.close()
    },
  }
}

function findDocuments(
  database: CachedDatabase,
  scope: Scope,
  query: DocumentQuery,
): Page<SearchDocument> {
  const { where, order = 'newest', after } = query
  const { ids, createdFrom, ...others } = where
  const { limit } = toPageRange({ where: {}, limit: query.limit })
  if (order === 'newest' && after === undefined && !database.ownerCache.isDisabled) {
    const cachedOwner = database.ownerCache.get(database.findOwnerNumber(scope))
    if (cachedOwner === null) database.invalidateIfChanged()
    if (ids !== undefined && limit >= ids.length) {
      const filter = { ...others, ...(createdFrom === undefined ? {} : { createdFrom }) }
      return { rows: (cachedOwner ?? database.documentCache).find(scope, ids, filter), next: null }
    }
    if (createdFrom !== undefined && cachedOwner !== null) {
      return toPage(cachedOwner.findByCreation(scope, where, limit + 1), limit)
    }
  }
  const [beyond, direction] = order === 'oldest' ? ['>', 'ASC'] : ['<', 'DESC']
  const conditions = [
    ...toDocumentConditions(where),
    ...(after === undefined ? [] : [{ sql: `memory.id ${beyond} ?`, values: [after] }]),
  ]
  const by = `ORDER BY ${toOrderColumn('memory.id', conditions)} ${direction} LIMIT ?`
  const rows = selectDocuments(database, scope, conditions, { sql: by, values: [limit + 1] })
  return toPage(rows, limit)
}

function toPage(rows: readonly SearchDocument[], limit: number): Page<SearchDocument> {
  const page = rows.slice(0, limit)
  return { rows: page, next: rows.length > limit ? (page.at(-1)?.id ?? null) : null }
}

/** Answers a query by ids, as recall makes it, from the caches. */
function findByIds<T extends Table>(
  database: CachedDatabase,
  table: T,
  scope: Scope,
  query: FindQuery<T>,
): readonly Row<T>[] | null {
  const first = toNewestMemoriesQuery(table, query)
  if (first === null || database.ownerCache.isDisabled) return null
  const { ids, ...others } = first.where
  if (ids === undefined || first.limit < ids.length) return null
  const cachedOwner = database.ownerCache.get(database.findOwnerNumber(scope))
  if (cachedOwner === null) database.invalidateIfChanged()
  const found = (cachedOwner ?? database.documentCache).find(scope, ids, others).map(copyDocument)
  return found as readonly Row<T>[] // memories, as checked above
}

/** Answers a query by creation time, as recall makes it, from the cached owner. Returns one row more than the limit. */
function findCreated<T extends Table>(
  database: CachedDatabase,
  table: T,
  scope: Scope,
  query: FindQuery<T>,
): readonly Row<T>[] | null {
  const first = toNewestMemoriesQuery(table, query)
  if (first?.where.createdFrom === undefined) return null
  const cachedOwner = database.ownerCache.get(database.findOwnerNumber(scope))
  if (cachedOwner === null) return null
  const found = cachedOwner
    .findByCreation(scope, first.where, toPageRange(first).limit + 1)
    .map(copyDocument)
  return found as readonly Row<T>[] // memories, as checked above
}

/** The query if it asks for the first page of the newest memories; null otherwise. */
function toNewestMemoriesQuery<T extends Table>(
  table: T,
  query: FindQuery<T>,
): FindQuery<'memory'> | null {
  const { order = 'newest', after, offset = 0 } = query
  if (table !== 'memory' || order !== 'newest' || after !== undefined || offset !== 0) return null
  return query as FindQuery<'memory'> // checked above
}

const READ: { readonly [T in Table]: (row: SqlRow) => Row<T> } = {
  memory: toMemory,
  revision: toRevision,
  tombstone: toTombstone,
  entry: toEntry,
  turn: toTurn,
  job: toJob,
  signal: toSignal,
}

const TURN = TURN_COLUMNS.filter((column) => !INDEX_COLUMNS.has(column))
  .map((column) => `turn.${column}`)
  .join(', ')

function selectDocuments(
  database: CachedDatabase,
  scope: Scope,
  conditions: readonly SqlCondition[],
  tail: SqlCondition,
): readonly SearchDocument[] {
  const where = joinConditions([
    ...toScopeConditions('memory', scope, database, conditions),
    ...conditions,
  ])
  const from = `FROM memory JOIN place ON place.number = memory.place_number
    WHERE ${where.sql} ${tail.sql}`
  const values = [...where.values, ...tail.values]
  return database.selectPacked({ columns: MEMORY_SELECTION, from }, values).map(toDocument)
}

function select<T extends Table>(
  database: CachedDatabase,
  table: T,
  scope: Scope,
  conditions: readonly SqlCondition[],
  tail: SqlCondition = { sql: '', values: [] },
): readonly Row<T>[] {
  const where = joinConditions([
    ...toScopeConditions(table, scope, database, conditions),
    ...conditions,
  ])
  const from = `FROM ${table} JOIN place ON place.number = ${table}.place_number
    WHERE ${where.sql} ${tail.sql}`
  const values = [...where.values, ...tail.values]
  const columns = table === 'turn' ? TURN : `${table}.*`
  const rows =
    table === 'memory'
      ? database.selectPacked({ columns: MEMORY_SELECTION, from }, values)
      : database.all(`SELECT ${columns}, place.owner, place.user ${from}`, values)
  return rows.map(READ[table])
}

/** The conditions of a list after its cursor, and its `ORDER BY` and `LIMIT`. */
function toOrderBy<T extends Table>(
  database: CachedDatabase,
  table: T,
  scope: Scope,
  query: FindQuery<T>,
  range: readonly number[],
): readonly [conditions: readonly SqlCondition[], tail: SqlCondition] {
  const { fields, isForward, after } = parseOrdering(query)
  const [beyond, direction] = isForward ? ['>', 'ASC'] : ['<', 'DESC']
  const columns = [...fields.map((field) => ORDER_COLUMNS[field](table)), `${table}.id`]
  const filters = toTableConditions(table, query.where)
  const behind = `(${columns.join(', ')}) ${beyond} (${columns.map(() => '?').join(', ')})`
  const conditions = [...filters, ...(after === null ? [] : [{ sql: behind, values: after }])]
  const by = columns.map((column) => `${toOrderColumn(column, filters)} ${direction}`).join(', ')
  const tail = { sql: `ORDER BY ${by} LIMIT ? OFFSET ?`, values: range }
  if (table !== 'memory' || fields.length === 0) return [conditions, tail]
  const where = joinConditions([
    ...toScopeConditions(table, scope, database, conditions),
    ...conditions,
  ])
  return [[selectRequested(where, tail)], { sql: `ORDER BY ${by}`, values: [] }]
}

const ORDER_COLUMNS: Readonly<Record<OrderField, (table: Table) => string>> = {
  saidAt: (table) => `${table}.said_at`,
  position: (table) => `${table}.position`,
  updatedAt: (table) => `${table}.updated_at`,
  importance: (table) => `${table}.importance`,
  salience: (table) => `${table}.salience`,
  lastUsedAt: (table) => `coalesce(${table}.last_used_at, ${NEVER_INSTANT})`,
  useCount: (table) => `${table}.use_count`,
}

/**
 * Selects the row numbers of a page first: sorting numbers instead of whole rows is many times as fast. No index serves
 * these orders, because every use of a memory would change it; an owner's 100,000 memories are sorted in 30 ms.
 */
function selectRequested(where: SqlCondition, tail: SqlCondition): SqlCondition {
  return {
    sql: `memory.number IN (SELECT number FROM memory WHERE ${where.sql} ${tail.sql})`,
    values: [...where.values, ...tail.values],
    index: 'alone',
  }
}

/** A tombstone holds only hashes. */
function hasRemovedContent(change: Change): boolean {
  return change.op === 'remove' && change.table !== 'tombstone'
}

/**
 * Erased content must not stay readable in the WAL. A worker thread checkpoints the WAL, which takes long; then this
 * connection truncates it. If another connection truncated it, the write would look like one of another process and
 * invalidate all caches.
 */
async function truncateWal(database: CachedDatabase, checkpoints: WalCheckpointer): Promise<void> {
  await checkpoints.waitForCheckpoint()
  // A reader of the WAL blocks the truncation. The worker can wait for it; failing that, the next checkpoint truncates.
  if (!tryTruncate(database)) await checkpoints.truncateLog()
}

function tryTruncate(database: CachedDatabase): boolean {
  try {
    return database.all('PRAGMA wal_checkpoint(TRUNCATE)')[0]?.busy === 0
  } catch {
    return false // the commit itself succeeded
  }
}

function vacuumInto(database: CachedDatabase, path: string): void {
  try {
    database.run('VACUUM INTO ?', [path])
  } catch (error) {
    if (error instanceof Error && /already exists/.test(error.message)) {
      throw new AppError(
        'conflict',
        `A file already exists at ${path}. Choose another path.`,
        { path },
        error,
      )
    }
    throw error
  }
}

export function listSessions(
  database: SqliteDatabase,
  scope: Scope,
  query: SessionQuery,
): Page<SessionSummary> {
  const after = parseSessionCursor(query)
  const { sql, values } = joinConditions([
    ...toScopeConditions('turn', scope, database, []),
    { sql: 'turn.session IS NOT NULL', values: [] },
  ])
  const beyond = after === null ? '' : 'HAVING (max(turn.said_at), max(turn.id)) < (?, ?)'
  const rows = database.all(
    `SELECT place.owner, place.user, turn.session, count(*) AS turns, min(turn.said_at) AS first_said_at,
       max(turn.said_at) AS last_said_at, max(turn.id) AS last_id
     FROM turn JOIN place ON place.number = turn.place_number
     WHERE ${sql} GROUP BY turn.place_number, turn.session ${beyond}
     ORDER BY last_said_at DESC, last_id DESC LIMIT ?`,
    [...values, ...(after === null ? [] : [after.lastSaidAt, after.lastId]), query.limit + 1],
  )
  return buildSessionPage(rows.map(toSession), query)
}

function toSession(row: SqlRow): SessionListPosition {
  const columns = {
    place: readPlace(row),
    turns: row.turns,
    firstSaidAt: row.first_said_at,
    lastSaidAt: row.last_said_at,
    lastId: row.last_id,
  }
  return columns as unknown as SessionListPosition // as the statement names its columns
}

/** Each escape of `text/storable-text.ts` has five characters that stand for one, and begins with U+E000. */
const CHARACTERS = `CASE WHEN instr(memory.content, char(0xe000)) = 0 THEN length(memory.content)
  ELSE 4 * length(replace(memory.content, char(0xe000), '')) - 3 * length(memory.content) END`

export function countMemories(
  database: SqliteDatabase,
  scope: Scope,
  where: MemoryFilter,
): MemoryCounts {
  const conditions = toDocumentConditions(where)
  const { sql, values } = joinConditions([
    ...toScopeConditions('memory', scope, database, conditions),
    ...conditions,
  ])
  // The limit keeps SQLite from flattening the subquery, which would sort all texts to group them.
  const groups = database.all(
    `SELECT type, category, count(*) AS count, sum(characters) AS characters
     FROM (SELECT type, category, ${CHARACTERS} AS characters FROM memory WHERE ${sql} LIMIT -1)
     GROUP BY type, category`,
    values,
  )
  return sumCounts(groups as unknown as readonly CountGroup[]) // as the statement names its columns
}
