/** Operations on what people look at and put right: digests, who somebody is, and what was said. */
import { expect, it } from 'vitest'
import type { Caller } from '../../../src/api/operations/authorization.ts'
import { OPERATIONS } from '../../../src/api/operations/index.ts'
import { openContext } from './operation-support.ts'

it('[LD2] agents are the owners that a key reaches, with the facts and episodes in use', async () => {
  const { engine, call, clock } = openContext()
  await engine.remember({ owner: 'ada' }, { content: 'I prefer tea' })
  await engine.remember({ owner: 'ada' }, { content: 'Ada is a pilot', category: 'identity' })
  const { memory } = await engine.remember({ owner: 'ada' }, { content: 'I prefer old maps' })
  clock.advance(1_000)
  await engine.forget({ owner: 'ada' }, memory.id)
  await engine.remember({ owner: 'bob', user: 'x' }, { content: 'Trip', category: 'episode' })
  const { agents } = (await call('agent.list', {})) as { agents: readonly object[] }
  expect(agents).toMatchObject([
    { id: 'ada', name: 'ada', memory_entry_count: 1, created_at: '2023-11-14T22:13:20.000Z' },
    { id: 'bob', memory_entry_count: 1, description: null, supports_vision: null },
  ])
  const seen = async (as: Partial<Caller>) => {
    const result = (await call('agent.list', {}, as)) as { agents: { id: string }[] }
    return result.agents.map(({ id }) => id)
  }
  expect(await seen({ role: 'reader', home: 'bob' })).toEqual(['bob'])
  expect(await seen({ role: 'agent', home: 'new', actsFor: ['ada'] })).toEqual(['ada', 'new'])
})

it('[LD4] searches one layer, and names fields that do not apply to it', async () => {
  const { engine, call } = openContext()
  const metadata = { topics: ['boats'], decisions: ['Buy tickets'] }
  await engine.remember({ owner: 'ada' }, { content: 'I prefer the ferry to Split' })
  const episode = { content: 'Ada chose a ferry.', category: 'episode', metadata } as const
  await engine.remember({ owner: 'ada' }, episode)
  const turns = [{ user: `${'The weather was nice. '.repeat(40)} When does the ferry leave?` }]
  const said = { owner: 'ada', conversation: 'c', turns, skipExtraction: true }
  await engine.learning.ingest({ ...said, sessionDate: 1_700_000_000_000 - 9 * 86_400_000 })
  const found = async (input: object) => {
    const { results } = (await call('memory.searchLayer', { query: 'ferry', ...input })) as {
      results: readonly { content: string }[]
    }
    return results
  }
  expect(await found({ scope: 'pinned' })).toMatchObject([
    { content: 'I prefer the ferry to Split', salience: 0.5, session_id: '' },
  ])
  expect(await found({ scope: 'episodes', agent_id: 'ada' })).toMatchObject([
    { content: 'Ada chose a ferry.', topics: ['boats'], decisions: ['Buy tickets'] },
  ])
  const [turn] = await found({ scope: 'transcript' })
  expect(turn).toMatchObject({ role: 'user', session_id: 'c' })
  expect(turn?.content).toContain('When does the ferry leave?')
  expect([...(turn?.content ?? '')].length).toBeLessThanOrEqual(300)
  expect(await found({ scope: 'transcript', days: 8 })).toEqual([])
  for (const [field, input] of [
    ['scope', { query: 'x', scope: 'dreams' }],
    ['query', { scope: 'pinned' }],
    ['days', { query: 'x', scope: 'episodes', days: 3 }],
    ['days', { query: 'x', scope: 'transcript', days: 3_651 }],
    ['top_k', { query: 'x', scope: 'pinned', top_k: 51 }],
    ['agent_id', { query: 'x', scope: 'pinned', agent_id: 'ada', owner: 'bob' }],
    ['colour', { query: 'x', scope: 'pinned', colour: 'red' }],
  ] as const) {
    await expect(call('memory.searchLayer', input), field).rejects.toMatchObject({
      code: 'invalid_input',
      details: [{ field, message: expect.stringMatching(/./) }],
    })
  }
})

