/** Memory in files as part of an engine: when its index is opened, with what, and what becomes of it. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine, type EngineOptions } from '../../src/app/composition.ts'
import { toFileSettings } from '../../src/app/file-composition.ts'
import { parseSettings, resolveSettings } from '../../src/domain/settings/settings.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { FILE_DEFAULTS } from '../../src/files/file-options.ts'
import type { Files } from '../../src/files/files.ts'
import { AppError } from '../../src/lib/errors.ts'
import { describeMissingCipher } from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { scriptedEmbedder } from '../fakes/embedder.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { folderWith, put } from './file-support.ts'
import { ADA } from './index-support.ts'
import { NOTES, STAND_IN } from './qmd-support.ts'

const BOB = 'bob' as typeof ADA // a name like any other

async function openEngine(
  options: EngineOptions = {},
  folder = temporaryFolder(),
): Promise<{ readonly engine: Engine; readonly files: Files; readonly folder: string }> {
  const engine = await createEngine({
    embedding: false,
    path: join(folder, 'recollect.db'),
    ...options,
    files: { ...options.files, path: join(folder, 'files.db') },
  })
  onTestFinished(() => engine.close())
  return { engine, files: filesOf(engine), folder }
}

function filesOf({ files }: Engine): Files {
  if (files === null) throw new Error('this engine has files')
  return files
}

async function pathsFor(files: Files, text: string, owner = ADA): Promise<readonly string[]> {
  return (await files.search(owner, { text })).hits.map(({ path }) => path)
}

describe('[FD1] the index', () => {
  it('[FD1] is made by the first question, not by memories or roots', async () => {
    const { engine, files, folder } = await openEngine()
    const index = join(folder, 'files.db')
    await engine.remember({ owner: 'ada' }, { content: 'I like tea' })
    await files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
    expect(await files.roots.list(ADA)).toHaveLength(1)
    await engine.admin.eraseOwner('bob')
    expect(existsSync(index)).toBe(false)
    expect(await pathsFor(files, 'green tea')).toEqual(['MEMORY.md'])
    expect(existsSync(index)).toBe(true)
  })

  it('[FX35] has vectors made once for the same words, wherever they stand', async () => {
    const folder = temporaryFolder()
    const local = scriptedEmbedder()
    const source = 'transformers'
    const embedding = {
      ...local,
      describe: async () => ({ ...(await local.describe()), source }),
      report: () => ({ ...local.report(), source }),
    }
    const ofNotes = () =>
      local.calls.filter(({ texts }) => texts.some((text) => text.includes('green tea'))).length
    const { engine, files } = await openEngine({ embedding }, folder)
    const first = await files.roots.add(ADA, { kind: 'path', path: folderWith(NOTES) })
    await files.sync(ADA, { embeds: true })
    expect(ofNotes()).toBe(1)
    await files.sync(ADA, { force: true })
    await files.roots.remove(ADA, first.id)
    await files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
    await files.sync(ADA, { embeds: true })
    expect(await files.status(ADA)).toMatchObject({ withoutVector: 0 })
    expect(ofNotes()).toBe(1)
    await engine.admin.eraseOwner('ada')
    await files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
    await files.sync(ADA, { embeds: true })
    expect(ofNotes()).toBe(2)
  })

  it('[FD1] is opened once by questions that come together', async () => {
    const { files } = await openEngine()
    await files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
    const found = await Promise.all(['green tea', 'bicycle chain'].map((q) => pathsFor(files, q)))
    expect(found).toEqual([['MEMORY.md'], ['memory/2026-11-15.md']])
  })

  it('[FD1] is not there for an engine without a place for it', async () => {
    const engine = await createEngine({ embedding: false })
    onTestFinished(() => engine.close())
    expect(engine.files).toBe(null)
  })

  it('[FD1] answers nothing once the engine is closed', async () => {
    const { engine, files } = await openEngine()
    await files.status(ADA)
    await engine.close()
    await expect(files.status(ADA)).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('[FD2] the file of the index', () => {
  it('[FD2] is put aside and made again when it cannot be read', async () => {
    const folder = temporaryFolder()
    const index = join(folder, 'files.db')
    writeFileSync(index, 'this is no database, whatever its name says')
    const { files } = await openEngine({}, folder)
    await files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
    expect(await pathsFor(files, 'green tea')).toEqual(['MEMORY.md'])
    expect(readFileSync(`${index}.damaged`, 'utf8')).toContain('no database')
  })

  describe.skipIf(describeMissingCipher() !== null)(
    `encrypted (not run: ${describeMissingCipher()})`,
    () => {
      const key = { passphrase: 'a key for tests' }

      it('[FD2] is readable only for its owner', async () => {
        const { engine, files, folder } = await openEngine({ key })
        await files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
        expect(await pathsFor(files, 'green tea')).toEqual(['MEMORY.md'])
        await engine.close()
        expect(readFileSync(join(folder, 'files.db'), 'latin1')).not.toContain('SQLite format 3')
      })

      it('[FD7] is not searched by a program that keeps texts as they are', async () => {
        const { files } = await openEngine({ key, settings: { 'files.searchBackend': 'qmd' } })
        await expect(files.search(ADA, { text: 'tea' })).rejects.toMatchObject({
          code: 'invalid_input',
          facts: { setting: 'files.searchBackend' },
        })
      })
    },
  )
})

it('[FD3] the model is shared, and closed once', async () => {
  let closed = 0
  const embedder = { ...scriptedEmbedder(), close: async () => void closed++ }
  const { engine, files } = await openEngine({ embedding: embedder })
  await files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
  await engine.remember({ owner: 'ada' }, { content: 'I like tea' })
  const answer = await files.search(ADA, { text: 'green tea' })
  expect(answer.model).toBe(embedder.report().model)
  await engine.close()
  expect(closed).toBe(1)
})

it('[FD4] nothing is left of the files of an owner who is erased, and the files stay', async () => {
  const { engine, files } = await openEngine()
  const [ours, theirs] = [folderWith(NOTES), folderWith(NOTES)]
  await files.roots.add(ADA, { kind: 'workspace', path: ours })
  await files.roots.add(BOB, { kind: 'workspace', path: theirs })
  await Promise.all([files.sync(ADA), files.sync(BOB)])
  await engine.admin.eraseOwner('ada', { dryRun: true })
  expect((await files.status(ADA)).bySource.memory.files).toBe(2)
  await engine.admin.eraseOwner('ada')
  expect(await files.roots.list(ADA)).toEqual([])
  expect((await files.status(ADA)).bySource.memory.files).toBe(0)
  expect(await pathsFor(files, 'green tea')).toEqual([])
  expect(existsSync(join(ours, 'MEMORY.md'))).toBe(true)
  expect(await pathsFor(files, 'green tea', BOB)).toEqual(['MEMORY.md'])
})

describe('[FD5] settings', () => {
  it('[FD5] have the defaults that files have without them', () => {
    expect(toFileSettings(resolveSettings())).toEqual(FILE_DEFAULTS)
  })

  it('[FD5] are those of the owner, and pieces never repeat all of themselves', async () => {
    const { engine, files } = await openEngine()
    await files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
    await engine.admin.settings.change(ADA, { 'files.resultsMax': 1, 'files.chunkTokens': 16 })
    expect((await files.search(ADA, { text: 'tea bicycle' })).hits).toHaveLength(1)
    const { chunkTokens, chunkOverlap } = toFileSettings(await engine.admin.settings.resolve(ADA))
    expect([chunkTokens, chunkOverlap]).toEqual([16, 15])
  })

  it.each(['Mars/Olympus', '', '+02:00', 'Europe'])('[FD5] %j is no time zone', (timeZone) => {
    expect(() => parseSettings({ 'files.timeZone': timeZone })).toThrow(AppError)
  })

  it('[FD5] today is where the owner is', async () => {
    const { engine, files } = await openEngine()
    const folder = folderWith({})
    await files.roots.add(ADA, { kind: 'workspace', path: folder })
    const days = []
    for (const timeZone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      await engine.admin.settings.change(ADA, { 'files.timeZone': timeZone })
      days.push((await files.appendToDailyNote(ADA, 'A note.')).path)
    }
    expect(days[0]).toMatch(/^memory\/\d{4}-\d\d-\d\d\.md$/)
    // They are 25 hours apart.
    expect(days[0]).not.toBe(days[1])
    expect(await pathsFor(files, 'note')).toEqual(expect.arrayContaining(days))
  })
})

describe('[FD6] watching', () => {
  it('[FD6] starts with existing roots, and includes new ones', async () => {
    const { files } = await openEngine()
    await files.start()
    expect((await files.status(ADA)).watching.mode).toBe('off')
    const folder = folderWith(NOTES)
    await files.roots.add(ADA, { kind: 'workspace', path: folder })
    expect((await files.status(ADA)).watching.mode).not.toBe('off')
    put(folder, { 'memory/new.md': 'The parrot is called Polly.' })
    expect(await pathsFor(files, 'parrot Polly')).toEqual(['memory/new.md'])
  })

  it('[FD6] opens an index at the start only where there is something to watch', async () => {
    const { files, folder } = await openEngine()
    await files.start()
    expect(existsSync(join(folder, 'files.db'))).toBe(false)
  })

  it('[FD6] roots that another process adds are known to the next question', async () => {
    const folder = temporaryFolder()
    const here = await openEngine({}, folder)
    const elsewhere = await openEngine({}, folder)
    await here.files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
    await here.files.start()
    expect(await pathsFor(here.files, 'green tea')).toEqual(['MEMORY.md'])
    const more = folderWith({ 'setup.md': 'Install the compiler first.' })
    const added = await elsewhere.files.roots.add(ADA, { kind: 'path', path: more })
    expect(await pathsFor(here.files, 'install the compiler')).toEqual([`${added.name}/setup.md`])
    await elsewhere.files.roots.remove(ADA, added.id)
    expect(await pathsFor(here.files, 'install the compiler')).toEqual([])
  })
})

describe('[FD7] another program that searches', () => {
  const command = [process.execPath, STAND_IN]

  it('[FD7] is asked where it is set, and leaves nothing of who is erased', async () => {
    const { engine, files, folder } = await openEngine({
      settings: { 'files.searchBackend': 'qmd' },
      files: { path: '', qmdCommand: command },
    })
    await files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
    await files.sync(ADA)
    const answer = await files.search(ADA, { text: 'green tea' })
    expect(answer).toMatchObject({ backend: 'qmd', hits: [{ path: 'MEMORY.md' }] })
    await engine.admin.eraseOwner('ada')
    expect(readdirSync(join(folder, 'qmd'))).toEqual([])
  })

  it('[FD7] searches as it is set to, and knows what was added', async () => {
    const { files } = await openEngine({
      settings: { 'files.searchBackend': 'qmd', 'files.qmdMode': 'vsearch' },
      files: { path: '', qmdCommand: command },
    })
    await files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
    await files.sync(ADA)
    expect(await files.search(ADA, { text: 'green tea' })).toMatchObject({
      ...{ backend: 'qmd', provider: 'qmd', mode: 'hybrid' },
    })
    const { path } = await files.appendToDailyNote(ADA, 'The kayak is in the shed.')
    expect(await files.search(ADA, { text: 'kayak' })).toMatchObject({
      ...{ backend: 'qmd', hits: [{ path }] },
    })
  })

  it.each([false, true])(
    '[FD7] that is missing is bypassed, unless it fails closed: %s',
    async (failClosed) => {
      const { files } = await openEngine({
        settings: { 'files.searchBackend': 'qmd', 'files.failClosed': failClosed },
        files: { path: '', qmdCommand: [join(temporaryFolder(), 'no-such-program')] },
      })
      await files.roots.add(ADA, { kind: 'workspace', path: folderWith(NOTES) })
      const asked = files.search(ADA, { text: 'green tea' })
      if (failClosed) {
        await expect(asked).rejects.toBeInstanceOf(AppError)
        return
      }
      const { backend, fallbackReason: fallback, hits } = await asked
      expect([backend, hits[0]?.path]).toEqual(['builtin', 'MEMORY.md'])
      expect(fallback).toContain('qmd is bypassed')
    },
  )
})
