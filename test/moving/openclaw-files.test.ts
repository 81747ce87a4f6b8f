/** Sync and search settings of OpenClaw's memory index, under their names here. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toFileSettings } from '../../src/app/file-composition.ts'
import { parseScope } from '../../src/domain/scope.ts'
import { resolveSettings } from '../../src/domain/settings/settings.ts'
import { start } from '../api/http/http-support.ts'
import { scriptedEmbedder } from '../fakes/embedder.ts'
import { folderWith, put } from '../files/file-support.ts'
import { sections } from '../files/index-support.ts'
import { STAND_IN } from '../files/qmd-support.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'

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

it('[PO55] OpenClaw: `cache.enabled` decides whether vectors outlive their chunks', async () => {
  const source = 'transformers'
  const timesEmbedded = async (isCached: boolean) => {
    const local = scriptedEmbedder()
    const embedding = {
      ...local,
      describe: async () => ({ ...(await local.describe()), source }),
      report: () => ({ ...local.report(), source }),
    }
    const settings = { 'files.vectorCacheEnabled': isCached }
    const files = { path: temporaryFile('files.db') }
    const { engine } = await start({}, { embedding, files, settings })
    const { owner } = parseScope({ owner: 'default' })
    for (let time = 0; time < 2; time++) {
      const path = folderWith({ 'MEMORY.md': 'The kayak is in the shed.' })
      const root = await engine.files?.roots.add(owner, { kind: 'workspace', path })
      await engine.files?.sync(owner, { embeds: true })
      if (root !== undefined) await engine.files?.roots.remove(owner, root.id)
      await engine.files?.sync(owner, { embeds: true })
    }
    return local.calls.filter(({ texts }) => texts.some((text) => text.includes('kayak'))).length
  }
  expect([await timesEmbedded(true), await timesEmbedded(false)]).toEqual([1, 2])
})

it('[PO55] OpenClaw: `memory.qmd` decides how qmd searches, and for how long', async () => {
  const script = temporaryFile('script.json')
  const says = (value: object) => writeFileSync(script, JSON.stringify(value))
  says({})
  const { client } = await start(
    {},
    {
      files: {
        path: temporaryFile('files.db'),
        qmdCommand: [process.execPath, STAND_IN],
        environment: { ...process.env, QMD_SCRIPT: script },
      },
      settings: {
        'files.searchBackend': 'qmd',
        'files.qmdMode': 'vsearch',
        'files.qmdTimeoutMs': 5_000,
      },
    },
  )
  const path = folderWith({ 'MEMORY.md': 'The kayak is in the shed.' })
  await client.post('/api/files/roots', { kind: 'workspace', path })
  await client.post('/api/files/sync', {})
  const search = async () => (await client.post('/api/files/search', { query: 'kayak' })).body
  expect(await search()).toMatchObject({ backend: 'qmd', mode: 'hybrid' })
  says({ slow: ['vsearch'], pids: temporaryFile('pids.json') })
  const late = await search()
  expect(late).toMatchObject({ backend: 'builtin', results: [{ path: 'MEMORY.md' }] })
  expect(late.fallbackReason).toContain('qmd')
})
