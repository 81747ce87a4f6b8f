/** Two stores, a random history, and what both ends must agree on after a move. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { hashEmbeddingText } from '../../src/domain/embedding-text.ts'
import type { TombstoneId } from '../../src/domain/ids.ts'
import { MEMORY_STATUSES } from '../../src/domain/memory.ts'
import type { Scope } from '../../src/domain/scope.ts'
import { AppError } from '../../src/lib/errors.ts'
import {
  type MigratableStore,
  type StoreMigrationTarget,
  undoMigration,
} from '../../src/portability/store-migration/store-migration.ts'
import { pages } from '../../src/storage/access/row-pages.ts'
import { type Change, type Store, TABLES } from '../../src/storage/store.ts'
import type { VectorSpace } from '../../src/storage/vector-index.ts'
import { entry, entryId, turn, turnId } from '../fakes/entries.ts'
import { ADA, BOB, instant, memory, memoryId, owner, revision, user } from '../fakes/memories.ts'

export const SPACE: VectorSpace = { signature: 'reference:terms:3', dimensions: 3 }
const PLACES = [ADA, BOB, { ...ADA, user: user('eve') }] as const
const place = fc.constantFrom(...PLACES)
const small = fc.integer({ min: 1, max: 3 })

const row = fc
  .record({
    place,
    version: small,
    content: fc.constantFrom('tea', 'coffee', 'tea and milk', '\0 and \ud800', '北京'),
    key: fc.constantFrom(null, 'k1', 'k2'),
    status: fc.constantFrom(...MEMORY_STATUSES),
    useCount: small,
  })
  .chain((fields) =>
    fc.integer({ min: 1, max: 8 }).map((number) => memory({ ...fields, id: memoryId(number) })),
  )

const removal = fc.record({
  op: fc.constant('remove' as const),
  table: fc.constant('memory' as const),
  scope: place.map(({ owner, user }): Scope => ({ owner, user })),
  id: fc.integer({ min: 1, max: 8 }).map(memoryId),
  expect: fc.constant('any' as const),
})

const put = (table: string, given: unknown): Change =>
  ({ op: 'put', table, row: given, expect: 'any' }) as Change // each row goes with its table

/** Keys, ids and owners from small pools, so that rows get in each other's way. */
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: row.map((given) => put('memory', given)) },
  { weight: 3, arbitrary: removal },
  row.map((given) => put('revision', revision(given))),
  fc
    .record({ place, small })
    .map(({ place, small }) => put('entry', entry({ id: entryId(small), place }))),
  fc
    .record({ place, small })
    .map(({ place, small }) => put('turn', turn({ id: turnId(small), place }))),
  place.map((where) =>
    put('tombstone', {
      id: 'tmb_1' as TombstoneId,
      place: where,
      version: 1,
      forgottenAt: instant(1),
    }),
  ),
  fc.record({
    op: fc.constant('count' as const),
    scope: place.map(({ owner, user }): Scope => ({ owner, user })),
    id: fc.integer({ min: 1, max: 8 }).map(memoryId),
    uses: small,
    usedAt: small.map(instant),
  }),
)

export const history = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), {
  minLength: 4,
  maxLength: 16,
})

/** Everything there is, but for what a store says of a move. */
export async function contents(store: Store): Promise<unknown> {
  const owners = new Set((await store.listPlaces()).map((held) => held.owner))
  const seen: (readonly unknown[])[] = []
  for (const name of [...owners].sort()) {
    for (const table of TABLES) {
      const query = { where: {}, order: 'oldest' } as const
      for await (const rows of pages(store, table, { owner: owner(name) }, query)) {
        seen.push(rows.filter(({ id }) => id !== 'move'))
      }
    }
  }
  return seen.filter(({ length }) => length > 0)
}

export async function vectorsOf(store: StoreMigrationTarget): Promise<unknown> {
  const seen: unknown[] = []
  for (const { owner } of [ADA, BOB]) {
    const listed = (await store.vectors?.list(SPACE, { owner }, { limit: 1_000 })) ?? []
    const ids = listed.map(({ id }) => id)
    const numbers = await store.vectors?.vectorsOf(SPACE, { owner }, ids)
    seen.push(
      listed,
      ids.map((id) => [...(numbers?.get(id) ?? [])]),
    )
  }
  return seen
}

/** Gives every memory that has none a vector of its own. */
export async function embedAll(store: StoreMigrationTarget): Promise<void> {
  for (const { owner } of [ADA, BOB]) {
    const { rows } = await store.find('memory', { owner }, { where: {}, limit: 1_000 })
    const entries = rows.map((held) => ({
      place: held.place,
      id: held.id,
      vector: Float32Array.of(0, 0.6, held.content.length % 2 === 0 ? 0.8 : -0.8),
      textHash: hashEmbeddingText(held),
    }))
    await store.vectors?.put(SPACE, entries)
  }
}

/** The store, doing something of its own before each commit: somebody else writes to the old one meanwhile. */
export function interrupted<S extends StoreMigrationTarget>(
  target: S,
  meanwhile: () => Promise<void>,
): S {
  return {
    ...target,
    commit: async (changes: readonly Change[]) => {
      await meanwhile()
      return target.commit(changes)
    },
  }
}

/** Commits that give up at once where writes are held, and once it has moved. */
export async function commitIfFree(store: Store, changes: readonly Change[]): Promise<void> {
  try {
    await store.commit(changes)
  } catch (error) {
    if (!(error instanceof AppError) || !['busy', 'read_only'].includes(error.code)) throw error
  }
}

/** What the old store and the new one are like once it is done. */
export async function expectMoved(
  source: MigratableStore,
  target: StoreMigrationTarget,
): Promise<void> {
  expect(await contents(target)).toEqual(await contents(source))
  expect(await vectorsOf(target)).toEqual(await vectorsOf(source))
  expect(await target.checkIntegrity({ repair: false })).toEqual([])
  await expect(
    source.commit([put('memory', memory({ id: memoryId('later') }))]),
  ).rejects.toMatchObject({
    code: 'read_only',
    message: expect.stringMatching(/^This store has moved to .*migrate --undo/),
  })
  expect(await undoMigration(source)).toMatchObject({ state: 'moved' })
  expect(await source.commit([put('memory', memory({ id: memoryId('later') }))])).toEqual({
    kind: 'committed',
  })
  expect(await source.checkIntegrity({ repair: false })).toEqual([])
}
