/**
 * Row-level security as a second fence: PostgreSQL itself shows a statement only rows of the owners that its transaction
 * has named. The first fence is the condition in every statement; this one holds where such a condition is forgotten.
 *
 * Owners are named for one transaction at a time, so pooled connections carry nothing over. Superusers and roles with
 * BYPASSRLS see everything whatever is set, and whoever may run any SQL can name any owner: it guards against mistakes.
 */
import { toStorable } from '../../../text/storable-text.ts'
import {
  hashOwner,
  type SqlIdentifiers,
  type TableName,
  toLockingBegin,
  toMigrationLock,
} from '../schema/identifiers.ts'
import type { PostgresDatabase, QueryFunction, QueryRunner } from './postgres-driver.ts'

/** Whom a call is about; `everyone` is for operators, and for what has to be known across owners. */
export type VisibleOwners = readonly string[] | 'everyone'

export interface RowLevelSecurity {
  /** Makes the policies count on every table, for this process and for the database. Says whether they did not before. */
  enable(): Promise<boolean>
  /** Looks whether they count, which another process may have decided. */
  refreshState(): Promise<void>
  readonly state: RowLevelSecurityState
  /** Statements that see these owners alone. */
  runnerFor(database: PostgresDatabase, owners: VisibleOwners): QueryRunner
  /** The same in a transaction that has begun. */
  restrictTransaction(query: QueryFunction, owners: VisibleOwners): Promise<void>
}

export type RowLevelSecurityState = 'off' | 'on' | 'on, but the user of this connection bypasses it'

/** Everything that tells of an owner. Spaces and ledgers tell of none. */
const PROTECTED_TABLES = [
  ...['memory', 'revision', 'tombstone', 'entry', 'turn', 'job', 'signal'],
  ...['posting', 'corpus'],
  ...['embedding', 'plain_embedding'],
] as const satisfies readonly TableName[]

export function createRowLevelSecurity(
  database: PostgresDatabase,
  names: SqlIdentifiers,
): RowLevelSecurity {
  let state: RowLevelSecurityState = 'off'
  const look = async () => {
    state = await readState(database.query, names)
  }
  return {
    get state() {
      return state
    },
    refreshState: look,
    async enable() {
      // Looking first means that nothing needs the right to change tables once it is done.
      const isNew = (await listUnprotectedTables(database.query, names)).length > 0
      if (isNew) {
        await database.transaction(toLockingBegin([toMigrationLock(names)]), async (query) => {
          for (const table of await listUnprotectedTables(query, names)) {
            await query(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`)
            await query(`ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`)
          }
        })
      }
      await look()
      return isNew
    },
    runnerFor: (on, owners) => (state === 'off' ? on : createScopedRunner(on, settingsFor(owners))),
    async restrictTransaction(query, owners) {
      if (state === 'off') return
      await query(settingsFor(owners).map(setLocal).join('; '))
    },
  }
}

function createScopedRunner(database: PostgresDatabase, settings: readonly string[]): QueryRunner {
  const set = settings.map(setLocal).join('; ')
  return {
    query: (sql, values) => database.readWithSettings(settings, sql, values),
    transaction: (begin, work) => database.transaction(`${begin}; ${set}`, work),
    readWithSettings: (others, sql, values) =>
      database.readWithSettings([...settings, ...others], sql, values),
    readAllWithSettings: (others, statements) =>
      database.readAllWithSettings([...settings, ...others], statements),
  }
}

function setLocal(setting: string): string {
  return `SET LOCAL ${setting}`
}

function settingsFor(owners: VisibleOwners): readonly string[] {
  const [names, hashes] =
    owners === 'everyone'
      ? ['*', '*']
      : [listLiteral(owners.map(toStorable)), `{${owners.map(hashOwner).join(',')}}`]
  return [`recollect.owners = ${literal(names)}`, `recollect.owner_hashes = '${hashes}'`]
}

/** A list as PostgreSQL reads it, each name in quotes. */
function listLiteral(names: readonly string[]): string {
  const quotedNames = names.map((name) => `"${name.replaceAll(/["\\]/g, '\\$&')}"`)
  return `{${quotedNames.join(',')}}`
}

/** In a form in which a backslash means the same whatever the server is set to. */
function literal(text: string): string {
  return ` E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

async function readState(
  query: QueryFunction,
  names: SqlIdentifiers,
): Promise<RowLevelSecurityState> {
  if (!(await isEnabled(query, names))) return 'off'
  const [role] = await query<{ bypasses: boolean }>(
    'SELECT rolsuper OR rolbypassrls AS bypasses FROM pg_roles WHERE rolname = current_user',
  )
  return role?.bypasses === true ? 'on, but the user of this connection bypasses it' : 'on'
}

async function isEnabled(query: QueryFunction, names: SqlIdentifiers): Promise<boolean> {
  const [row] = await query<{ raised: boolean }>(
    'SELECT relforcerowsecurity AS raised FROM pg_class WHERE oid = to_regclass($1)',
    [names.memory],
  )
  return row?.raised === true
}

/** Tables without it, of those that are there: vectors may come later. */
async function listUnprotectedTables(
  query: QueryFunction,
  names: SqlIdentifiers,
): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS name JOIN pg_class AS c ON c.oid = to_regclass(name)
     WHERE NOT (relrowsecurity AND relforcerowsecurity)`,
    [PROTECTED_TABLES.map((table) => names[table])],
  )
  return rows.map(({ name }) => name)
}
