/**
 * The vector part of the schema. It needs the extension pgvector, which a server may lack or get
 * later, so it has its own migration ledger and is checked each time a store is opened. Without
 * pgvector, vectors can be stored as bytes in separate tables.
 */
import { AppError } from '../../../lib/errors.ts'
import { quoteIdentifier } from '../../../lib/sql.ts'
import type { PostgresDatabase, QueryFunction } from '../connection/postgres-driver.ts'
import { BYTES_FORMAT, type PgvectorFormat, type VectorFormat } from '../vectors/vector-format.ts'
import {
  EXTENSION_LOCK,
  type SqlIdentifiers,
  toLockingBegin,
  toMigrationLock,
} from './identifiers.ts'
import {
  createPolicySql,
  hasRelation,
  migrateComponent,
  type SchemaComponent,
  type SchemaMigration,
} from './migrations.ts'

export type VectorSupport =
  | { readonly kind: 'ready'; readonly form: VectorFormat }
  | { readonly kind: 'none'; readonly reason: string }

/**
 * Fallback where pgvector is missing or too old: lexical search only, or exact comparison in this
 * process.
 */
export const PGVECTOR_FALLBACKS = ['keyword', 'exact'] as const

export type PgvectorFallback = (typeof PGVECTOR_FALLBACKS)[number]

type InstalledExtension =
  | { readonly kind: 'found'; readonly extension: string; readonly version: string }
  | { readonly kind: 'none'; readonly reason: string }

type ExtensionVersion = readonly [major: number, minor: number]

/** The first version with HNSW indexes. */
const VERSION_MIN: ExtensionVersion = [0, 5]

/** The first version with half-precision vectors and indexes over more dimensions. */
const HALVES_SINCE: ExtensionVersion = [0, 7]

/** The first version with iterative scans, which continue until enough hits pass the filters. */
const ITERATES_SINCE: ExtensionVersion = [0, 8]

/**
 * One table holds the vectors of all spaces; the columns have no fixed dimension because each space
 * has its own. A vector is in `exact`, or in `rounded` at half the size when its space uses int8:
 * pgvector has no byte type, and half precision is the smallest that it can compare. A zero vector
 * is in neither column: nothing is near it, and no index has to hold it. Vectors are deleted with
 * their memory and with the text they were embedded from. Triggers do this, because a process that
 * started before the vector tables existed does not know them. Other changes must not cost a
 * vector, so the trigger extracts the speaker from the provenance by pattern instead of parsing the
 * JSON: PostgreSQL rejects escapes that are valid in JavaScript, and a commit must not fail over
 * that. A quote inside JSON text is always escaped, so the name in plain quotes can only be the
 * field. A dropped space loses its signature at once and its vectors afterwards.
 */
const STEPS: readonly SchemaMigration[] = [
  {
    name: 'vectors',
    sql: String.raw`
      CREATE TABLE {schema}.embedding_space (
        number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        signature text COLLATE "C" UNIQUE,
        dimensions integer NOT NULL
      );
      CREATE TABLE {schema}.embedding (
        memory bigint NOT NULL REFERENCES {schema}.memory (number) ON DELETE CASCADE,
        owner_hash bigint NOT NULL,
        user_hash integer NOT NULL,
        space integer NOT NULL,
        text_hash text COLLATE "C" NOT NULL,
        exact {extension}.vector,
        rounded {extension}.halfvec,
        PRIMARY KEY (memory, space)
      );
      CREATE INDEX embedding_by_owner ON {schema}.embedding (owner_hash, space, user_hash);

      CREATE FUNCTION {schema}.forget_embeddings() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
          EXECUTE format('DELETE FROM %I.embedding WHERE memory = $1', TG_TABLE_SCHEMA)
            USING OLD.number;
          RETURN NULL;
        END
      $body$;
      CREATE TRIGGER forget_embeddings AFTER UPDATE ON {schema}.memory FOR EACH ROW
        WHEN (OLD.content IS DISTINCT FROM NEW.content
          OR OLD.owner_id IS DISTINCT FROM NEW.owner_id
          OR substring(OLD.provenance FROM E'"speaker":("(?:[^"\\\\]|\\\\.)*")')
            IS DISTINCT FROM substring(NEW.provenance FROM E'"speaker":("(?:[^"\\\\]|\\\\.)*")'))
        EXECUTE FUNCTION {schema}.forget_embeddings();`,
  },
  {
    name: 'row security of vectors',
    isAdditive: true,
    sql: createPolicySql('embedding', 'owner_hash', 'seen_owner_hashes', 'bigint'),
  },
  {
    // Not additive for servers of the previous version; see the migration for documents of turns.
    name: 'vectors of memories and of turns in indexes of their own',
    isAdditive: false,
    sql: `
      DROP INDEX {schema}.embedding_by_owner;
      CREATE INDEX embedding_of_memories ON {schema}.embedding (owner_hash, space, user_hash)
        WHERE memory > 0;
      CREATE INDEX embedding_of_turns ON {schema}.embedding (owner_hash, space, user_hash)
        WHERE memory < 0;`,
  },
]

