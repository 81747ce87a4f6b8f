/** From the data of a described system to the requests of its clients: every way in gives the same answers. */
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { start } from '../api/http/http-support.ts'
import { CLIENTS, openHost } from '../api/mcp/mcp-support.ts'
import { createCli } from '../e2e/cli/cli-host.ts'
import { folderWith } from '../files/file-support.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'
import { createDatabase, createJson } from './moving-support.ts'

/** A server on an empty folder, with the ways in that clients use. */
async function open() {
  const files = { path: temporaryFile('files.db') }
  const started = await start({}, { path: temporaryFile('recollect.db'), files })
  const cli = createCli(join(temporaryFolder(), 'unused'), [
    ...['--url', started.url],
    ...['--key', started.admin],
  ])
  const host = await openHost({ hasCompatibilityTools: true, engine: started.engine })
  const mcp = await CLIENTS['SDK 1']?.(host.url)
  if (mcp === undefined) throw new Error('The client exists.')
  onTestFinished(async () => {
    await mcp.close()
    await host.close()
  })
  return { ...started, cli, host, mcp }
}

const INDEX = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE files (path TEXT PRIMARY KEY, source TEXT NOT NULL DEFAULT 'memory', hash TEXT NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL);
  CREATE TABLE chunks (id TEXT PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL DEFAULT 'memory', start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL, hash TEXT NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL, embedding TEXT NOT NULL, updated_at INTEGER NOT NULL);
  INSERT INTO chunks VALUES ('x', 'memory/2026-05-01.md', 'memory', 3, 9, 'h', 'm', 'Met Clara in Rome.', '[0]', 1770000000000);
`

it('[PO54] OpenClaw: its index and workspace answer alike by REST, MCP and the command line', async () => {
  const { client, cli, host, mcp } = await open()
  const { json } = await cli(['import', createDatabase('main.sqlite', INDEX), '--json'])
  expect(json).toMatchObject({ imported: 1, failed: 0 })
  const fact = 'Met Clara in Rome.'
  const rest = await client.post('/api/memory/search', { query: 'Clara in Rome' })
  expect(
    rest.body.results.map(({ memory }: { memory: { content: string } }) => memory.content),
  ).toEqual([fact])
  expect((await cli(['ltm', 'search', 'Clara in Rome'])).out).toContain(fact)
  host.as({ key: null, role: 'user', home: 'default', actsFor: [] })
  const recalled = await mcp.call('memory_recall', { query: 'Clara in Rome' })
  expect(recalled.text).toContain(fact)
  const path = folderWith({ 'MEMORY.md': 'The kayak is in the shed.\n' })
  expect((await cli(['files', 'add', path, '--kind', 'workspace'])).exit).toBe(0)
  const found = await client.post('/api/files/search', { query: 'kayak' })
  expect(found.body.results).toMatchObject([{ path: 'MEMORY.md', startLine: 1 }])
  expect((await mcp.call('memory_search', { query: 'kayak' })).text).toContain('MEMORY.md#L1')
  expect((await cli(['files', 'search', 'kayak'])).out).toContain('MEMORY.md')
})

it('[PO54] OpenClaw: search results have exact lines, and end with their citation', async () => {
  const { client, host, mcp } = await open()
  const note = '# Day\n\nRain.\n\nThe kayak is in the shed.\n'
  const path = folderWith({ 'memory/2026-05-01.md': note })
  await client.post('/api/files/roots', { kind: 'workspace', path })
  const { body } = await client.post('/api/files/search', { query: 'kayak' })
  const [hit] = body.results
  expect(hit.path).toBe('memory/2026-05-01.md')
  const lines = note.split('\n').slice(hit.startLine - 1, hit.endLine)
  expect(lines).toContain('The kayak is in the shed.')
  const at = `#L${hit.startLine}${hit.endLine === hit.startLine ? '' : `-L${hit.endLine}`}`
  expect(hit.citation).toBe(`${hit.path}${at}`)
  host.as({ key: null, role: 'user', home: 'default', actsFor: [] })
  const searched = await mcp.call('memory_search', { query: 'kayak' })
  expect(searched.text.trimEnd().endsWith(`Source: ${hit.citation}`)).toBe(true)
  await client.call('PUT', '/api/settings/memory', { body: { 'files.citations': 'off' } })
  expect((await mcp.call('memory_search', { query: 'kayak' })).text).not.toContain('Source:')
})

it('[PO47] OpenClaw: `memorySearch.fallback` names the embedding model that stands in', async () => {
  const { cli } = await open()
  const config = {
    agents: { defaults: { memorySearch: { provider: 'openai', fallback: 'gemini' } } },
  }
  await cli(['import', createJson('openclaw.json', config), '--json'])
  const { json } = await cli(['settings', '--json'])
  expect(json['embedding.fallbackModel']).toMatch(/^gemini\/./)
  const none = { agents: { defaults: { memorySearch: { fallback: 'nobody' } } } }
  const refused = await cli(['import', createJson('openclaw.json', none), '--json'])
  expect(JSON.stringify(refused.json.skips)).toContain('not supported')
})

const ROW = {
  id: '3d6f4f0e-1f65-4d0a-9c8e-0a1b2c3d4e51',
  instanceId: 'support-bot',
  content: 'Alice prefers tables.',
  category: 'preference',
  importance: 8,
  sourceConversationId: null,
  createdAt: '2026-05-01T10:00:00Z',
  updatedAt: '2026-05-01T10:00:00Z',
}

it('[PO54] Polyant: its memories answer alike by REST, MCP and the command line, and are added and deleted', async () => {
  const { client, cli, host, mcp } = await open()
  const other = { ...ROW, id: ROW.id.replace('e51', 'e52'), instanceId: 'sales-bot' }
  const page = { total: 2, limit: 100, offset: 0, memories: [ROW, other] }
  const { json } = await cli(['import', createJson('pages.json', [page]), '--json'])
  expect(json).toMatchObject({ imported: 2, owners: ['sales-bot', 'support-bot'] })
  const at = 'instanceId=support-bot'
  const contents = async (rest = '') =>
    (await client.get(`/memories?${at}${rest}`)).body.memories.map(
      ({ content }: { readonly content: string }) => content,
    )
  expect(await contents('&search=tables&category=preference&importance=8')).toEqual([ROW.content])
  expect(await contents('&importance=9')).toEqual([])
  const added = await client.post('/memories', {
    ...{ instanceId: 'support-bot', content: 'Alice works at night.', category: 'fact' },
    sourceConversationId: 'conversation-1',
  })
  expect([added.status, added.body.memory.event]).toEqual([201, 'ADD'])
  expect(await contents('&search=night')).toContain('Alice works at night.')
  host.as({ key: null, role: 'user', home: 'support-bot', actsFor: [] })
  expect((await mcp.call('memory_recall', { query: 'Alice tables' })).text).toContain(ROW.content)
  const words = ['search', 'Alice tables', '--owner', 'support-bot']
  expect((await cli(words)).out).toContain(ROW.content)
  const { id } = added.body.memory
  const removed = await client.call('DELETE', `/memories/${id}?${at}`)
  expect(removed.body).toEqual({ deleted: true })
  expect(await contents()).toEqual([ROW.content])
  const cleared = await client.call('DELETE', `/memories?${at}`)
  expect(cleared.body).toMatchObject({ deletedCount: 1 })
  expect((await client.get('/memories?instanceId=sales-bot')).body.total).toBe(1)
})
