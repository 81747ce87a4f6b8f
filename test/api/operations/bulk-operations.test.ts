/** Changes of many memories in one request, merging, and facets. */
import { describe, expect, it } from 'vitest'
import { start } from '../http/http-support.ts'
import { openContext } from './operation-support.ts'

type Changed = {
  readonly matched: number
  readonly changed: number
  readonly change: string | null
  readonly ids: readonly string[]
}
type Counted = {
  readonly total: number
  readonly facets: Readonly<Record<string, readonly { value: string; count: number }[]>>
  readonly excluded: Readonly<Record<string, number>>
}

const ADA = { owner: 'ada' }

async function openHouse(notes = 6) {
  const context = openContext()
  const { engine } = context
  const ids: string[] = []
  for (let number = 0; number < notes; number++) {
    const user = number % 2 === 0 ? 'kim' : 'lee'
    const { memory } = await engine.remember(
      { ...ADA, user },
      { content: `Note ${number} about drawer ${number}`, importance: 1 + (number % 10) },
    )
    ids.push(memory.id)
  }
  await engine.remember({ owner: 'bob' }, { content: 'A note of somebody else' })
  return { ...context, ids }
}

describe('one change for many', () => {
  it('[OP12.1] edits all that match, and one undo takes all of it back', async () => {
    const { call, engine } = await openHouse(120)
    const edit = { category: 'fact', importance: 9, pinned: true }
    const done: Changed = await call('memory.bulk', { q: 'NOTE', action: 'edit', edit })
    expect(done).toMatchObject({ matched: 120, changed: 120 })
    const changed = await engine.memories.count(ADA, { categories: ['fact'], pinned: true })
    expect(changed.total).toBe(120)
    expect((await engine.memories.count({ owner: 'bob' }, { categories: ['general'] })).total).toBe(
      1,
    )
    await engine.undo(ADA, done.change ?? '')
    const { total } = await engine.memories.count(ADA, { categories: ['general'], pinned: false })
    expect(total).toBe(120)
  })

  it('[OP12.1] disables, restores and forgets, by ids and by filter', async () => {
    const { call, engine, ids } = await openHouse()
    const statuses = async (status: 'active' | 'disabled' | 'forgotten') =>
      (await engine.memories.count(ADA, { statuses: [status] })).total
    const two = ids.slice(0, 2)
    await call('memory.bulk', { ids: two, action: 'disable' })
    expect(await statuses('disabled')).toBe(2)
    const gone: Changed = await call('memory.bulk', { user: 'lee', action: 'forget' })
    expect(gone.changed).toBe(2)
    expect(await statuses('forgotten')).toBe(2)
    const back: Changed = await call('memory.bulk', {
      ...{ status: ['disabled', 'forgotten'], action: 'restore' },
    })
    expect(back.changed).toBe(4)
    expect(await statuses('active')).toBe(6)
    await engine.undo(ADA, back.change ?? '')
    expect([await statuses('disabled'), await statuses('forgotten')]).toEqual([2, 2])
  })

  it('[OP12.1] moves to another user, and one undo takes all of it back', async () => {
    const { call, engine } = await openHouse(120)
    const of = async (user: string | null) => (await engine.memories.count({ ...ADA, user })).total
    const done: Changed = await call('memory.bulk', { q: 'note', action: 'move', toUser: 'max' })
    expect(done).toMatchObject({ matched: 120, changed: 120 })
    expect([await of('kim'), await of('lee'), await of('max')]).toEqual([0, 0, 120])
    const { rows } = await engine.list({ ...ADA, user: 'max' }, { contains: 'Note 3 about' })
    expect(rows[0]).toMatchObject({ content: 'Note 3 about drawer 3', importance: 4 })
    const found = await engine.recall({ ...ADA, user: 'max' }, { text: 'note about drawer 3' })
    expect(found.memories.map(({ memory }) => memory.id)).toContain(rows[0]?.id)
    await engine.undo(ADA, done.change ?? '')
    expect([await of('kim'), await of('lee'), await of('max')]).toEqual([60, 60, 0])
  })

  it('[OP12.2] moves nothing onto a key that the other user has, nor where it is', async () => {
    const { call, engine } = await openHouse(0)
    await engine.remember({ ...ADA, user: 'kim' }, { content: 'The code is 1', key: 'code' })
    await engine.remember({ ...ADA, user: 'kim' }, { content: 'The lamp is broken' })
    await engine.remember({ ...ADA, user: 'lee' }, { content: 'The code is 2', key: 'code' })
    const move = { action: 'move', toUser: 'lee' }
    expect(await call('memory.bulk', { all: true, ...move })).toMatchObject({ changed: 1 })
    expect((await engine.memories.count({ ...ADA, user: 'lee' })).total).toBe(2)
    expect((await engine.memories.count({ ...ADA, user: 'kim' })).total).toBe(1)
    expect(await call('memory.bulk', { all: true, action: 'move', toUser: null })).toMatchObject({
      changed: 2,
    })
    await expect(call('memory.bulk', { all: true, action: 'move' })).rejects.toMatchObject({
      details: [{ field: 'toUser' }],
    })
    await expect(
      call('memory.bulk', { user: 'kim', action: 'move', toUser: 'kim' }),
    ).rejects.toMatchObject({ details: [{ field: 'toUser' }] })
  })

  it('[OP12.2] a key that somebody else has taken since is not taken back', async () => {
    const { call, engine } = await openHouse(0)
    const first = await engine.remember(ADA, { content: 'The code is 1', key: 'code' })
    await engine.forget(ADA, first.memory.id)
    await engine.remember(ADA, { content: 'The door is green', key: 'code' })
    const other = await engine.remember(ADA, { content: 'The lamp is broken' })
    await engine.forget(ADA, other.memory.id)
    const done: Changed = await call('memory.bulk', { status: 'forgotten', action: 'restore' })
    expect(done).toMatchObject({ matched: 2, changed: 1 })
    expect(await engine.get(ADA, other.memory.id)).toMatchObject({ status: 'active' })
    expect(await engine.get(ADA, first.memory.id)).toMatchObject({ status: 'forgotten' })
  })

  it('[OP12.3] nothing happens without a filter, in a dry run, to unknown fields, or for a model', async () => {
    const { call, engine } = await openHouse()
    await expect(call('memory.bulk', { action: 'disable' })).rejects.toMatchObject({
      details: [{ field: 'all' }],
    })
    await expect(call('memory.bulk', { all: true, action: 'edit' })).rejects.toMatchObject({
      details: [{ field: 'edit' }],
    })
    await expect(
      call('memory.bulk', { all: true, action: 'forget', edit: { pinned: true } }),
    ).rejects.toMatchObject({ details: [{ field: 'edit' }] })
    const dry: Changed = await call('memory.bulk', { all: true, action: 'disable', dryRun: true })
    expect(dry).toMatchObject({ matched: 6, changed: 0, change: null })
    const model = { writesAs: 'model' } as const
    await expect(call('memory.bulk', { all: true, action: 'forget' }, model)).rejects.toMatchObject(
      {
        code: 'forbidden',
      },
    )
    await expect(
      call('memory.bulk', { all: true, action: 'forget' }, { role: 'agent' }),
    ).rejects.toMatchObject({ code: 'forbidden' })
    expect((await engine.memories.count(ADA)).total).toBe(6)
  })
})

