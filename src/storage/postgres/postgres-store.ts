/**
 * PostgreSQL store: for several processes on the same memories, and for collections that outgrow a
 * file.
 */

import type { OwnerId, UserId } from '../../domain/ids.ts'
import { comparePlaces, type Scope } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import { quoteIdentifier } from '../../lib/sql.ts'
import type { MigrationSource } from '../migration-source.ts'
import {
  encodeCursor,
  NEVER_INSTANT,
  type OrderField,
  parseOrdering,
  toPageRange,
} from '../page-cursor.ts'
import {
  type FindQuery,
  mapTables,
  type Page,
  type Row,
  type Store,
  type StoreReport,
  TABLES,
  type Table,
  type Tables,
} from '../store.ts'
import type { VectorIndex } from '../vector-index.ts'
import {
  createPostgresChangeFeed,
  publishFullInvalidation,
} from './connection/postgres-change-feed.ts'
import {
  openPostgresDatabase,
  type PostgresDatabase,
  type QueryFunction,
} from './connection/postgres-driver.ts'
import { createReadReplicas, type ReadReplicas } from './connection/read-replicas.ts'
import { createRowLevelSecurity, type RowLevelSecurity } from './connection/row-level-security.ts'
import { checkStoreIntegrity } from './maintenance/integrity-check.ts'
import { createPostgresMigrationSource } from './maintenance/postgres-migration-source.ts'
import { checkVectorIntegrity } from './maintenance/vector-integrity-check.ts'
import { createIdentifiers, type SqlIdentifiers } from './schema/identifiers.ts'
import { migrate, SCHEMA_VERSION } from './schema/migrations.ts'
import {
  migrateVectorSchema,
  type PgvectorFallback,
  type VectorSupport,
} from './schema/vector-schema.ts'
import { matchText } from './search/lexical-search.ts'
import { findNeighbors } from './search/session-neighbors.ts'
import { applyCommit, collectOwners } from './store/commit.ts'
import { createCommitMarkers } from './store/commit-markers.ts'
import { ROW_CONDITION_BY_KIND } from './store/document-kinds.ts'
import { listDocuments } from './store/document-list.ts'
import { countMemories } from './store/memory-counts.ts'
import { decodeText, ROW_CODECS } from './store/row-codec.ts'
import { listSessions } from './store/session-list.ts'
import { createParameterBinder, TABLE_CONDITIONS, toScopeConditions } from './store/sql-filters.ts'
import { createTokenBuckets } from './store/token-buckets.ts'
import { createPostgresVectorIndex } from './vectors/postgres-vector-index.ts'
import type { VectorFormat } from './vectors/vector-format.ts'
import type { VectorStorage } from './vectors/vector-spaces.ts'

export type PostgresStoreOptions = {
  /**
   * `postgresql://user:password@host:port/database`.
   */
  readonly connectionString: string
  /** A separate schema, so that the database can be shared. */
  readonly schema?: string
  /** The most connections in the pool. */
  readonly poolSize?: number
  /** Statement timeout, lock waits included; 0 for none. */
  readonly statementTimeoutMs?: number
  /** How long a call waits for a free connection. */
  readonly connectionTimeoutMs?: number
  /** The most vectors of one owner that are compared exactly; a larger owner gets an index. */
  readonly exactSearchVectorsMax?: number
  /**
   * Fallback without pgvector: lexical search only, or exact comparison of all vectors. Default:
   * `keyword`.
   */
  readonly pgvectorFallback?: PgvectorFallback
  /** Enforces row-level security between owners. Once enabled, it stays on for the schema. */
  readonly rowLevelSecurity?: boolean
  /** Connection strings of read replicas for searches. */
  readonly replicas?: readonly string[]
  /** The most a replica may lag behind the writes of other processes. */
  readonly replicaLagMsMax?: number
}

export type PostgresStore = Store & {
  /**
   * Null without vector support; the report has the reason. pgvector is detected each time a store
   * is opened.
   */
  readonly vectors: VectorIndex | null
  /** The reason in plain words, and what to do about it. */
  readonly vectorsUnavailableReason: string | null
  /** The source for migrating to another store. */
  readonly migrationSource: MigrationSource
}

