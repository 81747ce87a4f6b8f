/**
 * The schema as an ordered list of migrations. Migrations only go forward. Each runs in its own
 * transaction and is recorded with a checksum, so a released migration is never edited; a new one
 * is added instead. Every schema change holds one advisory lock, so any number of processes may
 * start at once. Servers are updated one after the other. To let servers of the previous version
 * keep running, and even start, during the update, each version brings one purely additive
 * migration; older servers accept a schema that is one migration ahead of theirs, and no more.
 */
import { AppError } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/hash.ts'
import { quoteIdentifier } from '../../../lib/sql.ts'
import type { PostgresDatabase, QueryFunction } from '../connection/postgres-driver.ts'
import { rebuildAllTurnIndexes } from '../maintenance/index-rebuild.ts'
import {
  type SqlIdentifiers,
  toLockingBegin,
  toMigrationLock,
  WRITE_BLOCK_TRIGGER,
} from './identifiers.ts'

/**
 * `{schema}` is replaced by the quoted schema, `{extension}` by the quoted schema of the required
 * extension.
 */
export type SchemaMigration = {
  readonly name: string
  readonly sql: string
  /**
   * Whether a process of the previous version can continue after this migration: it only adds
   * tables, indexes, functions, and columns with a default. A migration of a later version removes
   * what such a process still uses.
   */
  readonly isAdditive?: boolean
  /** Work that SQL cannot express, run in the same transaction after the SQL. */
  fill?(query: QueryFunction, names: SqlIdentifiers): Promise<void>
}

/** A list of migrations and the table that records the applied ones. */
export type SchemaComponent = {
  readonly ledger: string
  readonly migrations: readonly SchemaMigration[]
  readonly extension?: string
  /** Adapts a migration to the server's capabilities. The checksum covers the original. */
  adapt?(sql: string): string
}

type AppliedMigration = {
  readonly version: number
  readonly name: string
  readonly checksum: string
  readonly only_adds: boolean
}

