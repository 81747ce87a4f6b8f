/** The store in PostgreSQL: for several processes on the same memories, and for collections that outgrow a file. */
import { AppError } from '../../domain/errors.ts'
import type { OwnerId, UserId } from '../../domain/ids.ts'
import { byPlace, type Scope } from '../../domain/scope.ts'
import { quoted } from '../../lib/sql.ts'
import type { Leaving } from '../migration-source.ts'
import { cursorAfter, NEVER, type OrderField, orderingOf, partOf } from '../page-cursor.ts'
import {
  type FindQuery,
  forEachTable,
  type Page,
  type Row,
  type Store,
  type StoreReport,
  TABLES,
  type Table,
  type Tables,
} from '../store.ts'
import type { VectorIndex } from '../vector-index.ts'
import { createNews, tellEverything } from './connection/postgres-change-feed.ts'
import { type Database, openDatabase, type Query } from './connection/postgres-driver.ts'
import { createReplicas, type Replicas } from './connection/read-replicas.ts'
import { createFence, type Fence } from './connection/row-level-security.ts'
import { inspect } from './maintenance/integrity-check.ts'
import { createLeaving } from './maintenance/postgres-migration-source.ts'
import { inspectVectors } from './maintenance/vector-integrity-check.ts'
import { type Names, namesIn } from './schema/identifiers.ts'
import { migrate, SCHEMA_VERSION } from './schema/migrations.ts'
import { prepareVectors, type VectorSupport, type WithoutPgvector } from './schema/vector-schema.ts'
import { matchText } from './search/lexical-search.ts'
import { around } from './search/session-neighbors.ts'
import { commit, ownersOf } from './store/commit.ts'
import { createMarks } from './store/commit-markers.ts'
import { ROW_OF_KIND } from './store/document-kinds.ts'
import { findDocuments } from './store/document-list.ts'
import { tally } from './store/memory-counts.ts'
import { decoded, SHAPES } from './store/row-codec.ts'
import { sessions } from './store/session-list.ts'
import { CONDITIONS, createBinder, scopeConditions } from './store/sql-filters.ts'
import { createAllowances } from './store/token-buckets.ts'
import { createPostgresVectors } from './vectors/postgres-vector-index.ts'
import type { VectorForm } from './vectors/vector-format.ts'
import type { VectorTables } from './vectors/vector-spaces.ts'

export type PostgresOptions = {
  /** `postgresql://user:password@host:port/database`. */
  readonly connectionString: string
  /** Everything is kept in a schema of its own, so that a database can be shared. */
  readonly schema?: string
  /** Connections kept at most. */
  readonly poolSize?: number
  /** How long one statement may take, waiting for other writers included; 0 for as long as it needs. */
  readonly statementTimeoutMs?: number
  /** How long a call waits while all connections are in use. */
  readonly connectionWaitMs?: number
  /** Up to how many vectors of one owner are compared one by one; an owner with more gets an index. */
  readonly scannedVectorsMax?: number
  /** What to do where pgvector is missing: search by words alone, or compare all vectors. Default: `keyword`. */
  readonly withoutPgvector?: WithoutPgvector
  /** Has PostgreSQL itself keep owners apart as well. Once on, it stays on for the schema. */
  readonly rowSecurity?: boolean
  /** Addresses of read replicas, for searches. */
  readonly replicas?: readonly string[]
  /** How far a replica may be behind what other processes have written. */
  readonly replicaLagMsMax?: number
}

export type PostgresStore = Store & {
  /** Null where there are none; the report says why. pgvector is looked for each time a store is opened. */
  readonly vectors: VectorIndex | null
  /** The same for people: why there are none, and what to do. */
  readonly withoutVectors: string | null
  /** For moving everything elsewhere. */
  readonly leaving: Leaving
}

const DEFAULT_SCHEMA = 'recollect'
const DEFAULT_POOL_SIZE = 10
const DEFAULT_STATEMENT_TIMEOUT_MS = 30_000
const DEFAULT_CONNECTION_WAIT_MS = 10_000
const DEFAULT_SCANNED_VECTORS_MAX = 20_000
const DEFAULT_REPLICA_LAG_MS_MAX = 5_000

/** A replica that is slow is no help. */
const REPLICA_LIMITS = { connectionWaitMs: 1_000, statementTimeoutMs: 5_000 }

