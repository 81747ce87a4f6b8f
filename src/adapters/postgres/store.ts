/** The store in PostgreSQL: for several processes on the same memories, and for collections that outgrow a file. */
import { AppError } from '../../core/errors.ts'
import { byPlace, type OwnerId, type Scope, type UserId } from '../../core/ids.ts'
import { PAGE_ROWS_MAX } from '../../core/limits.ts'
import type { FindQuery, Page, Row, Store, StoreReport, Table, Tables } from '../../ports/store.ts'
import type { VectorIndex } from '../../ports/vector-index.ts'
import { around } from './around.ts'
import { commit } from './commit.ts'
import { type Database, openDatabase } from './driver.ts'
import { CONDITIONS, createBinder, scopeConditions } from './filters.ts'
import { inspect } from './inspect.ts'
import { migrate, SCHEMA_VERSION } from './migrations.ts'
import { type Names, namesIn, quoted } from './names.ts'
import { decoded, SHAPES } from './rows.ts'
import { matchText } from './text.ts'
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
    around: (scope, ids, reach) => around(database.query, names, scope, ids, reach),
    matchText: (scope, query) => matchText(database.query, names, scope, query),
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
  { where, after, order = 'newest', limit }: FindQuery<T>,
): Promise<Page<Row<T>>> {
  const rowsMax = Math.max(0, Math.min(limit, PAGE_ROWS_MAX))
  const binder = createBinder()
  const conditions = [...scopeConditions(scope, binder), ...CONDITIONS[table](where, binder)]
  const [beyond, direction] = order === 'oldest' ? ['>', 'ASC'] : ['<', 'DESC']
  if (after !== undefined) conditions.push(`id ${beyond} ${binder.bind(after)}`)
  // One more than asked for tells whether there is another page.
  const tail = `${conditions.join(' AND ')} ORDER BY id ${direction} LIMIT ${binder.bind(rowsMax + 1)}`
  const found = await selectRows(query, names, table, tail, binder.values)
  const rows = found.slice(0, rowsMax)
  return { rows, next: found.length > rowsMax ? (rows.at(-1)?.id ?? null) : null }
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
  const rows = await query<{ owner: OwnerId; user: UserId | null; memories: number }>(
    `SELECT owner_id AS owner, user_id AS "user", sum(memories)::integer AS memories FROM (
       SELECT owner_id, user_id, 1 AS memories FROM ${names.memory}
       UNION ALL SELECT owner_id, user_id, 0 FROM ${names.revision}
       UNION ALL SELECT owner_id, user_id, 0 FROM ${names.tombstone}
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
  const [row] = await query<Record<Table, number> & { bytes: number; server: string }>(
    `SELECT (SELECT count(*) FROM ${names.memory}) AS memory,
       (SELECT count(*) FROM ${names.revision}) AS revision,
       (SELECT count(*) FROM ${names.tombstone}) AS tombstone,
       (SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class AS c
        WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r') AS bytes,
       current_setting('server_version') AS server`,
    [quoted(names.schema)],
  )
  return {
    sizeBytes: row?.bytes ?? null,
    rows: {
      memory: row?.memory ?? 0,
      revision: row?.revision ?? 0,
      tombstone: row?.tombstone ?? 0,
    },
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
