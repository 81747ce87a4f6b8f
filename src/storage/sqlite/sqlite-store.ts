/**
 * The store in one SQLite file.
 *
 * WAL with `synchronous = NORMAL`: an acknowledged write survives the death of the process at any point; a power
 * cut may cost the last moments, never the integrity of the file. `durability: 'full'` waits for the disk on every
 * commit and survives a power cut too. One connection writes and reads; it is synchronous, so a commit can't be
 * interleaved with anything in this process, and other processes wait for it up to `busyTimeoutMs`.
 */
import { AppError } from '../../domain/errors.ts'
import type { MemoryId } from '../../domain/ids.ts'
import { COMMIT_CHANGES_MAX } from '../../domain/limits.ts'
import { byPlace, type Scope } from '../../domain/scope.ts'
import type { SearchDocument } from '../../domain/search-document.ts'
import { fromStorable, toStorable } from '../../text/storable-text.ts'
import type { Leaving } from '../migration-source.ts'
import { cursorAfter, NEVER, type OrderField, orderingOf, partOf } from '../page-cursor.ts'
import {
  type Change,
  type DocumentQuery,
  type FindQuery,
  forEachTable,
  type MemoryFilter,
  type Page,
  type Row,
  type SessionQuery,
  type Store,
  TABLES,
  type Table,
  type Tables,
  type TextQuery,
} from '../store.ts'
import type { VectorIndex } from '../vector-index.ts'
import type { ResidentOptions } from './cache/owner-cache.ts'
import { SqliteSession } from './connection/sqlite-database.ts'
import {
  type DatabaseKey,
  type OpenConnection,
  openConnection,
  type SqlRow,
} from './connection/sqlite-driver.ts'
import { Checkpoints } from './connection/wal-checkpointer.ts'
import { inspect } from './maintenance/integrity-check.ts'
import { createLeaving } from './maintenance/sqlite-migration-source.ts'
import { MIGRATIONS, type Migration, migrate, pendingMigrations } from './schema/migrations.ts'
import { around, matchText } from './search/document-search.ts'
import { commit } from './store/commit.ts'
import { toEntry } from './store/entry-codec.ts'
import { tally } from './store/memory-counts.ts'
import {
  INDEX_COLUMNS,
  MEMORY_SELECTION,
  PLACE_TOKEN,
  toDocument,
  toMemory,
  toRevision,
  toTombstone,
} from './store/row-codec.ts'
import { sessions } from './store/session-list.ts'
import {
  type Condition,
  conjunction,
  IS_MEMORY,
  matching,
  memoryConditions,
  ordered,
  within,
} from './store/sql-filters.ts'
import { TURN_COLUMNS, toTurn } from './store/turn-codec.ts'
import { openVecVectors } from './vectors/sqlite-vec-vector-index.ts'
import { openSqliteVectors } from './vectors/sqlite-vector-index.ts'

/** How near vectors are looked for. */
export const VECTOR_SEARCHES = ['built-in', 'sqlite-vec'] as const

export type VectorSearch = (typeof VECTOR_SEARCHES)[number]

export type SqliteOptions = {
  /** A file's path, or `:memory:`. */
  readonly path: string
  readonly now: () => number
  readonly key?: DatabaseKey | null
  readonly durability?: 'normal' | 'full'
  readonly busyTimeoutMs?: number
  /** How much one commit may change, where that is not what is usual. */
  readonly commitChangesMax?: number
  readonly migrations?: readonly Migration[]
  /** Owners' vectors are kept in memory up to this much; those of larger owners are read for each search. */
  readonly vectorMemoryBytes?: number
  /** Owners with so many vectors are searched by sketches first, which finds nearly all that is near. */
  readonly vectorsSketchedFrom?: number
  /** What compares vectors: our own scan, or the package sqlite-vec, which must be installed. */
  readonly vectors?: VectorSearch
  /** Which owners' memories are kept at hand once they were asked about. */
  readonly resident?: ResidentOptions
  /** For tests that break the driver on purpose. */
  readonly openConnection?: OpenConnection
}

export type SqliteStore = Store & {
  /** Writes a consistent copy of the whole database to a path where nothing is yet, encrypted as this one is. */
  backup(path: string): Promise<void>
  /** On the same connection. Closing the store closes it. */
  readonly vectors: VectorIndex
  /** For moving everything elsewhere. */
  readonly leaving: Leaving
}

const BUSY_TIMEOUT_MS = 5_000

/** What a commit lets the log grow to before it empties it itself, 40 MiB: see `checkpoints.ts`. */
const LOG_PAGES_MAX = 10_000

/** Questions about many owners read pages from all over the file. */
const CACHE_KIB = 65_536

