import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scriptedEmbedder } from '../fakes/embedder.ts'
import { synonymEmbedder } from '../fakes/synonym-embedder.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { folderWith, put } from './file-support.ts'
import { ADA, found, type OpenOptions, openFiles, sections } from './index-support.ts'

const NOTES: Readonly<Record<string, string>> = {
  'MEMORY.md': '# Ada\n\n- Lives in Oslo with two cats.\n- Prefers green tea to coffee.\n',
  'memory/2026-11-02.md': '# Monday\n\nThe dentist moved the appointment to the ninth.\n',
  'memory/2026-11-15.md': '# Sunday\n\nWe repaired the bicycle and oiled its chain.\n',
  'memory/projects/garden.md':
    '# Garden\n\n## Beds\n\nTomatoes need twine and sun.\n\n## Tools\n\nThe spade is at the neighbours.\n',
  'memory/会議.md': '# 会議の記録\n\n来週の会議は火曜日の午後三時に始まります。\n',
}

async function workspace(contents = NOTES, options: OpenOptions = {}) {
  const folder = folderWith(contents)
  const parts = await openFiles(options)
  await parts.files.roots.add(ADA, { kind: 'workspace', path: folder })
  await parts.files.sync(ADA)
  return { ...parts, folder }
}

describe('a search', () => {
  it('[FX19] answers with the lines, their headings and what they say, best first', async () => {
    const { files } = await workspace()
    const answer = await files.search(ADA, { text: 'where is the spade?' })
    expect(answer).toMatchObject({
      backend: 'builtin',
      mode: 'keyword',
      fallbackReason: null,
      provider: null,
    })
    expect(answer.hits[0]).toMatchObject({
      ...{ path: 'memory/projects/garden.md', source: 'memory', startLine: 1 },
      snippet: expect.stringContaining('The spade is at the neighbours.'),
    })
    const scores = answer.hits.map(({ score }) => score)
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
    for (const score of scores) expect(score >= 0 && score <= 1).toBe(true)
    expect(await found({ files }, '会議はいつ始まりますか')).toEqual(['memory/会議.md'])
  })

  it('[FX19] shows at most 700 characters of a place, around the words of the question', async () => {
    const long = `# Long\n\n${'Nothing of interest here. '.repeat(40)}\nThe password of the wifi is on the fridge.\n${'More of nothing. '.repeat(30)}\n`
    const { files } = await workspace({ 'MEMORY.md': long }, { settings: { chunkTokens: 2_000 } })
    const [hit] = (await files.search(ADA, { text: 'wifi password' })).hits
    expect(hit?.snippet.length).toBeLessThanOrEqual(700)
    expect(hit?.snippet).toContain('on the fridge')
  })

  it('[FX19] answers nothing when nothing fits, and to nothing', async () => {
    const { files } = await workspace()
    for (const text of ['', '   ', 'quantum chromodynamics lattice', '？！']) {
      expect((await files.search(ADA, { text })).hits).toEqual([])
    }
    const nobody = await openFiles()
    expect((await nobody.files.search(ADA, { text: 'tea' })).hits).toEqual([])
  })

  it('[FX20] never loses what holds all words of the question to the least score', async () => {
    const { files } = await workspace()
    const hits = (await files.search(ADA, { text: 'dentist appointment', minScore: 1 })).hits
    expect(hits.map(({ path }) => path)).toEqual(['memory/2026-11-02.md'])
    const all = await files.search(ADA, { text: 'green bicycle tomatoes dentist', minScore: 0 })
    const few = await files.search(ADA, { text: 'green bicycle tomatoes dentist', minScore: 0.99 })
    expect(all.hits.length).toBeGreaterThan(few.hits.length)
  })

  it('[FX21] finds the same first results at every limit', async () => {
    const contents = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `memory/${n}.md`,
        `# Note ${n}\n\n${'tea '.repeat((n * 7) % 11)} kettle ${'cup '.repeat(n % 5)} number ${n}\n`,
      ]),
    )
    const { files } = await workspace(contents)
    for (const text of ['tea kettle', 'cup', 'tea cup number 7']) {
      const all = (await files.search(ADA, { text, maxResults: 40, minScore: 0 })).hits
      for (const maxResults of [1, 2, 5, 13]) {
        const some = (await files.search(ADA, { text, maxResults, minScore: 0 })).hits
        expect(some).toEqual(all.slice(0, maxResults))
      }
    }
  })

  it('[FX22] searches the requested sources', async () => {
    const { files } = await workspace()
    const message = { role: 'user', content: 'Remind me that the bicycle is at the station.' }
    const sessions = folderWith({ 's.jsonl': `${JSON.stringify({ type: 'message', message })}\n` })
    await files.roots.add(ADA, { kind: 'sessions', path: sessions })
    await files.sync(ADA)
    const paths = async (sources?: readonly ('memory' | 'sessions')[]) =>
      (await files.search(ADA, { text: 'bicycle', ...(sources ? { sources } : {}) })).hits
        .map(({ path }) => path)
        .sort()
    expect(await paths()).toEqual(['memory/2026-11-15.md', 'sessions/s.jsonl'])
    expect(await paths(['memory'])).toEqual(['memory/2026-11-15.md'])
    expect(await paths(['sessions'])).toEqual(['sessions/s.jsonl'])
    expect(await paths([])).toEqual([])
    expect((await files.status(ADA)).bySource).toEqual({
      memory: { files: 5, chunks: 5 },
      sessions: { files: 1, chunks: 1 },
    })
  })

  it('[FX23] ages dated notes where configured, but no others', async () => {
    const text = 'The router is called Bertha.'
    const contents = {
      'memory/2020-01-01.md': text,
      'memory/2026-11-14-router.md': text,
      'MEMORY.md': text,
    }
    const now = Date.parse('2026-11-16T00:00:00Z')
    const { files, set, folder } = await workspace(contents, {
      clock: { now: () => now as never, sleep: async () => {} },
    })
    const docs = folderWith({ 'old.md': text })
    utimesSync(join(docs, 'old.md'), new Date('2026-09-17'), new Date('2026-09-17'))
    await files.roots.add(ADA, { kind: 'path', path: docs })
    await files.sync(ADA)
    const scores = async () => {
      const { hits } = await files.search(ADA, { text: 'router Bertha', minScore: 0 })
      return Object.fromEntries(hits.map(({ path, score }) => [path.split('/').at(-1), score]))
    }
    expect(new Set(Object.values(await scores())).size).toBe(1)
    set({ halfLifeDays: 30 })
    const { 'MEMORY.md': fresh = 0, ...aged } = await scores()
    expect(fresh).toBe(1)
    expect(aged['2026-11-14-router.md']).toBeCloseTo(2 ** (-2 / 30), 3)
    expect(aged['old.md']).toBeCloseTo(2 ** (-60 / 30), 2)
    expect(aged['2020-01-01.md']).toBeCloseTo(0, 3)
    expect(folder).toBeTruthy()
  })

  it('[FX23] moves repetitions down where that is wanted, in any script', async () => {
    const contents = {
      'memory/a.md': '猫は庭で寝ています。猫は庭が好きです。',
      'memory/b.md': '猫は庭で寝ています。猫は庭が大好きです。',
      'memory/c.md': '猫は庭の隣にある駅前の獣医に通います。',
    }
    const { files, set } = await workspace(contents)
    const order = async () =>
      (await files.search(ADA, { text: '猫は庭で', minScore: 0 })).hits.map(({ path }) => path)
    const plain = await order()
    expect(plain[2]).toBe('memory/c.md')
    set({ mmrLambda: 0.3 })
    const varied = await order()
    expect(varied[0]).toBe(plain[0])
    expect(varied[1]).toBe('memory/c.md')
  })

  it('[FX24] returns a passage once, though its chunks overlap', async () => {
    const { files } = await workspace({ 'memory/a.md': sections(1, 'walrus').repeat(3) })
    const { hits } = await files.search(ADA, {
      text: 'walrus number 1',
      maxResults: 20,
      minScore: 0,
    })
    expect(hits.length).toBeGreaterThan(0)
    for (const [index, hit] of hits.entries()) {
      for (const other of hits.slice(index + 1)) {
        const isInside = other.startLine >= hit.startLine && other.endLine <= hit.endLine
        expect(isInside, JSON.stringify([hit, other])).toBe(false)
      }
    }
  })

  it('[FX25] finds by meaning where there is a model, and says what it did without', async () => {
    const embedder = synonymEmbedder({ car: 'automobile', vehicle: 'automobile' })
    const { files, inner } = await workspace(
      { ...NOTES, 'memory/car.md': 'The automobile is parked behind the house.' },
      { embedder },
    )
    await inner.admin.reindex()
    const answer = await files.search(ADA, { text: 'vehicle parked behind' })
    expect(answer).toMatchObject({
      mode: 'hybrid',
      fallbackReason: null,
      provider: expect.any(String),
    })
    expect(answer.hits[0]?.path).toBe('memory/car.md')
    expect(await files.probeEmbeddingAvailability()).toEqual({ ok: true, error: null })
    expect(await files.probeVectorAvailability()).toEqual({ ok: true, error: null })
  })

  it('[FX25] finds by words while the model fails', async () => {
    const embedder = scriptedEmbedder(() => {
      throw new Error('the model is away')
    })
    const { files } = await workspace(NOTES, { embedder })
    const answer = await files.search(ADA, { text: 'bicycle chain' })
    expect(answer).toMatchObject({
      mode: 'keyword',
      fallbackReason: expect.stringContaining('away'),
    })
    expect(answer.hits[0]?.path).toBe('memory/2026-11-15.md')
    expect(await files.probeEmbeddingAvailability()).toMatchObject({ ok: false })
    const without = await openFiles()
    expect(await without.files.probeEmbeddingAvailability()).toMatchObject({ ok: false })
    expect(await without.files.probeVectorAvailability()).toMatchObject({ ok: false })
  })

  it('[FX19] refuses what makes no sense', async () => {
    const { files } = await workspace()
    const refused = async (query: object) =>
      files.search(ADA, { text: 'tea', ...query } as never).then(
        () => 'accepted',
        ({ code }: { code: string }) => code,
      )
    for (const query of [
      { text: 7 },
      { maxResults: 0 },
      { maxResults: 1.5 },
      { minScore: -1 },
      { minScore: Number.NaN },
      { sources: ['web'] },
    ]) {
      expect(await refused(query)).toBe('invalid_input')
    }
  })

  it('[FX23] finds the note of the day in the query', async () => {
    const now = Date.parse('2026-11-16T09:00:00Z')
    const { files } = await workspace(NOTES, {
      clock: { now: () => now as never, sleep: async () => {} },
    })
    expect((await found({ files }, 'what did we do yesterday?'))[0]).toBe('memory/2026-11-15.md')
  })
})

