/**
 * The tables of an export, and how their rows are selected, parsed and copied to another owner. API keys, the audit log,
 * idempotency keys and jobs are never exported.
 */
import { parseSettingEntry, settingEntryId } from '../admin/stored-settings.ts'
import type { Entry } from '../domain/entry.ts'
import type { OwnerId } from '../domain/ids.ts'
import { type Scope, SYSTEM_OWNER } from '../domain/scope.ts'
import { parseRootEntry } from '../files/root-codec.ts'
import { parseMemory, parseRevision, parseTombstone, parseTurn } from '../memory/record-codec.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { FindQuery, Row, Store, Table } from '../storage/store.ts'
import { deriveId, type MapId, mapMemoryIds, mapRevisionIds, mapTurnIds } from './id-mapping.ts'

type PortableTable<T extends Table> = {
  /** Selects the rows of a scope; a null scope selects the rows of the system. */
  select(scope: Scope | null): EntrySelection<T> | null
  parse(value: unknown): Row<T>
  /** Null for rows of the system. */
  getOwner(row: Row<T>): OwnerId | null
  /** Copies the row to another owner under derived ids; null when it has no meaning there. */
  copyTo(row: Row<T>, owner: OwnerId): Row<T> | null
}

type EntrySelection<T extends Table> = {
  readonly scope: Scope
  readonly where: FindQuery<T>['where']
}

const selectByOwner = <T extends Table>(scope: Scope | null): EntrySelection<T> | null =>
  scope === null ? null : { scope, where: {} }
const withOwner = <R extends { readonly place: { readonly owner: OwnerId } }>(
  row: R,
  owner: OwnerId,
): R => ({ ...row, place: { ...row.place, owner } })
const getRowOwner = (row: { readonly place: { readonly owner: OwnerId } }) => row.place.owner
const deriveIdsFor =
  (owner: OwnerId): MapId =>
  (id) =>
    deriveId(owner, id)

/** In export order: referenced tables come first. */
export const PORTABLE_TABLE_CODECS: { readonly [T in Table]: PortableTable<T> } = {
  memory: {
    select: selectByOwner,
    parse: parseMemory,
    getOwner: getRowOwner,
    copyTo: (row, owner) => withOwner(mapMemoryIds(row, deriveIdsFor(owner)), owner),
  },
  revision: {
    select: selectByOwner,
    parse: parseRevision,
    getOwner: ({ memory }) => getRowOwner(memory),
    copyTo: (row, owner) => {
      const revision = mapRevisionIds(row, deriveIdsFor(owner))
      return { ...revision, memory: withOwner(revision.memory, owner) }
    },
  },
  // A tombstone hashes its owner, so it would block nothing under another one.
  tombstone: {
    select: selectByOwner,
    parse: parseTombstone,
    getOwner: getRowOwner,
    copyTo: () => null,
  },
  turn: {
    select: selectByOwner,
    parse: parseTurn,
    getOwner: getRowOwner,
    copyTo: (row, owner) => withOwner(mapTurnIds(row, deriveIdsFor(owner)), owner),
  },
  entry: {
    select: exportSettings,
    parse: parseEntry,
    getOwner: ({ about }) => about,
    copyTo: toPortableEntry,
  },
}

export const PORTABLE_TABLES = Object.keys(PORTABLE_TABLE_CODECS) as readonly Table[] // the keys of the codec table

export function isPortable(table: unknown): table is Table {
  return typeof table === 'string' && Object.hasOwn(PORTABLE_TABLE_CODECS, table)
}

/** Settings belong to an owner as a whole, so exports of one user or session hold none. */
function exportSettings(scope: Scope | null): EntrySelection<'entry'> | null {
  const system = { owner: SYSTEM_OWNER }
  if (scope === null) return { scope: system, where: { kinds: ['setting'] } }
  if (scope.user !== undefined || scope.session !== undefined) return null
  return { scope: system, where: { kinds: ['setting'], about: scope.owner } }
}

function parseEntry(value: unknown): Entry {
  const isRoot =
    typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'root'
  return isRoot ? parseRootEntry(value) : parseSettingEntry(value)
}

/** File roots are not copied, because a root grants read access to its folder. */
function toPortableEntry(row: Entry, owner: OwnerId): Entry | null {
  if (row.kind === 'root' || row.about === null) return null
  return { ...row, id: settingEntryId(owner), about: owner }
}

/** The file roots of an owner. Only full exports hold them, because paths of the machine are hidden from ordinary keys. */
export async function* exportRoots(store: Store, owner: OwnerId): AsyncGenerator<Entry> {
  const query = { where: { kinds: ['root'] }, order: 'oldest' } as const
  for await (const page of pages(store, 'entry', { owner, user: null }, query)) yield* page
}

/** The exported rows of one table, oldest first. */
export async function* exportRows<T extends Table>(
  store: Store,
  table: T,
  scope: Scope | null,
): AsyncGenerator<Row<T>> {
  const portable: PortableTable<T> = PORTABLE_TABLE_CODECS[table]
  const selection = portable.select(scope)
  if (selection === null) return
  const query = { where: selection.where, order: 'oldest' as const }
  for await (const page of pages(store, table, selection.scope, query)) yield* page
}
