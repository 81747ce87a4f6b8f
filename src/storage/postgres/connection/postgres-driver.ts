/**
 * The only file that imports the `pg` package: pooling, transactions and error translation
 * (`postgres-errors.ts`). The package is loaded when a store is opened, so other stores do not need
 * it. Statements are never named: connection poolers that share a connection among clients would
 * mix the names up.
 */
import type { ClientBase, PoolClient } from 'pg'
import { AppError } from '../../../lib/errors.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { isConnectionReset, toCommitInDoubtError, toStoreError } from './postgres-errors.ts'

type Pool = InstanceType<typeof import('pg').Pool>
type Client = InstanceType<typeof import('pg').Client>

/** Declared here, so that the types of the package do not need those of the optional driver. */
export type QueryResultRow = { readonly [column: string]: unknown }

export type QueryFunction = <R extends QueryResultRow>(
  sql: string,
  values?: readonly unknown[],
) => Promise<readonly R[]>

/** The settings that a statement runs with; see `row-level-security.ts` and `reading`. */
export interface QueryRunner {
  /** Runs an idempotent statement: when its connection breaks, it is retried on another one. */
  readonly query: QueryFunction
  /**
   * Runs `begin`, then `work`, then commits. When either throws, the transaction rolls back. When
   * the connection is lost during COMMIT, `facts.transaction` of the error is the transaction id to
   * query the outcome by; see `commit.ts`. Statements that `work` defers to the end are sent with
   * the COMMIT in one round trip.
   */
  transaction<T>(begin: string, work: TransactionBody<T>): Promise<T>
  /** One read-only statement with its own settings, in one round trip. */
  readWithSettings<R extends QueryResultRow>(
    settings: readonly string[],
    sql: string,
    values?: readonly unknown[],
  ): Promise<readonly R[]>
  /**
   * Several read-only statements in one round trip, each with its own snapshot. Results come in
   * their order.
   */
  readAllWithSettings(
    settings: readonly string[],
    statements: readonly SqlStatement[],
  ): Promise<readonly (readonly QueryResultRow[])[]>
}

export type TransactionBody<T> = (
  query: QueryFunction,
  atEnd: (statement: SqlStatement) => void,
) => Promise<T>
export type SqlStatement = readonly [sql: string, values: readonly unknown[]]

export interface PostgresDatabase extends QueryRunner {
  /**
   * Runs `work` on a dedicated connection without a timeout, for long work. Closing the database
   * closes the connection; the server still finishes a statement that it has received.
   */
  runOnOwnConnection<T>(work: (query: QueryFunction) => Promise<T>): Promise<T>
  /** Listens to a channel on a dedicated connection until it is lost or closed. */
  listen(channel: string, ears: NotificationListener): Promise<{ close(): Promise<void> }>
  /** The number of connections, and of callers that wait for one. */
  poolStatus(): { readonly connections: number; readonly waiting: number }
  /** Waits for work in progress. Idempotent. */
  close(): Promise<void>
}

export type NotificationListener = {
  readonly onNotification: (payload: string) => void
  /** Called once when the connection is lost, not when it is closed. */
  readonly onLost: () => void
}

export type PostgresConnectionOptions = {
  readonly connectionString: string
  readonly poolSize: number
  /** Statement timeout; 0 for none. */
  readonly statementTimeoutMs: number
  /** How long a call waits for a connection before it fails. */
  readonly connectionTimeoutMs: number
}

/**
 * Idle connections are closed after this time, and all connections after a while: servers move.
 */
const IDLE_MS = 30_000
const LIFETIME_SECONDS = 1_800
/** A process that hangs inside a transaction must not hold its locks. */
const IDLE_IN_TRANSACTION_MS = MINUTE_MS
/** Attempts per statement: after a server restart, all pooled connections are dead. */
const OTHER_CONNECTIONS = 3
/**
 * How much later than the server the driver times out: a server that is gone times out nothing.
 */
const SILENCE_MS = 5_000
const INT8_TYPE = 20
const SERIES = 'BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY'

