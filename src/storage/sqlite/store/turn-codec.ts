/** Turns of the port ↔ columns of SQLite. What is searched of a turn is its document, a row of `memory`. */

import type { Turn } from '../../../domain/turn.ts'
import { fromStorable, toStorable } from '../../../text/storable-text.ts'
import type { SqlRow, SqlValue } from '../connection/sqlite-driver.ts'
import { fromStorableOrNull, readPlace, type StoredPlace, toStorableOrNull } from './row-codec.ts'

/** Without `terms` and `terms_count`, which rows of earlier versions hold. */
export const TURN_COLUMNS = [
  'id',
  'owner_number',
  'place_number',
  'session',
  'version',
  'role',
  'speaker',
  'content',
  'position',
  'said_at',
  'disabled',
] as const

/** In the order of TURN_COLUMNS. */
export function toTurnValues(turn: Turn, home: StoredPlace): readonly SqlValue[] {
  return [
    turn.id,
    home.ownerNumber,
    home.number,
    toStorableOrNull(turn.place.session),
    turn.version,
    turn.role,
    toStorableOrNull(turn.speaker),
    toStorable(turn.content),
    turn.position,
    turn.saidAt,
    turn.disabled ? 1 : 0,
  ]
}

export function toTurn(row: SqlRow): Turn {
  const columns = {
    id: row.id,
    place: readPlace(row),
    version: row.version,
    role: row.role,
    speaker: fromStorableOrNull(row.speaker),
    content: fromStorable(String(row.content)),
    position: row.position,
    saidAt: row.said_at,
    disabled: row.disabled === 1,
  }
  return columns as unknown as Turn // STRICT columns that only `turnValues` writes
}