const DEFAULT_SCHEMA = 'recollect'
const DEFAULT_POOL_SIZE = 10
const DEFAULT_STATEMENT_TIMEOUT_MS = 30_000
const DEFAULT_CONNECTION_WAIT_MS = 10_000
const DEFAULT_SCANNED_VECTORS_MAX = 20_000
const DEFAULT_REPLICA_LAG_MS_MAX = 5_000

/** A slow replica is worse than none. */
const REPLICA_LIMITS = { connectionTimeoutMs: 1_000, statementTimeoutMs: 5_000 }

/** Connects and migrates the schema. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const {
    connectionString,
    schema = DEFAULT_SCHEMA,
    poolSize = DEFAULT_POOL_SIZE,
    statementTimeoutMs = DEFAULT_STATEMENT_TIMEOUT_MS,
    connectionTimeoutMs = DEFAULT_CONNECTION_WAIT_MS,
    pgvectorFallback: withoutPgvector = 'keyword',
    replicas: addresses = [],
  } = options
  const names = createIdentifiers(schema)
  const database = await openPostgresDatabase({
    ...{ connectionString, poolSize, statementTimeoutMs, connectionTimeoutMs },
  })
  const fence = createRowLevelSecurity(database, names)
  let support: VectorSupport
  try {
    await assertUnicodeEncoding(database)
    await migrate(database, names)
    support = await migrateVectorSchema(database, names, withoutPgvector)
    await fence.refreshState()
    const isFenced = options.rowLevelSecurity === true || fence.state !== 'off'
    if (isFenced && (await fence.enable())) await publishFullInvalidation(database, names)
  } catch (thrown) {
    await database.close()
    throw thrown
  }
  const followers = addresses.map((address) =>
    openPostgresDatabase({ ...REPLICA_LIMITS, connectionString: address, poolSize }),
  )
  const replicas = createReadReplicas({
    ...{ primary: database, names, replicas: await Promise.all(followers) },
    lagMsMax: options.replicaLagMsMax ?? DEFAULT_REPLICA_LAG_MS_MAX,
  })
  await replicas.refreshPositions()
  return createStore({
    options: { ...options, poolSize },
    database,
    names,
    fence,
    support,
    replicas,
  })
}

type StoreDependencies = {
  readonly options: PostgresStoreOptions & { readonly poolSize: number }
  readonly database: PostgresDatabase
  readonly names: SqlIdentifiers
  readonly fence: RowLevelSecurity
  readonly support: VectorSupport
  readonly replicas: ReadReplicas
}

function createStore(parts: StoreDependencies): PostgresStore {
  const { options, database, names, fence, support, replicas } = parts
  const news = createPostgresChangeFeed(database, names)
  const marks = createCommitMarkers(database, names)
  const vectors = support.kind === 'ready' ? createVectorIndex(parts, support.form) : null
  const reading = ({ owner }: Scope) => fence.runnerFor(database, [owner]).query
  const searching = <T>({ owner }: Scope, search: (query: QueryFunction) => Promise<T>) =>
    replicas.runSearch(owner, (on) => search(fence.runnerFor(on, [owner]).query))
  return {
    get: (table, scope, id) => get(reading(scope), names, table, scope, id),
    find: (table, scope, query) => find(reading(scope), names, table, scope, query),
    countMemories: (scope, where) => countMemories(reading(scope), names, scope, where),
    findDocuments: (scope, query) => listDocuments(reading(scope), names, scope, query),
    findNeighbors: (scope, ids, reach) =>
      searching(scope, (query) => findNeighbors(query, names, scope, ids, reach)),
    searchText: (scope, asked) =>
      searching(scope, (query) => matchText(query, names, scope, asked)),
    listSessions: (scope, query) => listSessions(reading(scope), names, scope, query),
    commit: async (changes) => {
      const outcome = await applyCommit(
        { database, names, rowSecurity: fence, markers: marks },
        changes,
      )
      if (outcome.kind === 'committed') {
        replicas.recordWrite(collectOwners(changes))
        news.publish(changes)
      }
      return outcome
    },
    listPlaces: (owner) =>
      places(
        fence.runnerFor(database, owner === undefined ? 'everyone' : [owner]).query,
        names,
        owner,
      ),
    getReport: async () => ({
      kind: 'postgres',
      location: redactConnectionString(options.connectionString),
      schemaVersion: SCHEMA_VERSION,
      ...(await readSize(fence.runnerFor(database, 'everyone').query, names, {
        poolSize: options.poolSize,
        ...database.poolStatus(),
        ...readFacts(support),
        rowLevelSecurity: fence.state,
        changeFeed: news.report(),
        ...replicas.report(),
      })),
    }),
    checkIntegrity: async ({ repair }) => [
      ...(await checkStoreIntegrity(fence.runnerFor(database, 'everyone'), names, repair)),
      ...(support.kind === 'ready' && vectors !== null
        ? await checkVectorIntegrity(
            createVectorStorage(parts, support.form, database),
            vectors,
            repair,
          )
        : []),
    ],
    vectors,
    vectorsUnavailableReason:
      support.kind === 'ready' ? null : describeMissingVectors(support.reason),
    onRemoteChange: (listener) =>
      news.subscribe((change) => {
        // Another process may have enabled row-level security; without it here, no rows would be visible.
        if (change.owners === 'any') void fence.refreshState().catch(() => {})
        listener(change)
      }),
    notifyRemote: (changed) => news.publishMemories(changed),
    takeTokens: createTokenBuckets(database, names),
    migrationSource: createPostgresMigrationSource({ database, names, fence }),
    close: async () => {
      await news.close()
      await replicas.close()
      await database.close()
    },
  }
}

function createVectorIndex(parts: StoreDependencies, form: VectorFormat): VectorIndex {
  const { options, database, replicas } = parts
  return createPostgresVectorIndex({
    tables: createVectorStorage(parts, form, database),
    runSearch: (owner, search) =>
      replicas.runSearch(owner, (on) => search(createVectorStorage(parts, form, on))),
    exactSearchVectorsMax: options.exactSearchVectorsMax ?? DEFAULT_SCANNED_VECTORS_MAX,
  })
}

function createVectorStorage(
  { names, fence }: StoreDependencies,
  form: VectorFormat,
  on: PostgresDatabase,
): VectorStorage {
  const own =
    form.kind === 'pgvector'
      ? names
      : {
          ...names,
          embedding: names.plain_embedding,
          embedding_space: names.plain_embedding_space,
        }
  return {
    ...{ database: on, names: own, format: form },
    runnerFor: (owners) => fence.runnerFor(on, owners),
  }
}

function describeMissingVectors(reason: string): string {
  return `pgvector cannot be used: ${reason}. Fix that, or set RECOLLECT_POSTGRES_PGVECTOR_FALLBACK=exact to compare vectors without it.`
}

/** The vector report, also without vector support. */
function readFacts(support: VectorSupport): StoreReport['facts'] {
  if (support.kind === 'none') return { pgvector: support.reason }
  const { form } = support
  return { pgvector: form.kind === 'pgvector' ? form.version : form.reason }
}