it('[OP12.5] progress is told on the way, line by line, before the result', async () => {
  const { engine, url, admin } = await start()
  for (let number = 0; number < 250; number++) {
    await engine.remember(ADA, { content: `Note ${number} about drawer ${number}` })
  }
  const response = await fetch(`${url}/api/memory/bulk`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      accept: 'application/x-ndjson',
    },
    body: JSON.stringify({ owner: 'ada', all: true, action: 'disable' }),
  })
  const lines = (await response.text()).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { progress: { done: 200, total: 250 } },
    { progress: { done: 250, total: 250 } },
    { result: { matched: 250, changed: 250 } },
  ])
})

describe('merging', () => {
  it('[OP12.4] the first keeps its id, the others are superseded by it, and one undo separates them', async () => {
    const { call, engine } = await openHouse(0)
    const remember = async (content: string) => (await engine.remember(ADA, { content })).memory
    const [a, b, c] = [
      await remember('I live in Trieste'),
      await remember('My flat is above the bakery'),
      await remember('My window looks at the harbour'),
    ]
    const content = 'I live in Trieste, above the bakery, with a view of the harbour'
    const merged: { change: string; superseded: string[] } = await call('memory.merge', {
      ...{ ids: [a.id, b.id, c.id], content },
    })
    expect(merged.superseded).toEqual([b.id, c.id])
    expect(await engine.get(ADA, a.id)).toMatchObject({ content, sourceCount: 3 })
    expect(await engine.get(ADA, c.id)).toMatchObject({ status: 'superseded', supersededBy: a.id })
    await engine.undo(ADA, merged.change)
    expect(await engine.get(ADA, a.id)).toMatchObject({ content: a.content, sourceCount: 1 })
    expect(await engine.get(ADA, b.id)).toMatchObject({ status: 'active', supersededBy: null })
    await expect(call('memory.merge', { ids: [a.id, a.id], content })).rejects.toMatchObject({
      details: [{ field: 'ids' }],
    })
  })
})

