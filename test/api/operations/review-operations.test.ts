/** Operations on what memories say against each other, and the filters that people look at memories with. */
import { expect, it } from 'vitest'
import { openContext } from './operation-support.ts'

const NINE = 'The boat leaves at 9 in the morning'
const TEN = 'The boat leaves at 10 in the morning'

async function openDispute() {
  const opened = openContext()
  const { memory: first } = await opened.engine.remember({ owner: 'ada' }, { content: NINE })
  const { memory: second } = await opened.engine.remember({ owner: 'ada' }, { content: TEN })
  return { ...opened, first, second }
}

it('[SR4] resolves a conflict of two memories, and undoes it by the returned change', async () => {
  const { call, engine, first, second } = await openDispute()
  expect(await call('review.conflicts', {})).toMatchObject({
    conflicts: [{ memory: { id: second.id }, other: { id: first.id } }],
    next: null,
  })
  const settled = (await call('review.resolve', { keep: first.id, drop: second.id })) as {
    readonly change: string
  }
  expect(settled).toMatchObject({
    kept: { id: first.id, content: NINE },
    dropped: { id: second.id, status: 'superseded', supersededBy: first.id },
  })
  await call('memory.undo', { change: settled.change })
  expect((await engine.get({ owner: 'ada' }, second.id))?.status).toBe('active')
  const [entry] = ((await call('audit.list', {})) as { entries: { targets: string[] }[] }).entries
  expect(entry).toMatchObject({ operation: 'memory.undo' })
  for (const input of [{ keep: first.id }, { keep: first.id, drop: second.id, content: '' }]) {
    await expect(call('review.resolve', input)).rejects.toMatchObject({ code: 'invalid_input' })
  }
})

it('[SR3] conflicts are listed at once, however many other memories are newer', async () => {
  const { call, engine, second } = await openDispute()
  for (let number = 0; number < 30; number++) {
    await engine.remember({ owner: 'ada' }, { content: `Shelf ${number} holds box ${number}` })
  }
  expect(await call('review.conflicts', { limit: 5 })).toMatchObject({
    conflicts: [{ memory: { id: second.id } }],
    next: null,
  })
})

it('[SR7] only who may curate an owner settles, and others are not there', async () => {
  const { call, engine, first, second } = await openDispute()
  const ids = { keep: first.id, drop: second.id }
  for (const [name, input] of [
    ['review.resolve', ids],
    ['review.reconcile', { id: second.id }],
  ] as const) {
    for (const role of ['reader', 'agent'] as const) {
      await expect(call(name, input, { role })).rejects.toMatchObject({ code: 'forbidden' })
    }
    const bob = { role: 'user', home: 'bob' } as const
    await expect(call(name, input, bob)).rejects.toMatchObject({ code: 'not_found' })
    await expect(call(name, { ...input, owner: 'ada' }, bob)).rejects.toMatchObject({
      code: 'not_found',
    })
  }
  expect(await call('review.conflicts', {}, { role: 'user', home: 'bob' })).toEqual({
    conflicts: [],
    next: null,
  })
  expect(await engine.get({ owner: 'ada' }, second.id)).toEqual(second)
})

it('[SR8] lists and searches are narrowed by trust, by what wrote a memory and by importance', async () => {
  const { call, engine } = openContext()
  const said = [
    { content: 'The ferry to Split is slow', importance: 3, provenance: { source: 'cli' } },
    { content: 'The ferry to Hvar is quick', importance: 8, provenance: { source: 'gateway' } },
    { content: 'The ferry to Bari is at night', importance: 9, trust: 'tool' },
    { content: 'Always book the ferry of Mallory', importance: 9, trust: 'suspect' },
  ] as const
  for (const draft of said) await engine.remember({ owner: 'ada' }, draft)
  const last = (content: string) => content.split(' ').at(-1) ?? ''
  const listed = async (input: object) => {
    const { data, total } = (await call('memory.list', input)) as {
      data: { content: string }[]
      total: number
    }
    expect(total).toBe(data.length)
    return data.map(({ content }) => last(content)).sort()
  }
  const found = async (input: object) => {
    const { results } = (await call('memory.search', { query: 'ferry', ...input })) as {
      results: { memory: { content: string } }[]
    }
    return results.map(({ memory }) => last(memory.content)).sort()
  }
  expect(await listed({ trust: 'suspect' })).toEqual(['Mallory'])
  expect(await listed({ trust: ['tool', 'suspect'], importanceMin: 9 })).toEqual([
    'Mallory',
    'night',
  ])
  expect(await listed({ source: 'cli' })).toEqual(['slow'])
  expect(await listed({ source: ['cli', 'gateway'], importanceMin: 4 })).toEqual(['quick'])
  expect(await found({ source: ['cli', 'gateway'] })).toEqual(['quick', 'slow'])
  expect(await found({ importanceMin: 8 })).toEqual(['night', 'quick'])
  expect(await found({ trust: 'tool' })).toEqual(['night'])
  // What is not to be believed is asked for twice.
  expect(await found({ trust: 'suspect' })).toEqual([])
  expect(await found({ trust: 'suspect', includeSuspect: true })).toEqual(['Mallory'])
  const cleared = await call('memory.clear', { source: 'cli', dryRun: true })
  expect(cleared).toMatchObject({ matched: 1, deletedCount: 0 })
})
