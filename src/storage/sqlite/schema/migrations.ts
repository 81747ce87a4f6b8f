/**
 * The schema as ordered, forward-only steps. A released step is never edited: its checksum is recorded where it was
 * applied, and a database with another checksum is rejected.
 */
import { AppError } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/hash.ts'
import { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqliteConnection } from '../connection/sqlite-driver.ts'
import { rebuildDerivedData } from '../maintenance/integrity-check.ts'
import { rebuildTurnDocuments } from '../store/turn-documents.ts'
import { migrateEntries } from './entry-migration.ts'

export type SchemaMigration = {
  readonly name: string
  readonly sql: string
  /** Runs after the SQL, in the same transaction, for what SQL cannot express. */
  readonly backfill?: (connection: SqliteConnection) => void
}

export const MIGRATIONS: readonly SchemaMigration[] = [
  {
    name: 'memories with their history',
    sql: `
      -- Owners and users as small numbers: rows and indexes stay short, and the number is the token that keeps
      -- owners apart inside the full-text index.
      CREATE TABLE place (
        number INTEGER PRIMARY KEY,
        owner TEXT NOT NULL,
        user TEXT NOT NULL,
        owner_number INTEGER NOT NULL,
        UNIQUE (owner, user)
      ) STRICT;

      CREATE TABLE memory (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        owner_number INTEGER NOT NULL,
        place_number INTEGER NOT NULL REFERENCES place (number),
        session TEXT,
        key TEXT,
        content TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        terms_count INTEGER NOT NULL,
        type TEXT NOT NULL,
        category TEXT NOT NULL,
        importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
        salience REAL NOT NULL CHECK (salience BETWEEN 0 AND 1),
        pinned INTEGER NOT NULL CHECK (pinned IN (0, 1)),
        trust TEXT NOT NULL,
        status TEXT NOT NULL,
        valid_from INTEGER,
        valid_until INTEGER,
        superseded_by TEXT,
        conflicts_with TEXT,
        expires_at INTEGER,
        provenance TEXT NOT NULL,
        entities TEXT NOT NULL,
        language TEXT,
        metadata TEXT NOT NULL,
        source_count INTEGER NOT NULL,
        use_count INTEGER NOT NULL,
        last_used_at INTEGER,
        version INTEGER NOT NULL CHECK (version >= 1),
        change TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        -- What the full-text index holds of it, for counting words without making them again. Last, because it is
        -- long and read only by searches.
        terms TEXT NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX memory_key ON memory (place_number, key)
        WHERE key IS NOT NULL AND status IN ('active', 'disabled');
      CREATE INDEX memory_named ON memory (owner_number, key) WHERE key IS NOT NULL;
      CREATE INDEX memory_owner ON memory (owner_number, id);
      CREATE INDEX memory_change ON memory (change);
      CREATE INDEX memory_expiry ON memory (expires_at) WHERE expires_at IS NOT NULL;

      -- Our own terms, space-joined. No triggers: the store writes here when content or key change, and only then.
      -- Neither positions nor lengths are kept: the terms of a memory stand in its row. A removed word is gone from
      -- the file, not only marked; "detail = none" would be smaller but loses rows together with that. Terms hold
      -- neither spaces nor control characters; tokens for owners, places and fingerprints begin with one, so that
      -- no word can be taken for them.
      CREATE VIRTUAL TABLE memory_terms USING fts5 (
        terms, content = '', columnsize = 0, detail = column,
        tokenize = "ascii tokenchars '\u0001!""#$%&''()*+,-./:;<=>?@[\\]^_\`{|}~'"
      );
      INSERT INTO memory_terms (memory_terms, rank) VALUES ('secure-delete', 1);
      CREATE VIRTUAL TABLE memory_vocabulary USING fts5vocab (memory_terms, 'row');

      -- How much there is to search: per token of owner and place, and under the empty one in the whole store.
      CREATE TABLE corpus (
        token TEXT NOT NULL PRIMARY KEY,
        memories INTEGER NOT NULL,
        terms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE revision (
        id TEXT NOT NULL PRIMARY KEY,
        owner_number INTEGER NOT NULL,
        place_number INTEGER NOT NULL REFERENCES place (number),
        session TEXT,
        memory TEXT NOT NULL,
        recorded_at INTEGER NOT NULL,
        made_by TEXT NOT NULL,
        replaced_at INTEGER NOT NULL,
        replaced_by TEXT NOT NULL,
        snapshot TEXT NOT NULL
      ) STRICT;
      CREATE INDEX revision_owner ON revision (owner_number, id);
      CREATE INDEX revision_memory ON revision (memory, recorded_at);
      CREATE INDEX revision_made_by ON revision (made_by);
      CREATE INDEX revision_replaced_by ON revision (replaced_by);

      CREATE TABLE tombstone (
        id TEXT NOT NULL PRIMARY KEY,
        owner_number INTEGER NOT NULL,
        place_number INTEGER NOT NULL REFERENCES place (number),
        session TEXT,
        version INTEGER NOT NULL,
        forgotten_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX tombstone_owner ON tombstone (owner_number, id);
    `,
  },
  {
    name: 'the course of a session',
    sql: `
      CREATE INDEX memory_session ON memory (place_number, session, id) WHERE session IS NOT NULL;
    `,
  },
  {
    name: 'vectors',
    sql: `
      -- Vectors that can be compared with each other. One that was dropped has no signature; its number never returns.
      CREATE TABLE vector_space (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        signature TEXT UNIQUE,
        dimensions INTEGER NOT NULL
      ) STRICT;

      -- How many vectors an owner has in a space, and the number that the last one got. Numbers never return either:
      -- copies in memory go by them.
      CREATE TABLE vector_owner (
        space INTEGER NOT NULL,
        owner_number INTEGER NOT NULL,
        last_sequence INTEGER NOT NULL,
        vectors INTEGER NOT NULL,
        PRIMARY KEY (space, owner_number)
      ) STRICT, WITHOUT ROWID;

      -- An owner's vectors stand together, in the order in which they came. The record is what a search scans.
      CREATE TABLE vector (
        space INTEGER NOT NULL,
        owner_number INTEGER NOT NULL,
        sequence INTEGER NOT NULL CHECK (sequence BETWEEN 1 AND 4294967295),
        memory INTEGER NOT NULL,
        exact INTEGER,
        text_hash TEXT NOT NULL,
        record BLOB NOT NULL,
        PRIMARY KEY (space, owner_number, sequence)
      ) STRICT, WITHOUT ROWID;
      CREATE UNIQUE INDEX vector_memory ON vector (memory, space);

      -- The numbers in full, apart because few of them are read. Spaces in bytes have none.
      CREATE TABLE vector_exact (
        number INTEGER PRIMARY KEY,
        numbers BLOB NOT NULL
      ) STRICT;

      CREATE TRIGGER vector_removed AFTER DELETE ON vector BEGIN
        DELETE FROM vector_exact WHERE number = old.exact;
        UPDATE vector_owner SET vectors = vectors - 1
          WHERE space = old.space AND owner_number = old.owner_number;
      END;

      -- In the database rather than in the store, so that no way of writing a memory leaves a vector of other words.
      CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
        DELETE FROM vector WHERE memory = old.number;
      END;
      CREATE TRIGGER memory_reworded AFTER UPDATE OF content, provenance, place_number ON memory
        WHEN old.content IS NOT new.content
          OR old.place_number IS NOT new.place_number
          OR (old.provenance IS NOT new.provenance
              AND old.provenance -> 'speaker' IS NOT new.provenance -> 'speaker')
      BEGIN
        DELETE FROM vector WHERE memory = new.number;
      END;
    `,
  },
  {
    name: 'entries and turns',
    sql: `
      -- What the system keeps for itself, see core/entry.ts. Kinds are listed one at a time, in the order of ids.
      CREATE TABLE entry (
        id TEXT NOT NULL PRIMARY KEY,
        owner_number INTEGER NOT NULL,
        place_number INTEGER NOT NULL REFERENCES place (number),
        session TEXT,
        version INTEGER NOT NULL CHECK (version >= 1),
        kind TEXT NOT NULL,
        about TEXT,
        at INTEGER NOT NULL,
        expires_at INTEGER,
        body TEXT NOT NULL
      ) STRICT;
      CREATE INDEX entry_owner ON entry (owner_number, id);
      CREATE INDEX entry_kind ON entry (owner_number, kind, id);
      CREATE INDEX entry_about ON entry (owner_number, about, id) WHERE about IS NOT NULL;
      CREATE INDEX entry_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL;

      CREATE TABLE turn (
        id TEXT NOT NULL PRIMARY KEY,
        owner_number INTEGER NOT NULL,
        place_number INTEGER NOT NULL REFERENCES place (number),
        session TEXT,
        version INTEGER NOT NULL CHECK (version >= 1),
        role TEXT NOT NULL,
        speaker TEXT,
        content TEXT NOT NULL,
        position INTEGER NOT NULL,
        said_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX turn_owner ON turn (owner_number, id);
      CREATE INDEX turn_session ON turn (owner_number, session, id);
    `,
  },
  {
    name: 'search in what was said, and jobs by when they are due',
    sql: `
      -- The number is what the full-text index knows a turn by; it must not change when the file is copied. What is new
      -- comes last and may be missing, so that turns from a damaged file of the earlier schema can still be read.
      ALTER TABLE turn RENAME TO turn_before;
      CREATE TABLE turn (
        id TEXT NOT NULL UNIQUE,
        owner_number INTEGER NOT NULL,
        place_number INTEGER NOT NULL REFERENCES place (number),
        session TEXT,
        version INTEGER NOT NULL CHECK (version >= 1),
        role TEXT NOT NULL,
        speaker TEXT,
        content TEXT NOT NULL,
        position INTEGER NOT NULL,
        said_at INTEGER NOT NULL,
        number INTEGER PRIMARY KEY,
        terms_count INTEGER NOT NULL DEFAULT 0,
        terms TEXT NOT NULL DEFAULT ''
      ) STRICT;
      -- The limit keeps SQLite from making the terms twice, once for each column that is made of them.
      INSERT INTO turn (id, owner_number, place_number, session, version, role, speaker, content, position, said_at,
          terms_count, terms)
        SELECT id, owner_number, place_number, session, version, role, speaker, content, position, said_at,
          CASE terms WHEN '' THEN 0 ELSE length(terms) - length(replace(terms, ' ', '')) + 1 END, terms
        FROM (SELECT *, spoken_terms(content, speaker) AS terms FROM turn_before ORDER BY rowid LIMIT -1);
      DROP TABLE turn_before;
      CREATE INDEX turn_owner ON turn (owner_number, id);
      CREATE INDEX turn_session ON turn (owner_number, session, id);
      CREATE INDEX turn_said ON turn (owner_number, session, said_at, position, id);
      CREATE INDEX turn_time ON turn (owner_number, said_at, position, id);

      -- As for memories, without fingerprints.
      CREATE VIRTUAL TABLE turn_terms USING fts5 (
        terms, content = '', columnsize = 0, detail = column,
        tokenize = "ascii tokenchars '\u0001!""#$%&''()*+,-./:;<=>?@[\\]^_\`{|}~'"
      );
      INSERT INTO turn_terms (turn_terms, rank) VALUES ('secure-delete', 1);
      CREATE VIRTUAL TABLE turn_vocabulary USING fts5vocab (turn_terms, 'row');
      INSERT INTO turn_terms (rowid, terms)
        SELECT number, char(1) || 'o' || owner_number || ' ' || char(1) || 'p' || place_number || ' ' || terms
        FROM turn;

      CREATE TABLE turn_corpus (
        token TEXT NOT NULL PRIMARY KEY,
        turns INTEGER NOT NULL,
        terms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      INSERT INTO turn_corpus
        SELECT '', count(*), coalesce(sum(terms_count), 0) FROM turn
        UNION ALL SELECT char(1) || 'o' || owner_number, count(*), sum(terms_count) FROM turn GROUP BY owner_number
        UNION ALL SELECT char(1) || 'p' || place_number, count(*), sum(terms_count) FROM turn GROUP BY place_number;

      CREATE INDEX entry_due ON entry (owner_number, kind, at);
    `,
  },
  {
    name: 'entries of a session',
    sql: `
      CREATE INDEX entry_session ON entry (owner_number, session, kind, id) WHERE session IS NOT NULL;
    `,
  },
  {
    name: 'turns that are out of use',
    sql: `
      ALTER TABLE turn ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1));
    `,
  },
  {
    name: 'turns as search documents',
    sql: `
      -- Every turn has a document of type "turn" among the memories, see core/search-document.ts: one lexical index and
      -- one vector index serve both. Columns of "turn" that held its terms stay where they are, empty, so that rows of
      -- earlier versions can still be read from a damaged file.
      DROP TABLE turn_vocabulary;
      DROP TABLE turn_terms;
      DROP TABLE turn_corpus;
      UPDATE turn SET terms = '', terms_count = 0 WHERE terms <> '';
      CREATE INDEX memory_position ON memory (place_number, session, metadata ->> 'position', id)
        WHERE type = 'turn';
    `,
    backfill: rebuildTurnDocuments,
  },
  {
    name: 'terms of turns apart from those of memories',
    sql: `
      -- The tokens of the two differed in case alone, which FTS5 ignores: a search for memories read turns as well.
      DELETE FROM corpus;
    `,
    backfill: (connection) => rebuildDerivedData(new SqliteDatabase(connection)),
  },
  {
    name: 'jobs and signals apart from entries, and present names of entries',
    sql: `
      -- All jobs have the place of the system. The owner that a job works for is a column, so that one index finds what
      -- is due for anybody.
      CREATE TABLE job (
        id TEXT NOT NULL PRIMARY KEY,
        owner_number INTEGER NOT NULL,
        place_number INTEGER NOT NULL REFERENCES place (number),
        session TEXT,
        version INTEGER NOT NULL CHECK (version >= 1),
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        for_owner TEXT,
        status TEXT NOT NULL,
        due_at INTEGER,
        status_changed_at INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        lost_leases INTEGER NOT NULL,
        every_ms INTEGER,
        last_error TEXT,
        claim TEXT,
        cancelled_run TEXT,
        expires_at INTEGER,
        input TEXT NOT NULL,
        outcome TEXT
      ) STRICT;
      CREATE INDEX job_place ON job (owner_number, id);
      CREATE INDEX job_due ON job (owner_number, due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX job_for_owner ON job (owner_number, for_owner, kind, id);
      CREATE INDEX job_expiry ON job (expires_at) WHERE expires_at IS NOT NULL;

      CREATE TABLE signal (
        id TEXT NOT NULL PRIMARY KEY,
        owner_number INTEGER NOT NULL,
        place_number INTEGER NOT NULL REFERENCES place (number),
        session TEXT,
        version INTEGER NOT NULL CHECK (version >= 1),
        status TEXT NOT NULL,
        position INTEGER NOT NULL,
        is_history INTEGER NOT NULL CHECK (is_history IN (0, 1)),
        is_pattern_scanned INTEGER NOT NULL CHECK (is_pattern_scanned IN (0, 1)),
        attempts INTEGER NOT NULL,
        error TEXT,
        change TEXT,
        turns TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER
      ) STRICT;
      CREATE INDEX signal_owner ON signal (owner_number, id);
      CREATE INDEX signal_session ON signal (owner_number, session, id) WHERE session IS NOT NULL;
      CREATE INDEX signal_status ON signal (owner_number, status, id);
      CREATE INDEX signal_expiry ON signal (expires_at) WHERE expires_at IS NOT NULL;

      -- Jobs alone were looked up by time.
      DROP INDEX entry_due;
    `,
    backfill: migrateEntries,
  },
]

