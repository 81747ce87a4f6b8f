/** Memory in files from the command line. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createTimeEstimate,
  formatRemainingTime,
} from '../../../src/api/cli/output/progress-line.ts'
import { createEngine } from '../../../src/app/composition.ts'
import { serve } from '../../../src/app/serve.ts'
import { ScriptedModel } from '../../fakes/language-model.ts'
import { folderWith, put } from '../../files/file-support.ts'
import { NOTES } from '../../files/qmd-support.ts'
import { answer } from '../../learning/distillation-support.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { createCli } from './cli-host.ts'

async function withWorkspace() {
  const cli = createCli()
  const folder = folderWith(NOTES)
  const ran = await cli(['files', 'add', folder, '--kind', 'workspace', '--json'])
  expect(ran).toMatchObject({ exit: 0, err: '', json: { root: { path: folder } } })
  return { cli, folder, id: ran.json.root.id as string }
}

it('[FD16] list says how to begin, and makes nothing', async () => {
  const cli = createCli()
  const { exit, out } = await cli(['files'])
  expect(exit).toBe(0)
  expect(out).toContain('recollect files add <path>')
  expect((await cli(['files', 'search', 'tea'])).out).toBe('No matches.\n')
  expect((await cli(['files', 'status'])).out).toMatch(/holds +0 notes/)
  expect(existsSync(cli.folder)).toBe(false)
})

it('[FD16] roots are added, listed and removed by id, name or path', async () => {
  const { cli, folder, id } = await withWorkspace()
  const notes = folderWith({ 'setup.md': 'Install the compiler.', 'drafts/x.md': 'Nothing yet.' })
  const near = relative(process.cwd(), notes)
  const added = await cli(['files', 'add', near, '--exclude', 'drafts/**'])
  expect(added.out).toContain(`Added ${notes} (root_`)
  const { out } = await cli(['files', 'list'])
  expect(out).toContain(`${id}  workspace`)
  expect(out).toContain(`${notes} -drafts/**`)
  expect((await cli(['files', 'remove', basename(notes)])).out).toContain('Its files stay.')
  expect((await cli(['files', 'remove', basename(notes)])).exit).toBe(4)
  expect((await cli(['files', 'remove', folder])).exit).toBe(0)
  expect((await cli(['files', 'list', '--json'])).json).toEqual({ roots: [] })
})

it('[FD16] index reports what it found, and what it could not read', async () => {
  const { cli, folder } = await withWorkspace()
  put(folder, { 'memory/picture.md': new Uint8Array([0, 1, 2, 0, 255, 254, 0]) })
  const { exit, out } = await cli(['files', 'index'])
  expect(exit).toBe(0)
  expect(out).toMatch(/^3 files, \d+ chunks: 3 new, 0 changed, 0 moved, 0 gone\.\n/)
  expect(out).toContain('memory/picture.md')
  expect((await cli(['files', 'index', '--force', '--json'])).json).toMatchObject({
    problems: [{ path: 'memory/picture.md', reason: 'binary' }],
  })
})

it('[FD16] a terminal sees how far indexing has come', async () => {
  const { cli } = await withWorkspace()
  const { err } = await cli(['files', 'index'], { columns: 120 })
  expect(err).toMatch(/\d of 2 files \(\d+%\)/)
})

it('[FD16] index embeds everything and reports it, unless lexical search is enough', async () => {
  const { cli } = await withWorkspace()
  const environment = { RECOLLECT_EMBEDDING_SOURCE: 'static' }
  const withoutVector = async () =>
    (await cli(['files', 'status', '--json'], { environment })).json.withoutVector
  await cli(['files', 'index', '--skip-vectors'], { environment })
  expect(await withoutVector()).toBeGreaterThan(0)
  const { exit, err } = await cli(['files', 'index'], { environment, columns: 120 })
  expect(exit).toBe(0)
  expect(err).toMatch(/\d+ of \d+ chunks embedded \(\d+%\)/)
  expect(await withoutVector()).toBe(0)
})

it('[FD16] what was done before says nothing of how long the rest takes', () => {
  let now = 0
  const rest = createTimeEstimate(() => now)
  expect(rest('file', 0, 10)).toBe('')
  now += 5_000
  expect(rest('file', 5, 10)).toBe(', about 5 s left')
  expect(rest('piece', 900, 1_000)).toBe('')
  now += 1_000
  expect(rest('piece', 910, 1_000)).toBe(', about 9 s left')
})

it.each([
  [0, 100, 10_000, ''],
  [100, 100, 10_000, ''],
  [10, 100, 100, ''],
  [10, 100, 1_000, ', about 9 s left'],
  [1, 100, 10_000, ', about 17 min left'],
])('[FD16] %d of %d after %d ms: %j', (done, total, elapsed, text) => {
  expect(formatRemainingTime(done, total, elapsed)).toBe(text)
})

it('[FD16] status shows roots, chunks and problems', async () => {
  const { cli, folder } = await withWorkspace()
  await cli(['files', 'index'])
  const { out } = await cli(['files', 'status', '--probe'])
  expect(out).toMatch(/searched by +builtin/)
  expect(out).toMatch(/holds +2 notes, 0 transcripts, \d+ chunks/)
  expect(out).toMatch(/model +does not work: No embedding model/)
  expect(out).toContain(folder)
  expect((await cli(['files', 'status', '--json'])).json).toMatchObject({ roots: [{ files: 2 }] })
})

it('[FD16] search shows score, lines and text, without an index of its own', async () => {
  const { cli, folder } = await withWorkspace()
  const { out } = await cli(['files', 'search', 'bicycle', 'chain'])
  expect(out).toMatch(/^\d\.\d\d {2}memory\/2026-11-15\.md#L1-L\d+\n/)
  expect(out).toContain('      The bicycle got a new chain.')
  put(folder, { 'memory/later.md': 'The parrot is called Polly.' })
  const later = await cli(['files', 'search', 'parrot Polly', '--json', '--max-results', '1'])
  expect(later.json.results).toMatchObject([{ path: 'memory/later.md', source: 'memory' }])
  expect((await cli(['files', 'search', 'chromodynamics'])).out).toBe('No matches.\n')
  const sessions = await cli(['files', 'search', 'bicycle', '--source', 'sessions'])
  expect(sessions.out).toBe('No matches.\n')
  const together = await cli(['search', 'parrot', '--source', 'memories', '--source', 'files'])
  expect(together.out).toContain('memory/later.md#L1')
})

it('[FD16] append adds its arguments or standard input to the note of today', async () => {
  const { cli, folder } = await withWorkspace()
  const { json } = await cli(['files', 'append', 'The parrot is Polly.', '--json'])
  expect((await cli(['files', 'append', '-'], { stdin: 'The cat is Tom.\n' })).exit).toBe(0)
  expect((await cli(['files', 'append'], { stdin: 'The dog is Rex.\n' })).exit).toBe(0)
  const note = readFileSync(join(folder, json.path), 'utf8')
  expect(note).toMatch(/Polly\.\n[\s\S]*Tom\.\n[\s\S]*Rex\.\n/)
})

it('[FD16] watch reports indexed files until it is stopped', async () => {
  const { cli, folder } = await withWorkspace()
  const stop = new AbortController()
  let output = ''
  const watching = cli(['files', 'watch', '--json'], {
    stop: stop.signal,
    onOutput: (text) => {
      output += text
    },
  })
  const indexed = () => output.trim().split('\n').at(-1)
  await expect.poll(indexed).toContain('"files":2')
  put(folder, { 'memory/later.md': 'The parrot is called Polly.' })
  await expect.poll(indexed).toContain('"files":3')
  stop.abort()
  const { exit, out } = await watching
  expect(exit).toBe(0)
  const lines = out.trim().split('\n')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ path: folder, files: 3 })
})

describe('[FD16] errors', () => {
  it.each([
    ['an unknown action', ['files', 'ad']],
    ['no path', ['files', 'add']],
    ['two paths', ['files', 'add', 'a', 'b']],
    ['an option of another action', ['files', 'list', '--force']],
    ['an unknown kind', ['files', 'add', '.', '--kind', 'wiki']],
    ['a score that is none', ['files', 'search', 'x', '--min-score', 'high']],
  ])('[FD16] %s is told', async (_, argv) => {
    const { exit, err } = await createCli()(argv)
    expect(exit).toBe(2)
    expect(err).not.toBe('')
  })

  it('[FD16] appending without a workspace says what to do', async () => {
    const { exit, err } = await createCli()(['files', 'append', 'a note'])
    expect([exit, err]).toEqual([4, expect.stringContaining('workspace')])
  })
})

it('[FD16] a server does the same, but for watching', async () => {
  const home = temporaryFolder()
  const model = new ScriptedModel(
    answer(['Ada is vegetarian.'], { summary: 'Ada planned a trip.', decisions: [] }),
  )
  const engine = await createEngine({
    ...{ path: join(home, 'recollect.db'), embedding: false as const },
    files: { path: join(home, 'files.db') },
    ...{ languageModel: model, settings: { 'learning.extractionModel': 'test/model' } },
  })
  const serving = await serve({ host: '127.0.0.1', port: 0, engine, version: '1.2.3' })
  onTestFinished(async () => {
    await serving.close()
    await engine.close()
  })
  const always = ['--url', serving.url, '--key', serving.managementKey ?? '', '--owner', 'ada']
  const cli = createCli(join(home, 'unused'), always)
  const folder = folderWith(NOTES)
  expect((await cli(['files', 'add', folder, '--kind', 'workspace'])).exit).toBe(0)
  expect((await cli(['files', 'index'])).out).toContain('2 new')
  expect((await cli(['files', 'search', 'green tea'])).out).toContain('MEMORY.md#L1-L3')
  expect((await cli(['files', 'append', 'A note.'])).out).toMatch(/^Added to memory\//)
  expect((await cli(['files', 'status'])).out).toContain(folder)
  const turns = [
    { user: 'I am going to Rome with my sister Clara in June, and I am vegetarian.' },
    { user: 'We want to stay in a small hotel near the river.' },
  ]
  await engine.learning.ingest({ owner: 'ada', conversation: 'trip', turns })
  const flushed = await cli(['files', 'write-session-note', 'trip', '--json'])
  expect(flushed.json).toMatchObject({ written: true })
  expect(readFileSync(join(folder, flushed.json.path), 'utf8')).toContain('Ada planned a trip.')
  const again = await cli(['files', 'write-session-note', 'trip'])
  expect(again.out).toBe(`${flushed.json.path} says it already.\n`)
  expect((await cli(['files', 'write-session-note', 'none'])).exit).toBe(4)
  expect((await cli(['files', 'write-session-note'])).exit).toBe(2)
  const watched = await cli(['files', 'watch'])
  expect([watched.exit, watched.err]).toEqual([2, expect.stringContaining('this machine only')])
})