/** The C collation compares names byte by byte, so the order is the same on every server. */
export const MIGRATIONS: readonly SchemaMigration[] = [
  {
    name: 'memories, revisions, tombstones and keyword search',
    sql: `
      CREATE TABLE {schema}.memory (
        number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
        id text COLLATE "C" PRIMARY KEY,
        owner_id text COLLATE "C" NOT NULL,
        user_id text COLLATE "C",
        session_id text COLLATE "C",
        key text COLLATE "C",
        content text NOT NULL,
        type text NOT NULL,
        category text NOT NULL,
        importance double precision NOT NULL,
        salience double precision NOT NULL,
        pinned boolean NOT NULL,
        trust text NOT NULL,
        status text NOT NULL,
        valid_from bigint,
        valid_until bigint,
        superseded_by text,
        conflicts_with text,
        expires_at bigint,
        provenance text NOT NULL,
        entities text NOT NULL,
        language text,
        metadata text NOT NULL,
        source_count bigint NOT NULL,
        use_count bigint NOT NULL,
        last_used_at bigint,
        version bigint NOT NULL,
        change text COLLATE "C" NOT NULL,
        created_at bigint NOT NULL,
        updated_at bigint NOT NULL,
        fingerprint text COLLATE "C" NOT NULL,
        length integer NOT NULL
      );
      CREATE INDEX memory_by_owner ON {schema}.memory (owner_id, id);
      CREATE INDEX memory_by_user ON {schema}.memory (owner_id, user_id, id);
      CREATE INDEX memory_by_session ON {schema}.memory (owner_id, session_id, id)
        WHERE session_id IS NOT NULL;
      CREATE INDEX memory_by_key ON {schema}.memory (owner_id, key) WHERE key IS NOT NULL;
      CREATE UNIQUE INDEX memory_holding_key
        ON {schema}.memory (owner_id, key, (user_id IS NULL), COALESCE(user_id, ''))
        WHERE key IS NOT NULL AND status IN ('active', 'disabled');
      CREATE INDEX memory_by_fingerprint ON {schema}.memory (owner_id, fingerprint);
      CREATE INDEX memory_by_change ON {schema}.memory (owner_id, change);
      CREATE INDEX memory_by_expiry ON {schema}.memory (owner_id, expires_at)
        WHERE expires_at IS NOT NULL;

      CREATE TABLE {schema}.revision (
        id text COLLATE "C" PRIMARY KEY,
        owner_id text COLLATE "C" NOT NULL,
        user_id text COLLATE "C",
        session_id text COLLATE "C",
        memory_id text COLLATE "C" NOT NULL,
        made_by text COLLATE "C" NOT NULL,
        updated_at bigint NOT NULL,
        replaced_at bigint NOT NULL,
        replaced_by text COLLATE "C" NOT NULL,
        snapshot text NOT NULL
      );
      CREATE INDEX revision_by_owner ON {schema}.revision (owner_id, id);
      CREATE INDEX revision_by_memory ON {schema}.revision (owner_id, memory_id);
      CREATE INDEX revision_by_maker ON {schema}.revision (owner_id, made_by);
      CREATE INDEX revision_by_change ON {schema}.revision (owner_id, replaced_by);

      CREATE TABLE {schema}.tombstone (
        id text COLLATE "C" PRIMARY KEY,
        owner_id text COLLATE "C" NOT NULL,
        user_id text COLLATE "C",
        session_id text COLLATE "C",
        version bigint NOT NULL,
        forgotten_at bigint NOT NULL
      );
      CREATE INDEX tombstone_by_owner ON {schema}.tombstone (owner_id, id);

      CREATE TABLE {schema}.posting (
        owner_hash bigint NOT NULL,
        memory bigint NOT NULL,
        user_hash integer NOT NULL,
        frequency integer NOT NULL,
        length integer NOT NULL,
        term text COLLATE "C" NOT NULL,
        PRIMARY KEY (owner_hash, term, user_hash, memory) INCLUDE (frequency, length)
      );
      CREATE INDEX posting_by_memory ON {schema}.posting (memory);

      CREATE TABLE {schema}.corpus (
        owner_id text COLLATE "C" PRIMARY KEY,
        memories bigint NOT NULL,
        terms bigint NOT NULL
      );`,
  },
  {
    name: 'entries and turns',
    sql: `
      CREATE TABLE {schema}.entry (
        id text COLLATE "C" PRIMARY KEY,
        owner_id text COLLATE "C" NOT NULL,
        user_id text COLLATE "C",
        session_id text COLLATE "C",
        version bigint NOT NULL,
        kind text COLLATE "C" NOT NULL,
        about text COLLATE "C",
        at bigint NOT NULL,
        expires_at bigint,
        body text NOT NULL
      );
      CREATE INDEX entry_by_owner ON {schema}.entry (owner_id, id);
      CREATE INDEX entry_by_kind ON {schema}.entry (owner_id, kind, id);
      CREATE INDEX entry_by_subject ON {schema}.entry (owner_id, about, id) WHERE about IS NOT NULL;
      CREATE INDEX entry_by_expiry ON {schema}.entry (owner_id, expires_at)
        WHERE expires_at IS NOT NULL;

      CREATE TABLE {schema}.turn (
        id text COLLATE "C" PRIMARY KEY,
        owner_id text COLLATE "C" NOT NULL,
        user_id text COLLATE "C",
        session_id text COLLATE "C",
        version bigint NOT NULL,
        role text NOT NULL,
        speaker text,
        content text NOT NULL,
        position bigint NOT NULL,
        said_at bigint NOT NULL
      );
      CREATE INDEX turn_by_owner ON {schema}.turn (owner_id, id);
      CREATE INDEX turn_by_session ON {schema}.turn (owner_id, session_id, id);`,
  },
  {
    name: 'search in what was said, and jobs by when they are due',
    sql: `
      ALTER TABLE {schema}.turn
        ADD COLUMN number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
        ADD COLUMN length integer NOT NULL DEFAULT 0;
      CREATE INDEX turn_by_course ON {schema}.turn (owner_id, session_id, said_at, position, id);
      CREATE INDEX turn_by_time ON {schema}.turn (owner_id, said_at, position, id);

      CREATE TABLE {schema}.turn_posting (
        owner_hash bigint NOT NULL,
        turn bigint NOT NULL,
        user_hash integer NOT NULL,
        frequency integer NOT NULL,
        length integer NOT NULL,
        term text COLLATE "C" NOT NULL,
        PRIMARY KEY (owner_hash, term, user_hash, turn) INCLUDE (frequency, length)
      );
      CREATE INDEX turn_posting_by_turn ON {schema}.turn_posting (turn);

      CREATE TABLE {schema}.turn_corpus (
        owner_id text COLLATE "C" PRIMARY KEY,
        turns bigint NOT NULL,
        terms bigint NOT NULL
      );

      CREATE INDEX entry_by_time ON {schema}.entry (owner_id, kind, at);`,
  },
  {
    name: 'row security, and limits that servers share',
    isAdditive: true,
    sql: `
      CREATE FUNCTION {schema}.sees_everyone() RETURNS boolean LANGUAGE sql STABLE AS $body$
        SELECT COALESCE(current_setting('recollect.owners', true) = '*', false)
      $body$;
      CREATE FUNCTION {schema}.seen_owners() RETURNS text[] LANGUAGE sql STABLE AS $body$
        SELECT CASE WHEN named IN ('', '*') THEN NULL ELSE named::text[] END
        FROM current_setting('recollect.owners', true) AS named
      $body$;
      CREATE FUNCTION {schema}.seen_owner_hashes() RETURNS bigint[] LANGUAGE sql STABLE AS $body$
        SELECT CASE WHEN named IN ('', '*') THEN NULL ELSE named::bigint[] END
        FROM current_setting('recollect.owner_hashes', true) AS named
      $body$;
      ${['memory', 'revision', 'tombstone', 'entry', 'turn', 'corpus', 'turn_corpus']
        .map((table) => createPolicySql(table, 'owner_id', 'seen_owners', 'text'))
        .join('')}
      ${['posting', 'turn_posting']
        .map((table) => createPolicySql(table, 'owner_hash', 'seen_owner_hashes', 'bigint'))
        .join('')}
      CREATE TABLE {schema}.allowance (
        name text COLLATE "C" PRIMARY KEY,
        amount double precision NOT NULL,
        taken double precision NOT NULL,
        at timestamptz NOT NULL
      );`,
  },
  {
    name: 'entries of a session',
    isAdditive: true,
    sql: `
      CREATE INDEX entry_by_session ON {schema}.entry (owner_id, session_id, kind, id)
        WHERE session_id IS NOT NULL;`,
  },
  {
    // Markers are looked up by id so rarely that scanning an hour of them is acceptable.
    name: 'marks of commits',
    isAdditive: true,
    sql: `
      CREATE TABLE {schema}.commit_mark (id uuid NOT NULL, at timestamptz NOT NULL DEFAULT now());
      CREATE INDEX commit_mark_by_time ON {schema}.commit_mark (at);`,
  },
  {
    name: 'turns that are out of use',
    isAdditive: true,
    sql: `
      ALTER TABLE {schema}.turn ADD COLUMN disabled boolean NOT NULL DEFAULT false;`,
  },
  {
    // Not additive: servers of the previous version search tables that are gone, and mistake documents of turns
    // for memories.
    name: 'turns as documents beside memories',
    isAdditive: false,
    sql: `
      DROP TABLE {schema}.turn_posting, {schema}.turn_corpus;
      ALTER TABLE {schema}.turn DROP COLUMN length;
      ALTER TABLE {schema}.corpus RENAME COLUMN memories TO documents;
      ALTER TABLE {schema}.memory ADD COLUMN position bigint;

      DROP INDEX {schema}.memory_by_owner, {schema}.memory_by_user, {schema}.memory_by_session,
        {schema}.memory_by_fingerprint, {schema}.memory_by_change;
      CREATE INDEX memory_by_owner ON {schema}.memory (owner_id, id) WHERE type <> 'turn';
      CREATE INDEX memory_by_user ON {schema}.memory (owner_id, user_id, id) WHERE type <> 'turn';
      CREATE INDEX memory_by_session ON {schema}.memory (owner_id, session_id, id)
        WHERE session_id IS NOT NULL AND type <> 'turn';
      CREATE INDEX memory_by_fingerprint ON {schema}.memory (owner_id, fingerprint)
        WHERE type <> 'turn';
      CREATE INDEX memory_by_change ON {schema}.memory (owner_id, change) WHERE type <> 'turn';
      CREATE INDEX turn_document_by_owner ON {schema}.memory (owner_id, id) WHERE type = 'turn';
      CREATE INDEX turn_document_by_user ON {schema}.memory (owner_id, user_id, id)
        WHERE type = 'turn';
      CREATE INDEX turn_document_by_position ON {schema}.memory (owner_id, session_id, position, id)
        WHERE session_id IS NOT NULL AND type = 'turn';`,
    fill: (query, names) =>
      disableWriteBlock(query, names.memory, () => rebuildAllTurnIndexes(query, names)),
  },
]