/** Connects, and brings the schema up to date. */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const {
    connectionString,
    schema = DEFAULT_SCHEMA,
    poolSize = DEFAULT_POOL_SIZE,
    statementTimeoutMs = DEFAULT_STATEMENT_TIMEOUT_MS,
    connectionWaitMs = DEFAULT_CONNECTION_WAIT_MS,
    withoutPgvector = 'keyword',
    replicas: addresses = [],
  } = options
  const names = namesIn(schema)
  const database = await openDatabase({
    ...{ connectionString, poolSize, statementTimeoutMs, connectionWaitMs },
  })
  const fence = createFence(database, names)
  let support: VectorSupport
  try {
    await requireUnicode(database)
    await migrate(database, names)
    support = await prepareVectors(database, names, withoutPgvector)
    await fence.look()
    const isFenced = options.rowSecurity === true || fence.state !== 'off'
    if (isFenced && (await fence.raise())) await tellEverything(database, names)
  } catch (thrown) {
    await database.close()
    throw thrown
  }
  const followers = addresses.map((address) =>
    openDatabase({ ...REPLICA_LIMITS, connectionString: address, poolSize }),
  )
  const replicas = createReplicas({
    ...{ primary: database, names, replicas: await Promise.all(followers) },
    lagMsMax: options.replicaLagMsMax ?? DEFAULT_REPLICA_LAG_MS_MAX,
  })
  await replicas.look()
  return storeOn({ options: { ...options, poolSize }, database, names, fence, support, replicas })
}

type Parts = {
  readonly options: PostgresOptions & { readonly poolSize: number }
  readonly database: Database
  readonly names: Names
  readonly fence: Fence
  readonly support: VectorSupport
  readonly replicas: Replicas
}

function storeOn(parts: Parts): PostgresStore {
  const { options, database, names, fence, support, replicas } = parts
  const news = createNews(database, names)
  const marks = createMarks(database, names)
  const vectors = support.kind === 'ready' ? vectorsOn(parts, support.form) : null
  const reading = ({ owner }: Scope) => fence.of(database, [owner]).query
  const searching = <T>({ owner }: Scope, search: (query: Query) => Promise<T>) =>
    replicas.search(owner, (on) => search(fence.of(on, [owner]).query))
  return {
    get: (table, scope, id) => get(reading(scope), names, table, scope, id),
    find: (table, scope, query) => find(reading(scope), names, table, scope, query),
    tally: (scope, where) => tally(reading(scope), names, scope, where),
    findDocuments: (scope, query) => findDocuments(reading(scope), names, scope, query),
    around: (scope, ids, reach) =>
      searching(scope, (query) => around(query, names, scope, ids, reach)),
    matchText: (scope, asked) => searching(scope, (query) => matchText(query, names, scope, asked)),
    sessions: (scope, query) => sessions(reading(scope), names, scope, query),
    commit: async (changes) => {
      const outcome = await commit({ database, names, fence, marks }, changes)
      if (outcome.kind === 'committed') {
        replicas.wrote(ownersOf(changes))
        news.tell(changes)
      }
      return outcome
    },
    places: (owner) =>
      places(fence.of(database, owner === undefined ? 'everyone' : [owner]).query, names, owner),
    report: async () => ({
      kind: 'postgres',
      location: withoutPassword(options.connectionString),
      schemaVersion: SCHEMA_VERSION,
      ...(await measure(fence.of(database, 'everyone').query, names, {
        poolSize: options.poolSize,
        ...database.load(),
        ...factsOf(support),
        rowSecurity: fence.state,
        news: news.report(),
        ...replicas.report(),
      })),
    }),
    inspect: async ({ repair }) => [
      ...(await inspect(fence.of(database, 'everyone'), names, repair)),
      ...(support.kind === 'ready' && vectors !== null
        ? await inspectVectors(vectorTablesOn(parts, support.form, database), vectors, repair)
        : []),
    ],
    vectors,
    withoutVectors: support.kind === 'ready' ? null : withoutVectors(support.reason),
    onElsewhere: (listener) =>
      news.listen((heard) => {
        // Another process may have raised the fence; then nothing is seen without it.
        if (heard.owners === 'any') void fence.look().catch(() => {})
        listener(heard)
      }),
    tellElsewhere: (changed) => news.tellMemories(changed),
    takeAllowance: createAllowances(database, names),
    leaving: createLeaving({ database, names, fence }),
    close: async () => {
      await news.close()
      await replicas.close()
      await database.close()
    },
  }
}

function vectorsOn(parts: Parts, form: VectorForm): VectorIndex {
  const { options, database, replicas } = parts
  return createPostgresVectors({
    tables: vectorTablesOn(parts, form, database),
    searching: (owner, search) =>
      replicas.search(owner, (on) => search(vectorTablesOn(parts, form, on))),
    scannedMax: options.scannedVectorsMax ?? DEFAULT_SCANNED_VECTORS_MAX,
  })
}

function vectorTablesOn({ names, fence }: Parts, form: VectorForm, on: Database): VectorTables {
  const own =
    form.kind === 'pgvector'
      ? names
      : {
          ...names,
          embedding: names.plain_embedding,
          embedding_space: names.plain_embedding_space,
        }
  return { ...{ database: on, names: own, form }, of: (owners) => fence.of(on, owners) }
}

