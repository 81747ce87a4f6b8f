/**
 * The marker entry that both stores of a migration hold. It prevents the use of an incomplete target and of a source
 * that was migrated away.
 */
import type { StoreMigrationBody } from '../../domain/entries/access-entries.ts'
import type { EntryOf } from '../../domain/entries/entry.ts'
import type { EntryId } from '../../domain/ids.ts'
import { AppError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import { getSystemEntry, SYSTEM_SCOPE } from '../../storage/access/system-entries.ts'
import { MOVED_MESSAGE } from '../../storage/migration-source.ts'
import type { Store } from '../../storage/store.ts'

export const MARKER_ID = 'move' as EntryId // at most one per store

export type MigrationMarker = StoreMigrationBody

export type StoredMarker = { readonly marker: MigrationMarker; readonly version: number }

export async function readMarker(store: Store): Promise<StoredMarker | null> {
  const entry = await getSystemEntry({ store }, 'store-migration', MARKER_ID)
  return entry === null ? null : { marker: entry.body, version: entry.version }
}

export function buildMarkerEntry(
  marker: MigrationMarker,
  version: number,
  at: number,
): EntryOf<'store-migration'> {
  return {
    ...{ id: MARKER_ID, place: SYSTEM_SCOPE, kind: 'store-migration', about: null },
    ...{ at: at as Instant, expiresAt: null, version, body: marker }, // whole milliseconds
  }
}

export async function removeMarker(store: Store): Promise<void> {
  await store.commit([
    { op: 'remove', table: 'entry', scope: SYSTEM_SCOPE, id: MARKER_ID, expect: 'any' },
  ])
}

/** The error message of writes to a migrated store. */
export function buildMovedMessage(to: string): string {
  return `${MOVED_MESSAGE}${to}. Use it there, or take this store back into use with \`recollect migrate --undo\`.`
}

/** Fails for a store that was migrated away or that is an incomplete target. */
export async function assertMigrationComplete(store: Store): Promise<void> {
  const marker = (await readMarker(store))?.marker
  if (marker?.state === 'moved') throw new AppError('read_only', buildMovedMessage(marker.to))
  if (marker?.state === 'filling') {
    throw new AppError(
      'unavailable',
      `This store is being filled from ${marker.from} and is not complete. Run \`recollect migrate\` there again to resume.`,
    )
  }
}
