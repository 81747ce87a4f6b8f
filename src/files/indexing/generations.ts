/**
 * Generations: sets of chunks produced by one chunker configuration. One generation is active; another may be filled
 * beside it and replaces it in one commit once complete.
 *
 * Every commit to a generation checks the row that lists the generations. Nothing is therefore written to an abandoned
 * generation, and any process may remove its rows at any time.
 */
import type { FileIndexGenerationBody, Generation } from '../../domain/entries/file-entries.ts'
import type { EntryId, OwnerId, UserId } from '../../domain/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { hashParts } from '../../lib/hash.ts'
import { pages } from '../../storage/access/row-pages.ts'
import { buildEntryChange, getEntry } from '../../storage/access/system-entries.ts'
import type { Change, Store, Table } from '../../storage/store.ts'
import type { GenerationScope } from './index-rows.ts'

export type { Generation } from '../../domain/entries/file-entries.ts'

export type Generations = FileIndexGenerationBody & {
  readonly owner: OwnerId
  readonly version: number
}

export type GenerationDependencies = { readonly store: Store; readonly clock: Clock }

export async function readGenerations(
  { store }: Pick<GenerationDependencies, 'store'>,
  owner: OwnerId,
): Promise<Generations | null> {
  const entry = await getEntry(
    { store },
    { owner, user: null },
    'file-index-generation',
    buildId(owner),
  )
  return entry && { owner, version: entry.version, ...entry.body }
}

/** The current generations; creates the first. */
export async function openGenerations(
  ports: GenerationDependencies,
  owner: OwnerId,
  recipe: string,
): Promise<Generations> {
  for (;;) {
    const known = await readGenerations(ports, owner)
    if (known !== null) return known
    const first = { owner, live: createGeneration(1, recipe), building: null, count: 1, version: 1 }
    if (await writeGenerations(ports, first, null)) return first
  }
}

/** Starts another generation; null when a concurrent writer started a different one. */
export async function beginGeneration(
  ports: GenerationDependencies,
  known: Generations,
  recipe: string,
): Promise<Generations | null> {
  const count = known.count + 1
  return nextGeneration(ports, known, {
    ...known,
    count,
    building: createGeneration(count, recipe),
  })
}

/** Activates the filled generation. */
export async function activateGeneration(
  ports: GenerationDependencies,
  known: Generations,
): Promise<Generations | null> {
  if (known.building === null) return known
  return nextGeneration(ports, known, { ...known, live: known.building, building: null })
}

/** Adopts the new configuration for an empty active generation. */
export async function updateChunkerVersion(
  ports: GenerationDependencies,
  known: Generations,
  recipe: string,
): Promise<Generations | null> {
  return nextGeneration(ports, known, {
    ...known,
    live: { ...known.live, chunkerVersion: recipe },
    building: null,
  })
}

/** Makes its commit fail once the generations have changed. */
export function buildGenerationGuard({ owner, version }: Generations): Change {
  const scope = { owner, user: null }
  return { op: 'check', table: 'entry', scope, id: buildId(owner), expect: { version } }
}

/** Whether a commit failed for that reason. */
export function isGenerationGuard(
  { owner }: Generations,
  refused: { readonly id: string },
): boolean {
  return refused.id === buildId(owner)
}

async function nextGeneration(
  ports: GenerationDependencies,
  known: Generations,
  given: Generations,
): Promise<Generations | null> {
  const changed = { ...given, version: known.version + 1 }
  return (await writeGenerations(ports, changed, known.version)) ? changed : null
}

async function writeGenerations(
  { store, clock }: GenerationDependencies,
  { owner, live, building, count }: Generations,
  before: number | null,
): Promise<boolean> {
  const { change } = buildEntryChange(
    {
      id: buildId(owner),
      place: { owner, user: null, session: null },
      kind: 'file-index-generation',
      ...{ about: owner, at: clock.now(), body: { live, building, count } },
    },
    before === null ? null : { version: before },
  )
  return (await store.commit([change])).kind === 'committed'
}

function createGeneration(count: number, recipe: string): Generation {
  return { name: `g${count}` as UserId, chunkerVersion: recipe } // generation names are created here
}

function buildId(owner: OwnerId): EntryId {
  return `gen_${hashParts(owner)}` as EntryId // created from a hash
}

/** A small batch, so that other requests are served in between. */
const ROWS_TOGETHER = 200

export async function removeGeneration(store: Store, home: GenerationScope): Promise<void> {
  for (const table of ['memory', 'entry'] as const) {
    for await (const page of pages(store, table, home, { where: {}, limit: ROWS_TOGETHER })) {
      await store.commit(page.map(({ id }) => removal(table, home, id)))
    }
  }
}

function removal(table: Table, scope: GenerationScope, id: string): Change {
  return { op: 'remove', table, scope, id, expect: 'any' } as Change // the id belongs to this table
}

/** Removes generations that a killed process left behind. */
export async function removeOrphanedGenerations(store: Store, owner: OwnerId): Promise<void> {
  // Reads the places before the row: a generation is listed before anything is written to it.
  const places = await store.listPlaces()
  const generations = await readGenerations({ store }, owner)
  const wanted = new Set([generations?.live.name, generations?.building?.name])
  for (const place of places) {
    const user = place.user as UserId | null // as stored
    if (place.owner !== owner || user === null || wanted.has(user)) continue
    await removeGeneration(store, { owner, user })
  }
}
