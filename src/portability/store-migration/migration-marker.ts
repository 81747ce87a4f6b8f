/**
 * What two stores say of a move between them, in an entry of each. It keeps a half-filled store from being taken for a
 * whole one, and one that was left from being used on.
 */
import type { Entry } from '../../domain/entry.ts'
import { AppError } from '../../domain/errors.ts'
import type { EntryId } from '../../domain/ids.ts'
import { SYSTEM_OWNER } from '../../domain/scope.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import { MOVED } from '../../storage/migration-source.ts'
import type { Store, Table } from '../../storage/store.ts'

export const MARKER_ID = 'move' as EntryId // there is one in a store
const PLACE = { owner: SYSTEM_OWNER, user: null, session: null } as const

/** How far a store was copied: up to this row of this owner. Null: to the end. */
export type Cursor = { readonly owner: string; readonly table: Table; readonly after: string }

/** `move` is the same at both ends, and tells moves apart. */
export type Marker = { readonly move: string } & (
  | { readonly state: 'moving'; readonly to: string }
  | { readonly state: 'moved'; readonly to: string }
  | { readonly state: 'filling'; readonly from: string; readonly cursor: Cursor | 'start' | 'end' }
)

export type MarkedStore = { readonly marker: Marker; readonly version: number }

export async function readMarker(store: Store): Promise<MarkedStore | null> {
  const entry = await store.get('entry', { owner: SYSTEM_OWNER }, MARKER_ID)
  if (entry === null) return null
  return { marker: entry.body as unknown as Marker, version: entry.version } // only this file writes it
}

export function markerEntry(marker: Marker, version: number, at: number): Entry {
  return {
    id: MARKER_ID,
    place: PLACE,
    kind: 'move',
    about: null,
    at: at as Instant,
    expiresAt: null,
    version,
    body: bodyOf(marker),
  }
}

export function bodyOf(marker: Marker): JsonObject {
  return marker as unknown as JsonObject // text, and objects of it
}

export async function removeMarker(store: Store): Promise<void> {
  const scope = { owner: SYSTEM_OWNER }
  await store.commit([{ op: 'remove', table: 'entry', scope, id: MARKER_ID, expect: 'any' }])
}

/** What writes are answered with once everything has moved. */
export function movedMessage(to: string): string {
  return `${MOVED}${to}. Use it there, or take this one back with \`recollect migrate --undo\`.`
}

/** Refuses a store that was left for another one, or that is not filled to the end. */
export async function requireSettled(store: Store): Promise<void> {
  const marker = (await readMarker(store))?.marker
  if (marker?.state === 'moved') throw new AppError('read_only', movedMessage(marker.to))
  if (marker?.state === 'filling') {
    throw new AppError(
      'unavailable',
      `This store is being filled from ${marker.from} and is not complete. Run \`recollect migrate\` there again; it goes on where it was.`,
    )
  }
}
