/**
 * Migration source: moves a schema to another store. Triggers record changes and later reject every
 * write: they are part of the database, so they apply to every connected process.
 */
import type { OwnerId } from '../../../domain/ids.ts'
import { sleep } from '../../../lib/abort.ts'
import { quoteIdentifier } from '../../../lib/sql.ts'
import { toStorable } from '../../../text/storable-text.ts'
import type {
  ChangedRow,
  LoggedChanges,
  MigrationHandover,
  MigrationSource,
} from '../../migration-source.ts'
import { TABLES } from '../../store.ts'
import type { PostgresDatabase, QueryFunction } from '../connection/postgres-driver.ts'
import { isLockTimeout, MIGRATED_SQLSTATE } from '../connection/postgres-errors.ts'
import type { RowLevelSecurity } from '../connection/row-level-security.ts'
import {
  type SqlIdentifiers,
  toLockingBegin,
  toMigrationLock,
  WRITE_BLOCK_TRIGGER,
} from '../schema/identifiers.ts'
import { hasRelation } from '../schema/migrations.ts'
import { ROW_CONDITION_BY_KIND } from '../store/document-kinds.ts'
import { decodeText } from '../store/row-codec.ts'

const NOTING = 'moving_note'

/** A waiting table lock blocks everybody behind it, so each wait is short and repeated. */
const LOCK_MS_MAX = 300
const LOCK_PAUSE_MS = 300
const LOCK_ATTEMPTS = 15

type MigrationSourceDependencies = {
  readonly database: PostgresDatabase
  readonly names: SqlIdentifiers
  readonly fence: RowLevelSecurity
}

