/**
 * Row-level security as defense in depth: PostgreSQL itself restricts a statement to rows of the
 * owners that its transaction names. The primary isolation is the condition in every statement;
 * row-level security covers a statement where it is missing. Owners are set per transaction, so
 * pooled connections carry nothing over. Superusers and roles with BYPASSRLS bypass it, and whoever
 * may run arbitrary SQL can name any owner: it guards against mistakes, not attackers.
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

/** The owners of a call; `everyone` is for operators and for lookups across owners. */
export type VisibleOwners = readonly string[] | 'everyone'

export interface RowLevelSecurity {
  /**
   * Enables the policies on every table, for this process and the database. Returns whether they
   * were off before.
   */
  enable(): Promise<boolean>
  /** Detects whether they are enabled, since another process may have done so. */
  refreshState(): Promise<void>
  readonly state: RowLevelSecurityState
  /** Runs statements restricted to these owners. */
  runnerFor(database: PostgresDatabase, owners: VisibleOwners): QueryRunner
  /** The same inside an open transaction. */
  restrictTransaction(query: QueryFunction, owners: VisibleOwners): Promise<void>
}

export type RowLevelSecurityState =
  | 'off'
  | 'on'
  | 'enabled, but the user of this connection bypasses it'

/** All tables with owner data. Spaces and ledgers have none. */
const PROTECTED_TABLES = [
  ...['memory', 'revision', 'tombstone', 'entry', 'turn', 'posting', 'corpus'],
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
      // Checked first, so that nobody needs DDL rights once it is enabled.
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

/** An array literal in PostgreSQL syntax, each name quoted. */
function listLiteral(names: readonly string[]): string {
  const quotedNames = names.map((name) => `"${name.replaceAll(/["\\]/g, '\\$&')}"`)
  return `{${quotedNames.join(',')}}`
}

/** The E'' form gives a backslash the same meaning on every server. */
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
  return role?.bypasses === true ? 'enabled, but the user of this connection bypasses it' : 'on'
}

async function isEnabled(query: QueryFunction, names: SqlIdentifiers): Promise<boolean> {
  const [row] = await query<{ raised: boolean }>(
    'SELECT relforcerowsecurity AS raised FROM pg_class WHERE oid = to_regclass($1)',
    [names.memory],
  )
  return row?.raised === true
}

/** Existing tables without a policy: the vector tables may be created later. */
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