export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  const key = options.key ?? null
  const connection = await (options.openConnection ?? openConnection)(options.path, key)
  const session = new SqliteSession(connection, options.resident)
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
    bringUpToDate(session, options)
    session.waitElsewhere(options.busyTimeoutMs ?? BUSY_TIMEOUT_MS)
    const builtIn = openSqliteVectors(session, {
      memoryBytes: options.vectorMemoryBytes,
      sketchedFrom: options.vectorsSketchedFrom,
    })
    const vectors =
      options.vectors === 'sqlite-vec' ? await openVecVectors(session, builtIn) : builtIn
    return sqliteStore(session, options, key !== null, vectors)
  } catch (error) {
    connection.close()
    throw error
  }
}

function bringUpToDate(session: SqliteSession, options: SqliteOptions): void {
  const migrations = options.migrations ?? MIGRATIONS
  const pending = pendingMigrations(session.connection, migrations)
  if (pending === null) return
  if (pending.from > 0 && options.path !== ':memory:') {
    copyTo(session, `${options.path}.before-schema-${pending.to}-${options.now()}`)
  }
  migrate(session.connection, options.now(), migrations)
}

function sqliteStore(
  session: SqliteSession,
  options: SqliteOptions,
  isEncrypted: boolean,
  vectors: VectorIndex,
): SqliteStore {
  const checkpoints = new Checkpoints({ path: options.path, key: options.key ?? null })
  return {
    vectors,
    leaving: createLeaving(session),

    async get<T extends Table>(table: T, scope: Scope, id: Tables[T]['id']) {
      const isMeant = { sql: `${table}.id = ?`, values: [id] }
      const conditions = table === 'memory' ? [isMeant, IS_MEMORY] : [isMeant]
      const [row] = select(session, table, scope, conditions)
      return row ?? null
    },

    async find<T extends Table>(table: T, scope: Scope, query: FindQuery<T>) {
      const { limit, offset } = partOf(query)
      const known = findByIds(session, table, scope, query)
      if (known !== null) return { rows: known, next: null }
      const part = [limit + 1, offset]
      const rows =
        findCreated(session, table, scope, query) ??
        select(session, table, scope, ...inOrder(session, table, scope, query, part))
      const page = rows.slice(0, limit)
      return {
        rows: page,
        next: rows.length > limit ? cursorAfter(query.order, page.at(-1)) : null,
      }
    },

    async findDocuments(scope: Scope, query: DocumentQuery) {
      return findDocuments(session, scope, query)
    },

    async tally(scope: Scope, where: MemoryFilter) {
      return tally(session, scope, where)
    },

    async matchText(scope: Scope, query: TextQuery) {
      return matchText(session, scope, query)
    },

    async sessions(scope: Scope, query: SessionQuery) {
      return sessions(session, scope, query)
    },

    async around(scope: Scope, ids: readonly MemoryId[], reach: number) {
      return around(session, scope, ids, reach)
    },

    async commit(changes: readonly Change[]) {
      const most = options.commitChangesMax ?? COMMIT_CHANGES_MAX
      if (changes.length > most) throw new RangeError(`A commit holds at most ${most} changes.`)
      const outcome = await session.whenFree(() => commit(session, changes))
      checkpoints.note(changes.length)
      if (outcome.kind === 'committed' && changes.some(isErasing)) {
        await emptyLog(session, checkpoints)
      }
      return outcome
    },

    async places(owner) {
      // From the counts that search keeps: going through the memories would take a second with a million of them.
      const rows = session.all(
        `SELECT place.owner, place.user, coalesce(corpus.memories, 0) AS memories,
           coalesce(said.memories, 0) AS turns
         FROM place LEFT JOIN corpus ON corpus.token = ? || place.number
           LEFT JOIN corpus AS said ON said.token = ? || place.number
         WHERE (corpus.memories > 0 OR said.memories > 0 OR ${UNCOUNTED.map(holds).join(' OR ')})
           ${owner === undefined ? '' : 'AND place.owner = ?'}`,
        [PLACE_TOKEN.memory, PLACE_TOKEN.turn, ...(owner === undefined ? [] : [toStorable(owner)])],
      )
      return rows
        .map((row) => ({
          owner: fromStorable(String(row.owner)),
          user: row.user === '' ? null : fromStorable(String(row.user)),
          memories: Number(row.memories),
          turns: Number(row.turns),
        }))
        .sort(byPlace)
    },

    async report() {
      const number = (sql: string) => Number(Object.values(session.all(sql)[0] ?? {})[0])
      return {
        kind: isEncrypted ? 'sqlite (encrypted)' : 'sqlite',
        location: options.path,
        schemaVersion: number('SELECT count(*) FROM migration'),
        sizeBytes: number('PRAGMA page_count') * number('PRAGMA page_size'),
        rows: forEachTable((table) =>
          number(
            `SELECT count(*) FROM ${table} ${table === 'memory' ? `WHERE ${IS_MEMORY.sql}` : ''}`,
          ),
        ),
        facts: {
          sqlite: String(session.all('SELECT sqlite_version() AS version')[0]?.version),
          durability: options.durability ?? 'normal',
          encrypted: isEncrypted,
          vectors: number('SELECT coalesce(sum(vectors), 0) FROM vector_owner'),
        },
      }
    },

    async inspect({ repair }) {
      session.resident.forgetAll()
      session.known.forgetAll()
      return session.whenFree(() => inspect(session, repair))
    },

    async backup(path: string) {
      copyTo(session, path)
    },

    async close() {
      await vectors.close()
      await checkpoints.close()
      session.resident.forgetAll()
      session.connection.close()
    },
  }
}