export function createPostgresMigrationSource({
  database,
  names,
  fence,
}: MigrationSourceDependencies): MigrationSource {
  const notes = `${quoteIdentifier(names.schema)}.${NOTING}`
  const begin = toLockingBegin([toMigrationLock(names)])
  return {
    startChangeLog: () =>
      database.transaction(begin, (query) => startChangeLog(query, names, notes)),
    readChangeLog: (limit) => readChangeLog(database.query, notes, limit),
    acknowledgeChanges: async (numbers) => {
      await database.query(`DELETE FROM ${notes} WHERE number = ANY ($1::bigint[])`, [numbers])
    },
    freezeWrites: async (work) => {
      for (let attempt = 1; ; attempt++) {
        let isHeld = false
        try {
          return await fence.runnerFor(database, 'everyone').transaction(begin, async (query) => {
            const tables = await writtenTables(query, names)
            await query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`)
            const since = performance.now()
            await query(`LOCK TABLE ${tables.join(', ')} IN EXCLUSIVE MODE`)
            isHeld = true
            await query('SET LOCAL lock_timeout = 0')
            const leave = (departure: MigrationHandover) =>
              blockWrites(query, names, notes, tables, departure)
            return work({ since, handOver: leave })
          })
        } catch (thrown) {
          if (isHeld || attempt === LOCK_ATTEMPTS || !isLockTimeout(thrown)) throw thrown
          await sleep(LOCK_PAUSE_MS)
        }
      }
    },
    resumeWrites: () =>
      database.transaction(begin, async (query) => {
        await dropChangeLog(query, names, notes)
        const refusing = `${quoteIdentifier(names.schema)}.${WRITE_BLOCK_TRIGGER}()`
        await query(`DROP FUNCTION IF EXISTS ${refusing} CASCADE`)
      }),
  }
}

/** The tables of memories and related rows, and of vectors where they exist. */
async function writtenTables(
  query: QueryFunction,
  names: SqlIdentifiers,
): Promise<readonly string[]> {
  const tables: string[] = TABLES.map((table) => names[table])
  return [...tables, ...(await vectorTables(query, names))]
}

async function vectorTables(
  query: QueryFunction,
  names: SqlIdentifiers,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const table of [names.embedding, names.plain_embedding]) {
    if (await hasRelation(query, 'to_regclass', table)) found.push(table)
  }
  return found
}

async function startChangeLog(
  query: QueryFunction,
  names: SqlIdentifiers,
  notes: string,
): Promise<'begun' | 'going on'> {
  if (await hasRelation(query, 'to_regclass', notes)) return 'going on'
  await query(`CREATE TABLE ${notes} (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text NOT NULL,
    owner_id text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL)`)
  await query(noteRow(names, notes))
  for (const table of TABLES.filter((table) => table !== 'memory')) {
    await query(notingTrigger(names[table], names, `${NOTING}_row`))
  }
  for (const trigger of memoryTriggers(names)) await query(trigger)
  await query(noteVector(names, notes))
  for (const table of await vectorTables(query, names)) {
    await query(notingTrigger(table, names, `${NOTING}_vector`))
  }
  return 'begun'
}

/** SECURITY DEFINER, so that the roles of writers need no access to the change log. */
function createChangeLogFunction(names: SqlIdentifiers, name: string, body: string): string {
  return `CREATE FUNCTION ${quoteIdentifier(names.schema)}.${name}() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$ BEGIN ${body} RETURN NULL; END $body$`
}

function noteRow(names: SqlIdentifiers, notes: string): string {
  const note = (row: 'OLD' | 'NEW') =>
    `INSERT INTO ${notes} (kind, owner_id, id) VALUES (TG_TABLE_NAME, ${row}.owner_id, ${row}.id);`
  return createChangeLogFunction(
    names,
    `${NOTING}_row`,
    `IF TG_OP = 'DELETE' THEN ${note('OLD')}
     ELSE
       IF TG_OP = 'UPDATE' THEN
         IF OLD.owner_id <> NEW.owner_id THEN ${note('OLD')} END IF;
       END IF;
       ${note('NEW')}
     END IF;`,
  )
}

function noteVector(names: SqlIdentifiers, notes: string): string {
  const note = (row: 'OLD' | 'NEW') => `INSERT INTO ${notes} (kind, owner_id, id)
    SELECT CASE WHEN ${ROW_CONDITION_BY_KIND.turn} THEN 'turn' ELSE 'memory' END, owner_id, id
    FROM ${names.memory} WHERE number = ${row}.memory;`
  return createChangeLogFunction(
    names,
    `${NOTING}_vector`,
    `IF TG_OP = 'DELETE' THEN ${note('OLD')} ELSE ${note('NEW')} END IF;`,
  )
}

function notingTrigger(table: string, names: SqlIdentifiers, called: string): string {
  return `CREATE TRIGGER ${NOTING} AFTER INSERT OR UPDATE OR DELETE ON ${table}
    FOR EACH ROW EXECUTE FUNCTION ${quoteIdentifier(names.schema)}.${called}()`
}

/**
 * Documents of turns are derived: the target derives its own from the turns, which are recorded
 * instead.
 */
function memoryTriggers(names: SqlIdentifiers): readonly string[] {
  const trigger = (name: string, events: string, row: 'OLD' | 'NEW') =>
    `CREATE TRIGGER ${name} AFTER ${events} ON ${names.memory} FOR EACH ROW
      WHEN (${row}.${ROW_CONDITION_BY_KIND.memory})
      EXECUTE FUNCTION ${quoteIdentifier(names.schema)}.${NOTING}_row()`
  return [trigger(NOTING, 'INSERT OR UPDATE', 'NEW'), trigger(`${NOTING}_removal`, 'DELETE', 'OLD')]
}

type ChangeLogColumns = { number: number; kind: string; owner_id: string; id: string }

async function readChangeLog(
  query: QueryFunction,
  notes: string,
  limit: number,
): Promise<LoggedChanges> {
  const found = await query<ChangeLogColumns>(
    `SELECT number, kind, owner_id, id FROM ${notes} ORDER BY number LIMIT $1`,
    [limit],
  )
  const rows = new Map(found.map((note) => [`${note.kind} ${note.owner_id} ${note.id}`, note]))
  return {
    rows: [...rows.values()].map(toChangedRow),
    sequenceNumbers: found.map(({ number }) => number),
  }
}

function toChangedRow({ kind, owner_id, id }: ChangeLogColumns): ChangedRow {
  const row = { table: kind, owner: decodeText(owner_id) as OwnerId, id: decodeText(id) }
  return row as ChangedRow // the format that the triggers write
}

async function blockWrites(
  query: QueryFunction,
  names: SqlIdentifiers,
  notes: string,
  tables: readonly string[],
  { entry, body, message }: MigrationHandover,
): Promise<void> {
  await dropChangeLog(query, names, notes)
  await query(`UPDATE ${names.entry} SET body = $2, version = version + 1 WHERE id = $1`, [
    entry,
    JSON.stringify(body),
  ])
  const refusing = `${quoteIdentifier(names.schema)}.${WRITE_BLOCK_TRIGGER}`
  await query(`CREATE FUNCTION ${refusing}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
    RAISE EXCEPTION USING ERRCODE = '${MIGRATED_SQLSTATE}', MESSAGE = TG_ARGV[0]; END $body$`)
  for (const table of tables) {
    await query(`CREATE TRIGGER ${WRITE_BLOCK_TRIGGER} BEFORE INSERT OR UPDATE OR DELETE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION ${refusing}(${literal(message)})`)
  }
}

async function dropChangeLog(
  query: QueryFunction,
  names: SqlIdentifiers,
  notes: string,
): Promise<void> {
  for (const called of [`${NOTING}_row`, `${NOTING}_vector`]) {
    await query(`DROP FUNCTION IF EXISTS ${quoteIdentifier(names.schema)}.${called}() CASCADE`)
  }
  await query(`DROP TABLE IF EXISTS ${notes}`)
}

/**
 * Trigger arguments cannot be bound. The E'' form gives a backslash the same meaning on every
 * server.
 */
function literal(text: string): string {
  return `E'${toStorable(text).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