/** The default of SQLite and of both drivers. */
export const PAGE_BYTES = 4_096

/** "rclt" in ASCII: distinguishes databases of Recollect from those of other programs. */
export const APPLICATION_ID = 0x72636c74

export type PendingMigrations = { readonly from: number; readonly to: number }

/** The pending steps; null when there are none. Throws for a database of another or a newer version. */
export function findPendingMigrations(
  connection: SqliteConnection,
  migrations: readonly SchemaMigration[] = MIGRATIONS,
): PendingMigrations | null {
  const applied = appliedMigrations(connection)
  if (applied.length > migrations.length) {
    throw new AppError(
      'schema_mismatch',
      `The database has schema version ${applied.length}, but this Recollect supports only ${migrations.length}. ` +
        'A newer version wrote it: update Recollect, or restore a backup made before the update.',
      { database: applied.length, supported: migrations.length },
    )
  }
  for (const [index, checksum] of applied.entries()) {
    const migration = migrations[index]
    if (migration !== undefined && checksum !== sha256(migration.sql)) {
      throw new AppError(
        'schema_mismatch',
        `Schema step ${index + 1} ("${migration.name}") of the database differs from the one of this Recollect.`,
        { step: index + 1 },
      )
    }
  }
  return applied.length === migrations.length
    ? null
    : { from: applied.length, to: migrations.length }
}

