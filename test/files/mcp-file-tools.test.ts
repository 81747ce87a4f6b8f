/** Memory in files over MCP, under the names that prompts of agents with files have. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createEngine } from '../../src/app/composition.ts'
import { parseScope } from '../../src/domain/scope.ts'
import { ANN, BEN, CLIENTS, type Host, openHost, type TestClient } from '../api/mcp/mcp-support.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { folderWith } from './file-support.ts'
import { NOTES } from './qmd-support.ts'

let host: Host
let client: TestClient

beforeAll(async () => {
  const files = { path: temporaryFile('files.db') }
  const engine = await createEngine({ embedding: false, files })
  host = await openHost({ hasCompatibilityTools: true, engine })
  // The first generation checks answers against the output schemas, too.
  client = await (CLIENTS['SDK 1'] as (url: URL) => Promise<TestClient>)(host.url)
  await client.tools()
  const { owner } = parseScope({ owner: 'ann' })
  await engine.files?.roots.add(owner, { kind: 'workspace', path: folderWith(NOTES) })
  const said = { role: 'user', content: 'My bicycle needs a new saddle.' }
  const sessions = folderWith({ 'one.jsonl': `${JSON.stringify(said)}\n` })
  await engine.files?.roots.add(owner, { kind: 'sessions', path: sessions })
  await engine.files?.sync(owner) // else a transcript waits until there is more of it
  await engine.remember({ owner: 'ann' }, { content: 'Ann rides a blue bicycle.' })
})
beforeEach(() => host.as(ANN))
afterAll(async () => {
  await client.close()
  await host.close()
})

it('[FD15] memory_search finds files and memories, with lines and citations', async () => {
  const { structured, text } = await client.call('memory_search', {
    ...{ query: 'bicycle', maxResults: 6, minScore: 0.1 },
  })
  expect(structured).toMatchObject({
    ...{ provider: null, model: null, citations: 'auto', mode: 'fts-only' },
    results: expect.arrayContaining([
      expect.objectContaining({
        ...{ path: 'memory/2026-11-15.md', startLine: 1, source: 'memory' },
        citation: expect.stringMatching(/^memory\/2026-11-15\.md#L1-L\d+$/),
      }),
      expect.objectContaining({ source: 'memories', snippet: 'Ann rides a blue bicycle.' }),
    ]),
  })
  expect(text).toContain('Source: memory/2026-11-15.md#L1')
  const one = await client.call('memory_search', { query: 'bicycle', maxResults: 1 })
  expect(one.structured.results).toHaveLength(1)
  const inGroup = await client.call('memory_search', {
    ...{ query: 'ratatouille', sessionKey: 'agent:main:discord:channel:5' },
  })
  expect(inGroup.text).not.toContain('Source:')
  expect((await client.call('memory_search', { query: 'chromodynamics' })).text).toBe('No matches.')
})

it('[FD15] memory_search searches the requested sources, with the wording of both', async () => {
  const ask = async (sources: readonly string[]) => {
    const found = await client.call('memory_search', {
      ...{ query: 'bicycle', maxResults: 6, minScore: 0.1, sources },
    })
    expect(found, found.text).toMatchObject({ isError: false })
    const results = found.structured.results as readonly { source: string }[]
    return [...new Set(results.map(({ source }) => source))].sort()
  }
  expect(await ask(['memory'])).toEqual(['memories', 'memory'])
  expect(await ask(['sessions'])).toEqual(['sessions'])
  expect(await ask(['memory', 'sessions'])).toEqual(['memories', 'memory', 'sessions'])
  expect(await ask(['files'])).toEqual(['memory', 'sessions'])
  expect(await ask(['memories'])).toEqual(['memories'])
})

it('[FD15] what it takes otherwise, it takes in this set too', async () => {
  const ours = await client.call('memory_search', { query: 'bicycle', limit: 3 })
  const [hit] = ours.structured.results as readonly { id: string }[]
  expect(ours.text).toContain(`[${hit?.id}] Ann rides a blue bicycle.`)
  const read = await client.call('memory_get', { id: hit?.id })
  expect(read.structured).toMatchObject({ memory: { content: 'Ann rides a blue bicycle.' } })
  const byPath = await client.call('memory_get', { path: hit?.id })
  expect(byPath.structured).toEqual({ path: hit?.id, text: 'Ann rides a blue bicycle.' })
  const wrong = await client.call('memory_search', { query: 'bicycle', colour: 'red' })
  expect(wrong).toMatchObject({ isError: true })
  expect(wrong.text).toContain('Unknown field "colour".')
})

it('[FD15] memory_get reads lines, and says why there are none', async () => {
  const path = 'memory/2026-11-15.md'
  const { structured, text } = await client.call('memory_get', { path, from: 3, lines: 1 })
  expect(structured).toEqual({ path, text: 'The bicycle got a new chain.' })
  expect(text).toBe('The bicycle got a new chain.')
  for (const none of ['memory/none.md', '../secret.md', '/etc/passwd', 'mem_none']) {
    const answer = await client.call('memory_get', { path: none })
    expect(answer).toMatchObject({
      isError: false,
      structured: { path: none, text: '', disabled: true, error: expect.stringMatching(/./) },
    })
  }
})

it('[FD15] memory_append adds to the note of today', async () => {
  const { structured } = await client.call('memory_append', { text: 'The parrot is Polly.' })
  expect(structured).toEqual({ path: expect.stringMatching(/^memory\/\d{4}-\d\d-\d\d\.md$/) })
  const found = await client.call('memory_search', { query: 'parrot Polly' })
  expect(found.structured.results).toMatchObject([{ path: structured.path }])
})

it('[FD9] files of others are not found, read or written', async () => {
  host.as(BEN)
  expect((await client.call('memory_search', { query: 'bicycle' })).structured.results).toEqual([])
  const read = await client.call('memory_get', { path: 'MEMORY.md' })
  expect(read.structured).toMatchObject({ text: '', disabled: true })
  const written = await client.call('memory_append', { text: 'Ben was here' })
  expect(written).toMatchObject({ isError: true })
  expect(written.text).toContain('workspace')
})

it('[FD15] a search that fails is an answer', async () => {
  host.as({ ...ANN, role: 'user', home: '@shared' })
  const { structured, isError } = await client.call('memory_search', { query: 'bicycle' })
  expect(isError).toBe(false)
  expect(structured).toMatchObject({ results: [], disabled: true, error: expect.any(String) })
})

it('[FD15] without the set, ours take none of this', async () => {
  const plain = await openHost()
  const other = await (CLIENTS['SDK 1'] as (url: URL) => Promise<TestClient>)(plain.url)
  try {
    expect(await other.call('memory_get', { path: 'MEMORY.md' })).toMatchObject({ isError: true })
    const names = (await other.tools()).map(({ name }) => name)
    expect(names).not.toContain('memory_append')
  } finally {
    await other.close()
    await plain.close()
  }
})