it('[LD8] hides turns, episodes and identities of other owners', async () => {
  const { engine, call } = openContext()
  const ada = { owner: 'ada' }
  const { memory: episode } = await engine.remember(ada, { content: 'Trip', category: 'episode' })
  const { memory: identity } = await engine.learning.identity.add(ada, { content: 'I am a pilot.' })
  const turns = [{ user: 'Rome it is.' }]
  await engine.learning.ingest({ ...ada, conversation: 'trip', turns })
  const [signal] = (await engine.learning.signals.list(ada)).rows
  const [turn] = (await engine.conversations.turns.list({ ...ada, session: 'trip' })).rows
  const bob = { role: 'user', home: 'bob' } as const
  const before = JSON.stringify(await engine.conversations.turns.list(ada))
  const asked = [
    ['episode.get', { id: episode.id }],
    ['episode.edit', { id: episode.id, summary: 'x' }],
    ['episode.disable', { id: episode.id }],
    ['episode.forget', { id: episode.id }],
    ['episode.restore', { id: episode.id }],
    ['identity.get', { id: identity.id }],
    ['identity.edit', { id: identity.id, content: 'x' }],
    ['identity.disable', { id: identity.id }],
    ['identity.restore', { id: identity.id }],
    ['identity.forget', { id: identity.id }],
    ['session.turns', { id: 'trip' }],
    ['session.forget', { id: 'trip', memories: true }],
    ['turn.get', { id: turn?.id }],
    ['turn.edit', { id: turn?.id, content: 'x' }],
    ['turn.disable', { id: turn?.id }],
    ['turn.restore', { id: turn?.id }],
    ['turn.forget', { id: turn?.id }],
    ['signal.get', { id: signal?.id }],
    ['signal.forget', { ids: [signal?.id] }],
    ['memory.sources', { id: episode.id }],
  ] as const
  for (const [name, input] of asked) {
    for (const named of [{}, { owner: 'ada' }]) {
      await expect(call(name, { ...input, ...named }, bob), name).rejects.toMatchObject({
        code: 'not_found',
      })
    }
  }
  for (const name of ['episode.list', 'identity.list', 'session.list']) {
    await expect(call(name, { owner: 'ada' }, bob), name).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(JSON.stringify(await call(name, {}, bob)), name).not.toMatch(/trip|pilot/i)
  }
  for (const scope of ['pinned', 'episodes', 'transcript']) {
    const query = { scope, query: 'trip pilot Rome' }
    expect(await call('memory.searchLayer', query, bob)).toEqual({ scope, results: [] })
    await expect(
      call('memory.searchLayer', { ...query, agent_id: 'ada' }, bob),
    ).rejects.toMatchObject({ code: 'not_found' })
  }
  expect(JSON.stringify(await engine.conversations.turns.list(ada))).toBe(before)
  expect((await engine.get(ada, episode.id))?.status).toBe('active')
})

it('[LD8] readers change nothing, and agents remove nothing for good', async () => {
  const changing = OPERATIONS.filter(
    ({ name, access }) =>
      /^(episode|identity|session|turn|signal)\./.test(name) && access !== 'read',
  )
  const { call } = openContext()
  for (const { name } of changing) {
    await expect(call(name, {}, { role: 'reader' }), name).rejects.toMatchObject({
      code: 'forbidden',
    })
  }
  for (const name of ['turn.forget', 'session.forget', 'signal.forget']) {
    await expect(call(name, {}, { role: 'agent' }), name).rejects.toMatchObject({
      code: 'forbidden',
    })
  }
  expect(changing.map(({ name }) => name)).toHaveLength(17)
})

it('[LD3] the addresses of episodes and identity refuse other memories', async () => {
  const { engine, call } = openContext()
  const { memory: fact } = await engine.remember({ owner: 'ada' }, { content: 'I prefer tea' })
  const { memory: episode } = await engine.remember(
    { owner: 'ada' },
    { content: 'Trip', category: 'episode' },
  )
  for (const [name, input] of [
    ['episode.get', { id: fact.id }],
    ['episode.edit', { id: fact.id, summary: 'x' }],
    ['episode.disable', { id: fact.id }],
    ['episode.forget', { id: fact.id }],
    ['episode.restore', { id: fact.id }],
    ['identity.edit', { id: episode.id, content: 'x' }],
    ['identity.forget', { id: fact.id }],
  ] as const) {
    await expect(call(name, input), name).rejects.toMatchObject({ code: 'not_found' })
  }
  expect(await engine.get({ owner: 'ada' }, fact.id)).toEqual(fact)
  await expect(call('episode.edit', { id: episode.id })).rejects.toMatchObject({
    code: 'invalid_input',
  })
  await expect(
    call('episode.edit', { id: episode.id, summary: 'x', version: 9 }),
  ).rejects.toMatchObject({ code: 'conflict' })
  const day = { day: '2026-05-01', from: '2026-05-01' }
  await expect(call('episode.list', day)).rejects.toMatchObject({ code: 'invalid_input' })
  expect(await call('episode.list', { day: '2023-11-14' })).toMatchObject({
    episodes: [{ id: episode.id }],
  })
  expect(await call('episode.list', { day: '2023-11-15' })).toMatchObject({ episodes: [] })
})
