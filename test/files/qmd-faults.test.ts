/** What may befall the program `qmd`, and what the search makes of it. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { folderWith, until } from './file-support.ts'
import { ADA } from './index-support.ts'
import { NOTES, openQmd, type Script } from './qmd-support.ts'

async function prepared(times = {}) {
  const opened = await openQmd({ times })
  await opened.add({ kind: 'workspace', path: folderWith(NOTES) })
  await opened.search.sync(ADA)
  const ask = (script: Script) => {
    opened.script(script)
    return opened.search.search(ADA, { text: 'bicycle' })
  }
  return { ...opened, ask }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // One that has ended and that nobody has asked about yet is as good as gone.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('qmd failing', () => {
  it('[FQ9] finds its output in noise, and no results in a line that reports none', async () => {
    const { ask, search } = await prepared()
    expect((await ask({ noise: true })).hits).toHaveLength(1)
    expect((await ask({ wordless: true })).hits).toHaveLength(1)
    expect((await search.search(ADA, { text: 'xylophone' })).hits).toEqual([])
  })

  it('[FQ9] is an error when it answers garbage, crashes or writes without end', async () => {
    const { ask } = await prepared()
    const failures: readonly (readonly [Script, RegExp])[] = [
      [{ says: 'I am a teapot' }, /no list of results/],
      [{ says: '[{"file": "qmd://x/y.md", "sco' }, /no list of results/],
      [{ crash: ['search'] }, /ended with 139: Segmentation fault/],
      [{ huge: 200_001 }, /more than 200000 characters/],
    ]
    for (const [script, message] of failures) {
      await expect(ask(script)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(message),
      })
    }
    expect((await ask({})).hits).toHaveLength(1)
  })

  it('[FQ9] leaves out hits in files that it should not know', async () => {
    const { ask } = await prepared()
    const files = ['qmd://other/x.md', '/etc/hosts', 'qmd://memory-md/../../x', '', 'x']
    const said = JSON.stringify(files.map((file) => ({ file, docid: '#aaaaaa', score: 1 })))
    expect((await ask({ says: said })).hits).toEqual([])
  })

  it('[FQ9] is killed with all that it started when it takes too long', async () => {
    const { ask } = await prepared({ searchMs: 5_000 })
    const pids = join(temporaryFolder(), 'pids.json')
    await expect(ask({ slow: ['search'], pids })).rejects.toMatchObject({
      code: 'unavailable',
      message: 'qmd took longer than 5000 ms and was ended.',
    })
    const started = JSON.parse(readFileSync(pids, 'utf8')) as readonly number[] // as it writes them
    expect(started).toHaveLength(2)
    await until(() => !started.some(isRunning))
  })

  it('[FQ9] ends when the question is taken back or the search is closed', async () => {
    const { ask, search } = await prepared()
    const pids = join(temporaryFolder(), 'pids.json')
    const controller = new AbortController()
    await ask({})
    const asked = search.search(ADA, { text: 'bicycle', signal: controller.signal })
    controller.abort()
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' })

    const failing = expect(ask({ slow: ['search'], pids })).rejects.toMatchObject({
      code: 'cancelled',
    })
    await until(() => existsSync(pids))
    await search.close()
    await failing
    const started = JSON.parse(readFileSync(pids, 'utf8') || '[]') as readonly number[] // as it writes them
    await until(() => !started.some(isRunning))
  })

  it('[FQ9] is a missing part where there is no such program', async () => {
    const opened = await openQmd({ command: [join(temporaryFolder(), 'qmd')] })
    await opened.add({ kind: 'workspace', path: folderWith(NOTES) })
    await expect(opened.search.search(ADA, { text: 'bicycle' })).rejects.toMatchObject({
      code: 'missing_part',
    })
    await expect(opened.search.sync(ADA)).rejects.toMatchObject({ code: 'missing_part' })
    const { facts } = await opened.search.status(ADA)
    expect(facts.qmdFailure).toMatch(/was not found/)
  })

  it('[FQ9] reports missing roots, and finds the rest', async () => {
    const { search, add } = await prepared()
    const docs = folderWith({ 'a.md': 'A kite.' })
    await add({ kind: 'path', path: docs })
    rmSync(docs, { recursive: true })
    const { problems: troubles } = await search.sync(ADA)
    expect(troubles).toMatchObject([{ reason: 'missing' }])
    expect((await search.search(ADA, { text: 'bicycle' })).hits).toHaveLength(1)
  })

  it('[FQ7] answers from the old index when an update takes too long or fails', async () => {
    const { search, script, clock } = await prepared({ waitMs: 1 })
    script({ slow: ['update'], pids: join(temporaryFolder(), 'pids.json') })
    clock.advance(300_000)
    expect((await search.search(ADA, { text: 'bicycle' })).hits).toHaveLength(1)

    const other = await prepared()
    other.script({ crash: ['update'] })
    other.clock.advance(300_000)
    expect((await other.search.search(ADA, { text: 'bicycle' })).hits).toHaveLength(1)
    const { facts, roots } = await other.search.status(ADA)
    expect(facts.qmdFailure).toMatch(/ended with 139/)
    expect(roots).toMatchObject([{ isDirty: true, files: 2 }])
  })
})