/**
 * A migrated-away store takes no writes, but a later version can open it and put it back into use.
 */
async function disableWriteBlock(
  query: QueryFunction,
  table: string,
  work: () => Promise<void>,
): Promise<void> {
  const [refusal] = await query(
    'SELECT 1 FROM pg_trigger WHERE tgrelid = to_regclass($1) AND tgname = $2',
    [table, WRITE_BLOCK_TRIGGER],
  )
  const alter = (how: 'DISABLE' | 'ENABLE') =>
    refusal === undefined ? [] : query(`ALTER TABLE ${table} ${how} TRIGGER ${WRITE_BLOCK_TRIGGER}`)
  await alter('DISABLE')
  await work()
  await alter('ENABLE')
}

/** The subquery resolves the visible owners once per statement instead of once per row. */
export function createPolicySql(table: string, column: string, seen: string, type: string): string {
  return `
      CREATE POLICY own_rows ON {schema}.${table} USING ((SELECT {schema}.sees_everyone())
        OR ${column} = ANY ((SELECT {schema}.${seen}())::${type}[]));`
}

export const SCHEMA_VERSION = MIGRATIONS.length

export async function migrate(database: PostgresDatabase, names: SqlIdentifiers): Promise<void> {
  await migrateComponent(database, names, { ledger: names.migration, migrations: MIGRATIONS })
}

