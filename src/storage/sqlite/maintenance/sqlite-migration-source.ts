/**
 * The source side of a store migration. Triggers log changes, and later block all writes. They are part of the file, so
 * they bind every process that has it open.
 */
import type { OwnerId } from '../../../domain/ids.ts'
import { fromStorable } from '../../../text/storable-text.ts'
import type {
  ChangedRow,
  LoggedChanges,
  MigrationHandover,
  MigrationSource,
} from '../../migration-source.ts'
import { TABLES, type Table } from '../../store.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlRow } from '../connection/sqlite-driver.ts'

/** Omitted from copies of the database: the log belongs to the migration of this one. */
export const CHANGE_LOG_TABLE = 'moving_note'
const LOG_PREFIX = 'moving_note_'
const BLOCK_PREFIX = 'moved_away_'
const WRITES = ['INSERT', 'UPDATE', 'DELETE'] as const
type WriteKind = (typeof WRITES)[number]

export function createSqliteMigrationSource(database: SqliteDatabase): MigrationSource {
  return {
    startChangeLog: () =>
      database.withBusyRetry(() => database.runInTransaction(() => startChangeLog(database))),
    readChangeLog: async (limit) => readChangeLog(database, limit),
    acknowledgeChanges: async (numbers) => {
      if (numbers.length === 0) return
      await database.withBusyRetry(() =>
        database.run(
          `DELETE FROM ${CHANGE_LOG_TABLE} WHERE number IN (SELECT value FROM json_each(?))`,
          [JSON.stringify(numbers)],
        ),
      )
    },
    freezeWrites: async (work) => {
      const { connection } = database
      await database.withBusyRetry(() => connection.exec('BEGIN IMMEDIATE'))
      const since = performance.now() // other writers do not wait while this one waits for its lock
      try {
        const leave = async (departure: MigrationHandover) => blockWrites(database, departure)
        const result = await work({ since, handOver: leave })
        connection.exec('COMMIT')
        return result
      } catch (error) {
        try {
          connection.exec('ROLLBACK')
        } catch {
          /* SQLite has rolled back by itself; the first error is the one to show */
        }
        throw error
      }
    },
    resumeWrites: () =>
      database.withBusyRetry(() =>
        database.runInTransaction(() => {
          dropTriggers(database, BLOCK_PREFIX)
          dropChangeLog(database)
        }),
      ),
  }
}

function startChangeLog(database: SqliteDatabase): 'begun' | 'going on' {
  const [known] = database.all('SELECT 1 FROM sqlite_schema WHERE name = ?', [CHANGE_LOG_TABLE])
  if (known !== undefined) return 'going on'
  const { connection } = database
  connection.exec(`
    CREATE TABLE ${CHANGE_LOG_TABLE} (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL,
      owner TEXT NOT NULL,
      id TEXT NOT NULL
    ) STRICT;
  `)
  for (const table of TABLES) {
    for (const write of WRITES) {
      connection.exec(`
        CREATE TRIGGER ${LOG_PREFIX}${table}_${write} AFTER ${write} ON ${table} ${unlessDerived(table, write)} BEGIN
          INSERT INTO ${CHANGE_LOG_TABLE} (kind, owner, id)
            SELECT DISTINCT '${table}', owner, ${write === 'DELETE' ? 'old' : 'new'}.id FROM place
            WHERE number IN (${placesOf(write)});
        END;
      `)
    }
  }
  for (const write of WRITES) {
    connection.exec(`
      CREATE TRIGGER ${LOG_PREFIX}vector_${write} AFTER ${write} ON vector BEGIN
        INSERT INTO ${CHANGE_LOG_TABLE} (kind, owner, id)
          SELECT CASE memory.type WHEN 'turn' THEN 'turn' ELSE 'memory' END, place.owner, memory.id
          FROM memory JOIN place ON place.number = memory.place_number
          WHERE memory.number = ${write === 'DELETE' ? 'old' : 'new'}.memory;
      END;
    `)
  }
  return 'begun'
}

/** Documents of turns are not logged: the target derives them from the turns. */
function unlessDerived(table: Table, write: WriteKind): string {
  return table === 'memory' ? `WHEN ${write === 'DELETE' ? 'old' : 'new'}.type <> 'turn'` : ''
}

function placesOf(write: WriteKind): string {
  if (write === 'INSERT') return 'new.place_number'
  return write === 'DELETE' ? 'old.place_number' : 'old.place_number, new.place_number'
}

function readChangeLog(database: SqliteDatabase, limit: number): LoggedChanges {
  const notes = database.all(
    `SELECT number, kind, owner, id FROM ${CHANGE_LOG_TABLE} ORDER BY number LIMIT ?`,
    [limit],
  )
  const rows = new Map(notes.map((note) => [`${note.kind} ${note.owner} ${note.id}`, note]))
  return {
    rows: [...rows.values()].map(toChangedRow),
    sequenceNumbers: notes.map(({ number }) => Number(number)),
  }
}

function toChangedRow({ kind, owner, id }: SqlRow): ChangedRow {
  const row = { table: kind, owner: fromStorable(String(owner)) as OwnerId, id: String(id) }
  return row as ChangedRow // as the triggers wrote it
}

function blockWrites(database: SqliteDatabase, { entry, body, message }: MigrationHandover): void {
  dropChangeLog(database)
  database.run('UPDATE entry SET body = ?, version = version + 1 WHERE id = ?', [
    JSON.stringify(body),
    entry,
  ])
  for (const table of [...TABLES, 'vector']) {
    for (const write of WRITES) {
      database.connection.exec(`
        CREATE TRIGGER ${BLOCK_PREFIX}${table}_${write} BEFORE ${write} ON ${table} BEGIN
          SELECT RAISE(ABORT, '${message.replaceAll("'", "''")}');
        END;
      `)
    }
  }
}

function dropChangeLog(database: SqliteDatabase): void {
  dropTriggers(database, LOG_PREFIX)
  database.connection.exec(`DROP TABLE IF EXISTS ${CHANGE_LOG_TABLE}`)
}

function dropTriggers(database: SqliteDatabase, prefix: string): void {
  const triggers = database.all(
    `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND substr(name, 1, ?) = ?`,
    [prefix.length, prefix],
  )
  for (const { name } of triggers) database.connection.exec(`DROP TRIGGER ${String(name)}`)
}

/**
 * Runs a schema migration on a store that was, or is being, migrated to another one. Triggers that block writes are
 * dropped and restored, also on tables that the schema migration adds. A running copy starts over, because its change log
 * covers only the old tables.
 */
export function runBesideMigrationTriggers(
  database: SqliteDatabase,
  addedTables: readonly string[],
  work: () => void,
): void {
  dropChangeLog(database)
  const refusing = database
    .all(
      `SELECT sql FROM sqlite_schema
       WHERE type = 'trigger' AND substr(name, 1, ${BLOCK_PREFIX.length}) = '${BLOCK_PREFIX}'`,
    )
    .map(({ sql }) => String(sql))
  dropTriggers(database, BLOCK_PREFIX)
  work()
  const ofEntry = refusing.filter((sql) => sql.includes(`${BLOCK_PREFIX}entry_`))
  const added = addedTables.flatMap((table) =>
    ofEntry.map((sql) =>
      sql
        .replace(`${BLOCK_PREFIX}entry_`, `${BLOCK_PREFIX}${table}_`)
        .replace(' ON entry ', ` ON ${table} `),
    ),
  )
  for (const sql of [...refusing, ...added]) database.connection.exec(sql)
}
