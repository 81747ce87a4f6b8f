/** Reads and writes entries. Reads check the bodies; writes set versions, so that a commit that lost a race is refused. */
import {
  type Entry,
  type EntryKind,
  type EntryOf,
  parseEntries,
  parseEntry,
} from '../../domain/entries/entry.ts'
import type { EntryId, OwnerId } from '../../domain/ids.ts'
import { type Place, type Scope, SYSTEM_OWNER } from '../../domain/scope.ts'
import type { Change, EntryFilter, Store } from '../store.ts'
import { pages } from './row-pages.ts'
import type { StoreDependencies } from './types.ts'

export const SYSTEM_SCOPE: Scope & Place = { owner: SYSTEM_OWNER, user: null, session: null }

const EXPIRED_ROWS_MAX = 500

/** Null when there is no entry of this kind and id. */
export async function getEntry<Kind extends EntryKind>(
  { store }: { readonly store: Store },
  scope: Scope,
  kind: Kind,
  id: string,
): Promise<EntryOf<Kind> | null> {
  return parseEntry(kind, await store.get('entry', scope, id as EntryId)) // the caller derived or checked it
}

export function getSystemEntry<Kind extends EntryKind>(
  ports: { readonly store: Store },
  kind: Kind,
  id: string,
): Promise<EntryOf<Kind> | null> {
  return getEntry(ports, SYSTEM_SCOPE, kind, id)
}

/** All entries of one kind, newest first unless ordered otherwise. */
export async function listEntries<Kind extends EntryKind>(
  { store }: { readonly store: Store },
  scope: Scope,
  kind: Kind,
  where: Omit<EntryFilter, 'kinds'> = {},
): Promise<readonly EntryOf<Kind>[]> {
  const entries: EntryOf<Kind>[] = []
  const query = { where: { ...where, kinds: [kind] } }
  for await (const page of pages(store, 'entry', scope, query)) {
    entries.push(...parseEntries(kind, page))
  }
  return entries
}

export type NewEntry<Kind extends EntryKind> = Pick<EntryOf<Kind>, 'kind' | 'at' | 'body'> & {
  readonly id: string
  /** Default: the place of the system. */
  readonly place?: Place
  readonly about?: OwnerId | null
  readonly expiresAt?: Entry['expiresAt']
}

/** The next version of an entry, and the change that writes it. `before`: the entry as it was read; null for a new one. */
export function buildEntryChange<Kind extends EntryKind>(
  { id, place = SYSTEM_SCOPE, kind, about = null, at, expiresAt = null, body }: NewEntry<Kind>,
  before: Pick<Entry, 'version'> | null,
): { readonly entry: EntryOf<Kind>; readonly change: Change } {
  const version = (before?.version ?? 0) + 1
  const entry: EntryOf<Kind> = {
    ...{ place, kind, about, at, expiresAt, version, body },
    id: id as EntryId, // derived or drawn by our own code
  }
  const expect = before === null ? 'absent' : { version: before.version }
  const row = entry as Entry // of one of its kinds
  return { entry, change: { op: 'put', table: 'entry', row, expect } }
}

export function buildEntryRemoval(
  { id, place }: Pick<Entry, 'id' | 'place'>,
  expect: 'any' | { readonly version: number } = 'any',
): Change {
  return { op: 'remove', table: 'entry', scope: place, id, expect }
}

/** Removes some of the entries that have expired. Nothing waits for it: the next call removes more. */
export async function removeExpiredEntries(
  { store, clock }: Pick<StoreDependencies, 'store' | 'clock'>,
  kinds: readonly EntryKind[],
): Promise<number> {
  const { rows } = await store.find('entry', SYSTEM_SCOPE, {
    where: { kinds, expiredBy: clock.now() },
    limit: EXPIRED_ROWS_MAX,
  })
  if (rows.length > 0) await store.commit(rows.map((entry) => buildEntryRemoval(entry)))
  return rows.length
}
