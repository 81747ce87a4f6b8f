/** The search by `qmd`: what it is asked, and what is made of what it says. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import {
  findFilesByDocumentId,
  parseCollections,
  parseHits,
  toPlainQuery,
} from '../../src/files/qmd/qmd-output.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { folderWith, put } from './file-support.ts'
import { ADA } from './index-support.ts'
import { NOTES, openQmd } from './qmd-support.ts'

const hitsOf = (text: string) => parseHits(text)

describe('what qmd prints', () => {
  it('[FQ3] is read between noise and colours', () => {
    const list = '[{"file": "qmd://n/a.md", "score": 0.7, "snippet": "@@ -4,2 @@ x\\n[b]"}]'
    const noisy = `\u001b[2K[1/2] loading [x]\nwarn: "[\n${list}\nDone [2 files]\n`
    expect(hitsOf(noisy)).toEqual([
      { file: 'qmd://n/a.md', documentId: null, score: 0.7, firstLine: 4, lastLine: 5 },
    ])
    expect(hitsOf('noise\n[]\n')).toEqual([])
    expect(hitsOf('No results found.')).toEqual([])
  })

  it('[FQ3] derives lines from a header, a number or the length', () => {
    const lines = (item: object) =>
      hitsOf(JSON.stringify([{ file: 'a', ...item }])).map((hit) => [hit.firstLine, hit.lastLine])
    expect(lines({ snippet: '@@ -6,3 @@ (5 before)\na\nb\nc' })).toEqual([[6, 8]])
    expect(lines({ snippet: 'a\nb\nc', line: 9 })).toEqual([[9, 11]])
    expect(lines({ snippet: 'a\nb\nc\n' })).toEqual([[1, 3]])
    expect(lines({ snippet: '@@ -0,0 @@' })).toEqual([[1, 1]])
    expect(lines({})).toEqual([[1, 1]])
  })

  it('[FQ3] is no answer when it holds no list', () => {
    for (const text of ['', 'Hello!', '{"a": 1}', '[1, 2]', '[{"file": "a"']) {
      expect(() => hitsOf(text)).toThrow(expect.objectContaining({ code: 'unavailable' }))
    }
    expect(hitsOf('[{"score": 1}, {"file": "a", "score": "much"}]')).toMatchObject([
      { file: 'a', score: 0 },
    ])
  })

  it('[FQ2] lists collections as names, as objects or for people', () => {
    expect(parseCollections('["a", "b"]').map(({ name }) => name)).toEqual(['a', 'b'])
    expect(parseCollections('[{"name": "a", "path": "/x", "mask": "*.md"}]')).toEqual([
      { name: 'a', path: '/x', pattern: '*.md' },
    ])
    const text = 'Collections (1):\n\nnotes (qmd://notes/)\n  Pattern:  **/*.md\n  Files:    1\n'
    expect(parseCollections(text)).toEqual([{ name: 'notes', path: null, pattern: '**/*.md' }])
    expect(parseCollections('No collections found.')).toEqual([])
  })

  it('[FQ3] resolves a document by its hash', async () => {
    const home = temporaryFolder()
    mkdirSync(join(home, 'cache', 'qmd'), { recursive: true })
    const database = new DatabaseSync(join(home, 'cache', 'qmd', 'index.sqlite'))
    database.exec(`CREATE TABLE documents (collection, path, hash, active);
      INSERT INTO documents VALUES ('n', 'old.md', 'abcdef99', 0), ('n', 'a.md', 'abcdef12', 1)`)
    database.close()
    const files = await findFilesByDocumentId(home, ['abcdef', '123456', "' OR 1"])
    expect([...files]).toEqual([['abcdef', 'n/a.md']])
    expect(await findFilesByDocumentId(temporaryFolder(), ['abcdef'])).toEqual(new Map())
  })
})

describe('the query for qmd', () => {
  it('[FQ4] contains no syntax, and keeps the meaning', () => {
    expect(toPlainQuery('--help', 'query')).toBe('help')
    expect(toPlainQuery('a -b "c d" e-f\n\0g', 'query')).toBe('a b c d e-f g')
    expect(toPlainQuery(' lex: kites', 'query')).toBe('lex  kites')
    expect(toPlainQuery('What is the name of my dog?', 'search')).toBe('name my dog')
    expect(toPlainQuery('who is it', 'search')).toBe('who is it')
    expect(toPlainQuery(`${'x'.repeat(999)}😀`, 'query')).toHaveLength(999)
  })

  it('[FQ4] is one argument after the end of options', async () => {
    const { search, calls, add, script } = await openQmd()
    await add({ kind: 'workspace', path: folderWith(NOTES) })
    script({ wordless: true })
    await search.search(ADA, { text: '--index /etc; $(touch x) `z` -c' })
    const args = calls().at(-1)?.args ?? []
    expect(args.slice(-2)).toEqual(['--', 'index etc touch x z c'])
  })
})