async function assertUnicodeEncoding({ query }: PostgresDatabase): Promise<void> {
  const [row] = await query<{ encoding: string }>(
    `SELECT current_setting('server_encoding') AS encoding`,
  )
  if (row?.encoding === 'UTF8') return
  throw new AppError(
    'unavailable',
    `The PostgreSQL database has the encoding ${row?.encoding}, which cannot hold all text. Create one with ENCODING 'UTF8'.`,
    { encoding: row?.encoding ?? null },
  )
}

async function get<T extends Table>(
  query: QueryFunction,
  names: SqlIdentifiers,
  table: T,
  scope: Scope,
  id: Tables[T]['id'],
): Promise<Row<T> | null> {
  const binder = createParameterBinder()
  const conditions = [
    `id = ${binder.bind(id)}`,
    ...toScopeConditions(scope, binder),
    ...TABLE_CONDITIONS[table]({}, binder),
  ]
  const rows = await selectRows(query, names, table, conditions.join(' AND '), binder.values)
  return rows[0] ?? null
}

async function find<T extends Table>(
  query: QueryFunction,
  names: SqlIdentifiers,
  table: T,
  scope: Scope,
  findQuery: FindQuery<T>,
): Promise<Page<Row<T>>> {
  const { limit, offset } = toPageRange(findQuery)
  const { fields, isForward, after } = parseOrdering(findQuery)
  const binder = createParameterBinder()
  const conditions = [
    ...toScopeConditions(scope, binder),
    ...TABLE_CONDITIONS[table](findQuery.where, binder),
  ]
  const [beyond, direction] = isForward ? ['>', 'ASC'] : ['<', 'DESC']
  const columns = [...fields.map((field) => ORDER_COLUMNS[field]), 'id']
  if (after !== null) {
    const bound = after.map((value) => binder.bind(value))
    conditions.push(`(${columns.join(', ')}) ${beyond} (${bound.join(', ')})`)
  }
  // One row more than requested shows whether there is another page.
  const by = columns.map((column) => `${column} ${direction}`).join(', ')
  const tail = `${conditions.join(' AND ')} ORDER BY ${by}
    LIMIT ${binder.bind(limit + 1)} OFFSET ${binder.bind(offset)}`
  const found = await selectRows(query, names, table, tail, binder.values)
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? encodeCursor(findQuery.order, rows.at(-1)) : null }
}

