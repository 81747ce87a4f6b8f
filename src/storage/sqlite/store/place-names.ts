/** The names of owners and users, which exactly one table holds, and their erasure. */

import type { DocumentKind } from '../../../domain/search-document.ts'
import { TABLES, type Table } from '../../store.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import { PLACE_TOKEN } from './row-codec.ts'

/** From the corpus statistics, because counting a million documents would take a second. */
export function placeCountSql(kind: DocumentKind): string {
  return `coalesce((SELECT memories FROM corpus WHERE token = '${PLACE_TOKEN[kind]}' || place.number), 0)`
}

const UNCOUNTED = TABLES.filter((table) => table !== 'memory' && table !== 'turn')

function toExistsSql(table: Table): string {
  return `EXISTS (SELECT 1 FROM ${table} AS other
    WHERE other.owner_number = place.owner_number AND other.place_number = place.number)`
}

/** Whether any row belongs to a place. */
export const PLACE_IN_USE = `(${[
  `${placeCountSql('memory')} > 0`,
  `${placeCountSql('turn')} > 0`,
  ...UNCOUNTED.map(toExistsSql),
].join(' OR ')})`

/**
 * Overwrites the names of places that no row belongs to any more: a user name is often an e-mail address. The row stays,
 * so that no other place ever gets its number.
 */
export function eraseUnusedPlaces(database: SqliteDatabase, places: ReadonlySet<number>): void {
  let erased = 0
  for (const number of places) {
    const { changes } = database.run(
      `UPDATE place SET owner = char(1) || number, user = '' WHERE number = ? AND NOT ${PLACE_IN_USE}`,
      [number],
    )
    erased += changes
  }
  if (erased > 0) database.clearPlaces()
}
