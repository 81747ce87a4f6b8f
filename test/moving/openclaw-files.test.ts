/** Sync and search settings of OpenClaw's memory index, under their names here. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toFileSettings } from '../../src/app/file-composition.ts'
import { resolveSettings } from '../../src/domain/settings/settings.ts'
import { start } from '../api/http/http-support.ts'
import { folderWith, put } from '../files/file-support.ts'
import { sections } from '../files/index-support.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function open(files: Record<string, string>, settings: Record<string, unknown> = {}) {
  const place = join(temporaryFolder(), 'files.db')
  const { client, engine } = await start({}, { files: { path: place }, settings })
  const folder = folderWith(files)
  await client.post('/api/files/roots', { kind: 'workspace', path: folder })
  const search = async (query: string, more: object = {}) =>
    (await client.post('/api/files/search', { query, ...more })).body.results
  const set = (values: object) => client.call('PUT', '/api/settings/memory', { body: values })
  return { client, engine, folder, search, set }
}

it('[PO55] OpenClaw: `sync.onSearch` and `sync.onSessionStart` decide when a query indexes changes', async () => {
  const { folder, search, set } = await open({ 'MEMORY.md': 'The spare key is under the mat.' })
  expect(await search('spare key')).toHaveLength(1)
  await set({ 'files.syncOnSearch': false })
  put(folder, { 'memory/2026-05-01.md': 'The kayak is in the shed.' })
  expect(await search('kayak')).toEqual([])
  expect(await search('kayak', { sessionKey: 'agent:main:main' })).toHaveLength(1)
  put(folder, { 'memory/2026-05-02.md': 'The ladder is in the barn.' })
  expect(await search('ladder', { sessionKey: 'agent:main:main' })).toEqual([])
  await set({ 'files.syncOnSessionStart': false })
  expect(await search('ladder', { sessionKey: 'agent:main:other' })).toEqual([])
  await set({ 'files.syncOnSearch': true })
  expect(await search('ladder')).toHaveLength(1)
})

it('[PO55] OpenClaw: snippets and their sum are limited as QMD limits them', async () => {
  const long = (word: string) => `The ${word} is ${'very '.repeat(60)}large.`
  const { search, set } = await open({
    'memory/a.md': long('kayak'),
    'memory/b.md': long('kayak and the ladder'),
  })
  const lengths = async () =>
    (await search('kayak')).map(({ snippet }: { snippet: string }) => snippet.length)
  expect((await lengths()).every((length: number) => length > 300)).toBe(true)
  await set({ 'files.snippetCharactersMax': 100 })
  expect(await lengths()).toEqual([100, 100])
  await set({ 'files.resultCharactersMax': 150 })
  expect(await lengths()).toEqual([100])
  await set({ 'files.resultCharactersMax': 1 })
  expect(await lengths()).toEqual([100])
})

it('[PO55] OpenClaw: `candidateMultiplier` limits what is ranked', async () => {
  const { search, set } = await open({ 'memory/a.md': sections(6, 'kayak') })
  const linesOf = async () => {
    const [first] = await search('kayak', { maxResults: 1 })
    return first.endLine - first.startLine
  }
  const all = await linesOf()
  await set({ 'files.candidateMultiplier': 1 })
  expect(await search('kayak', { maxResults: 1 })).toHaveLength(1)
  expect(await linesOf()).toBeLessThanOrEqual(all)
  expect(await search('kayak', { maxResults: 3 })).not.toHaveLength(0)
})

it('[PO55] OpenClaw: changed chunk settings chunk all files again, and the overlap is smaller than a chunk', async () => {
  const { client, search, set } = await open({ 'memory/a.md': sections(4) })
  await search('section')
  const chunks = async () => (await client.get('/api/files/status')).body.roots[0].chunks
  const before = await chunks()
  expect((await set({ 'files.chunkTokens': 60, 'files.chunkOverlapTokens': 20 })).status).toBe(200)
  await client.post('/api/files/sync', {})
  expect(await chunks()).toBeGreaterThan(before)
  const refused = await set({ 'files.chunkOverlapTokens': 60 })
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    400,
    expect.stringContaining('`files.chunkOverlapTokens` must be smaller than `files.chunkTokens`'),
  ])
  // A smaller chunk lowers the overlap instead, because the overlap may be the default.
  expect((await set({ 'files.chunkTokens': 16 })).status).toBe(200)
})

it('[PO55] OpenClaw: the delta thresholds of transcripts are settings', () => {
  const settings = resolveSettings({
    'files.sessionDeltaBytes': 7,
    'files.sessionDeltaMessages': 3,
  })
  expect(toFileSettings(settings)).toMatchObject({ sessionBytes: 7, sessionMessages: 3 })
})
