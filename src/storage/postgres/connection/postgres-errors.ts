/** Translates errors of PostgreSQL and its driver. */
import { AppError, type ErrorCode } from '../../../lib/errors.ts'

type ErrorClass = { readonly code: ErrorCode; readonly message: string }

/** By SQLSTATE, or by its first two characters for a whole class. */
const MEANINGS: Readonly<Record<string, ErrorClass>> = {
  '08': unavailable('The connection to PostgreSQL was lost.'),
  '28': unavailable(
    'PostgreSQL rejected the login. Check the user and password in its connection string.',
  ),
  '3D': unavailable(
    'The PostgreSQL database in the connection string does not exist. Create it first.',
  ),
  '57': unavailable('PostgreSQL is stopping or starting.'),
  '53': unavailable('PostgreSQL has run out of memory or connections. Lower the pool size.'),
  '53100': { code: 'disk_full', message: "The PostgreSQL server's disk is full." },
  '25006': {
    code: 'read_only',
    message: 'This PostgreSQL server is read-only; it may be a replica.',
  },
  '25P03': unavailable('PostgreSQL ended a transaction that was idle for too long.'),
  '42501': {
    code: 'read_only',
    message: 'The PostgreSQL user lacks a privilege. Grant it the privileges on its schema.',
  },
  '40': busy('The transaction conflicted with other writers.'),
  '55P03': busy('Another writer held a lock for too long.'),
  '57014': busy('PostgreSQL exceeded the statement timeout.'),
  XX: {
    code: 'damaged',
    message: 'PostgreSQL reports damaged data. Check the server and its disk.',
  },
}

const NETWORK_CODES =
  /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|ENOENT|EACCES)/
/** Raised by the driver, which has no codes for them. */
const LOST = /^(Connection terminated|Client has encountered|Query read timeout)/
/** Our own SQLSTATE: the store was migrated away, and the message names the target. */
export const MIGRATED_SQLSTATE = 'RCM01'
const POOL_EXHAUSTED = 'timeout exceeded when trying to connect'

function unavailable(message: string): ErrorClass {
  return { code: 'unavailable', message }
}

function busy(message: string): ErrorClass {
  return { code: 'busy', message }
}

/** The facts keep the SQLSTATE, because some errors are retryable. */
export function toStoreError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const error: Error & Partial<Record<'code' | 'detail' | 'where' | 'internalQuery', unknown>> =
    thrown instanceof Error ? thrown : new Error(String(thrown))
  // They quote rows, and errors end up in logs.
  for (const name of ['detail', 'where', 'internalQuery'] as const) delete error[name]
  const sqlState = typeof error.code === 'string' ? error.code : ''
  const meaning = classifyError(error.message, sqlState)
  return new AppError(meaning.code, meaning.message, { sqlState }, error)
}

function classifyError(message: string, sqlState: string): ErrorClass {
  const known = MEANINGS[sqlState] ?? MEANINGS[sqlState.slice(0, 2)]
  if (known !== undefined) return known
  if (sqlState === MIGRATED_SQLSTATE) return { code: 'read_only', message }
  if (message.includes(POOL_EXHAUSTED)) {
    return busy('Every connection to PostgreSQL stayed in use for too long. Raise the pool size.')
  }
  if (NETWORK_CODES.test(sqlState) || LOST.test(message)) {
    return unavailable(
      'PostgreSQL is unreachable. Check its connection string, and that it is running.',
    )
  }
  return { code: 'internal', message: `PostgreSQL rejected a statement (${sqlState || message}).` }
}

/** The same error with the id of the transaction whose outcome is unknown. */
export function toCommitInDoubtError(thrown: unknown, transaction: string): unknown {
  if (!isConnectionLost(thrown)) return thrown
  const { code, message, facts } = thrown
  return new AppError(code, message, { ...facts, transaction }, thrown)
}

/**
 * Whether the connection was lost: the server stopped, started or was cut off, rather than refused.
 */
export function isConnectionLost(thrown: unknown): thrown is AppError {
  if (!(thrown instanceof AppError) || thrown.code !== 'unavailable') return false
  const { sqlState } = thrown.facts
  return typeof sqlState === 'string' && (sqlState === '' || LOSSES.test(sqlState))
}

/**
 * Whether the server has never assigned this transaction id: it crashed before writing it to disk.
 */
export function isUnknownTransaction(thrown: unknown): boolean {
  return thrown instanceof AppError && thrown.facts.sqlState === '22023'
}

/**
 * Whether an established connection ended, so that a new one may work; not whether connecting
 * failed.
 */
export function isConnectionReset(thrown: unknown): boolean {
  if (!isConnectionLost(thrown)) return false
  const { sqlState } = thrown.facts
  const said = thrown.cause instanceof Error ? thrown.cause.message : ''
  return sqlState === '' ? ENDED.test(said) : DEATHS.test(String(sqlState))
}

const ENDED = /^(Connection terminated( unexpectedly)?$|Client has encountered)/
const DEATHS = /^(57P01|57P02|08006|ECONNRESET|EPIPE)$/

const LOSSES = /^(08|57P|25P03|ECONN|EPIPE|ETIMEDOUT|ENOENT)/

/** Serialization failure, deadlock, or a row that appeared after the transaction read. */
const COLLISIONS: ReadonlySet<unknown> = new Set(['40001', '40P01', '23505'])

/** Whether a lock was not acquired within the lock timeout. */
export function isLockTimeout(thrown: unknown): boolean {
  return thrown instanceof AppError && thrown.facts.sqlState === '55P03'
}

/** Whether a concurrent writer caused the failure, so that a retry may succeed. */
export function isSerializationConflict(thrown: unknown): thrown is AppError {
  return thrown instanceof AppError && COLLISIONS.has(thrown.facts.sqlState)
}
