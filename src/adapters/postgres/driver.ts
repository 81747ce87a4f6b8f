/**
 * The only file that knows the `pg` package: a pool, transactions, and what its failures mean.
 *
 * The package is loaded when a store is opened, so nobody needs it who keeps memories elsewhere. Statements are
 * never named: poolers that share one connection among many clients would mix the names up.
 */
import type { PoolClient, QueryResultRow } from 'pg'
import { AppError, type ErrorCode } from '../../core/errors.ts'

type Pool = InstanceType<typeof import('pg').Pool>
type Client = InstanceType<typeof import('pg').Client>

export type Query = <R extends QueryResultRow>(
  sql: string,
  values?: readonly unknown[],
) => Promise<readonly R[]>

export interface Database {
  readonly query: Query
  /** Runs `begin`, then `work`, then commits. When either throws, nothing of it stays. */
  transaction<T>(begin: string, work: (query: Query) => Promise<T>): Promise<T>
  /**
   * Runs `work` on a connection beside the pool and without a time limit, for what takes long. Closing the database
   * cuts the connection; the server still finishes the statement that it was given.
   */
  separately<T>(work: (query: Query) => Promise<T>): Promise<T>
  /** Waits for what is under way. Calling it again is harmless. */
  close(): Promise<void>
}

export type DatabaseOptions = {
  readonly connectionString: string
  readonly poolSize: number
  readonly statementTimeoutMs: number
}

/** How long a call waits for a connection before it gives up. */
const CONNECTION_WAIT_MS_MAX = 30_000
const INT8_TYPE = 20

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const pg = await loadDriver()
  // Instants and counters are whole numbers far below 2^53. This must not reach other users of the driver.
  const types = new pg.TypeOverrides()
  types.setTypeParser(INT8_TYPE, Number)
  const connection = {
    connectionString: options.connectionString,
    connectionTimeoutMillis: CONNECTION_WAIT_MS_MAX,
    application_name: 'recollect',
    keepAlive: true,
    types,
  }
  const pool = new pg.Pool({
    ...connection,
    max: options.poolSize,
    statement_timeout: options.statementTimeoutMs,
  })
  // Without a listener, a connection that dies while nobody uses it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return createDatabase(pool, () => new pg.Client(connection))
}

function createDatabase(pool: Pool, createClient: () => Client): Database {
  let closing: Promise<unknown> | null = null
  const separate = new Set<Client>()
  const requireOpen = () => {
    if (closing !== null) throw new AppError('unavailable', 'The store is closed.')
  }
  return {
    async query<R extends QueryResultRow>(sql: string, values: readonly unknown[] = []) {
      requireOpen()
      return run<R>(pool, sql, values)
    },
    async transaction(begin, work) {
      requireOpen()
      const client = await pool.connect().catch((thrown: unknown) => {
        throw toStoreError(thrown)
      })
      const query: Query = (sql, values = []) => run(client, sql, values)
      try {
        await query(begin)
        const result = await work(query)
        await query('COMMIT')
        client.release()
        return result
      } catch (thrown) {
        await rollBack(client)
        throw thrown
      }
    },
    async separately(work) {
      requireOpen()
      const client = createClient()
      client.on('error', () => {})
      separate.add(client)
      try {
        await client.connect().catch((thrown: unknown) => {
          throw toStoreError(thrown)
        })
        return await work((sql, values = []) => run(client, sql, values))
      } finally {
        separate.delete(client)
        await client.end()
      }
    },
    async close() {
      closing ??= Promise.all([pool.end(), ...[...separate].map((client) => client.end())])
      await closing
    },
  }
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
  runner: Pool | PoolClient | Client,
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

type Meaning = { readonly code: ErrorCode; readonly message: string }

/** By SQLSTATE, or by its first two characters for a whole class. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  '08': unavailable('The connection to PostgreSQL broke.'),
  '28': unavailable('PostgreSQL refused the login. Check the user and password of its address.'),
  '3D': unavailable('The PostgreSQL database of this address does not exist. Create it first.'),
  '57': unavailable('PostgreSQL is stopping or starting.'),
  '53': unavailable('PostgreSQL has run out of memory or connections. Lower the pool size.'),
  '53100': { code: 'disk_full', message: "The PostgreSQL server's disk is full." },
  '25006': {
    code: 'read_only',
    message: 'This PostgreSQL server takes no writes; it may be a replica.',
  },
  '42501': {
    code: 'read_only',
    message: 'The PostgreSQL user may not do this. Grant it the rights to its schema.',
  },
  '40': busy('Other writers kept changing the same rows.'),
  '55P03': busy('Another writer kept a lock for too long.'),
  '57014': busy('PostgreSQL took longer than the statement timeout.'),
  XX: {
    code: 'damaged',
    message: 'PostgreSQL reports damaged data. Check the server and its disk.',
  },
}

const NETWORK_CODES =
  /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|ENOENT|EACCES)/

function unavailable(message: string): Meaning {
  return { code: 'unavailable', message }
}

function busy(message: string): Meaning {
  return { code: 'busy', message }
}

/** The SQLSTATE is kept in the facts, because some of them are worth another try. */
function toStoreError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const error: Error & Partial<Record<'code' | 'detail' | 'where' | 'internalQuery', unknown>> =
    thrown instanceof Error ? thrown : new Error(String(thrown))
  // They quote rows, and an error may end up in a log.
  for (const name of ['detail', 'where', 'internalQuery'] as const) delete error[name]
  const sqlState = typeof error.code === 'string' ? error.code : ''
  const meaning = meaningOf(error.message, sqlState)
  return new AppError(meaning.code, meaning.message, { sqlState }, error)
}

function meaningOf(message: string, sqlState: string): Meaning {
  const known = MEANINGS[sqlState] ?? MEANINGS[sqlState.slice(0, 2)]
  if (known !== undefined) return known
  if (message.includes('timeout exceeded when trying to connect')) {
    return busy('Every connection to PostgreSQL stayed in use for too long. Raise the pool size.')
  }
  if (
    NETWORK_CODES.test(sqlState) ||
    /^(Connection terminated|Client has encountered)/.test(message)
  ) {
    return unavailable('PostgreSQL cannot be reached. Check its address, and that it is running.')
  }
  return { code: 'internal', message: `PostgreSQL refused a statement (${sqlState || message}).` }
}
