/**
 * Rows know their owner and user by number. When the table with the names is damaged, the names may still stand in
 * its index; where they don't, rows are kept under made-up names, apart from each other as they were.
 */

import { quoteIdentifier } from '../../../lib/sql.ts'
import type { SqliteConnection } from '../connection/sqlite-driver.ts'
import { type DatabasePages, readFreePages, readIndexEntries } from './btree-pages.ts'
import type { TableSchema } from './page-recovery.ts'

/** Gives every place that rows point at a name: its own from the index of places, or a made-up one. */
export function recoverPlaceNames(
  target: SqliteConnection,
  shapes: readonly TableSchema[],
  pages: DatabasePages,
): number {
  const homes = shapes
    .filter(({ columns }) => columns.some((column) => column.name === 'place_number'))
    .map(({ table }) => `SELECT place_number, owner_number FROM ${quoteIdentifier(table)}`)
  const lost = target
    .prepare(
      `SELECT DISTINCT place_number AS number, owner_number AS owner FROM (${homes.join(' UNION ')})
       WHERE place_number NOT IN (SELECT number FROM place)`,
    )
    .all()
  if (lost.length === 0) return 0
  const indexed = placesFromIndex(pages)
  const insert = target.prepare(
    'INSERT INTO place (number, owner, user, owner_number) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  let nameless = 0
  for (const { number = null, owner = null } of lost) {
    const known = indexed.get(Number(number))
    if (known !== undefined) {
      if (insert.run(number, known.owner, known.user, owner).changes === 1) continue
    }
    nameless++
    const [twin] = target.prepare('SELECT owner FROM place WHERE owner_number = ?').all(owner)
    insert.run(number, twin?.owner ?? `salvaged-owner-${owner}`, `salvaged-user-${number}`, owner)
  }
  return nameless
}

/** Owners and users by the number of their place, as the index of places has them. */
function placesFromIndex(
  pages: DatabasePages,
): ReadonlyMap<number, { readonly owner: string; readonly user: string }> {
  const places = new Map<number, { readonly owner: string; readonly user: string }>()
  const free = readFreePages(pages)
  for (let number = 1; number <= pages.count; number++) {
    if (free.has(number)) continue
    for (const values of readIndexEntries(pages, number) ?? []) {
      const [owner, user, place] = values
      if (values.length !== 3 || typeof owner !== 'string' || typeof user !== 'string') continue
      if (typeof place === 'number') places.set(place, { owner, user })
    }
  }
  return places
}
