/** Entries of the port ↔ columns of SQLite. */
import type { Entry } from '../../../domain/entry.ts'
import type { SqlRow, SqlValue } from '../connection/sqlite-driver.ts'
import { fromStorableOrNull, readPlace, type StoredPlace, toStorableOrNull } from './row-codec.ts'

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
export function toEntryValues(entry: Entry, home: StoredPlace): readonly SqlValue[] {
  return [
    entry.id,
    home.ownerNumber,
    home.number,
    toStorableOrNull(entry.place.session),
    entry.version,
    entry.kind,
    toStorableOrNull(entry.about),
    entry.at,
    entry.expiresAt,
    JSON.stringify(entry.body),
  ]
}

export function toEntry(row: SqlRow): Entry {
  const columns = {
    id: row.id,
    place: readPlace(row),
    kind: row.kind,
    about: fromStorableOrNull(row.about),
    at: row.at,
    expiresAt: row.expires_at,
    version: row.version,
    body: JSON.parse(String(row.body)),
  }
  return columns as unknown as Entry // STRICT columns that only `entryValues` writes
}
