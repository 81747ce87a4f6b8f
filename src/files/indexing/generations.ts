/**
 * Generations: the chunks that were made by one way of cutting. One of them answers; another may be filled beside it, and
 * takes its place in one commit once it is complete.
 *
 * Every commit to a generation checks the row that says which ones there are. So nothing is ever written to one that was
 * given up, and what is found in such a one can be removed by anybody at any time.
 */
import type { Entry } from '../../domain/entry.ts'
import type { EntryId, OwnerId, UserId } from '../../domain/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { hashParts } from '../../lib/hash.ts'
import type { JsonObject } from '../../lib/json.ts'
import { pages } from '../../storage/access/row-pages.ts'
import type { Change, Store, Table } from '../../storage/store.ts'
import type { GenerationScope } from './index-rows.ts'

/** `name` is the user whose memories its chunks are. */
export type Generation = { readonly name: UserId; readonly chunkerVersion: string }

export type Generations = {
  readonly owner: OwnerId
  readonly live: Generation
  readonly building: Generation | null
  /** How many there were so far: names are never given twice. */
  readonly count: number
  readonly version: number
}

export type GenerationDependencies = { readonly store: Store; readonly clock: Clock }

export async function readGenerations(
  { store }: Pick<GenerationDependencies, 'store'>,
  owner: OwnerId,
): Promise<Generations | null> {
  const entry = await store.get('entry', { owner, user: null }, buildId(owner))
  return entry === null ? null : toGenerations(entry)
}

/** What there is, with a first generation where there is none. */
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

/** Another one is filled from now on; null when somebody else was faster with something else. */
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

/** The one that was filled answers from now on. */
export async function activateGeneration(
  ports: GenerationDependencies,
  known: Generations,
): Promise<Generations | null> {
  if (known.building === null) return known
  return nextGeneration(ports, known, { ...known, live: known.building, building: null })
}

/** The one that answers was made like this after all: there is nothing in it. */
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

/** Refuses the commit that it is part of once there are other generations. */
export function buildGenerationGuard({ owner, version }: Generations): Change {
  const scope = { owner, user: null }
  return { op: 'check', table: 'entry', scope, id: buildId(owner), expect: { version } }
}

/** Whether a commit was refused because of that. */
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
  { owner, live, building, count, version }: Generations,
  before: number | null,
): Promise<boolean> {
  const body: JsonObject = {
    live: encodeGeneration(live),
    filling: building && encodeGeneration(building),
    count,
  } satisfies StoredGenerations
  const row: Entry = {
    id: buildId(owner),
    place: { owner, user: null, session: null },
    kind: 'generation',
    about: owner,
    at: clock.now(),
    expiresAt: null,
    version,
    body,
  }
  const expect = before === null ? 'absent' : { version: before }
  const outcome = await store.commit([{ op: 'put', table: 'entry', row, expect }])
  return outcome.kind === 'committed'
}

/** The field names of databases of earlier versions. */
type StoredGeneration = { readonly name: UserId; readonly recipe: string }
type StoredGenerations = {
  readonly live: StoredGeneration
  readonly filling: StoredGeneration | null
  readonly count: number
}

function encodeGeneration({ name, chunkerVersion }: Generation): StoredGeneration {
  return { name, recipe: chunkerVersion }
}

function decodeGeneration({ name, recipe }: StoredGeneration): Generation {
  return { name, chunkerVersion: recipe }
}

function toGenerations({ place, version, body }: Entry): Generations {
  const { live, filling, count } = body as unknown as StoredGenerations // as `writeGenerations` wrote it
  return {
    ...{ owner: place.owner, count, version },
    live: decodeGeneration(live),
    building: filling && decodeGeneration(filling),
  }
}

function createGeneration(count: number, recipe: string): Generation {
  return { name: `g${count}` as UserId, chunkerVersion: recipe } // this is where the name is made
}

function buildId(owner: OwnerId): EntryId {
  return `gen_${hashParts(owner)}` as EntryId // made by our own code
}

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
