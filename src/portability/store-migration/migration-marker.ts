/**
 * What two stores say of a move between them, in an entry of each. It keeps a half-filled store from being taken for a
 * whole one, and one that was left from being used on.
 */
import type { Entry } from '../../domain/entry.ts'
import type { EntryId } from '../../domain/ids.ts'
import { SYSTEM_OWNER } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import { MOVED_MESSAGE } from '../../storage/migration-source.ts'
import type { Store, Table } from '../../storage/store.ts'

export const MARKER_ID = 'move' as EntryId // there is one in a store
const PLACE = { owner: SYSTEM_OWNER, user: null, session: null } as const

/** How far a store was copied: up to this row of this owner. Null: to the end. */
export type CopyCursor = { readonly owner: string; readonly table: Table; readonly after: string }

/** `move` is the same at both ends, and tells moves apart. */
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
  return { marker: entry.body as unknown as MigrationMarker, version: entry.version } // only this file writes it
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
  return marker as unknown as JsonObject // text, and objects of it
}

export async function removeMarker(store: Store): Promise<void> {
  const scope = { owner: SYSTEM_OWNER }
  await store.commit([{ op: 'remove', table: 'entry', scope, id: MARKER_ID, expect: 'any' }])
}

/** What writes are answered with once everything has moved. */
export function buildMovedMessage(to: string): string {
  return `${MOVED_MESSAGE}${to}. Use it there, or take this one back with \`recollect migrate --undo\`.`
}

/** Refuses a store that was left for another one, or that is not filled to the end. */
export async function assertMigrationComplete(store: Store): Promise<void> {
  const marker = (await readMarker(store))?.marker
  if (marker?.state === 'moved') throw new AppError('read_only', buildMovedMessage(marker.to))
  if (marker?.state === 'filling') {
    throw new AppError(
      'unavailable',
      `This store is being filled from ${marker.from} and is not complete. Run \`recollect migrate\` there again; it goes on where it was.`,
    )
  }
}
