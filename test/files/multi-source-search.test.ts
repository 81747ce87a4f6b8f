/** Questions to several sources together. */
import { expect, it } from 'vitest'
import { parseScope } from '../../src/domain/scope.ts'
import { keyFor, start } from '../api/http/http-support.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { folderWith } from './file-support.ts'

const NOTES = {
  'MEMORY.md': '# Home\n\nThe router stands in the hallway and its password is under the lid.\n',
}

async function open() {
  const { engine, client } = await start({}, { files: { path: temporaryFile('files.db') } })
  const scope = { owner: 'ada' }
  await engine.files?.roots.add(parseScope(scope).owner, {
    ...{ kind: 'workspace', path: folderWith(NOTES) },
  })
  await engine.remember(scope, { content: 'Ada bought the router in May.' })
  await engine.remember(
    { ...scope, session: 's-1' },
    { content: 'They talked about the router and the neighbours.', category: 'episode' },
  )
  await engine.remember(scope, { content: 'Ada likes tea.' })
  const turns = [{ user: 'Please restart the router at night.' }]
  await engine.learning.ingest({ owner: 'ada', conversation: 's-2', turns, skipExtraction: true })
  const key = await keyFor(engine, 'agent', 'ada')
  const ask = async (input: object, as = key) =>
    client.post('/api/memory/search', { query: 'router', ...input }, { key: as })
  const sourcesOf = async (input: object): Promise<readonly string[]> =>
    (await ask(input)).body.results.map(({ source }: { source: string }) => source)
  return { engine, client, ask, sourcesOf }
}

it('[FD14] any set of sources answers, and no other', async () => {
  const { sourcesOf } = await open()
  expect(new Set(await sourcesOf({}))).toEqual(new Set(['memories', 'episodes', 'transcript']))
  const all = ['memories', 'episodes', 'transcript', 'files']
  expect(new Set(await sourcesOf({ sources: all }))).toEqual(new Set(all))
  for (const source of all) expect(await sourcesOf({ sources: [source] })).toEqual([source])
  expect(new Set(await sourcesOf({ sources: ['episodes', 'files'] }))).toEqual(
    new Set(['episodes', 'files']),
  )
})

it('[FD14] what fits better stands first, wherever it is from', async () => {
  const { ask } = await open()
  const sources = ['memories', 'transcript', 'files']
  const best = async (query: string) => {
    const { body } = await ask({ query, sources })
    const scores = body.results.map(({ score }: { score: number }) => score)
    expect([...scores].sort((a, b) => b - a)).toEqual(scores)
    for (const score of scores) expect(score > 0 && score <= 1).toBe(true)
    return body.results[0]?.source
  }
  expect(await best('password under the lid of the router')).toBe('files')
  expect(await best('when did Ada buy the router: bought in May')).toBe('memories')
  expect(await best('restart the router at night')).toBe('transcript')
  expect(await best('quantum chromodynamics')).toBe(undefined)
})

it('[FD14] items of files say where they stand, as far as that is wanted', async () => {
  const { ask } = await open()
  const sources = ['files', 'transcript']
  const [file, turn] = (await ask({ query: 'router password', sources, minScore: 0 })).body.results
  expect(file).toMatchObject({
    ...{ source: 'files', id: 'MEMORY.md#L1-L3', citation: 'MEMORY.md#L1-L3', owner: 'ada' },
    ...{ path: 'MEMORY.md', startLine: 1, endLine: 3 },
  })
  expect(turn).toMatchObject({ source: 'transcript', role: 'user', sessionId: 's-2' })
  const inGroup = await ask({ sources, sessionKey: 'agent:main:telegram:group:1' })
  expect(inGroup.body.results[0]).not.toHaveProperty('citation')
})

it('[FD14] the limit and the tokens are those of the whole list', async () => {
  const { ask } = await open()
  const sources = ['memories', 'episodes', 'transcript', 'files']
  expect((await ask({ sources, limit: 2 })).body.results).toHaveLength(2)
  const { body } = await ask({ sources, maxTokens: 20 })
  expect(body.results.length).toBeGreaterThan(0)
  expect(body.totalTokens).toBeLessThanOrEqual(20)
})

it('[FD14] what cannot be is refused', async () => {
  const { ask } = await open()
  for (const wrong of [
    { sources: [] },
    { sources: ['dreams'] },
    { sources: ['files'], asOf: '2026-01-01' },
    { minScore: 0.5 },
    { sessionKey: 'agent:main:main' },
  ]) {
    expect([wrong, (await ask(wrong)).status]).toEqual([wrong, 400])
  }
})

it('[FD14] a source that cannot answer is named, unless it was the only one', async () => {
  const { engine, client } = await start()
  await engine.remember({ owner: 'ada' }, { content: 'Ada bought a router.' })
  const key = await keyFor(engine, 'agent', 'ada')
  const ask = (sources: readonly string[]) =>
    client.post('/api/memory/search', { query: 'router', sources }, { key })
  const { status, body } = await ask(['memories', 'files'])
  expect([status, body.results.length]).toEqual([200, 1])
  expect(body.failedSources).toEqual([
    { source: 'files', reason: expect.stringContaining('no index location') },
  ])
  expect((await ask(['files'])).status).toBe(501)
})

it('[FD9] other sources of others are out of reach as well', async () => {
  const { engine, ask } = await open()
  const eve = await keyFor(engine, 'user', 'eve')
  const sources = ['memories', 'episodes', 'transcript', 'files']
  expect((await ask({ sources }, eve)).body.results).toEqual([])
  expect((await ask({ sources, owner: 'ada' }, eve)).status).toBe(404)
})