function findDocuments(
  session: SqliteSession,
  scope: Scope,
  query: DocumentQuery,
): Page<SearchDocument> {
  const { where, order = 'newest', after } = query
  const { ids, createdFrom, ...others } = where
  const { limit } = partOf({ where: {}, limit: query.limit })
  if (order === 'newest' && after === undefined && !session.resident.isOff) {
    const resident = session.resident.of(session.ownerNumber(scope))
    if (resident === null) session.heedOthers()
    if (ids !== undefined && limit >= ids.length) {
      const filter = { ...others, ...(createdFrom === undefined ? {} : { createdFrom }) }
      return { rows: (resident ?? session.known).find(scope, ids, filter), next: null }
    }
    if (createdFrom !== undefined && resident !== null) {
      return pageOf(resident.created(scope, where, limit + 1), limit)
    }
  }
  const [beyond, direction] = order === 'oldest' ? ['>', 'ASC'] : ['<', 'DESC']
  const conditions = [
    ...memoryConditions(where),
    ...(after === undefined ? [] : [{ sql: `memory.id ${beyond} ?`, values: [after] }]),
  ]
  const by = `ORDER BY ${ordered('memory.id', conditions)} ${direction} LIMIT ?`
  const rows = selectDocuments(session, scope, conditions, { sql: by, values: [limit + 1] })
  return pageOf(rows, limit)
}

function pageOf(rows: readonly SearchDocument[], limit: number): Page<SearchDocument> {
  const page = rows.slice(0, limit)
  return { rows: page, next: rows.length > limit ? (page.at(-1)?.id ?? null) : null }
}

/** A list of ids, as recall asks for it. */
function findByIds<T extends Table>(
  session: SqliteSession,
  table: T,
  scope: Scope,
  query: FindQuery<T>,
): readonly Row<T>[] | null {
  const first = newestMemories(table, query)
  if (first === null || session.resident.isOff) return null
  const { ids, ...others } = first.where
  if (ids === undefined || first.limit < ids.length) return null
  const resident = session.resident.of(session.ownerNumber(scope))
  if (resident === null) session.heedOthers()
  const found = (resident ?? session.known).find(scope, ids, others)
  return found as readonly Row<T>[] // memories, as was just seen
}

/** Memories of a time, as recall asks for them, and one more than are wanted. */
function findCreated<T extends Table>(
  session: SqliteSession,
  table: T,
  scope: Scope,
  query: FindQuery<T>,
): readonly Row<T>[] | null {
  const first = newestMemories(table, query)
  if (first?.where.createdFrom === undefined) return null
  const resident = session.resident.of(session.ownerNumber(scope))
  if (resident === null) return null
  const found = resident.created(scope, first.where, partOf(first).limit + 1)
  return found as readonly Row<T>[] // memories, as was just seen
}

/** The query if it is for the first of the newest memories. */
function newestMemories<T extends Table>(
  table: T,
  query: FindQuery<T>,
): FindQuery<'memory'> | null {
  const { order = 'newest', after, offset = 0 } = query
  if (table !== 'memory' || order !== 'newest' || after !== undefined || offset !== 0) return null
  return query as FindQuery<'memory'> // just checked
}

const READ: { readonly [T in Table]: (row: SqlRow) => Row<T> } = {
  memory: toMemory,
  revision: toRevision,
  tombstone: toTombstone,
  entry: toEntry,
  turn: toTurn,
}

const TURN = TURN_COLUMNS.filter((column) => !INDEX_COLUMNS.has(column))
  .map((column) => `turn.${column}`)
  .join(', ')

function selectDocuments(
  session: SqliteSession,
  scope: Scope,
  conditions: readonly Condition[],
  tail: Condition,
): readonly SearchDocument[] {
  const where = conjunction([...within('memory', scope, session, conditions), ...conditions])
  const from = `FROM memory JOIN place ON place.number = memory.place_number
    WHERE ${where.sql} ${tail.sql}`
  const values = [...where.values, ...tail.values]
  return session.packed({ columns: MEMORY_SELECTION, from }, values).map(toDocument)
}

