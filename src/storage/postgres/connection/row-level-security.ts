/**
 * Row-level security as a second fence: PostgreSQL itself shows a statement only rows of the owners that its transaction
 * has named. The first fence is the condition in every statement; this one holds where such a condition is forgotten.
 *
 * Owners are named for one transaction at a time, so pooled connections carry nothing over. Superusers and roles with
 * BYPASSRLS see everything whatever is set, and whoever may run any SQL can name any owner: it guards against mistakes.
 */
import { toStorable } from '../../../text/storable-text.ts'
import {
  beginWithLocks,
  migrationLock,
  type Names,
  ownerHash,
  type TableName,
} from '../schema/identifiers.ts'
import type { Database, Query, Runner } from './postgres-driver.ts'

/** Whom a call is about; `everyone` is for operators, and for what has to be known across owners. */
export type Owners = readonly string[] | 'everyone'

export interface Fence {
  /** Makes the policies count on every table, for this process and for the database. Says whether they did not before. */
  raise(): Promise<boolean>
  /** Looks whether they count, which another process may have decided. */
  look(): Promise<void>
  readonly state: FenceState
  /** Statements that see these owners alone. */
  of(database: Database, owners: Owners): Runner
  /** The same in a transaction that has begun. */
  narrow(query: Query, owners: Owners): Promise<void>
}

export type FenceState = 'off' | 'on' | 'on, but the user of this connection bypasses it'

/** Everything that tells of an owner. Spaces and ledgers tell of none. */
const FENCED = [
  ...['memory', 'revision', 'tombstone', 'entry', 'turn', 'posting', 'corpus'],
  ...['embedding', 'plain_embedding'],
] as const satisfies readonly TableName[]

export function createFence(database: Database, names: Names): Fence {
  let state: FenceState = 'off'
  const look = async () => {
    state = await stateOf(database.query, names)
  }
  return {
    get state() {
      return state
    },
    look,
    async raise() {
      // Looking first means that nothing needs the right to change tables once it is done.
      const isNew = (await openTables(database.query, names)).length > 0
      if (isNew) {
        await database.transaction(beginWithLocks([migrationLock(names)]), async (query) => {
          for (const table of await openTables(query, names)) {
            await query(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`)
            await query(`ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`)
          }
        })
      }
      await look()
      return isNew
    },
    of: (on, owners) => (state === 'off' ? on : fenced(on, settingsFor(owners))),
    async narrow(query, owners) {
      if (state === 'off') return
      await query(settingsFor(owners).map(setLocal).join('; '))
    },
  }
}

function fenced(database: Database, settings: readonly string[]): Runner {
  const set = settings.map(setLocal).join('; ')
  return {
    query: (sql, values) => database.reading(settings, sql, values),
    transaction: (begin, work) => database.transaction(`${begin}; ${set}`, work),
    reading: (others, sql, values) => database.reading([...settings, ...others], sql, values),
    readingAll: (others, statements) => database.readingAll([...settings, ...others], statements),
  }
}

function setLocal(setting: string): string {
  return `SET LOCAL ${setting}`
}

function settingsFor(owners: Owners): readonly string[] {
  const [names, hashes] =
    owners === 'everyone'
      ? ['*', '*']
      : [listLiteral(owners.map(toStorable)), `{${owners.map(ownerHash).join(',')}}`]
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

async function stateOf(query: Query, names: Names): Promise<FenceState> {
  if (!(await isRaised(query, names))) return 'off'
  const [role] = await query<{ bypasses: boolean }>(
    'SELECT rolsuper OR rolbypassrls AS bypasses FROM pg_roles WHERE rolname = current_user',
  )
  return role?.bypasses === true ? 'on, but the user of this connection bypasses it' : 'on'
}

async function isRaised(query: Query, names: Names): Promise<boolean> {
  const [row] = await query<{ raised: boolean }>(
    'SELECT relforcerowsecurity AS raised FROM pg_class WHERE oid = to_regclass($1)',
    [names.memory],
  )
  return row?.raised === true
}

/** Tables without it, of those that are there: vectors may come later. */
async function openTables(query: Query, names: Names): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS name JOIN pg_class AS c ON c.oid = to_regclass(name)
     WHERE NOT (relrowsecurity AND relforcerowsecurity)`,
    [FENCED.map((table) => names[table])],
  )
  return rows.map(({ name }) => name)
}
