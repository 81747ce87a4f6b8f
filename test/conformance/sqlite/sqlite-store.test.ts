import { expect, it, onTestFinished } from 'vitest'
import { MEMORY_TYPES, type Memory } from '../../../src/domain/memory.ts'
import type { Place, Scope } from '../../../src/domain/scope.ts'
import { DOCUMENT_TYPES } from '../../../src/domain/search-document.ts'
import type { Instant } from '../../../src/lib/time.ts'
import type { OwnerCacheOptions } from '../../../src/storage/sqlite/cache/owner-cache.ts'
import {
  openSqliteStore,
  type SqliteStoreOptions,
} from '../../../src/storage/sqlite/sqlite-store.ts'
import type { Change, Store } from '../../../src/storage/store.ts'
import { turn, turnId } from '../../fakes/entries.ts'
import { ADA, BOB, memory, memoryId } from '../../fakes/memories.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { COMMITTED, describeStore } from '../store/store.suite.ts'

const open = (options: Partial<SqliteStoreOptions> = {}) =>
  openSqliteStore({ path: temporaryFile('store.db'), now: Date.now, ...options })

describeStore('sqlite', () => open())
for (const [name, resident] of [
  ['few owners at hand', { ownerRowsMax: 1 }],
  ['nothing at hand', { ownerRowsMax: 0 }],
  ['what it reads ahead', { rowsPerPage: 0, delayMs: 0 }],
] as const) {
  describeStore(`sqlite with ${name}`, () => open({ ownerCache: resident }), { histories: 10 })
}

const AT_HAND: readonly OwnerCacheOptions[] = [
  {},
  { rowsPerPage: 0, delayMs: 0 },
  { ownerRowsMax: 1 },
  { ownerRowsMax: 0 },
]
const CAT = memory({ id: memoryId('cat'), content: 'The cat is called Rex' })
const DOG = memory({ id: memoryId('dog'), content: 'The dog is called Fido' })

const instant = (ms: number) => ms as Instant

async function both(resident: OwnerCacheOptions = {}) {
  const input = { path: temporaryFile('shared.db'), ownerCache: resident }
  const stores = [await open(input), await open(input)] as const
  onTestFinished(async () => {
    for (const store of stores) await store.close()
  })
  return stores
}

function putting(row: Memory, expect: 'absent' | 'any' = 'absent'): Change {
  return { op: 'put', table: 'memory', row, expect }
}

/** What each way of asking says about an owner. */
async function toldBy(store: Store, place: Place, text: string) {
  const scope = { owner: place.owner }
  const { hits } = await store.searchText(scope, {
    text,
    limit: 10,
    where: { statuses: ['active'] },
  })
  const ids = [CAT.id, DOG.id]
  const { rows } = await store.find('memory', scope, { where: { ids }, limit: 2 })
  return { found: hits.map(({ id }) => id), rows: rows.map(({ content }) => content) }
}

it.each(AT_HAND)(
  '[ST42] the cache includes later writes of another process (%o)',
  async (resident) => {
    const [here, there] = await both(resident)
    expect(await here.commit([putting(CAT)])).toEqual(COMMITTED)
    expect(await toldBy(here, ADA, 'called')).toEqual({ found: [CAT.id], rows: [CAT.content] })
    expect(await there.commit([putting(DOG)])).toEqual(COMMITTED)
    expect(await toldBy(here, ADA, 'called')).toEqual({
      found: [DOG.id, CAT.id],
      rows: [DOG.content, CAT.content],
    })
    const renamed = { ...CAT, content: 'The cat is named Tom', version: 2 }
    expect(await there.commit([putting(renamed, 'any')])).toEqual(COMMITTED)
    expect(await toldBy(here, ADA, 'Tom')).toMatchObject({ found: [CAT.id] })
    const removal = {
      op: 'remove',
      table: 'memory',
      scope: ADA,
      id: DOG.id,
      expect: 'any',
    } as const
    expect(await there.commit([removal])).toEqual(COMMITTED)
    expect(await toldBy(here, ADA, 'dog')).toEqual({ found: [], rows: [renamed.content] })
  },
)

it.each(AT_HAND)(
  '[ST42] a memory that moves to another owner leaves the cache of the first (%o)',
  async (resident) => {
    const [store] = await both(resident)
    const moved = { ...CAT, place: BOB, version: 2 }
    await store.commit([putting(CAT), putting({ ...DOG, place: BOB })])
    for (const place of [ADA, BOB]) await toldBy(store, place, 'called')
    await store.commit([
      { op: 'remove', table: 'memory', scope: ADA, id: CAT.id, expect: 'any' },
      putting(moved),
    ])
    expect(await toldBy(store, ADA, 'called')).toEqual({ found: [], rows: [] })
    expect((await toldBy(store, BOB, 'called')).found).toEqual([DOG.id, CAT.id])
  },
)