function select<T extends Table>(
  session: SqliteSession,
  table: T,
  scope: Scope,
  conditions: readonly Condition[],
  tail: Condition = { sql: '', values: [] },
): readonly Row<T>[] {
  const where = conjunction([...within(table, scope, session, conditions), ...conditions])
  const from = `FROM ${table} JOIN place ON place.number = ${table}.place_number
    WHERE ${where.sql} ${tail.sql}`
  const values = [...where.values, ...tail.values]
  const columns = table === 'turn' ? TURN : `${table}.*`
  const rows =
    table === 'memory'
      ? session.packed({ columns: MEMORY_SELECTION, from }, values)
      : session.all(`SELECT ${columns}, place.owner, place.user ${from}`, values)
  return rows.map(READ[table])
}

/** The conditions of a list in its order, and what goes behind them. */
function inOrder<T extends Table>(
  session: SqliteSession,
  table: T,
  scope: Scope,
  query: FindQuery<T>,
  part: readonly number[],
): readonly [conditions: readonly Condition[], tail: Condition] {
  const { fields, isForward, after } = orderingOf(query)
  const [beyond, direction] = isForward ? ['>', 'ASC'] : ['<', 'DESC']
  const columns = [...fields.map((field) => ORDER_COLUMNS[field](table)), `${table}.id`]
  const filters = matching(table, query.where)
  const behind = `(${columns.join(', ')}) ${beyond} (${columns.map(() => '?').join(', ')})`
  const conditions = [...filters, ...(after === null ? [] : [{ sql: behind, values: after }])]
  const by = columns.map((column) => `${ordered(column, filters)} ${direction}`).join(', ')
  const tail = { sql: `ORDER BY ${by} LIMIT ? OFFSET ?`, values: part }
  if (table !== 'memory' || fields.length === 0) return [conditions, tail]
  const where = conjunction([...within(table, scope, session, conditions), ...conditions])
  return [[theseOf(where, tail)], { sql: `ORDER BY ${by}`, values: [] }]
}

const ORDER_COLUMNS: Readonly<Record<OrderField, (table: Table) => string>> = {
  saidAt: (table) => `${table}.said_at`,
  position: (table) => `${table}.position`,
  updatedAt: (table) => `${table}.updated_at`,
  importance: (table) => `${table}.importance`,
  salience: (table) => `${table}.salience`,
  lastUsedAt: (table) => `coalesce(${table}.last_used_at, ${NEVER})`,
  useCount: (table) => `${table}.use_count`,
}

/**
 * Those memories come into the list. Sorting whole rows instead of their numbers takes many times as long. No index holds
 * these orders: it would have to be changed with every use of a memory, and an owner's 100,000 are sorted in 30 ms.
 */
function theseOf(where: Condition, tail: Condition): Condition {
  return {
    sql: `memory.number IN (SELECT number FROM memory WHERE ${where.sql} ${tail.sql})`,
    values: [...where.values, ...tail.values],
    index: 'alone',
  }
}

/** Tables whose rows are not counted for each place. */
const UNCOUNTED = TABLES.filter((table) => table !== 'memory' && table !== 'turn')

function holds(table: Table): string {
  return `EXISTS (SELECT 1 FROM ${table} AS other
    WHERE other.owner_number = place.owner_number AND other.place_number = place.number)`
}

/** Nothing can be read from a tombstone. */
function isErasing(change: Change): boolean {
  return change.op === 'remove' && change.table !== 'tombstone'
}

/**
 * What was erased must not stay readable beside the file for as long as this process runs. A thread moves what is in the
 * log, which takes long; then this connection empties it. Were that done by another one, it would look as if another
 * process had written, and all that is at hand would be given up.
 */
async function emptyLog(session: SqliteSession, checkpoints: Checkpoints): Promise<void> {
  await checkpoints.moved()
  // Somebody who reads it is in the way: the thread can wait for them. Where it can't, the next checkpoint does it.
  if (!isEmptied(session)) await checkpoints.empty()
}

function isEmptied(session: SqliteSession): boolean {
  try {
    return session.all('PRAGMA wal_checkpoint(TRUNCATE)')[0]?.busy === 0
  } catch {
    return false // the commit stands
  }
}

function copyTo(session: SqliteSession, path: string): void {
  try {
    session.run('VACUUM INTO ?', [path])
  } catch (error) {
    if (error instanceof Error && /already exists/.test(error.message)) {
      throw new AppError('conflict', `There is already a file at ${path}.`, { path }, error)
    }
    throw error
  }
}