describe('reading', () => {
  it('[FX26] gives a file or some of its lines, or the reason why not', async () => {
    const { files } = await workspace()
    const read = (path: string, range = {}) => files.readFile(ADA, path, range)
    expect(await read('MEMORY.md')).toEqual({
      path: 'MEMORY.md',
      text: NOTES['MEMORY.md'],
      reason: null,
    })
    expect((await read('MEMORY.md', { from: 3, lines: 1 })).text).toBe(
      '- Lives in Oslo with two cats.',
    )
    expect((await read('MEMORY.md', { from: 4 })).text).toBe('- Prefers green tea to coffee.')
    expect((await read('MEMORY.md', { lines: 1 })).text).toBe('# Ada')
    expect(await read('MEMORY.md', { from: 99 })).toMatchObject({
      text: '',
      reason: expect.stringContaining('4 lines'),
    })
    expect(await read('memory/none.md')).toMatchObject({ text: '', reason: expect.any(String) })
    expect(await read('elsewhere/none.md')).toMatchObject({ text: '', reason: expect.any(String) })
    for (const range of [{ from: 0 }, { lines: 0 }, { from: 1.5 }]) {
      await expect(read('MEMORY.md', range)).rejects.toMatchObject({ code: 'invalid_input' })
    }
    await expect(read('')).rejects.toMatchObject({ code: 'invalid_input' })
    const nobody = await openFiles()
    expect(await nobody.files.readFile(ADA, 'MEMORY.md')).toMatchObject({ text: '' })
  })

  it('[FX26] cites the lines of a transcript', async () => {
    const folder = temporaryFolder()
    const said = (text: string) => `${JSON.stringify({ role: 'user', content: text })}\n`
    const result = `${JSON.stringify({ type: 'result', content: 'x'.repeat(3_000_000) })}\n`
    writeFileSync(
      join(folder, 's.jsonl'),
      `${said('First.')}${result.repeat(8)}${said('Behind.')}${said('Last.')}`,
    )
    const { files } = await openFiles()
    await files.roots.add(ADA, { kind: 'sessions', path: folder })
    const read = (range = {}) => files.readFile(ADA, 'sessions/s.jsonl', range)
    const { hits } = await files.sync(ADA).then(() => files.search(ADA, { text: 'behind' }))
    expect(hits).toMatchObject([{ startLine: 10, endLine: 11 }])
    expect(await read({ from: 10, lines: 1 })).toMatchObject({
      text: 'User: Behind.',
      reason: null,
    })
    expect(await read({ from: 9 })).toMatchObject({ text: '\nUser: Behind.\nUser: Last.' })
    expect(await read({ from: 1, lines: 2 })).toMatchObject({ text: 'User: First.\n' })
    expect((await read()).text.split('\n')).toHaveLength(11)
    expect(await read({ from: 12 })).toMatchObject({
      text: '',
      reason: expect.stringContaining('11 lines'),
    })
  })

  it('[FX26] leads out of no root', async () => {
    const { files, folder } = await workspace()
    const outside = join(temporaryFolder(), 'secret.md')
    writeFileSync(outside, 'secret')
    writeFileSync(join(folder, '.env'), 'secret')
    writeFileSync(join(folder, 'other.md'), 'secret')
    mkdirSync(join(folder, 'memory/deep'))
    symlinkSync(outside, join(folder, 'memory/deep/link.md'))
    for (const path of [
      ...[
        outside,
        '../secret.md',
        'memory/../../secret.md',
        'memory/deep/link.md',
        '.env',
        'other.md',
      ],
      ...['memory\\..\\..\\secret.md', 'memory/../.env', 'MEMORY.md\0.png'],
    ]) {
      const result = await files.readFile(ADA, path).then(
        ({ text }) => text,
        ({ code }: { code: string }) => code,
      )
      expect(['', 'invalid_input'], path).toContain(result)
    }
  })

  it('[FX27] and searching reach only the files of the owner', async () => {
    const { files, innerStore } = await workspace()
    const bob = 'bob' as typeof ADA
    await files.roots.add(bob, {
      kind: 'workspace',
      path: folderWith({ 'MEMORY.md': 'Bob rides a bicycle.' }),
    })
    await files.sync(bob)
    expect(
      (await files.search(bob, { text: 'bicycle' })).hits.map(({ snippet }) => snippet),
    ).toEqual(['Bob rides a bicycle.'])
    expect((await files.search(ADA, { text: 'bicycle' })).hits).toHaveLength(1)
    expect((await files.readFile(bob, 'memory/2026-11-15.md')).text).toBe('')
    await files.erase(ADA)
    expect((await innerStore.listPlaces()).map(({ owner }) => owner)).not.toContain('ada')
    expect((await files.search(bob, { text: 'bicycle' })).hits).toHaveLength(1)
  })
})

it('[FX29] the status reports the content of each root, and its age', async () => {
  const { files, folder } = await workspace()
  const docs = folderWith({ 'a.md': sections(4) })
  await files.roots.add(ADA, { kind: 'path', path: docs })
  expect(
    (await files.status(ADA)).roots.map(({ path, files, isDirty, lastSyncAt }) => ({
      path,
      files,
      isDirty,
      at: lastSyncAt !== null,
    })),
  ).toEqual([
    { path: folder, files: 5, isDirty: true, at: true },
    { path: docs, files: 0, isDirty: true, at: false },
  ])
  await files.sync(ADA)
  const status = await files.status(ADA)
  expect(status).toMatchObject({
    backend: 'builtin',
    withoutVector: 0,
    rebuilding: null,
    provider: null,
  })
  expect(
    status.roots.map(({ kind, files, chunks, isDirty }) => ({ kind, files, chunks, isDirty })),
  ).toEqual([
    { kind: 'workspace', files: 5, chunks: 5, isDirty: false },
    { kind: 'path', files: 1, chunks: expect.any(Number), isDirty: false },
  ])
  put(folder, {})
})
