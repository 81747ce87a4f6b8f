/** What is pinned, in `MEMORY.md`: written there, edited there, and never in each other's way. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/app/composition.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createWorkspace } from '../../src/files/local/local-workspace.ts'
import {
  MemoryFileSync,
  type PinnedMemories,
} from '../../src/files/memory-file/memory-file-sync.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { memory } from '../fakes/memories.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'
import { folderWith, pause, until } from './file-support.ts'
import { ADA } from './index-support.ts'

const NOTES = '# Notes\r\n\r\nThe spare key is at the neighbours.\r\n'

async function open(files: Record<string, string> = {}) {
  const engine = await createEngine({
    ...{ embedding: false, settings: { 'files.memoryFileSync': true } },
    files: { path: temporaryFile('files.db') },
  })
  onTestFinished(() => engine.close())
  const folder = folderWith(files)
  const path = join(folder, 'MEMORY.md')
  await engine.files?.roots.add('ada', { kind: 'workspace', path: folder })
  return {
    ...{ engine, path },
    sync: async () => engine.files?.sync('ada'),
    text: () => readFileSync(path, 'utf8'),
    edit: (from: string | RegExp, to: string) => {
      const text = readFileSync(path, 'utf8')
      const edited = text.replace(from, to)
      expect(edited).not.toBe(text)
      writeFileSync(path, edited)
    },
  }
}

async function pin(engine: Engine, content: string): Promise<string> {
  const { memory } = await engine.remember({ owner: 'ada' }, { content, pinned: true })
  return memory.id
}

async function pinned(engine: Engine): Promise<readonly string[]> {
  const query = { pinned: true, statuses: ['active'] } as const
  const { rows } = await engine.list({ owner: 'ada' }, query)
  return rows.map(({ content }) => content).sort()
}

describe('[MI7] the mirror', () => {
  it('[MI7] is written where it is configured, and every other byte stays', async () => {
    const { engine, sync, text } = await open({ 'MEMORY.md': NOTES })
    await pin(engine, 'Ada prefers green tea.')
    await engine.learning.identity.add({ owner: 'ada' }, { content: 'Ada is a marine biologist.' })
    await engine.remember({ owner: 'ada' }, { content: 'Ada went to the market.' })
    await engine.remember({ owner: 'ada', user: 'bob' }, { content: 'Bob sings.', pinned: true })
    await sync()
    expect(text().startsWith(NOTES)).toBe(true)
    const block = text().slice(NOTES.length)
    expect(block).toMatch(/## Identity\r\n\r\n- Ada is a marine biologist\. <!-- \w+ -->\r\n/)
    expect(block).toMatch(/## Pinned\r\n\r\n- Ada prefers green tea\. <!-- \w+ -->\r\n/)
    expect(block).not.toMatch(/market|Bob/)
  })

  it('[MI7] is off unless it is set, and makes no file for nothing', async () => {
    const { engine, sync, path } = await open()
    await sync()
    expect(existsSync(path)).toBe(false)
    await engine.admin.settings.change('ada' as never, { 'files.memoryFileSync': false })
    await pin(engine, 'Ada prefers green tea.')
    await sync()
    expect(existsSync(path)).toBe(false)
  })

  it('[MI7] writes nothing without a change, and removes forgotten memories', async () => {
    const { engine, sync, text } = await open({ 'MEMORY.md': NOTES })
    const id = await pin(engine, 'Ada prefers green tea.')
    await pin(engine, 'Ada has a parrot.')
    await sync()
    const written = text()
    await sync()
    await sync()
    expect(text()).toBe(written)
    await engine.forget({ owner: 'ada' }, id)
    await sync()
    expect(text()).not.toContain('green tea')
    expect(text()).toContain('parrot')
  })

  it('[MI4] its lines are not indexed, and those around it keep their numbers', async () => {
    const { engine, sync, edit, text } = await open({ 'MEMORY.md': '# Notes\n' })
    await pin(engine, 'Ada prefers green tea.')
    await sync()
    edit(/$/, 'The spare key is at the neighbours.\n')
    const found = async (text: string) => (await engine.files?.search('ada', { text }))?.hits
    expect(await found('green tea')).toEqual([])
    const line = text().split('\n').indexOf('The spare key is at the neighbours.') + 1
    expect(await found('spare key')).toMatchObject([{ path: 'MEMORY.md', endLine: line }])
  })

  it('[MI9] follows memories and edits by itself where files are watched', async () => {
    const { engine, path, text, edit } = await open()
    await engine.files?.start()
    await pin(engine, 'Ada prefers green tea.')
    await until(() => existsSync(path) && text().includes('green tea'))
    edit('green tea', 'black tea')
    while (!(await pinned(engine)).includes('Ada prefers black tea.')) await pause(20)
    const written = text()
    await engine.files?.sync('ada')
    expect(text()).toBe(written)
  })
})

describe('[MI5] edits between the marks', () => {
  it('[MI5] change, add and forget memories, whose history stays', async () => {
    const { engine, sync, edit, text } = await open()
    const id = await pin(engine, 'Ada prefers green tea.')
    await pin(engine, 'Ada has a parrot.')
    await sync()
    edit('green tea', 'black tea')
    edit('## Pinned\n', '## Pinned\n\n- The garden needs water on Mondays.')
    edit(/- Ada has a parrot.*\n/, '')
    await sync()
    expect(await pinned(engine)).toEqual([
      'Ada prefers black tea.',
      'The garden needs water on Mondays.',
    ])
    const history = await engine.memories.history({ owner: 'ada' }, id)
    expect(JSON.stringify(history)).toContain('green tea')
    const all = await engine.list({ owner: 'ada' }, { statuses: ['active'] })
    expect(all.rows.map(({ content }) => content)).toContain('Ada has a parrot.')
    expect(text()).toMatch(/- The garden needs water on Mondays\. <!-- \w+ -->/)
    expect(text()).not.toContain('parrot')
  })

  it('[MI6] on both sides at once are both kept', async () => {
    const { engine, sync, edit, text } = await open()
    const id = await pin(engine, 'The gate code is 1234.')
    await sync()
    edit('1234', '5678')
    await engine.edit({ owner: 'ada' }, id, { content: 'The gate code is 9999.' })
    await sync()
    expect(text()).toContain('5678')
    expect(text()).toContain('9999')
    const known = await engine.list({ owner: 'ada' }, {})
    const contents = known.rows.map(({ content }) => content)
    expect(contents).toEqual(
      expect.arrayContaining(['The gate code is 5678.', 'The gate code is 9999.']),
    )
  })

  it('[MI2] unpaired marks leave the file unchanged, which the status reports', async () => {
    const broken = '<!-- recollect:begin -->\n- something\n'
    const { engine, sync, text } = await open({ 'MEMORY.md': broken })
    await pin(engine, 'Ada prefers green tea.')
    await sync()
    expect(text()).toBe(broken)
    const status = await engine.files?.status('ada')
    expect(status?.roots[0]?.problems).toMatchObject([{ path: 'MEMORY.md', reason: 'failed' }])
  })

  it('[MI8] an edit that is saved while the mirror is written is not lost', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'MEMORY.md')
    const store = await openSqliteStore({ path: temporaryFile('files.db'), now: Date.now })
    onTestFinished(() => store.close())
    const held = [memory({ content: 'Ada prefers green tea.', pinned: true })]
    let onList = () => {}
    const memories: PinnedMemories = {
      list: async () => {
        onList()
        return held
      },
      edit: async (_, id, content) => {
        const at = held.findIndex((each) => each.id === id)
        held[at] = { ...(held[at] ?? memory()), content }
      },
      add: async (_, content) => void held.push(memory({ content, pinned: true })),
      unpin: async () => {},
    }
    const mirror = new MemoryFileSync({
      ...{ store, memories, clock: systemClock },
      workspaceOf: async () => createWorkspace({ path: folder, clock: systemClock }),
      isEnabled: async () => true,
    })
    await mirror.sync(ADA)
    // Saved after the file was read and before it is written.
    let lists = 0
    onList = () => {
      if (++lists !== 2) return
      writeFileSync(path, `Mine.\n${readFileSync(path, 'utf8').replace('green', 'black')}`)
    }
    held.push(memory({ content: 'Ada has a parrot.', pinned: true }))
    await mirror.sync(ADA)
    expect(mirror.trouble(ADA)).toBeNull()
    expect(held.map(({ content }) => content)).toEqual([
      'Ada prefers black tea.',
      'Ada has a parrot.',
    ])
    const text = readFileSync(path, 'utf8')
    expect(text.startsWith('Mine.\n')).toBe(true)
    expect(text).toContain('- Ada prefers black tea.')
    expect(text).toContain('- Ada has a parrot.')
  })
})
