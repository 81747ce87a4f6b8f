/** Permanent removal of everything that belongs to one owner. */
import { createInvalidInputError } from '../domain/field-parsers.ts'
import type { OwnerId } from '../domain/ids.ts'
import { SYSTEM_OWNER } from '../domain/scope.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import { pages } from '../storage/access/row-pages.ts'
import { buildEntryRemoval, listEntries } from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import { type Change, TABLES, type Table } from '../storage/store.ts'

export type ErasedOwner = {
  /** Rows per table; `entry` includes the owner's keys and settings. */
  readonly rows: Readonly<Record<Table, number>>
}

/** Removes an owner's memories with their revisions and tombstones, conversations, settings, jobs and keys. */
export async function eraseOwner(
  ports: StoreDependencies,
  owner: OwnerId,
  { dryRun = false }: { readonly dryRun?: boolean },
): Promise<ErasedOwner> {
  if (owner === SYSTEM_OWNER) {
    throw createInvalidInputError('owner', `\`owner\` must not be the reserved ${SYSTEM_OWNER}.`)
  }
  const rows: Record<Table, number> = { memory: 0, revision: 0, tombstone: 0, entry: 0, turn: 0 }
  for (const table of TABLES) {
    // Keyset pagination: removing the rows of a page does not skip rows of the next one.
    for await (const page of pages(ports.store, table, { owner }, { where: {} })) {
      rows[table] += page.length
      if (!dryRun) await removeRows(ports, table, { owner }, page)
    }
  }
  const about = await listEntries(ports, {
    kinds: ['key', 'setting', 'job', 'lane', 'spend'],
    about: owner,
  })
  // The management key may belong to this owner; without it nobody could administer the system.
  const entries = about.filter(({ body }) => body.isManagement !== true)
  rows.entry += entries.length
  for (let start = 0; !dryRun && start < entries.length; start += ROWS_PER_COMMIT) {
    await ports.store.commit(
      entries.slice(start, start + ROWS_PER_COMMIT).map((entry) => buildEntryRemoval(entry)),
    )
  }
  return { rows }
}

/** Small enough that other requests are served between two commits. */
const ROWS_PER_COMMIT = 200

async function removeRows(
  { store }: StoreDependencies,
  table: Table,
  scope: { readonly owner: OwnerId },
  page: readonly { readonly id: string }[],
): Promise<void> {
  for (let start = 0; start < page.length; start += ROWS_PER_COMMIT) {
    const changes = page.slice(start, start + ROWS_PER_COMMIT).map(
      ({ id }) => ({ op: 'remove', table, scope, id, expect: 'any' }) as Change, // the id is of this table
    )
    await store.commit(changes)
    await yieldToEventLoop()
  }
}