export async function openPostgresDatabase(
  options: PostgresConnectionOptions,
): Promise<PostgresDatabase> {
  const {
    connectionString,
    poolSize,
    statementTimeoutMs,
    connectionTimeoutMs: connectionWaitMs,
  } = options
  const pg = await loadDriver()
  // Timestamps and counters are integers far below 2^53. Set per client, so that other users of the driver are not affected.
  const types = new pg.TypeOverrides()
  types.setTypeParser(INT8_TYPE, Number)
  const connection = {
    connectionString,
    connectionTimeoutMillis: connectionWaitMs,
    application_name: 'recollect',
    keepAlive: true,
    types,
  }
  const limits =
    statementTimeoutMs === 0
      ? {}
      : { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + SILENCE_MS }
  // Enables pipelining; older versions of the driver ignore it.
  const pipelined = { pipeline: true }
  const pool = new pg.Pool({
    ...connection,
    ...limits,
    ...pipelined,
    max: poolSize,
    idleTimeoutMillis: IDLE_MS,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  })
  // Without a listener, a broken idle connection would crash the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return createDatabase(pool, () => new pg.Client(connection))
}

function createDatabase(pool: Pool, createClient: () => Client): PostgresDatabase {
  let closing: Promise<unknown> | null = null
  const separate = new Set<Client>()
  const requireOpen = () => {
    if (closing !== null) throw new AppError('unavailable', 'The store is closed.')
  }
  const connected = async (): Promise<PoolClient> => {
    requireOpen()
    try {
      return await pool.connect()
    } catch (thrown) {
      throw toStoreError(thrown)
    }
  }
  const connectBeside = async (): Promise<Client> => {
    requireOpen()
    const client = createClient()
    client.on('error', () => {})
    separate.add(client)
    client.once('end', () => separate.delete(client))
    try {
      await client.connect()
      return client
    } catch (thrown) {
      separate.delete(client)
      throw toStoreError(thrown)
    }
  }
  const readingAll: QueryRunner['readAllWithSettings'] = (settings, statements) =>
    retryOnDeadConnection(async () => readWith(await connected(), settings, statements))
  return {
    async query<R extends QueryResultRow>(sql: string, values: readonly unknown[] = []) {
      requireOpen()
      return retryOnDeadConnection(() => run<R>(pool, sql, values))
    },
    transaction: async (begin, work) => runTransaction(await connected(), begin, work),
    async readWithSettings<R extends QueryResultRow>(
      settings: readonly string[],
      sql: string,
      values: readonly unknown[] = [],
    ) {
      const [rows = []] = await readingAll(settings, [[sql, values]])
      return rows as readonly R[] // the row type of the statement, as with `query`
    },
    readAllWithSettings: readingAll,
    async runOnOwnConnection(work) {
      const client = await connectBeside()
      try {
        return await work((sql, values = []) => run(client, sql, values))
      } finally {
        await client.end()
      }
    },
    async listen(channel, { onNotification: hear, onLost }) {
      const client = await connectBeside()
      client.on('notification', ({ payload = '' }) => hear(payload))
      client.once('end', onLost)
      try {
        await run(client, `LISTEN ${channel}`, [])
      } catch (thrown) {
        client.off('end', onLost) // the caller gets this error, and once is enough
        await client.end().catch(() => {}) // else each retry would leak a connection
        throw thrown
      }
      return {
        close: async () => {
          client.off('end', onLost)
          await client.end()
        },
      }
    },
    poolStatus: () => ({ connections: pool.totalCount, waiting: pool.waitingCount }),
    async close() {
      closing ??= Promise.all([pool.end(), ...[...separate].map((client) => client.end())])
      await closing
    },
  }
}

async function retryOnDeadConnection<T>(work: () => Promise<T>): Promise<T> {
  for (let others = OTHER_CONNECTIONS; ; others--) {
    try {
      return await work()
    } catch (thrown) {
      if (others === 0 || !isConnectionReset(thrown)) throw thrown
    }
  }
}