it.each(AT_HAND)(
  '[ST42] changing a returned row does not change the cache (%o)',
  async (resident) => {
    const [store] = await both(resident)
    await store.commit([putting(DOG), putting({ ...CAT, metadata: { colour: 'grey' } })])
    const read = async () => {
      const { rows } = await store.find('memory', ADA, { where: { ids: [CAT.id] }, limit: 1 })
      return rows[0]
    }
    Object.assign((await read()) ?? {}, { content: 'changed' })
    Object.assign((await read())?.metadata ?? {}, { colour: 'changed' })
    expect(await read()).toMatchObject({ content: CAT.content, metadata: { colour: 'grey' } })
  },
)

it.each(AT_HAND)('[ST42] uses are told of as they are counted (%o)', async (resident) => {
  const [store] = await both(resident)
  await store.commit([putting(CAT), putting({ ...DOG, lastUsedAt: instant(50) })])
  await toldBy(store, ADA, 'called')
  const count = (id: Memory['id'], usedAt: number, scope: Scope = ADA): Change => ({
    ...{ op: 'count', scope, id, uses: 2, usedAt: instant(usedAt) },
  })
  await store.commit([count(CAT.id, 30), count(DOG.id, 40), count(CAT.id, 20)])
  await store.commit([count(CAT.id, 60, BOB), count(memoryId('none'), 60)]) // not there, or not theirs
  const refused = [count(DOG.id, 70), putting(CAT)]
  expect(await store.commit(refused)).toMatchObject({ kind: 'conflict' })
  const where = { ids: [CAT.id, DOG.id] }
  const { rows } = await store.find('memory', ADA, { where, limit: 2 })
  const reports = rows.map(({ id, useCount, lastUsedAt }) => ({ id, useCount, lastUsedAt }))
  expect(reports).toEqual([
    { id: DOG.id, useCount: DOG.useCount + 2, lastUsedAt: 50 },
    { id: CAT.id, useCount: CAT.useCount + 4, lastUsedAt: 30 },
  ])
})

it('[ST42] a growing owner has the same results with and without the cache', async () => {
  const stores = [
    await open({ ownerCache: { ownerRowsMax: 5 } }),
    await open({ ownerCache: { rowsPerPage: 2, delayMs: 0 } }),
    await open({ ownerCache: { ownerRowsMax: 0 } }),
  ]
  for (let number = 0; number < 12; number++) {
    const row = memory({ id: memoryId(number), content: `Room ${number % 4} has a lamp` })
    const events = []
    for (const store of stores) {
      await store.commit([putting(row)])
      const where = { statuses: ['active'] } as const
      events.push(await store.searchText(ADA, { text: 'lamp in room 2', limit: 20, where }))
    }
    expect(events[0]).toEqual(events[2])
    expect(events[1]).toEqual(events[2])
  }
  for (const store of stores) await store.close()
})

it('[ST42] memories that turns crowd out follow the hits in the order of a search for memories', async () => {
  const store = await open()
  onTestFinished(() => store.close())
  const turns = Array.from({ length: 30 }, (_, number) =>
    turn({ id: turnId(number), place: ADA, position: number, content: 'The lamp, the lamp' }),
  )
  const rows = Array.from({ length: 8 }, (_, number) =>
    memory({ id: memoryId(number), content: `The lamp is in room ${number % 3} of the house` }),
  )
  await store.commit([
    ...turns.map((row): Change => ({ op: 'put', table: 'turn', row, expect: 'absent' })),
    ...rows.map((row) => putting(row)),
  ])
  const text = 'lamp in room 2'
  const [memoriesOnly, both] = [MEMORY_TYPES, DOCUMENT_TYPES]
  for (const [limit, memoriesMin] of [
    [4, 6],
    [12, 6],
    [12, 20],
    [60, 6],
  ] as const) {
    const plain = await store.searchText(ADA, { text, limit, where: { types: both } })
    const alone = await store.searchText(ADA, {
      ...{ text, limit: memoriesMin, where: { types: memoriesOnly } },
    })
    const found = await store.searchText(ADA, { text, limit, memoriesMin, where: { types: both } })
    const known = new Set(plain.hits.map(({ id }) => id))
    const isFull = plain.hits.length === limit
    const behind = isFull ? alone.hits.filter(({ id }) => !known.has(id)) : []
    expect(found.hits).toEqual([...plain.hits, ...behind])
  }
})