describe('the search by qmd', () => {
  it('[FQ1] runs in the workspace with a home of its own and without keys for others', async () => {
    const { search, calls, add, state } = await openQmd()
    const folder = folderWith({ ...NOTES, '.qmd/index.yml': 'collections: {}' })
    await add({ kind: 'workspace', path: folder })
    await search.sync(ADA)
    const [home] = readdirSync(state)
    for (const { cwd, env, args } of calls()) {
      expect(realpathSync(cwd)).toBe(realpathSync(folder))
      expect(env.XDG_CONFIG_HOME).toBe(join(state, home ?? '', 'config'))
      expect(env.XDG_CACHE_HOME).toBe(join(state, home ?? '', 'cache'))
      expect(env).toMatchObject({ NO_COLOR: '1' })
      expect(env).not.toHaveProperty('OPENAI_API_KEY')
      expect(args.slice(0, 2)).toEqual(['--index', 'index'])
    }
  })

  it('[FQ2] sets up collections once, and again when a root has changed', async () => {
    const { search, commands, add, files } = await openQmd()
    await add({ kind: 'workspace', path: folderWith(NOTES) })
    const docs = folderWith({ 'a.md': 'One kite.', 'b.txt': 'Two kites.', 'c.png': 'kite' })
    await add({ kind: 'path', path: docs })
    const paths = async (text: string) =>
      (await search.search(ADA, { text })).hits.map(({ path }) => path)
    expect(await paths('kite')).toHaveLength(2)
    const added = () => commands().filter((command) => command.startsWith('collection add'))
    expect(added()).toHaveLength(4)
    await paths('kite')
    expect(added()).toHaveLength(4)
    await add({ kind: 'path', path: docs, include: ['*.md'] })
    expect(await paths('kite')).toHaveLength(1)
    expect(added().at(-1)).toContain('--mask **/*.md')
    const removed = () => commands().filter((command) => command.startsWith('collection remove'))
    expect(removed()).toHaveLength(1)
    const root = (await files.roots.list(ADA)).find(({ kind }) => kind === 'path')
    await files.roots.remove(ADA, root?.id ?? '')
    expect(await paths('kite')).toEqual([])
    expect(removed()).toHaveLength(2)
  })

  it('[FQ2] knows its collections after a restart, and adds those again that are not as wanted', async () => {
    const folder = folderWith(NOTES)
    const first = await openQmd()
    await first.add({ kind: 'workspace', path: folder })
    await first.search.sync(ADA)
    await first.search.close()
    const second = await openQmd({ stateFolder: first.state })
    await second.add({ kind: 'workspace', path: folder })
    const before = second.commands().length
    second.script({ list: 'json' })
    await second.search.search(ADA, { text: 'bicycle' })
    const added = () =>
      second
        .commands()
        .slice(before)
        .filter((command) => command.startsWith('collection add'))
    expect(added()).toEqual([])
    await second.search.close()

    const [home = ''] = readdirSync(first.state)
    const config = join(first.state, home, 'config', 'qmd', 'collections.json')
    const name = /--name (\S+)/.exec(
      first.commands().find((one) => one.includes('memory-dir')) ?? '',
    )
    writeFileSync(config, JSON.stringify([{ name: name?.[1], path: '/elsewhere', pattern: '*' }]))
    const third = await openQmd({ stateFolder: first.state })
    await third.add({ kind: 'workspace', path: folder })
    third.script({ list: 'json' })
    const { hits } = await third.search.search(ADA, { text: 'bicycle' })
    expect(hits.map(({ path }) => path)).toEqual(['memory/2026-11-15.md'])
  })

  it('[FQ5] cites the lines with their text and the headings above', async () => {
    const { search, add } = await openQmd()
    await add({ kind: 'workspace', path: folderWith(NOTES) })
    const { hits, ...about } = await search.search(ADA, { text: 'ratatouille' })
    expect(hits).toEqual([
      {
        path: 'memory/2026-11-15.md',
        startLine: 6,
        endLine: 7,
        score: 0.5,
        snippet: '\nWe cooked ratatouille with aubergines.',
        source: 'memory',
        headings: ['Sunday', 'Evening'],
      },
    ])
    expect(about).toEqual({
      ...{ backend: 'qmd', provider: null, model: null, fallbackReason: null, mode: 'keyword' },
    })
  })

  it('[FQ5] returns no removed, excluded or ignored files', async () => {
    const { search, add } = await openQmd()
    const folder = folderWith({
      '.gitignore': 'private/\n',
      'a.md': 'A kite.',
      'drafts/b.md': 'A kite.',
      'private/c.md': 'A kite.',
      'gone.md': 'A kite.',
    })
    await add({ kind: 'path', path: folder, exclude: ['drafts'] })
    await search.sync(ADA)
    rmSync(join(folder, 'gone.md'))
    const { hits } = await search.search(ADA, { text: 'kite' })
    expect(hits.map(({ path }) => path.split('/').at(-1))).toEqual(['a.md'])
  })

  it('[FQ5] leaves out what fits badly, unless it holds all words', async () => {
    const { search, add, script } = await openQmd({ mode: 'vsearch' })
    await add({ kind: 'workspace', path: folderWith({ 'MEMORY.md': 'The teapots are blue.' }) })
    script({ score: 0.2 })
    const found = async (text: string, minScore?: number) =>
      (await search.search(ADA, { text, ...(minScore === undefined ? {} : { minScore }) })).hits
    expect(await found('teapot')).toHaveLength(1)
    expect(await found('eapot')).toHaveLength(0)
    expect(await found('eapot', 0.1)).toHaveLength(1)
  })

  it('[FQ5] uses the settings unless the query overrides them', async () => {
    const { search, add, script } = await openQmd({
      ...{ mode: 'vsearch', defaults: { maxResults: 1, minScore: 0.1 } },
    })
    const teapots = { 'MEMORY.md': 'The teapots are blue.', 'memory/a.md': 'A teapot.' }
    await add({ kind: 'workspace', path: folderWith(teapots) })
    script({ score: 0.2 })
    expect((await search.search(ADA, { text: 'eapot' })).hits).toHaveLength(1)
    expect((await search.search(ADA, { text: 'eapot', maxResults: 2 })).hits).toHaveLength(2)
    expect((await search.search(ADA, { text: 'eapot', minScore: 0.3 })).hits).toEqual([])
  })

  it('[FQ6] indexes transcripts as copies without secrets', async () => {
    const { search, add, state } = await openQmd()
    const said = (content: string) => `${JSON.stringify({ role: 'user', content })}\n`
    const secret = `sk-${'a1B2'.repeat(10)}`
    const folder = folderWith({ 'one.jsonl': said('Hello.') + said(`The kite key is ${secret}.`) })
    await add({ kind: 'sessions', path: folder })
    const { hits } = await search.search(ADA, { text: 'kite' })
    expect(hits).toMatchObject([{ path: 'sessions/one.jsonl', source: 'sessions', endLine: 2 }])
    const stored = readdirSync(state, { recursive: true, encoding: 'utf8' })
    expect(stored.some((name) => name.endsWith('one.jsonl.md'))).toBe(true)
    put(folder, { 'two.jsonl': said('Another kite.') })
    rmSync(join(folder, 'one.jsonl'))
    await search.sync(ADA)
    const after = await search.search(ADA, { text: 'kite' })
    expect(after.hits.map(({ path }) => path)).toEqual(['sessions/two.jsonl'])
    expect((await search.search(ADA, { text: 'kite', sources: ['memory'] })).hits).toEqual([])
  })

  it('[FQ6] keeps no secret of a transcript anywhere', async () => {
    const { search, add, state } = await openQmd()
    const secret = `sk-${'a1B2'.repeat(10)}`
    const line = JSON.stringify({ role: 'user', content: `The key is ${secret}.` })
    await add({ kind: 'sessions', path: folderWith({ 'one.jsonl': `${line}\n` }) })
    await search.sync(ADA)
    const files = readdirSync(state, { recursive: true, withFileTypes: true })
    const texts = files
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    expect(texts.some((text) => text.includes('The key is'))).toBe(true)
    expect(texts.some((text) => text.includes(secret))).toBe(false)
  })

  it('[FQ7] looks at files again at an interval, but not twice in a row', async () => {
    const { search, add, timers, clock, commands } = await openQmd()
    const folder = folderWith(NOTES)
    await add({ kind: 'workspace', path: folder })
    const updates = () => commands().filter((command) => command === 'update').length
    // Waits for all that is under way.
    const settled = async () => void (await search.search(ADA, { text: 'bicycle' }))
    await settled()
    expect(updates()).toBe(1)
    await settled()
    expect(updates()).toBe(1)
    put(folder, { 'memory/new.md': 'The kayak is in the shed.' })
    await timers.pass(300_000, settled)
    expect(updates()).toBe(2)
    expect((await search.search(ADA, { text: 'kayak' })).hits).toHaveLength(1)
    // A search finds the index too old when no timer went off, as after a sleep of the machine.
    clock.advance(300_000)
    await settled()
    expect(updates()).toBe(3)
    await search.sync(ADA)
    expect(updates()).toBe(4)
    await timers.pass(299_999, settled)
    clock.advance(-299_990)
    await timers.pass(1, settled)
    expect(updates()).toBe(4)
  })

  it('[FQ7] looks at files again for the question after something was written', async () => {
    const { search, add } = await openQmd()
    const folder = folderWith(NOTES)
    await add({ kind: 'workspace', path: folder })
    await search.sync(ADA)
    put(folder, { 'memory/new.md': 'The kayak is in the shed.' })
    expect((await search.search(ADA, { text: 'kayak' })).hits).toEqual([])
    search.touch(ADA)
    expect((await search.search(ADA, { text: 'kayak' })).hits).toHaveLength(1)
  })

  it('[FQ7] embeds every hour, and never with lexical search only', async () => {
    const words = await openQmd()
    await words.add({ kind: 'workspace', path: folderWith(NOTES) })
    await words.search.sync(ADA)
    expect(words.commands()).not.toContain('embed')
    expect((await words.search.probeVectorAvailability()).ok).toBe(false)

    const { search, add, clock, commands } = await openQmd({ mode: 'query' })
    await add({ kind: 'workspace', path: folderWith(NOTES) })
    const embeds = () => commands().filter((command) => command === 'embed').length
    const untilEmbedded = async () => {
      while (!(await search.probeEmbeddingAvailability()).ok) await new Promise(setImmediate)
    }
    await search.sync(ADA)
    await untilEmbedded()
    await search.sync(ADA)
    expect(embeds()).toBe(1)
    clock.advance(3_600_000)
    await search.sync(ADA)
    await untilEmbedded()
    expect(embeds()).toBe(2)
    const answer = await search.search(ADA, { text: 'bicycle' })
    expect(answer).toMatchObject({ mode: 'hybrid', provider: 'qmd' })
    expect(commands().at(-1)).toMatch(/^query --json -n 18 -c /)
  })

  it('[FQ8] uses `query` when the other commands are unknown', async () => {
    const { search, add, script, commands } = await openQmd()
    await add({ kind: 'workspace', path: folderWith(NOTES) })
    script({ unknown: ['search'] })
    const { hits, mode } = await search.search(ADA, { text: 'bicycle' })
    expect(hits).toHaveLength(1)
    expect(mode).toBe('hybrid')
    const before = commands().length
    await search.search(ADA, { text: 'bicycle' })
    expect(commands().slice(before)).toHaveLength(1)
    script({ unknown: ['search', 'query'] })
    await expect(search.search(ADA, { text: 'bicycle' })).rejects.toMatchObject({
      code: 'unavailable',
    })
  })

  it('[FQ1] shares models between owners, and erases all data of an owner', async () => {
    const modelFolder = join(temporaryFolder(), 'models')
    const { search, add, state } = await openQmd({ modelFolder, mode: 'vsearch' })
    await add({ kind: 'workspace', path: folderWith(NOTES) })
    await search.sync(ADA)
    const [home = ''] = readdirSync(state)
    expect(realpathSync(join(state, home, 'cache', 'qmd', 'models'))).toBe(
      realpathSync(modelFolder),
    )
    await search.forget(ADA)
    expect(readdirSync(state)).toEqual([])
    expect(existsSync(modelFolder)).toBe(true)
    expect((await search.search(ADA, { text: 'bicycle' })).hits).toHaveLength(1)
  })
})