/** The same without the extension: single-precision numbers as little-endian bytes. */
const PLAIN_STEPS: readonly SchemaMigration[] = [
  {
    name: 'vectors without pgvector',
    isAdditive: true,
    sql: `
      CREATE TABLE {schema}.plain_embedding_space (
        number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        signature text COLLATE "C" UNIQUE,
        dimensions integer NOT NULL
      );
      CREATE TABLE {schema}.plain_embedding (
        memory bigint NOT NULL REFERENCES {schema}.memory (number) ON DELETE CASCADE,
        owner_hash bigint NOT NULL,
        user_hash integer NOT NULL,
        space integer NOT NULL,
        text_hash text COLLATE "C" NOT NULL,
        exact bytea,
        PRIMARY KEY (memory, space)
      );
      ALTER TABLE {schema}.plain_embedding ALTER COLUMN exact SET STORAGE EXTERNAL;
      CREATE INDEX plain_embedding_by_owner
        ON {schema}.plain_embedding (owner_hash, space, memory);
      CREATE FUNCTION {schema}.forget_plain_embeddings() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
          EXECUTE format('DELETE FROM %I.plain_embedding WHERE memory = $1', TG_TABLE_SCHEMA)
            USING OLD.number;
          RETURN NULL;
        END
      $body$;
      ${rewordedTrigger('forget_plain_embeddings')}
      ${createPolicySql('plain_embedding', 'owner_hash', 'seen_owner_hashes', 'bigint')}`,
  },
]

function rewordedTrigger(name: string): string {
  const speaker = (row: string) =>
    String.raw`substring(${row}.provenance FROM E'"speaker":("(?:[^"\\\\]|\\\\.)*")')`
  return `
      CREATE TRIGGER ${name} AFTER UPDATE ON {schema}.memory FOR EACH ROW
        WHEN (OLD.content IS DISTINCT FROM NEW.content
          OR OLD.owner_id IS DISTINCT FROM NEW.owner_id
          OR ${speaker('OLD')} IS DISTINCT FROM ${speaker('NEW')})
        EXECUTE FUNCTION {schema}.${name}();`
}

/** Detects the extension, creates it where possible, and migrates the vector tables. */
export async function migrateVectorSchema(
  database: PostgresDatabase,
  names: SqlIdentifiers,
  otherwise: PgvectorFallback,
): Promise<VectorSupport> {
  const support = await preparePgvector(database, names)
  if (support.kind === 'ready' || otherwise === 'keyword') return support
  const { reason } = support
  return attempt(reason, async () => {
    const part = { ledger: names.plain_embedding_migration, migrations: PLAIN_STEPS }
    await migrateComponent(database, names, part)
    return { ...BYTES_FORMAT, reason: reason }
  })
}

