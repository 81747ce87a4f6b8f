/** The store in PostgreSQL: for several processes on the same memories, and for collections that outgrow a file. */
import { AppError } from '../../core/errors.ts'
import { byPlace, type OwnerId, type Scope, type UserId } from '../../core/ids.ts'
import { cursorAfter, isSaidOrder, partOf, saidAfter } from '../../ports/paging.ts'
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
} from '../../ports/store.ts'
import type { VectorIndex } from '../../ports/vector-index.ts'
import { around } from './around.ts'
import { commit } from './commit.ts'
import { type Database, openDatabase } from './driver.ts'
import { CONDITIONS, createBinder, scopeConditions } from './filters.ts'
import { inspect } from './inspect.ts'
import { migrate, SCHEMA_VERSION } from './migrations.ts'
import { type Names, namesIn, quoted } from './names.ts'
import { decoded, SHAPES } from './rows.ts'
import { sessions } from './sessions.ts'
import { tally } from './tally.ts'
import { matchText, matchTurns } from './text.ts'
import { createPostgresVectors } from './vectors.ts'
import { prepareVectors, type VectorSupport } from './vectors-schema.ts'

export type PostgresOptions = {
  /** `postgresql://user:password@host:port/database`. */
  readonly connectionString: string
  /** Everything is kept in a schema of its own, so that a database can be shared. */
  readonly schema?: string
  /** Connections kept at most. */
  readonly poolSize?: number
  /** How long one statement may take, waiting for other writers included; 0 for as long as it needs. */
  readonly statementTimeoutMs?: number
  /** Up to how many vectors of one owner are compared one by one; an owner with more gets an index. */
  readonly scannedVectorsMax?: number
}

export type PostgresStore = Store & {
  /** Null where pgvector is missing; the report says why. It is looked for each time a store is opened. */
  readonly vectors: VectorIndex | null
}

const DEFAULT_SCHEMA = 'recollect'
const DEFAULT_POOL_SIZE = 10
const DEFAULT_STATEMENT_TIMEOUT_MS = 30_000
const DEFAULT_SCANNED_VECTORS_MAX = 20_000

/** Connects, and brings the schema up to date. */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const {
    connectionString,
    schema = DEFAULT_SCHEMA,
    poolSize = DEFAULT_POOL_SIZE,
    statementTimeoutMs = DEFAULT_STATEMENT_TIMEOUT_MS,
    scannedVectorsMax = DEFAULT_SCANNED_VECTORS_MAX,
  } = options
  const names = namesIn(schema)
  const database = await openDatabase({ connectionString, poolSize, statementTimeoutMs })
  let support: VectorSupport
  try {
    await requireUnicode(database)
    await migrate(database, names)
    support = await prepareVectors(database, names)
  } catch (thrown) {
    await database.close()
    throw thrown
  }
  return {
    get: (table, scope, id) => get(database, names, table, scope, id),
    find: (table, scope, query) => find(database, names, table, scope, query),
    tally: (scope, where) => tally(database.query, names, scope, where),
    around: (scope, ids, reach) => around(database.query, names, scope, ids, reach),
    matchText: (scope, query) => matchText(database.query, names, scope, query),
    matchTurns: (scope, query) => matchTurns(database.query, names, scope, query),
    sessions: (scope, query) => sessions(database.query, names, scope, query),
    commit: (changes) => commit(database, names, changes),
    places: () => places(database, names),
    report: async () => ({
      kind: 'postgres',
      location: withoutPassword(connectionString),
      schemaVersion: SCHEMA_VERSION,
      ...(await measure(database, names, {
        poolSize,
        pgvector: support.kind === 'ready' ? support.version : support.reason,
      })),
    }),
    inspect: ({ repair }) => inspect(database, names, repair),
    vectors:
      support.kind === 'ready'
        ? createPostgresVectors({ ...support, database, names, scannedMax: scannedVectorsMax })
        : null,
    close: () => database.close(),
  }
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
  { query }: Database,
  names: Names,
  table: T,
  scope: Scope,
  id: Tables[T]['id'],
): Promise<Row<T> | null> {
  const binder = createBinder()
  const conditions = [`id = ${binder.bind(id)}`, ...scopeConditions(scope, binder)]
  const rows = await selectRows(query, names, table, conditions.join(' AND '), binder.values)
  return rows[0] ?? null
}

async function find<T extends Table>(
  { query }: Database,
  names: Names,
  table: T,
  scope: Scope,
  findQuery: FindQuery<T>,
): Promise<Page<Row<T>>> {
  const { limit, offset } = partOf(findQuery)
  const { where, after, order } = findQuery
  const binder = createBinder()
  const conditions = [...scopeConditions(scope, binder), ...CONDITIONS[table](where, binder)]
  const isForward = order === 'oldest' || order === 'said'
  const [beyond, direction] = isForward ? ['>', 'ASC'] : ['<', 'DESC']
  const columns = columnsOf(order)
  if (after !== undefined) {
    const said = saidAfter(findQuery)
    const values = said === null ? [after] : [said.saidAt, said.position, said.id]
    const bound = values.map((value) => binder.bind(value))
    conditions.push(`(${columns.join(', ')}) ${beyond} (${bound.join(', ')})`)
  }
  // One more than asked for tells whether there is another page.
  const by = columns.map((column) => `${column} ${direction}`).join(', ')
  const tail = `${conditions.join(' AND ')} ORDER BY ${by}
    LIMIT ${binder.bind(limit + 1)} OFFSET ${binder.bind(offset)}`
  const found = await selectRows(query, names, table, tail, binder.values)
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? cursorAfter(order, rows.at(-1)) : null }
}

/** What a list is ordered by, all in one direction. */
function columnsOf(order: Tables[Table]['order'] | undefined): readonly string[] {
  if (order === 'updated') return ['updated_at', 'id']
  return isSaidOrder(order) ? ['said_at', 'position', 'id'] : ['id']
}

async function selectRows<T extends Table>(
  query: Database['query'],
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

async function places({ query }: Database, names: Names): ReturnType<Store['places']> {
  const held = TABLES.map(
    (table) =>
      `SELECT owner_id, user_id, ${table === 'memory' ? 1 : 0} AS memories FROM ${names[table]}`,
  )
  const rows = await query<{ owner: OwnerId; user: UserId | null; memories: number }>(
    `SELECT owner_id AS owner, user_id AS "user", sum(memories)::integer AS memories FROM (
       ${held.join(' UNION ALL ')}
     ) AS held GROUP BY owner_id, user_id`,
  )
  return rows
    .map(({ owner, user, memories }) => ({
      owner: decoded(owner),
      user: decoded(user),
      memories,
    }))
    .sort(byPlace)
}

async function measure(
  { query }: Database,
  names: Names,
  facts: StoreReport['facts'],
): Promise<Pick<StoreReport, 'sizeBytes' | 'rows' | 'facts'>> {
  const counts = TABLES.map((table) => `(SELECT count(*) FROM ${names[table]}) AS ${table}`)
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