it('[SR12] what leaves next is foretold with its reason, and a pin keeps it', async () => {
  const { call, engine, clock } = await openHouse(0)
  const provenance = { source: 'gateway', extractor: 'patterns', extractorVersion: '1' }
  const fading = await engine.remember(ADA, {
    ...{ content: 'An umbrella was left in a cafe', salience: 0.2, provenance },
  })
  const expiresAt = clock.now() + 86_400_000
  await engine.remember(ADA, { content: 'The ticket is valid today', expiresAt })
  await engine.remember(ADA, { content: 'A person wrote this, so it stays' })
  type Forecasts = { evictions: { memory: { id: string }; at: string; kind: string }[] }
  const { evictions }: Forecasts = await call('memory.evictions', {})
  expect(evictions.map(({ kind }) => kind)).toEqual(['end', 'evict'])
  const at = Date.parse(evictions[1]?.at ?? '')
  clock.advance(at - clock.now() - 86_400_000)
  expect((await engine.learning.consolidate(ADA, { dryRun: true })).evicted).toBe(0)
  clock.advance(86_400_000)
  expect((await engine.learning.consolidate(ADA, { dryRun: true })).evicted).toBe(1)
  await engine.edit(ADA, fading.memory.id, { pinned: true })
  expect(await call('memory.evictions', {})).toEqual({ evictions: [] })
})

describe('facets', () => {
  it('[SU22] values are counted without the filter on their own field, and exclusions are named', async () => {
    const { call, engine, ids } = await openHouse()
    await engine.edit(ADA, ids[0] ?? '', { category: 'fact' })
    await engine.memories.disable(ADA, ids[5] ?? '')
    const all: Counted = await call('memory.facets', {})
    expect(all).toMatchObject({ total: 5, excluded: { status: 1, expired: 0 } })
    expect(all.facets.status).toEqual([
      { value: 'active', count: 5 },
      { value: 'disabled', count: 1 },
    ])
    expect(all.facets.age?.[0]).toEqual({ value: '7', count: 5 })
    const some: Counted = await call('memory.facets', { category: 'general', user: 'kim' })
    expect(some).toMatchObject({ total: 2, excluded: { category: 1, user: 2, status: 0 } })
    expect(some.facets.category).toEqual([
      { value: 'general', count: 2 },
      { value: 'fact', count: 1 },
    ])
    expect(some.facets.user).toEqual([
      { value: 'kim', count: 2 },
      { value: 'lee', count: 2 },
    ])
  })

  it('[SU22] the results of a search are counted, those below the threshold too', async () => {
    const { call } = await openHouse()
    const search = { query: 'drawer 3', strategy: 'keyword' }
    const counted: Counted = await call('memory.facets', search)
    const hits: { results: readonly unknown[] } = await call('memory.search', {
      ...{ ...search, include: 'facts', includeBelowThreshold: true, limit: 100 },
    })
    expect(counted.total).toBe(hits.results.length)
    expect(counted.total).toBe(6)
  })
})
