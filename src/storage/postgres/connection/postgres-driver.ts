/**
 * The only file that knows the `pg` package: a pool, transactions, and what its failures mean (`failures.ts`).
 *
 * The package is loaded when a store is opened, so nobody needs it who keeps memories elsewhere. Statements are
 * never named: poolers that share one connection among many clients would mix the names up.
 */
import type { ClientBase, PoolClient, QueryResultRow } from 'pg'
import { AppError } from '../../../lib/errors.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { isConnectionReset, toCommitInDoubtError, toStoreError } from './postgres-errors.ts'

type Pool = InstanceType<typeof import('pg').Pool>
type Client = InstanceType<typeof import('pg').Client>

export type QueryFunction = <R extends QueryResultRow>(
  sql: string,
  values?: readonly unknown[],
) => Promise<readonly R[]>

/** What a statement is run with; see `fence.ts` and `reading`. */
export interface QueryRunner {
  /** Runs a statement that may be run twice: when its connection dies, another one gets it. */
  readonly query: QueryFunction
  /**
   * Runs `begin`, then `work`, then commits. When either throws, nothing of it stays. When the connection is lost while
   * it commits, `facts.transaction` of the error is the number to ask the server about, see `commit.ts`. What `work` leaves
   * to be done at the end goes with the commit in one trip.
   */
  transaction<T>(begin: string, work: TransactionBody<T>): Promise<T>
  /** One statement that only reads, with settings that hold for it alone. Takes one trip to the server. */
  readWithSettings<R extends QueryResultRow>(
    settings: readonly string[],
    sql: string,
    values?: readonly unknown[],
  ): Promise<readonly R[]>
  /** Several of them in one trip, which may each see what was committed before it. Answers in their order. */
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
   * Runs `work` on a connection beside the pool and without a time limit, for what takes long. Closing the database
   * cuts the connection; the server still finishes the statement that it was given.
   */
  runOnOwnConnection<T>(work: (query: QueryFunction) => Promise<T>): Promise<T>
  /** Hears what is sent to a channel, on a connection of its own, until it is lost or closed. */
  listen(channel: string, ears: NotificationListener): Promise<{ close(): Promise<void> }>
  /** How many connections there are, and how many callers wait for one. */
  poolStatus(): { readonly connections: number; readonly waiting: number }
  /** Waits for what is under way. Calling it again is harmless. */
  close(): Promise<void>
}

export type NotificationListener = {
  readonly onNotification: (payload: string) => void
  /** Called once, unless it was closed. */
  readonly onLost: () => void
}

export type PostgresConnectionOptions = {
  readonly connectionString: string
  readonly poolSize: number
  /** How long one statement may take; 0 for as long as it needs. */
  readonly statementTimeoutMs: number
  /** How long a call waits for a connection before it gives up. */
  readonly connectionTimeoutMs: number
}

/** Connections that nobody has used for this long are closed, and all are after a while: servers move. */
const IDLE_MS = 30_000
const LIFETIME_SECONDS = 1_800
/** A process that hangs in the middle of a transaction must not keep others waiting for its locks. */
const IDLE_IN_TRANSACTION_MS = MINUTE_MS
/** How often a statement gets another connection: when a server is started again, all that wait in the pool are dead. */
const OTHER_CONNECTIONS = 3
/** How much later than the server the driver gives up: a server that is gone gives up nothing. */
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
  // Instants and counters are whole numbers far below 2^53. This must not reach other users of the driver.
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
  // Statements may follow one another without waiting for answers; older versions of the driver take no notice of it.
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
  // Without a listener, a connection that dies while nobody uses it would end the process.
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
      return rows as readonly R[] // what the statement gives, as with `query`
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
        client.off('end', onLost) // the caller is told by this failure, and once is enough
        await client.end().catch(() => {}) // else it would stay, one more with every try
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
    // Only while it commits is it unclear what has become of it: before that, nothing was.
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

/** One trip to the server where the driver can send all of them at once. The first failure counts; the rest go with it. */
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
      'PostgreSQL needs the package "pg", which is not installed. Run `npm install pg`, or keep the memories in a file.',
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
    // The connection is gone, and the server has rolled back with it.
    client.release(true)
  }
}
