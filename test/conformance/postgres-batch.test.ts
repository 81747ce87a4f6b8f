/** Long commits, which this store writes in a few statements: the outcome must be that of one change after another. */
import { afterAll, expect, it, onTestFinished } from 'vitest'
import type { Place } from '../../src/core/ids.ts'
import { COMMIT_CHANGES_MAX } from '../../src/core/limits.ts'
import type { Memory } from '../../src/core/memory.ts'
import type { Change } from '../../src/ports/store.ts'
import { ADA, BOB, instant, memory, user } from '../fakes/memories.ts'
import { openFreshStore, startPglite } from '../support/postgres-servers.ts'
import { COMMITTED, create } from './store.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

async function open() {
  const store = await openFreshStore(server.url, { poolSize: 1 })
  onTestFinished(() => store.close())
  return store
}

const put = (row: Memory): Change => ({ op: 'put', table: 'memory', row, expect: 'any' })
const many = (count: number) =>
  Array.from({ length: count }, (_, n) => memory({ content: `item ${n}`, key: `key ${n}` }))

it('[ST2] takes as many memories as a commit may hold', async () => {
  const store = await open()
  const rows = many(COMMIT_CHANGES_MAX)
  expect(await store.commit(rows.map(create))).toEqual(COMMITTED)
  expect((await store.report()).rows.memory).toBe(COMMIT_CHANGES_MAX)
  const hits = await store.matchText(ADA, { text: 'item 1234', limit: 1, where: {} })
  expect(hits[0]?.id).toBe(rows[1234]?.id)
  expect(await store.inspect({ repair: false })).toEqual([])
})

it('[ST2] names the change in the middle of a batch that cannot apply, and writes none', async () => {
  const store = await open()
  const [known, holder] = [memory(), memory({ key: 'held' })]
  await store.commit([create(known), create(holder)])
  const rows = many(900)
  const conflictOf = (culprit: Memory) =>
    store.commit([...rows.slice(0, 450), culprit, ...rows.slice(450)].map(create))
  const conflict = { kind: 'conflict', table: 'memory' }
  expect(await conflictOf({ ...memory(), id: known.id })).toEqual({
    ...conflict,
    id: known.id,
    because: 'exists',
  })
  for (const key of ['held', 'key 449']) {
    const rival = memory({ key })
    expect(await conflictOf(rival)).toEqual({ ...conflict, id: rival.id, because: 'key' })
  }
  expect((await store.report()).rows.memory).toBe(2)
  expect(await store.commit(rows.map(create))).toEqual(COMMITTED)
})

it('[ST2] lets memories trade keys within a commit', async () => {
  const store = await open()
  const [a, b] = [memory({ key: 'a' }), memory({ key: 'b' })]
  await store.commit([create(a), create(b)])
  const traded = [put({ ...a, key: null }), put({ ...b, key: 'a' }), put({ ...a, key: 'b' })]
  expect(await store.commit(traded)).toEqual(COMMITTED)
  expect((await store.get('memory', ADA, a.id))?.key).toBe('b')
  expect((await store.get('memory', ADA, b.id))?.key).toBe('a')
  expect(await store.matchText(ADA, { text: 'a', limit: 5, where: { ids: [a.id] } })).toEqual([])
  expect(await store.inspect({ repair: false })).toEqual([])
})

it('[ST2] follows one row through everything that happens to it in a commit', async () => {
  const store = await open()
  const row = memory({ content: 'first' })
  const count: Change = { op: 'count', scope: ADA, id: row.id, uses: 2, usedAt: instant(9) }
  const remove: Change = {
    op: 'remove',
    table: 'memory',
    scope: ADA,
    id: row.id,
    expect: { version: 1 },
  }
  const again = { ...row, content: 'second', place: { ...ADA, user: user('eve') } }
  expect(await store.commit([create(row), count, remove, count, create(again)])).toEqual(COMMITTED)
  expect(await store.get('memory', again.place, row.id)).toEqual(again)
  const counted: Change = { ...count, scope: again.place }
  expect(await store.commit([counted, put(again), counted])).toEqual(COMMITTED)
  expect((await store.get('memory', again.place, row.id))?.useCount).toBe(2)
  expect(await store.inspect({ repair: false })).toEqual([])
})

it('[ST2] lets an id move to another owner or user once it was removed', async () => {
  const store = await open()
  const row = memory({ content: 'wanderer', key: 'k' })
  await store.commit([create(row)])
  let at: Place = ADA
  for (const place of [{ ...ADA, user: user('eve') }, BOB, ADA]) {
    const scope = { owner: at.owner, user: at.user }
    const remove: Change = { op: 'remove', table: 'memory', scope, id: row.id, expect: 'any' }
    expect(await store.commit([remove, create({ ...row, place })])).toEqual(COMMITTED)
    at = place
    const hits = await store.matchText(at, { text: 'wanderer', limit: 5, where: {} })
    expect(hits.map((hit) => hit.id)).toEqual([row.id])
    expect(await store.inspect({ repair: false })).toEqual([])
  }
})

it('[ST2] splits very long texts over statements without losing any', async () => {
  const store = await open()
  const rows = Array.from({ length: 120 }, (_, n) =>
    memory({ content: `${n} ${'long '.repeat(9_999)}` }),
  )
  expect(await store.commit(rows.map(create))).toEqual(COMMITTED)
  expect(await store.inspect({ repair: false })).toEqual([])
})