const ORDER_COLUMNS: Readonly<Record<OrderField, string>> = {
  saidAt: 'said_at',
  position: 'position',
  updatedAt: 'updated_at',
  importance: 'importance',
  salience: 'salience',
  lastUsedAt: `COALESCE(last_used_at, ${NEVER_INSTANT})`,
  useCount: 'use_count',
}

async function selectRows<T extends Table>(
  query: QueryFunction,
  names: SqlIdentifiers,
  table: T,
  tail: string,
  values: readonly unknown[],
): Promise<readonly Row<T>[]> {
  const { columns, fromColumns } = ROW_CODECS[table]
  const list = columns.map(quoteIdentifier).join(', ')
  const rows = await query<Parameters<typeof fromColumns>[0]>(
    `SELECT ${list} FROM ${names[table]} WHERE ${tail}`,
    values,
  )
  return rows.map((row) => fromColumns(row))
}

async function places(
  query: QueryFunction,
  names: SqlIdentifiers,
  owner: OwnerId | undefined,
): ReturnType<Store['listPlaces']> {
  const binder = createParameterBinder()
  const theirs = owner === undefined ? [] : [`owner_id = ${binder.bind(owner)}`]
  const held = TABLES.map((table) => {
    const conditions = [...theirs, ...TABLE_CONDITIONS[table]({}, binder)]
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const [memories, turns] = [table === 'memory' ? 1 : 0, table === 'turn' ? 1 : 0]
    return `SELECT owner_id, user_id, ${memories} AS memories, ${turns} AS turns FROM ${names[table]} ${where}`
  })
  const rows = await query<{
    owner: OwnerId
    user: UserId | null
    memories: number
    turns: number
  }>(
    `SELECT owner_id AS owner, user_id AS "user", sum(memories)::integer AS memories,
       sum(turns)::integer AS turns FROM (${held.join(' UNION ALL ')}) AS held
     GROUP BY owner_id, user_id`,
    binder.values,
  )
  return rows
    .map(({ owner, user, memories, turns }) => ({
      ...{ owner: decodeText(owner), user: decodeText(user) },
      ...{ memories, turns },
    }))
    .sort(comparePlaces)
}

async function readSize(
  query: QueryFunction,
  names: SqlIdentifiers,
  facts: StoreReport['facts'],
): Promise<Pick<StoreReport, 'sizeBytes' | 'rows' | 'facts'>> {
  const counts = TABLES.map((table) => {
    const where = table === 'memory' ? `WHERE ${ROW_CONDITION_BY_KIND.memory}` : ''
    return `(SELECT count(*) FROM ${names[table]} ${where}) AS ${table}`
  })
  const [row] = await query<Record<Table, number> & { bytes: number; server: string }>(
    `SELECT ${counts.join(', ')},
       (SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class AS c
        WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r') AS bytes,
       current_setting('server_version') AS server`,
    [quoteIdentifier(names.schema)],
  )
  return {
    sizeBytes: row?.bytes ?? null,
    rows: mapTables((table) => row?.[table] ?? 0),
    facts: { server: row?.server ?? 'unknown', schema: names.schema, ...facts },
  }
}

/**
 * A connection string that is safe to show. One that cannot be parsed is hidden entirely: it may
 * contain a password anywhere.
 */
export function redactConnectionString(connectionString: string): string {
  if (!URL.canParse(connectionString)) return 'postgres'
  const url = new URL(connectionString)
  if (url.password !== '') url.password = '***'
  for (const name of ['password', 'sslpassword']) url.searchParams.delete(name)
  return url.toString()
}