export async function migrateComponent(
  database: PostgresDatabase,
  names: SqlIdentifiers,
  part: SchemaComponent,
): Promise<void> {
  // Check first, so that an up-to-date schema needs neither DDL rights nor a writable server.
  let version = checkedVersion(await appliedMigrations(database.query, part), part)
  if (version >= part.migrations.length) return
  // Altering a large table, or waiting for another process that does, takes longer than the statement timeout.
  await database.runOnOwnConnection(async (query) => {
    const begin = toLockingBegin([toMigrationLock(names)])
    while (version < part.migrations.length) {
      await query(begin)
      version = await applyNext(query, names, part)
      await query('COMMIT')
    }
  })
}

/** The connection closes after the first failure and rolls back the open transaction. */
async function applyNext(
  query: QueryFunction,
  names: SqlIdentifiers,
  part: SchemaComponent,
): Promise<number> {
  if (!(await hasRelation(query, 'to_regnamespace', quoteIdentifier(names.schema)))) {
    await query(`CREATE SCHEMA ${quoteIdentifier(names.schema)}`)
  }
  await query(`CREATE TABLE IF NOT EXISTS ${part.ledger} (
    version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now())`)
  await query(
    `ALTER TABLE ${part.ledger} ADD COLUMN IF NOT EXISTS only_adds boolean NOT NULL DEFAULT false`,
  )
  // Read again: another process may have migrated while this one waited for the lock.
  const version = checkedVersion(await appliedMigrations(query, part), part)
  const next = part.migrations[version]
  if (next === undefined) return version
  // A migration that reads rows must see those of all owners, with row-level security enabled too.
  await query(`SET LOCAL recollect.owners = '*'; SET LOCAL recollect.owner_hashes = '*'`)
  await query(runBackfill(next.sql, names, part))
  await next.fill?.(query, names)
  await query(
    `INSERT INTO ${part.ledger} (version, name, checksum, only_adds) VALUES ($1, $2, $3, $4)`,
    [version + 1, next.name, checksumOf(next), next.isAdditive === true],
  )
  return version + 1
}

function runBackfill(
  sql: string,
  names: SqlIdentifiers,
  { extension = '', adapt }: SchemaComponent,
): string {
  // One pass, because a schema may have any name, even that of the other placeholder.
  return (adapt?.(sql) ?? sql).replaceAll(/\{(schema|extension)\}/g, (_, name) =>
    name === 'schema' ? quoteIdentifier(names.schema) : extension,
  )
}

async function appliedMigrations(
  query: QueryFunction,
  { ledger }: SchemaComponent,
): Promise<readonly AppliedMigration[]> {
  if (!(await hasRelation(query, 'to_regclass', ledger))) return []
  // Ledgers of the first versions do not record whether a migration is additive.
  return query<AppliedMigration>(
    `SELECT version, name, checksum,
       COALESCE((to_jsonb(step) ->> 'only_adds')::boolean, false) AS only_adds
     FROM ${ledger} AS step ORDER BY version`,
  )
}

export async function hasRelation(
  query: QueryFunction,
  lookup: 'to_regclass' | 'to_regnamespace',
  name: string,
): Promise<boolean> {
  const [row] = await query<{ found: boolean }>(`SELECT ${lookup}($1) IS NOT NULL AS found`, [name])
  return row?.found === true
}

/** The current schema version, after verifying that the recorded migrations are ours. */
function checkedVersion(
  applied: readonly AppliedMigration[],
  { migrations: steps }: SchemaComponent,
): number {
  const last = applied.at(-1)
  const version = last?.version ?? 0
  const isNextVersion = version === steps.length + 1 && last?.only_adds === true
  if (version > steps.length && !isNextVersion) {
    throw new AppError(
      'schema_mismatch',
      `The database has schema version ${version}, but this Recollect knows versions up to ${steps.length}. Install the Recollect that wrote it, or a later one.`,
      { found: version, known: steps.length },
    )
  }
  applied.slice(0, steps.length).forEach((step, index) => {
    const own = steps[index]
    if (own !== undefined && step.version === index + 1 && step.checksum === checksumOf(own)) return
    throw new AppError(
      'schema_mismatch',
      `Step ${step.version} ("${step.name}") of the database differs from step ${index + 1} of this Recollect, so it was made by another build. Use that build, or export from it and import here.`,
      { found: step.version, known: index + 1 },
    )
  })
  return version
}

function checksumOf(migration: SchemaMigration): string {
  return sha256(migration.sql)
}