async function runTransaction<T>(
  client: PoolClient,
  begin: string,
  work: TransactionBody<T>,
): Promise<T> {
  const query: QueryFunction = (sql, values = []) => run(client, sql, values)
  let transaction: string | null = null
  try {
    const [, numbered] = await runPipeline<{ number: string }>(client, [
      [begin, []],
      ['SELECT txid_current()::text AS number', []],
    ])
    const last: SqlStatement[] = []
    const result = await work(query, (statement) => last.push(statement))
    transaction = numbered?.[0]?.number ?? null
    await runPipeline(client, [...last, ['COMMIT', []]])
    client.release()
    return result
  } catch (thrown) {
    await rollBack(client)
    // Only a failure during COMMIT leaves the outcome unknown.
    throw transaction === null ? thrown : toCommitInDoubtError(thrown, transaction)
  }
}

async function readWith(
  client: PoolClient,
  settings: readonly string[],
  statements: readonly SqlStatement[],
): Promise<readonly (readonly QueryResultRow[])[]> {
  const begin = [SERIES, ...settings.map((setting) => `SET LOCAL ${setting}`)].join('; ')
  try {
    const results = await runPipeline(client, [[begin, []], ...statements, ['COMMIT', []]])
    client.release()
    return results.slice(1, -1)
  } catch (thrown) {
    await rollBack(client)
    throw thrown
  }
}

/**
 * One round trip where the driver can pipeline. The first failure counts; the others follow from
 * it.
 */
async function runPipeline<R extends QueryResultRow>(
  client: PoolClient,
  statements: readonly SqlStatement[],
): Promise<readonly (readonly R[])[]> {
  const results: (readonly R[])[] = []
  if (!('pipeline' in client)) {
    for (const [sql, values] of statements) results.push(await run<R>(client, sql, values))
    return results
  }
  const sent = statements.map(([sql, values]) => run<R>(client, sql, values))
  for (const outcome of await Promise.allSettled(sent)) {
    if (outcome.status === 'rejected') throw outcome.reason
    results.push(outcome.value)
  }
  return results
}

async function loadDriver() {
  try {
    return (await import('pg')).default
  } catch (thrown) {
    throw new AppError(
      'missing_part',
      'PostgreSQL needs the package "pg", which is not installed. Run `npm install pg`, or store the memories in a file.',
      { package: 'pg' },
      thrown,
    )
  }
}

async function run<R extends QueryResultRow>(
  runner: Pool | ClientBase,
  sql: string,
  values: readonly unknown[],
): Promise<readonly R[]> {
  try {
    return (await runner.query<R>(sql, [...values])).rows
  } catch (thrown) {
    throw toStoreError(thrown)
  }
}

async function rollBack(client: PoolClient): Promise<void> {
  try {
    await client.query('ROLLBACK')
    client.release()
  } catch {
    // The connection is gone, and the server has rolled back.
    client.release(true)
  }
}

const FOREIGN_ROWS = 500

/**
 * Reads a table of another program in one read-only transaction. The largest columns, such as vectors, are omitted by
 * selecting rows as JSON without them.
 */
export async function* readForeignTable(
  url: string,
  table: string,
): AsyncGenerator<{ readonly [column: string]: unknown }> {
  const { Client } = await loadDriver()
  const client = new Client({ connectionString: url, connectionTimeoutMillis: FOREIGN_TIMEOUT_MS })
  try {
    await client.connect()
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await client.query(
      `DECLARE foreign_rows CURSOR FOR SELECT to_jsonb(t) - 'embedding' AS row FROM ${client.escapeIdentifier(table)} t ORDER BY t.id`,
    )
    for (;;) {
      const { rows } = await client.query(`FETCH ${FOREIGN_ROWS} FROM foreign_rows`)
      if (rows.length === 0) break
      for (const { row } of rows) yield row
    }
    await client.query('ROLLBACK')
  } catch (error) {
    throw toStoreError(error)
  } finally {
    await client.end().catch(() => {}) // the connection may be lost already
  }
}

const FOREIGN_TIMEOUT_MS = 10_000
