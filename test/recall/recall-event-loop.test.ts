/** Searches hold the thread only briefly. Shown by the turns that others get meanwhile, not by the time that they wait. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { create } from '../conformance/store/store.suite.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { ADA, memory } from '../fakes/memories.ts'
import { entry, space, unitVector } from '../fakes/vectors.ts'

/** Large enough that keyword search reads rows in several steps. */
const MEMORIES = 1_000
const COMMIT = 500
const DIMENSIONS = 8

async function filledStore() {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  onTestFinished(() => store.close())
  const rows = Array.from({ length: MEMORIES }, (_, n) => memory({ content: `green tea ${n}` }))
  for (let start = 0; start < rows.length; start += COMMIT) {
    const some = rows.slice(start, start + COMMIT)
    await store.commit(some.map(create))
    await store.vectors.put(
      space(DIMENSIONS),
      some.map((row, n) => entry(row, unitVector(DIMENSIONS, start + n))),
    )
  }
  return { store, rows }
}

/** Every look at the clock comes long after the one before, so that each step is one after which to give way. */
function withSlowSteps(): void {
  let now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 1_000
    return now
  })
  onTestFinished(() => void vi.restoreAllMocks())
}

/** Does something, and in each turn that others get meanwhile something else. Tells how many turns those were. */
async function turnsDuring(
  work: () => Promise<unknown>,
  other: (turn: number) => unknown = () => {},
): Promise<number> {
  let turns = 0
  let isDone = false
  const turn = () => {
    if (isDone) return
    turns++
    other(turns)
    setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isDone = true
  return turns
}

it('[RA23] keyword search yields after every term and every batch of rows', async () => {
  const { store } = await filledStore()
  const search = () => store.searchText(ADA, { text: 'green tea', limit: 10, where: {} })
  const undisturbed = await search()
  withSlowSteps()
  let found: unknown
  const turns = await turnsDuring(async () => {
    found = await search()
  })
  expect(turns).toBeGreaterThanOrEqual(2 + Math.floor(MEMORIES / 256))
  expect(found).toEqual(undisturbed)
})

it('[RA23] rows removed while keyword search yields are not found', async () => {
  const { store, rows } = await filledStore()
  const wanted = rows[7] as (typeof rows)[number] // there are a thousand
  const search = () => store.searchText(ADA, { text: 'tea 7', limit: 10, where: {} })
  expect((await search()).hits[0]?.id).toBe(wanted.id)
  withSlowSteps()
  const removal = {
    op: 'remove',
    table: 'memory',
    scope: ADA,
    id: wanted.id,
    expect: 'any',
  } as const
  let hits: readonly { readonly id: string }[] = []
  await turnsDuring(
    async () => {
      hits = (await search()).hits
    },
    (turn) => (turn === 1 ? store.commit([removal]) : undefined),
  )
  expect(hits).toHaveLength(10)
  expect(hits.map(({ id }) => id)).not.toContain(wanted.id)
})

it('[RA23] vector search yields after every part of the scan', async () => {
  const { store } = await filledStore()
  const query = { vector: unitVector(DIMENSIONS, 1), limit: 10, where: {} }
  const search = () => store.vectors.search(space(DIMENSIONS), ADA, query)
  const undisturbed = await search()
  withSlowSteps()
  let found: unknown
  const turns = await turnsDuring(async () => {
    found = await search()
  })
  expect(turns).toBeGreaterThanOrEqual(2)
  expect(found).toEqual(undisturbed)
})

it('[RA23] recall yields between stages that take long', async () => {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  const engine = createEngineWith({
    store,
    vectors: store.vectors,
    embedder: createHashingEmbedder(),
    clock: new FakeClock(),
    ids: countingIds(),
    settings: {},
  })
  onTestFinished(() => engine.close())
  await engine.remember({ owner: 'ada' }, { content: 'Ada drinks green tea.' })
  await engine.admin.reindex()
  const ask = () => engine.recall({ owner: 'ada' }, { text: 'What does Ada drink?' })
  await ask()
  withSlowSteps()
  // Between the retrievers, before fusion, before rows are read, and before they are ranked.
  expect(await turnsDuring(ask)).toBeGreaterThanOrEqual(4)
})
