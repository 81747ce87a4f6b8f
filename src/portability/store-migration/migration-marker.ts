/**
 * The marker entry that both stores of a migration hold. It prevents the use of an incomplete target and of a source
 * that was migrated away.
 */
import type { Entry } from '../../domain/entry.ts'
import type { EntryId } from '../../domain/ids.ts'
import { SYSTEM_OWNER } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import { MOVED_MESSAGE } from '../../storage/migration-source.ts'
import type { Store, Table } from '../../storage/store.ts'

export const MARKER_ID = 'move' as EntryId // at most one per store
const PLACE = { owner: SYSTEM_OWNER, user: null, session: null } as const

/** The last row that was copied. */
export type CopyCursor = { readonly owner: string; readonly table: Table; readonly after: string }

/** `move` identifies the migration and is the same in both stores. */
export type MigrationMarker = { readonly move: string } & (
  | { readonly state: 'moving'; readonly to: string }
  | { readonly state: 'moved'; readonly to: string }
  | {
      readonly state: 'filling'
      readonly from: string
      readonly cursor: CopyCursor | 'start' | 'end'
    }
)

export type StoredMarker = { readonly marker: MigrationMarker; readonly version: number }

export async function readMarker(store: Store): Promise<StoredMarker | null> {
  const entry = await store.get('entry', { owner: SYSTEM_OWNER }, MARKER_ID)
  if (entry === null) return null
  return { marker: entry.body as unknown as MigrationMarker, version: entry.version } // written by `buildMarkerEntry`
}

export function buildMarkerEntry(marker: MigrationMarker, version: number, at: number): Entry {
  return {
    id: MARKER_ID,
    place: PLACE,
    kind: 'move',
    about: null,
    at: at as Instant,
    expiresAt: null,
    version,
    body: encodeMarker(marker),
  }
}

export function encodeMarker(marker: MigrationMarker): JsonObject {
  return marker as unknown as JsonObject // text and objects of text
}

export async function removeMarker(store: Store): Promise<void> {
  const scope = { owner: SYSTEM_OWNER }
  await store.commit([{ op: 'remove', table: 'entry', scope, id: MARKER_ID, expect: 'any' }])
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
