/** Entries of the port ↔ columns of SQLite. */
import type { Entry } from '../../../domain/entry.ts'
import type { SqlRow, SqlValue } from '../connection/sqlite-driver.ts'
import { type Home, storableOrNull, textOrNull, toPlace } from './row-codec.ts'

export const ENTRY_COLUMNS = [
  'id',
  'owner_number',
  'place_number',
  'session',
  'version',
  'kind',
  'about',
  'at',
  'expires_at',
  'body',
] as const

/** In the order of ENTRY_COLUMNS. */
export function entryValues(entry: Entry, home: Home): readonly SqlValue[] {
  return [
    entry.id,
    home.ownerNumber,
    home.number,
    storableOrNull(entry.place.session),
    entry.version,
    entry.kind,
    storableOrNull(entry.about),
    entry.at,
    entry.expiresAt,
    JSON.stringify(entry.body),
  ]
}

export function toEntry(row: SqlRow): Entry {
  const columns = {
    id: row.id,
    place: toPlace(row),
    kind: row.kind,
    about: textOrNull(row.about),
    at: row.at,
    expiresAt: row.expires_at,
    version: row.version,
    body: JSON.parse(String(row.body)),
  }
  return columns as unknown as Entry // STRICT columns that only `entryValues` writes
}
