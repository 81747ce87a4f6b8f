/** Memory in files over REST, as every caller meets it. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isCitationShown } from '../../src/files/citation.ts'
import { keyFor, start } from '../api/http/http-support.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { folderWith, put } from './file-support.ts'
import { NOTES } from './qmd-support.ts'

async function open(notes: Readonly<Record<string, string>> = NOTES) {
  const folder = temporaryFolder()
  const started = await start({}, { files: { path: join(folder, 'files.db') } })
  const { engine, client } = started
  const workspace = folderWith(notes)
  const agent = await keyFor(engine, 'agent', 'ada')
  const added = await client.post('/api/files/roots', {
    ...{ owner: 'ada', kind: 'workspace', path: workspace },
  })
  expect(added.status).toBe(201)
  return { engine, client, workspace, agent, root: added.body.root as { id: string } }
}

it('[FD8] roots are added, listed and removed by managers only', async () => {
  const { engine, client, workspace, root } = await open()
  expect((await client.get('/api/files/roots?owner=ada')).body.roots).toEqual([
    { id: root.id, kind: 'workspace', name: '', path: workspace, include: [], exclude: [] },
  ])
  for (const role of ['reader', 'agent', 'user'] as const) {
    const key = await keyFor(engine, role, 'ada')
    const refused = [
      await client.post('/api/files/roots', { path: workspace }, { key }),
      await client.call('DELETE', `/api/files/roots/${root.id}`, { key }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([403, 403])
    const listed = await client.get('/api/files/roots', { key })
    expect(listed.body.roots).toMatchObject([{ id: root.id, path: null }])
  }
  const removed = await client.call('DELETE', `/api/files/roots/${root.id}?owner=ada`)
  expect(removed.body).toEqual({ success: true, id: root.id })
  expect((await client.call('DELETE', `/api/files/roots/${root.id}?owner=ada`)).status).toBe(404)
  expect((await client.get('/api/files/status?owner=ada')).body.sources.memory.files).toBe(0)
})

it('[FD8] errors do not reveal where roots are', async () => {
  const { client, agent } = await open()
  const gone = join(temporaryFolder(), 'hidden-place')
  const root = { owner: 'ada', path: gone }
  expect((await client.post('/api/files/roots', root)).status).toBe(201)
  const answers = [
    await client.post('/api/files/sync', {}, { key: agent }),
    await client.get('/api/files/status', { key: agent }),
    await client.get('/api/files/text?path=hidden-place/notes.md', { key: agent }),
  ]
  for (const { status, body } of answers) {
    expect(status).toBe(200)
    expect(JSON.stringify(body)).toContain('hidden-place')
    expect(JSON.stringify(body)).not.toContain(gone)
  }
  const response = await client.get('/api/files/status?owner=ada')
  expect(JSON.stringify(response.body.roots[1].problems)).toContain(gone)
})

it('[FD19] the files of a root are listed by page, with why some could not be read', async () => {
  const notes = { 'MEMORY.md': 'The tap is left.\n', 'memory/a.md': '# A\n\nApples.\n' }
  const { client, agent, root, workspace } = await open({ ...notes, 'memory/big.md': 'Long. ' })
  await client.call('PUT', '/api/settings/memory', {
    body: { level: 'owner', owner: 'ada', 'files.sizeBytesMax': 1_000 },
  })
  put(workspace, { 'memory/big.md': 'Long. '.repeat(1_000) })
  await client.post('/api/files/sync', { owner: 'ada' })
  const list = (rest = '') =>
    client.get(`/api/files?root=${root.id}&limit=2${rest}`, { key: agent })
  const { body: first } = await list()
  expect(first).toMatchObject({
    files: [
      { path: 'MEMORY.md', state: 'indexed', source: 'memory', chunks: 1, problem: null },
      { path: 'memory/a.md', state: 'indexed', sizeBytes: 13, indexedAt: expect.any(String) },
    ],
    total: 3,
  })
  const { body: second } = await list(`&after=${encodeURIComponent(first.next)}`)
  expect(second).toMatchObject({
    files: [{ path: 'memory/big.md', state: 'skipped', problem: { reason: 'too_large' } }],
    next: null,
  })
  expect(JSON.stringify(second)).not.toContain(workspace)
  expect((await client.get('/api/files?owner=ada&root=root_none')).status).toBe(404)
})

it('[FD19] lists a file in its chunks', async () => {
  const long = Array.from({ length: 300 }, (_, n) => `Step ${n} of the way is a long one.\n`).join(
    '\n',
  )
  const { client, agent } = await open({ 'memory/way.md': `# Way\n\n## On foot\n\n${long}` })
  await client.post('/api/files/sync', { owner: 'ada' })
  const list = (rest = '') =>
    client.get(`/api/files/chunks?path=memory/way.md&limit=3${rest}`, { key: agent })
  const { body: first } = await list()
  expect(first.chunks).toHaveLength(3)
  expect(first.chunks[0]).toMatchObject({ startLine: 1, hasVector: false })
  expect(first.chunks[2]).toMatchObject({ headings: ['Way', 'On foot'] })
  const { body: second } = await list(`&after=${first.next}`)
  expect(second.chunks[0].startLine).toBeGreaterThan(first.chunks[2].startLine)
  expect(second.total).toBe(first.total)
  expect((await client.get('/api/files/chunks?path=memory/no.md', { key: agent })).status).toBe(404)
})

it('[FD9] files of others are as if they were not there', async () => {
  const { engine, client, workspace, root } = await open({ 'MEMORY.md': 'The xylophone is red.\n' })
  const key = await keyFor(engine, 'user', 'eve')
  await client.post('/api/files/sync', { owner: 'ada' })
  const named = [
    await client.get('/api/files/roots?owner=ada', { key }),
    await client.get('/api/files/status?owner=ada', { key }),
    await client.get(`/api/files?owner=ada&root=${root.id}`, { key }),
    await client.get('/api/files/chunks?owner=ada&path=MEMORY.md', { key }),
    await client.get('/api/files/text?owner=ada&path=MEMORY.md', { key }),
    await client.post('/api/files/search', { owner: 'ada', query: 'xylophone' }, { key }),
    await client.post('/api/files/sync', { owner: 'ada' }, { key }),
    await client.post('/api/files/append', { owner: 'ada', text: 'Eve was here' }, { key }),
    await client.post(
      '/api/files/memory-tool',
      { owner: 'ada', command: 'create', path: '/memories/eve.md', file_text: 'Eve was here' },
      { key },
    ),
  ]
  for (const { status, body } of named) {
    expect(status).toBe(404)
    expect(JSON.stringify(body)).not.toContain('xylophone')
  }
  expect(readdirSync(workspace)).toEqual(['MEMORY.md'])
  const own = await client.post('/api/files/search', { query: 'xylophone red' }, { key })
  expect(own.body.results).toEqual([])
  expect((await client.get('/api/files/text?path=MEMORY.md', { key })).body).toMatchObject({
    text: '',
    reason: expect.stringContaining('none of the roots'),
  })
})

it('[FD10] a search returns the position of the answer', async () => {
  const { client, agent } = await open()
  const ask = async (input: object) =>
    (await client.post('/api/files/search', { query: 'bicycle chain', ...input }, { key: agent }))
      .body
  expect(await ask({})).toMatchObject({
    results: [
      {
        path: 'memory/2026-11-15.md',
        startLine: 1,
        score: expect.closeTo(1, 1),
        snippet: expect.stringContaining('new chain'),
        source: 'memory',
        citation: expect.stringMatching(/^memory\/2026-11-15\.md#L1-L\d$/),
      },
    ],
    ...{ backend: 'builtin', provider: null, model: null, mode: 'keyword', citations: 'auto' },
  })
  const inGroup = await ask({ sessionKey: 'agent:main:discord:group:42' })
  expect(inGroup.results[0]).not.toHaveProperty('citation')
  expect((await ask({ query: 'quantum chromodynamics' })).results).toEqual([])
  expect((await ask({ sources: ['sessions'] })).results).toEqual([])
  expect((await ask({ maxResults: 1, minScore: 0 })).results).toHaveLength(1)
  const bad = await client.post('/api/files/search', { query: 'x', maxResults: 0 }, { key: agent })
  expect(bad.status).toBe(400)
})

it.each([
  ['auto', undefined, true],
  ['auto', 'agent:main:main', true],
  ['auto', 'agent:main:telegram:direct:7', true],
  ['auto', 'agent:main:telegram:Group:7', false],
  ['auto', 'agent:main:slack:channel:c1:thread:9', false],
  ['on', 'agent:main:slack:channel:c1', true],
  ['off', undefined, false],
] as const)('[FD10] with %s, %s is cited: %s', (mode, sessionKey, is) => {
  expect(isCitationShown(mode, sessionKey)).toBe(is)
})

it('[FD10] the status reports what is indexed, and probes on request', async () => {
  const { client, agent, root } = await open()
  await client.post('/api/files/sync', { force: true }, { key: agent })
  const { body } = await client.get('/api/files/status?probe=true', { key: agent })
  expect(body).toMatchObject({
    backend: 'builtin',
    roots: [{ id: root.id, files: 2, dirty: false, lastSyncAt: expect.any(String), problems: [] }],
    sources: { memory: { files: 2 }, sessions: { files: 0 } },
    probes: { embedding: { ok: false }, vectors: { ok: expect.any(Boolean) } },
  })
})

it('[FD11] a file is read by lines, inside of the roots only', async () => {
  const { client, agent } = await open()
  const read = (path: string, rest = '') =>
    client.get(`/api/files/text?path=${encodeURIComponent(path)}${rest}`, { key: agent })
  expect((await read('memory/2026-11-15.md', '&from=3&lines=1')).body).toEqual({
    path: 'memory/2026-11-15.md',
    text: 'The bicycle got a new chain.',
    reason: null,
  })
  expect((await read('memory/none.md')).body).toMatchObject({ text: '', reason: /./ })
  for (const path of ['../../etc/passwd', '/etc/passwd', 'memory/../../secret.md']) {
    const { status, body } = await read(path)
    expect(status === 400 || (body.text === '' && body.reason !== null)).toBe(true)
  }
})

it('[FD12] a note is added for today, and found', async () => {
  const { client, agent, workspace } = await open()
  const added = await client.post(
    '/api/files/append',
    { text: 'The parrot is called Polly.' },
    { key: agent },
  )
  expect(added.status).toBe(201)
  expect(existsSync(join(workspace, added.body.path))).toBe(true)
  const found = await client.post('/api/files/search', { query: 'parrot Polly' }, { key: agent })
  expect(found.body.results).toMatchObject([{ path: added.body.path }])
  const reader = await client.post('/api/files/append', { text: ' ' }, { key: agent })
  expect(reader.status).toBe(400)
})

it('[FD12] there is nothing to add to without a workspace', async () => {
  const { engine, client } = await open()
  const key = await keyFor(engine, 'agent', 'bob')
  const { status, body } = await client.post('/api/files/append', { text: 'A note' }, { key })
  expect([status, body.error.message]).toEqual([404, expect.stringContaining('workspace')])
})

it('[FD13] the memory tool works in the workspace, and search finds its files at once', async () => {
  const { engine, client, agent } = await open()
  const use = async (command: object, key = agent) =>
    client.post('/api/files/memory-tool', command, { key })
  const path = '/memories/pets.md'
  const created = await use({ command: 'create', path, file_text: 'The cat is called Tom.\n' })
  expect(created.body).toEqual({ content: `File created successfully at: ${path}` })
  await use({ command: 'str_replace', path, old_str: 'Tom', new_str: 'Felix' })
  expect((await use({ command: 'view', path })).body.content).toContain('called Felix')
  const found = await client.post('/api/files/search', { query: 'cat Felix' }, { key: agent })
  expect(found.body.results).toMatchObject([{ path: 'memory/pets.md' }])
  const outside = await use({ command: 'view', path: '/memories/../MEMORY.md' })
  expect([outside.status, outside.body.error.message]).toEqual([
    400,
    expect.stringContaining('escape'),
  ])
  expect((await use({ command: 'delete', path })).body.content).toBe(`Successfully deleted ${path}`)
  const reader = await keyFor(engine, 'reader', 'ada')
  expect((await use({ command: 'view', path: '/memories' }, reader)).status).toBe(403)
})
