/** Removes generations that were given up. */
import type { OwnerId, UserId } from '../../domain/ids.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change, Store, Table } from '../../storage/store.ts'
import { readGenerations } from './generations.ts'
import type { GenerationScope } from './index-rows.ts'

/** So few that others are answered in between. */
const ROWS_TOGETHER = 200

export async function removeGeneration(store: Store, home: GenerationScope): Promise<void> {
  for (const table of ['memory', 'entry'] as const) {
    for await (const page of pages(store, table, home, { where: {}, limit: ROWS_TOGETHER })) {
      await store.commit(page.map(({ id }) => removal(table, home, id)))
    }
  }
}

function removal(table: Table, scope: GenerationScope, id: string): Change {
  return { op: 'remove', table, scope, id, expect: 'any' } as Change // an id of this table
}

/** What a process that was killed has left behind. */
export async function removeOrphanedGenerations(store: Store, owner: OwnerId): Promise<void> {
  // First what there is, then what there should be: a generation is named before anything is written to it.
  const places = await store.listPlaces()
  const generations = await readGenerations({ store }, owner)
  const wanted = new Set([generations?.live.name, generations?.building?.name])
  for (const place of places) {
    const user = place.user as UserId | null // as the store told it
    if (place.owner !== owner || user === null || wanted.has(user)) continue
    await removeGeneration(store, { owner, user })
  }
}
