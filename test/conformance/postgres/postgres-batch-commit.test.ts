/** Long commits, which this store writes in a few statements: the outcome must be that of one change after another. */
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { COMMIT_CHANGES_MAX } from '../../../src/domain/limits.ts'
import type { Memory } from '../../../src/domain/memory.ts'
import type { Change } from '../../../src/storage/store.ts'
import { ADA, memory } from '../../fakes/memories.ts'
import { openFreshStore, startPglite } from '../../support/postgres-servers.ts'
import { COMMITTED, create } from '../store/store.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

async function open() {
  const store = await openFreshStore(server.url, { poolSize: 1 })
  onTestFinished(() => store.close())
  return store
}

const _put = (row: Memory): Change => ({ op: 'put', table: 'memory', row, expect: 'any' })
const many = (count: number) =>
  Array.from({ length: count }, (_, n) => memory({ content: `item ${n}`, key: `key ${n}` }))

it('[ST2] takes as many memories as a commit may hold', async () => {
  const store = await open()
  const rows = many(COMMIT_CHANGES_MAX)
  expect(await store.commit(rows.map(create))).toEqual(COMMITTED)
  expect((await store.getReport()).rows.memory).toBe(COMMIT_CHANGES_MAX)
  const { hits } = await store.searchText(ADA, { text: 'item 1234', limit: 1, where: {} })
  expect(hits[0]?.id).toBe(rows[1234]?.id)
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
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
    reason: 'exists',
  })
  for (const key of ['held', 'key 449']) {
    const rival = memory({ key })
    expect(await conflictOf(rival)).toEqual({ ...conflict, id: rival.id, reason: 'key' })
  }
  expect((await store.getReport()).rows.memory).toBe(2)
  expect(await store.commit(rows.map(create))).toEqual(COMMITTED)
})

it('[ST2] splits very long texts over statements without losing any', async () => {
  const store = await open()
  const rows = Array.from({ length: 120 }, (_, n) =>
    memory({ content: `${n} ${'long '.repeat(9_999)}` }),
  )
  expect(await store.commit(rows.map(create))).toEqual(COMMITTED)
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
})
