/**
 * What an export holds, table by table. Whatever gets a table later comes in here as one more line, and is then exported,
 * imported and moved to other owners like the rest. Keys, the audit log, answers and jobs stay where they are.
 */

import { parseSettingEntry, settingEntryId } from '../admin/setting-entry.ts'
import type { Entry } from '../domain/entries/entry.ts'
import type { OwnerId } from '../domain/ids.ts'
import { type Scope, SYSTEM_OWNER } from '../domain/scope.ts'
import { parseRootEntry } from '../files/root-codec.ts'
import { parseMemory, parseRevision, parseTombstone, parseTurn } from '../memory/record-codec.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { FindQuery, Row, Store, Table } from '../storage/store.ts'
import { deriveId, type MapId, mapMemoryIds, mapRevisionIds, mapTurnIds } from './id-mapping.ts'

/** Jobs and signals are work in progress of one installation. */
export type PortableTableName = Exclude<Table, 'job' | 'signal'>

type PortableTable<T extends Table> = {
  /** What of the table belongs to an export of `scope`; for null, to one of everything that is nobody's. */
  select(scope: Scope | null): EntrySelection<T> | null
  parse(value: unknown): Row<T>
  /** Whose the row is; null: nobody's. */
  owner(row: Row<T>): OwnerId | null
  /** A copy of the row for another owner, under ids of its own; null when it means nothing there. */
  moved(row: Row<T>, owner: OwnerId): Row<T> | null
}

type EntrySelection<T extends Table> = {
  readonly scope: Scope
  readonly where: FindQuery<T>['where']
}

const ofOwner = <T extends Table>(scope: Scope | null): EntrySelection<T> | null =>
  scope === null ? null : { scope, where: {} }
const atOwner = <R extends { readonly place: { readonly owner: OwnerId } }>(
  row: R,
  owner: OwnerId,
): R => ({ ...row, place: { ...row.place, owner } })
const ownerOf = (row: { readonly place: { readonly owner: OwnerId } }) => row.place.owner
const derivedFor =
  (owner: OwnerId): MapId =>
  (id) =>
    deriveId(owner, id)

/** In the order in which they are written: what others point at comes first. */
export const PORTABLE_TABLE_CODECS: { readonly [T in PortableTableName]: PortableTable<T> } = {
  memory: {
    select: ofOwner,
    parse: parseMemory,
    owner: ownerOf,
    moved: (row, owner) => atOwner(mapMemoryIds(row, derivedFor(owner)), owner),
  },
  revision: {
    select: ofOwner,
    parse: parseRevision,
    owner: ({ memory }) => ownerOf(memory),
    moved: (row, owner) => {
      const revision = mapRevisionIds(row, derivedFor(owner))
      return { ...revision, memory: atOwner(revision.memory, owner) }
    },
  },
  // A trace is bound to its owner: under another one it would block nothing.
  tombstone: { select: ofOwner, parse: parseTombstone, owner: ownerOf, moved: () => null },
  turn: {
    select: ofOwner,
    parse: parseTurn,
    owner: ownerOf,
    moved: (row, owner) => atOwner(mapTurnIds(row, derivedFor(owner)), owner),
  },
  entry: {
    select: exportSettings,
    parse: parseEntry,
    owner: ({ about }) => about,
    moved: toPortableEntry,
  },
}

export const PORTABLE_TABLES = Object.keys(PORTABLE_TABLE_CODECS) as readonly PortableTableName[] // its own keys

export function isPortable(table: unknown): table is PortableTableName {
  return typeof table === 'string' && Object.hasOwn(PORTABLE_TABLE_CODECS, table)
}

/** The settings of an owner belong to the whole of it, not to one of its users. */
function exportSettings(scope: Scope | null): EntrySelection<'entry'> | null {
  const system = { owner: SYSTEM_OWNER }
  if (scope === null) return { scope: system, where: { kinds: ['setting'] } }
  if (scope.user !== undefined || scope.session !== undefined) return null
  return { scope: system, where: { kinds: ['setting'], about: scope.owner } }
}

/** The kind of roots in exports of version 0.1. */
const LEGACY_ROOT_KIND = 'root'

function parseEntry(value: unknown): Entry {
  const isRoot =
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    (value.kind === 'file-root' || value.kind === LEGACY_ROOT_KIND)
  return isRoot ? parseRootEntry(value) : parseSettingEntry(value)
}

/** Roots are not given to others: whoever has one can read what is there. */
function toPortableEntry(row: Entry, owner: OwnerId): Entry | null {
  if (row.kind === 'file-root' || row.about === null) return null
  return { ...row, id: settingEntryId(owner), about: owner }
}

/**
 * Where an owner's files are. Only an export of everything tells it: it is about the machine, and ordinary keys are not
 * told.
 */
export async function* exportRoots(store: Store, owner: OwnerId): AsyncGenerator<Entry> {
  const query = { where: { kinds: ['file-root'] }, order: 'oldest' } as const
  for await (const page of pages(store, 'entry', { owner, user: null }, query)) yield* page
}

/** The rows of one table that an export holds, oldest first. */
export async function* exportRows<T extends PortableTableName>(
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