function withoutVectors(reason: string): string {
  return `pgvector can’t be used: ${reason}. Mend that, or set RECOLLECT_POSTGRES_WITHOUT_PGVECTOR=exact to compare vectors without it.`
}

/** What is told of vectors, also where there are none. */
function factsOf(support: VectorSupport): StoreReport['facts'] {
  if (support.kind === 'none') return { pgvector: support.reason }
  const { form } = support
  return { pgvector: form.kind === 'pgvector' ? form.version : form.because }
}

async function requireUnicode({ query }: Database): Promise<void> {
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
  query: Query,
  names: Names,
  table: T,
  scope: Scope,
  id: Tables[T]['id'],
): Promise<Row<T> | null> {
  const binder = createBinder()
  const conditions = [
    `id = ${binder.bind(id)}`,
    ...scopeConditions(scope, binder),
    ...CONDITIONS[table]({}, binder),
  ]
  const rows = await selectRows(query, names, table, conditions.join(' AND '), binder.values)
  return rows[0] ?? null
}

async function find<T extends Table>(
  query: Query,
  names: Names,
  table: T,
  scope: Scope,
  findQuery: FindQuery<T>,
): Promise<Page<Row<T>>> {
  const { limit, offset } = partOf(findQuery)
  const { fields, isForward, after } = orderingOf(findQuery)
  const binder = createBinder()
  const conditions = [
    ...scopeConditions(scope, binder),
    ...CONDITIONS[table](findQuery.where, binder),
  ]
  const [beyond, direction] = isForward ? ['>', 'ASC'] : ['<', 'DESC']
  const columns = [...fields.map((field) => ORDER_COLUMNS[field]), 'id']
  if (after !== null) {
    const bound = after.map((value) => binder.bind(value))
    conditions.push(`(${columns.join(', ')}) ${beyond} (${bound.join(', ')})`)
  }
  // One more than asked for tells whether there is another page.
  const by = columns.map((column) => `${column} ${direction}`).join(', ')
  const tail = `${conditions.join(' AND ')} ORDER BY ${by}
    LIMIT ${binder.bind(limit + 1)} OFFSET ${binder.bind(offset)}`
  const found = await selectRows(query, names, table, tail, binder.values)
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? cursorAfter(findQuery.order, rows.at(-1)) : null }
}

const ORDER_COLUMNS: Readonly<Record<OrderField, string>> = {
  saidAt: 'said_at',
  position: 'position',
  updatedAt: 'updated_at',
  importance: 'importance',
  salience: 'salience',
  lastUsedAt: `COALESCE(last_used_at, ${NEVER})`,
  useCount: 'use_count',
}

async function selectRows<T extends Table>(
  query: Query,
  names: Names,
  table: T,
  tail: string,
  values: readonly unknown[],
): Promise<readonly Row<T>[]> {
  const { columns, fromColumns } = SHAPES[table]
  const list = columns.map(quoted).join(', ')
  const rows = await query<Parameters<typeof fromColumns>[0]>(
    `SELECT ${list} FROM ${names[table]} WHERE ${tail}`,
    values,
  )
  return rows.map((row) => fromColumns(row))
}

async function places(
  query: Query,
  names: Names,
  owner: OwnerId | undefined,
): ReturnType<Store['places']> {
  const binder = createBinder()
  const theirs = owner === undefined ? [] : [`owner_id = ${binder.bind(owner)}`]
  const held = TABLES.map((table) => {
    const conditions = [...theirs, ...CONDITIONS[table]({}, binder)]
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
      ...{ owner: decoded(owner), user: decoded(user) },
      ...{ memories, turns },
    }))
    .sort(byPlace)
}

async function measure(
  query: Query,
  names: Names,
  facts: StoreReport['facts'],
): Promise<Pick<StoreReport, 'sizeBytes' | 'rows' | 'facts'>> {
  const counts = TABLES.map((table) => {
    const where = table === 'memory' ? `WHERE ${ROW_OF_KIND.memory}` : ''
    return `(SELECT count(*) FROM ${names[table]} ${where}) AS ${table}`
  })
  const [row] = await query<Record<Table, number> & { bytes: number; server: string }>(
    `SELECT ${counts.join(', ')},
       (SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class AS c
        WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r') AS bytes,
       current_setting('server_version') AS server`,
    [quoted(names.schema)],
  )
  return {
    sizeBytes: row?.bytes ?? null,
    rows: forEachTable((table) => row?.[table] ?? 0),
    facts: { server: row?.server ?? 'unknown', schema: names.schema, ...facts },
  }
}

/** An address that can be shown. One that cannot be read is not shown at all: it may hold a password anywhere. */
export function withoutPassword(connectionString: string): string {
  if (!URL.canParse(connectionString)) return 'postgres'
  const url = new URL(connectionString)
  if (url.password !== '') url.password = '***'
  for (const name of ['password', 'sslpassword']) url.searchParams.delete(name)
  return url.toString()
}
