/** What the system keeps for itself, read and written in the one place where it lives. */
import type { Entry, EntryKind } from '../../domain/entry.ts'
import type { EntryId, OwnerId } from '../../domain/ids.ts'
import { type Place, type Scope, SYSTEM_OWNER } from '../../domain/scope.ts'
import type { Change, EntryFilter } from '../store.ts'
import { pages } from './row-pages.ts'
import type { StoreDependencies } from './types.ts'

export const SYSTEM_SCOPE: Scope & Place = { owner: SYSTEM_OWNER, user: null, session: null }

export function getSystemEntry(
  { store }: Pick<StoreDependencies, 'store'>,
  id: string,
): Promise<Entry | null> {
  return store.get('entry', SYSTEM_SCOPE, id as EntryId) // made by our own code
}

export async function listEntries(
  { store }: Pick<StoreDependencies, 'store'>,
  where: EntryFilter,
): Promise<readonly Entry[]> {
  const found: Entry[] = []
  for await (const page of pages(store, 'entry', SYSTEM_SCOPE, { where })) found.push(...page)
  return found
}

/** The entry as it will be, and the change that makes it so. */
export function buildEntryChange(
  given: Pick<Entry, 'kind' | 'at' | 'body'> & {
    readonly id: string
    readonly about?: OwnerId | null
    readonly expiresAt?: Entry['expiresAt']
  },
  before: Entry | null,
): { readonly entry: Entry; readonly change: Change } {
  const entry: Entry = {
    about: null,
    expiresAt: null,
    ...given,
    id: given.id as EntryId, // made by our own code
    place: SYSTEM_SCOPE,
    version: (before?.version ?? 0) + 1,
  }
  const expect = before === null ? 'absent' : { version: before.version }
  return { entry, change: { op: 'put', table: 'entry', row: entry, expect } }
}

export function buildEntryRemoval(
  { id }: Entry,
  expect: 'any' | { readonly version: number } = 'any',
): Change {
  return { op: 'remove', table: 'entry', scope: SYSTEM_SCOPE, id, expect }
}

/** Removes what is past its time, some of it at each call: nothing waits for it. */
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
const EXPIRED_ROWS_MAX = 500