/** Applies pending steps, each in its own transaction. When two processes migrate at once, one waits for the other. */
export function migrate(
  connection: SqliteConnection,
  now: number,
  migrations: readonly SchemaMigration[] = MIGRATIONS,
): void {
  connection.exec(`
    PRAGMA application_id = ${APPLICATION_ID};
    CREATE TABLE IF NOT EXISTS migration (
      version INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      checksum TEXT NOT NULL,
      applied_at INTEGER NOT NULL
    ) STRICT;
  `)
  for (const [index, migration] of migrations.entries()) {
    connection.exec('BEGIN IMMEDIATE')
    try {
      if (appliedMigrations(connection).length === index) {
        connection.exec(migration.sql)
        migration.backfill?.(connection)
        connection
          .prepare(
            'INSERT INTO migration (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)',
          )
          .run(index + 1, migration.name, sha256(migration.sql), now)
      }
      connection.exec('COMMIT')
    } catch (error) {
      connection.exec('ROLLBACK')
      throw error
    }
  }
}

function appliedMigrations(connection: SqliteConnection): readonly string[] {
  const [table] = connection
    .prepare(`SELECT count(*) AS present FROM sqlite_schema WHERE name = 'migration'`)
    .all()
  if (table?.present === 0) return []
  return connection
    .prepare('SELECT checksum FROM migration ORDER BY version')
    .all()
    .map((row) => String(row.checksum))
}
