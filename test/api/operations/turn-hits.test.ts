/** Turns of conversations among the results of searches and previews. */
import { expect, it } from 'vitest'
import type { OwnerId } from '../../../src/domain/ids.ts'
import { openContext } from './operation-support.ts'

const ada = 'ada' as OwnerId
const SAID = 'The ferry to Split leaves at nine in the morning.'

type Found = { readonly results: readonly Record<string, unknown>[] }
type Injection = {
  readonly block: string
  readonly excerptIds: readonly string[]
  readonly excerpts: readonly Record<string, unknown>[]
}

async function openWithConversation() {
  const opened = openContext()
  const { engine, call } = opened
  await engine.admin.settings.change(ada, {
    'gateway.enabled': true,
    'gateway.contextTimeoutMs': 30_000,
  })
  const { memory } = await engine.remember(
    { owner: 'ada' },
    { content: 'The user takes the ferry to Split every summer' },
  )
  await engine.learning.ingest({
    ...{ owner: 'ada', conversation: 'trip', skipExtraction: true },
    turns: [{ user: 'Which ferry goes to Split?', assistant: SAID }],
  })
  return {
    ...opened,
    memory,
    search: async (input: object = {}) =>
      (await call('memory.search', {
        query: 'when does the ferry to Split leave',
        ...input,
      })) as Found,
  }
}

it('[TU1] a search returns memories and turns, and the speaker of a turn', async () => {
  const { memory, search } = await openWithConversation()
  const { results } = await search()
  expect(results.map(({ source }) => source).sort()).toEqual([
    'memories',
    'transcript',
    'transcript',
  ])
  expect(results.find(({ role }) => role === 'assistant')).toEqual({
    id: expect.stringMatching(/^turn_/),
    ...{ source: 'transcript', owner: 'ada', role: 'assistant', speaker: 'assistant' },
    ...{ sessionId: 'trip', content: SAID, snippet: SAID },
    createdAt: expect.stringMatching(/^\d{4}-/),
    ...{ score: expect.any(Number), coverage: expect.any(Number), tokens: expect.any(Number) },
  })
  expect(results.find(({ source }) => source === 'memories')).toMatchObject({ id: memory.id })
})

it('[TU1] a long turn is shown by the passage that matches, and whole in full detail', async () => {
  const { engine, search } = await openWithConversation()
  const long = `${'We talked about the weather for a while. '.repeat(30)}Bring a zeppelin ticket. ${'And so on.'.repeat(40)}`
  await engine.learning.ingest({
    ...{ owner: 'ada', conversation: 'air', skipExtraction: true },
    turns: [{ user: long }],
  })
  const [hit] = (await search({ query: 'zeppelin ticket', include: 'conversations' })).results
  expect(hit).toMatchObject({ content: long })
  expect(hit?.snippet).toContain('zeppelin ticket')
  expect(String(hit?.snippet).length).toBeLessThanOrEqual(300)
  const input = { query: 'zeppelin ticket', include: 'conversations', detail: 'snippet' }
  expect((await search(input)).results[0]).not.toHaveProperty('content')
})

it('[TU2] `include` narrows a search to memories or to turns', async () => {
  const { search } = await openWithConversation()
  const sources = async (include: string) =>
    new Set((await search({ include })).results.map(({ source }) => source))
  expect(await sources('facts')).toEqual(new Set(['memories']))
  expect(await sources('conversations')).toEqual(new Set(['transcript']))
  expect(await sources('both')).toEqual(new Set(['memories', 'transcript']))
})

it('[TU2] `include` is refused together with `sources`', async () => {
  const { search } = await openWithConversation()
  await expect(search({ include: 'facts', sources: ['memories'] })).rejects.toMatchObject({
    code: 'invalid_input',
    message: '`include` must not be given together with `sources`.',
  })
})

it('[TU1] turns have a ranking trail like memories', async () => {
  const { search } = await openWithConversation()
  const { results } = await search({ detail: 'explain', include: 'conversations' })
  expect(results[0]?.trail).toEqual(
    expect.arrayContaining([expect.objectContaining({ stage: 'keyword' })]),
  )
})

it('[TU3] forgetting by a query chooses among memories only', async () => {
  const { call, engine } = openContext()
  await engine.learning.ingest({
    ...{ owner: 'ada', conversation: 'trip', skipExtraction: true },
    turns: [{ user: 'My bicycle is red and fast' }],
  })
  const none = { forgotten: null, candidates: [], turnsDisabled: 0 }
  expect(await call('memory.forgetMatching', { query: 'red fast bicycle' })).toEqual(none)
  const { memory } = await engine.remember({ owner: 'ada' }, { content: 'The bicycle was sold' })
  expect(await call('memory.forgetMatching', { query: 'the bicycle was sold' })).toMatchObject({
    forgotten: { id: memory.id },
  })
})

it('[TU9] a preview of recall returns the speaker, session and passage of a turn', async () => {
  const { call, memory } = await openWithConversation()
  const preview = async (input: object) => {
    const body = { query: 'when does the ferry to Split leave', ...input }
    return ((await call('memory.preview', body)) as { memories: Record<string, unknown>[] })
      .memories
  }
  const [turn] = await preview({ include: 'conversations' })
  expect(turn).toMatchObject({
    ...{ type: 'turn', role: 'assistant', speaker: 'assistant' },
    ...{ sessionId: 'trip', snippet: SAID, content: SAID },
  })
  expect(await preview({ include: 'facts' })).toEqual([
    expect.objectContaining({ id: memory.id, role: null, speaker: null, sessionId: '' }),
  ])
})

it('[TU10] a preview of an injection lists the excerpts that it quotes', async () => {
  const { call } = await openWithConversation()
  const inject = async (input: object = {}) =>
    (await call('memory.previewContext', {
      ...{ query: 'When does the ferry to Split leave?', ...input },
    })) as Injection
  const { block, excerptIds, excerpts } = await inject()
  expect(excerpts.map(({ id }) => id)).toEqual(excerptIds)
  const answer = excerpts.find(({ role }) => role === 'assistant')
  expect(answer).toMatchObject({ speaker: 'assistant', sessionId: 'trip' })
  expect(answer?.line).toContain(SAID)
  expect(block.split('\n')).toContain(answer?.line)
  expect(await inject({ include: 'facts' })).toMatchObject({ excerptIds: [], excerpts: [] })
})

it('[TU8] the status counts memories, turns, and those not embedded yet', async () => {
  const { call } = await openWithConversation()
  expect(await call('system.status', {})).toMatchObject({ store: { memories: 1, turns: 2 } })
  const agent = { role: 'agent' } as const
  expect(await call('system.status', {}, agent)).toMatchObject({
    store: { memories: null, turns: null },
  })
})