async function preparePgvector(
  database: PostgresDatabase,
  names: SqlIdentifiers,
): Promise<VectorSupport> {
  const found = (await findExtension(database.query)) ?? (await createExtension(database))
  if (found.kind === 'none') return found
  const { version, extension } = found
  if (!isSince(VERSION_MIN, version)) {
    return noVectorSupport(
      `version ${version} is too old; at least ${VERSION_MIN.join('.')} is required`,
    )
  }
  const hasHalves = isSince(HALVES_SINCE, version)
  const part: SchemaComponent = {
    ledger: names.embedding_migration,
    migrations: STEPS,
    extension,
    adapt: (sql) => (hasHalves ? sql : sql.replaceAll('{extension}.halfvec', '{extension}.vector')),
  }
  return attempt('its tables could not be created', async () => {
    await removeRemains(database, names, part)
    await migrateComponent(database, names, part)
    const roundedType = await typeOfRounded(database.query, names)
    const iterates = isSince(ITERATES_SINCE, version)
    return {
      kind: 'pgvector',
      extensionSchema: extension,
      version,
      hasHalfPrecision: hasHalves,
      hasIterativeScan: iterates,
      quantizedType: roundedType,
    }
  })
}

/** Memories matter more than vectors: the store opens without vector search. */
async function attempt(what: string, prepare: () => Promise<VectorFormat>): Promise<VectorSupport> {
  try {
    return { kind: 'ready', form: await prepare() }
  } catch (thrown) {
    if (isTransient(thrown)) throw thrown
    return noVectorSupport(`${what}: ${messageOf(thrown)}`)
  }
}

/** The capabilities of the version that the table was created with. */
async function typeOfRounded(
  query: QueryFunction,
  names: SqlIdentifiers,
): Promise<PgvectorFormat['quantizedType']> {
  const [row] = await query<{ type: string }>(
    `SELECT typname AS type FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
     WHERE attrelid = to_regclass($1) AND attname = 'rounded'`,
    [names.embedding],
  )
  return row?.type === 'vector' ? 'vector' : 'halfvec'
}

async function findExtension(query: QueryFunction): Promise<InstalledExtension | null> {
  const [row] = await query<{ schema: string; version: string }>(
    `SELECT n.nspname AS schema, e.extversion AS version
     FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace
     WHERE e.extname = 'vector'`,
  )
  if (row === undefined) return null
  return { kind: 'found', extension: quoteIdentifier(row.schema), version: row.version }
}

async function createExtension(database: PostgresDatabase): Promise<InstalledExtension> {
  const [available] = await database.query(
    `SELECT 1 FROM pg_available_extensions WHERE name = 'vector'`,
  )
  if (available === undefined) return noVectorSupport('not installed')
  try {
    await database.transaction(toLockingBegin([EXTENSION_LOCK]), (query) =>
      query('CREATE EXTENSION IF NOT EXISTS vector'),
    )
  } catch (thrown) {
    if (isTransient(thrown)) throw thrown
    return noVectorSupport(`available, but CREATE EXTENSION failed: ${messageOf(thrown)}`)
  }
  return (await findExtension(database.query)) ?? noVectorSupport('not installed')
}

/**
 * Dropping the extension removes its columns and leaves the rest of the table. Vectors can be
 * recomputed, so the rest is dropped as well.
 */
async function removeRemains(
  database: PostgresDatabase,
  names: SqlIdentifiers,
  part: SchemaComponent,
): Promise<void> {
  const isWhole = async (query: QueryFunction) => {
    if (!(await hasRelation(query, 'to_regclass', part.ledger))) return true
    const columns = await query(
      `SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($1) AND NOT attisdropped
       AND attname IN ('exact', 'rounded')`,
      [names.embedding],
    )
    return columns.length === 2
  }
  if (await isWhole(database.query)) return
  await database.transaction(toLockingBegin([toMigrationLock(names)]), async (query) => {
    if (await isWhole(query)) return
    await query(
      `DROP FUNCTION IF EXISTS ${quoteIdentifier(names.schema)}.forget_embeddings CASCADE`,
    )
    await query(
      `DROP TABLE IF EXISTS ${names.embedding}, ${names.embedding_space}, ${part.ledger} CASCADE`,
    )
  })
}

function isSince([sinceMajor, sinceMinor]: ExtensionVersion, version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > sinceMajor || (major === sinceMajor && minor >= sinceMinor)
}

function isTransient(thrown: unknown): boolean {
  return thrown instanceof AppError && ['unavailable', 'busy'].includes(thrown.code)
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

function noVectorSupport(reason: string) {
  return { kind: 'none', reason } as const
}
