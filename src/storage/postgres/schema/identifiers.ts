/** Identifiers in the database: quoted names, and the numeric keys of owners and users. */
import { AppError } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/hash.ts'
import { quoteIdentifier } from '../../../lib/sql.ts'

const TABLES = [
  'memory',
  'revision',
  'tombstone',
  'entry',
  'turn',
  'posting',
  'corpus',
  'migration',
  'embedding',
  'embedding_space',
  'embedding_migration',
  'plain_embedding',
  'plain_embedding_space',
  'plain_embedding_migration',
  'allowance',
  'commit_mark',
] as const

export type TableName = (typeof TABLES)[number]

/** Each table qualified with its schema and quoted, ready for use in a statement. */
export type SqlIdentifiers = { readonly schema: string } & { readonly [T in TableName]: string }

/** The trigger on each table with rows that rejects every write to a migrated-away store. */
export const WRITE_BLOCK_TRIGGER = 'moved_away'

/** PostgreSQL truncates longer names silently. */
const NAME_BYTES_MAX = 63

export function createIdentifiers(schema: string): SqlIdentifiers {
  if (schema === '' || schema.includes('\0') || Buffer.byteLength(schema) > NAME_BYTES_MAX) {
    throw new AppError(
      'invalid_input',
      `The PostgreSQL schema name must hold 1 to ${NAME_BYTES_MAX} bytes.`,
    )
  }
  const tables = TABLES.map((table) => [
    table,
    `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`,
  ])
  // The entries of a list of all names form an object with all names.
  return { schema, ...(Object.fromEntries(tables) as { [T in TableName]: string }) }
}

/**
 * Takes advisory locks in the given order until the transaction ends. Numbers only, so nothing
 * needs escaping.
 */
export function toLockingBegin(locks: readonly bigint[]): string {
  const statements = locks.map((lock) => `SELECT pg_advisory_xact_lock(${lock})`)
  return ['BEGIN ISOLATION LEVEL READ COMMITTED', ...statements].join('; ')
}

/** The advisory lock that serializes the commits of one owner. */
export function toOwnerLock(names: SqlIdentifiers, owner: string): bigint {
  return hash64(`recollect owner ${JSON.stringify([names.schema, owner])}`)
}

/** The locks of several owners in a global order, which prevents deadlocks. */
export function toOwnerLocks(names: SqlIdentifiers, owners: Iterable<string>): readonly bigint[] {
  return [...new Set(owners)]
    .map((owner) => toOwnerLock(names, owner))
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

/** The NOTIFY channel for changes within one schema. Letters, digits and underscores only. */
export function toChangeFeedChannel(names: SqlIdentifiers): string {
  return `recollect_${BigInt.asUintN(64, hash64(`recollect news ${JSON.stringify(names.schema)}`))}`
}

/** Database-wide: an extension belongs to none of our schemas. */
export const EXTENSION_LOCK = hash64('recollect extension')

/**
 * Serializes building and dropping of vector indexes: two concurrent builds would wait for each
 * other forever.
 */
export function toIndexLock(names: SqlIdentifiers): bigint {
  return hash64(`recollect vector index ${JSON.stringify(names.schema)}`)
}

export function toMigrationLock(names: SqlIdentifiers): bigint {
  return hash64(`recollect migration ${JSON.stringify(names.schema)}`)
}

/**
 * Postings store owner and user as numbers, which keeps the largest table small. A hash collision
 * only blurs word statistics: access is always decided by the names on the memory itself.
 */
export function hashOwner(owner: string): string {
  return hash64(owner).toString()
}

export function hashUser(user: string | null): number {
  return user === null ? 0 : Number(BigInt.asIntN(32, hash64(user)))
}

function hash64(text: string): bigint {
  return BigInt.asIntN(64, BigInt(`0x${sha256(text).slice(0, 16)}`))
}
