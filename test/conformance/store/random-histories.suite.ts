/**
 * Random histories: any sequence of commits must give the same outcomes, and leave the same state, as it does in
 * the reference store. Names are drawn from small pools so that commits collide often.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { TombstoneId } from '../../../src/domain/ids.ts'
import { MEMORY_STATUSES } from '../../../src/domain/memory.ts'
import type { Place, Scope } from '../../../src/domain/scope.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import {
  type Change,
  type Expectation,
  MEMORY_RANKINGS,
  type Store,
  TABLES,
} from '../../../src/storage/store.ts'
import { entry, entryId, job, jobId, signal, signalId, turn, turnId } from '../../fakes/entries.ts'
import {
  ADA,
  BOB,
  instant,
  memory,
  memoryId,
  owner,
  revision,
  session,
  user,
} from '../../fakes/memories.ts'
import { repetitions } from '../../support/thoroughness.ts'
import type { OpenStore } from './store.suite.ts'

/** Others come with every run, so that a store which is slow to open need not see as many of them in one. */
export const HISTORIES = repetitions({ usual: 30, thorough: 100 })
const PLACES = [ADA, BOB, { ...ADA, user: user('eve') }, { ...ADA, session: session('s') }] as const
const WORDS = ['alpha', 'beta', 'gamma', 'delta', '北京', 'foo_bar'] as const

const place = fc.constantFrom(...PLACES)
const version = fc.integer({ min: 1, max: 3 })
const anyVersion = version.map((version): Expectation => ({ version }))
const id = fc.integer({ min: 1, max: 6 })
const row = fc
  .record({
    place,
    version,
    content: fc
      .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 })
      .map((w) => w.join(' ')),
    key: fc.constantFrom(null, 'k1', 'k2'),
    status: fc.constantFrom(...MEMORY_STATUSES),
    expiresAt: fc.constantFrom(null, instant(500), instant(5_000)),
    pinned: fc.boolean(),
    importance: fc.constantFrom(1, 5),
    salience: fc.constantFrom(0, 0.1 + 0.2, 0.3),
    updatedAt: version.map(instant),
  })
  .chain((fields) =>
    id.map((n) => memory({ ...fields, id: memoryId(n), change: 'chg_1' as never })),
  )

type Drawn = { readonly place: Place; readonly version: number }

const BESIDE = {
  entry: {
    id: entryId,
    make: (n: number, drawn: Drawn) => entry({ id: entryId(n), ...drawn, body: {} }),
  },
  turn: {
    id: turnId,
    make: (n: number, drawn: Drawn) =>
      turn({ id: turnId(n), ...drawn, content: 'said', position: 1 }),
  },
  job: {
    id: jobId,
    make: (n: number, drawn: Drawn) => job({ id: jobId(n), ...drawn, key: 'k', input: {} }),
  },
  signal: {
    id: signalId,
    make: (n: number, drawn: Drawn) => signal({ id: signalId(n), ...drawn, turns: [turnId(n)] }),
  },
} as const

/** Puts, removes and checks of entries, turns, jobs and signals: all of them take the same course. */
const besideMemories: fc.Arbitrary<Change> = fc
  .record({
    op: fc.constantFrom('put', 'put', 'remove', 'check'),
    table: fc.constantFrom('entry', 'turn', 'job', 'signal'),
    place,
    version,
    number: fc.integer({ min: 1, max: 3 }),
    expect: fc.constantFrom('absent', 'any', 'version'),
  })
  .map(({ op, table, place, version, number, expect }) => {
    const { id, make } = BESIDE[table]
    const fixed = expect === 'version' ? { version } : expect
    if (op === 'put') {
      const row = make(number, { place, version })
      return { op, table, row, expect: fixed } as Change // each row goes with its table
    }
    // What may not be expected of a remove or a check becomes a version.
    const other = op === 'remove' ? 'absent' : 'any'
    const scope = { owner: place.owner, user: place.user }
    return {
      op,
      table,
      scope,
      id: id(number),
      expect: fixed === other ? { version } : fixed,
    } as Change // as above
  })

const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('put' as const),
      table: fc.constant('memory' as const),
      row,
      expect: fc.oneof(fc.constantFrom<Expectation>('absent', 'any'), anyVersion),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('remove' as const),
      table: fc.constant('memory' as const),
      scope: place.map(homeScope),
      id: id.map(memoryId),
      expect: fc.oneof(
        fc.constant('any' as const),
        version.map((version) => ({ version })),
      ),
    }),
  },
  fc.record({
    op: fc.constant('check' as const),
    table: fc.constant('memory' as const),
    scope: place.map(homeScope),
    id: id.map(memoryId),
    expect: fc.oneof(
      fc.constant('absent' as const),
      version.map((version) => ({ version })),
    ),
  }),
  fc.record({
    op: fc.constant('count' as const),
    scope: place.map(homeScope),
    id: id.map(memoryId),
    uses: version,
    usedAt: version.map(instant),
  }),
  row.map((row): Change => ({ op: 'put', table: 'revision', row: revision(row), expect: 'any' })),
  { weight: 2, arbitrary: besideMemories },
  place.map(
    (place): Change => ({
      op: 'put',
      table: 'tombstone',
      row: { id: 'tmb_1' as TombstoneId, place, version: 1, forgottenAt: instant(1) },
      expect: 'any',
    }),
  ),
)

function homeScope(place: (typeof PLACES)[number]): Scope {
  return { owner: place.owner, user: place.user }
}

export function describeHistories(open: OpenStore, histories: number): void {
  it('[ST7] any history leaves what it leaves in the reference store', async () => {
    const commits = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(commits, async (history) => {
        const [store, reference] = [await open(), createInMemoryStore()]
        for (const changes of history) {
          expect(await store.commit(changes)).toEqual(await reference.commit(changes))
        }
        expect(await observe(store)).toEqual(await observe(reference))
        expect(await store.checkIntegrity({ repair: false })).toEqual([])
        await store.close()
      }),
      { numRuns: histories },
    )
  }, 120_000)
}

/** Everything a caller can see. Scores may differ between engines; which memories are found may not. */
async function observe(store: Store): Promise<unknown> {
  const seen: unknown[] = [await store.listPlaces(), (await store.getReport()).rows]
  for (const scope of [{ owner: owner('ada') }, ...PLACES] satisfies Scope[]) {
    for (const table of TABLES) {
      seen.push(await store.find(table, scope, { where: {}, limit: 100 }))
    }
    seen.push(await store.find('memory', scope, { where: {}, limit: 2, offset: 1 }))
    for (const order of MEMORY_RANKINGS) {
      const first = await store.find('memory', scope, { where: {}, limit: 3, order })
      const query = { where: {}, limit: 100, order }
      seen.push(first)
      if (first.next !== null)
        seen.push(await store.find('memory', scope, { ...query, after: first.next }))
    }
    seen.push(
      await store.countMemories(scope, { contains: 'ALPHA' }),
      await store.countMemories(scope, {}),
    )
    const where = { statuses: ['active'], validAt: instant(1_000) } as const
    seen.push(await store.find('memory', scope, { where, limit: 100 }))
    for (const text of WORDS) {
      const { hits } = await store.searchText(scope, { text, limit: 100, where: {} })
      seen.push(hits.map((hit) => hit.id).sort())
    }
  }
  return seen
}
