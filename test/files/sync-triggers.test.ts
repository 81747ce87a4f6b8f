import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/app/system-clock.ts'
import type { FileRoot } from '../../src/files/file.ts'
import type { FileTree } from '../../src/files/file-tree.ts'
import { createWorkspace } from '../../src/files/local/local-workspace.ts'
import { FakeClock } from '../fakes/clock.ts'
import { gate } from '../fakes/embedder.ts'
import { FakeTimers } from '../fakes/timers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { folderWith, pause, put, treeOf, until } from './file-support.ts'
import { ADA, found, type OpenOptions, openFiles } from './index-support.ts'

/** The real tree, but hints come only from the test, and each scan is counted. */
function hintedTree() {
  const tree = treeOf()
  const state = { scans: 0, watches: 0, closed: 0, before: async () => {} }
  const hints = new Map<string, () => void>()
  const hinted: FileTree = {
    ...tree,
    scan: async (root, signal) => {
      state.scans++
      await state.before()
      return tree.scan(root, signal)
    },
    watch: (roots, onHint) => {
      state.watches++
      for (const root of roots) {
        hints.set(root.path, () => onHint(root))
        onHint(root)
      }
      return { mode: () => 'events', getReason: () => null, close: () => state.closed++ }
    },
  }
  return { tree: hinted, state, hint: (path: string) => hints.get(path)?.() }
}

async function started(
  options: OpenOptions & {
    readonly kind?: FileRoot['kind']
    readonly files?: Record<string, string>
  } = {},
) {
  const { tree, state, hint } = hintedTree()
  const timers = new FakeTimers(new FakeClock())
  const folder = folderWith(options.files ?? { 'a.md': 'Tea.' })
  const parts = await openFiles({ tree, timers, ...options })
  await parts.files.roots.add(ADA, { kind: options.kind ?? 'path', path: folder })
  await parts.files.start()
  // What the first hint has set off.
  await timers.pass(5_000, async () => {})
  await parts.files.sync(ADA)
  const scans = () => {
    const { scans } = state
    state.scans = 0
    return scans
  }
  scans()
  return { ...parts, folder, hint: () => hint(folder), state, timers, scans }
}

describe('by itself', () => {
  it('[FX14] a root is looked at 1.5 seconds after the last hint, a transcript after 5', async () => {
    for (const [kind, ms] of [
      ['path', 1_500],
      ['sessions', 5_000],
    ] as const) {
      const { hint, timers, state } = await started({ kind })
      hint()
      await timers.pass(ms - 100, async () => {})
      expect(state.scans).toBe(0)
      if (kind === 'path') {
        hint()
        await timers.pass(ms - 100, async () => {})
        expect(state.scans).toBe(0)
      }
      await timers.pass(100, async () => {})
      await until(() => state.scans === 1)
    }
  })

  it('[FX14] [PO55] OpenClaw: `sync.watch`, its debounce and `sync.intervalMinutes` are settings', async () => {
    const silent = await started({ pace: { isWatching: false, intervalMs: 60_000 } })
    expect(silent.state.watches).toBe(0)
    await silent.timers.pass(60_000, async () => {})
    await until(() => silent.state.scans === 1)
    const { hint, timers, state } = await started({ pace: { debounceMs: 100, intervalMs: 0 } })
    await timers.pass(7_200_000, async () => {})
    expect(state.scans).toBe(0)
    hint()
    await timers.pass(100, async () => {})
    await until(() => state.scans === 1)
  })

  it('[FX14] everything is looked at when it starts, and once an hour', async () => {
    const { timers, state, files, folder } = await started()
    put(folder, { 'b.md': 'Coffee.' })
    await timers.pass(3_600_000, async () => {})
    await until(() => state.scans === 1)
    expect((await files.sync(ADA)).unchanged).toBe(2)
  })

  it('[FX14] roots that are added are watched, those that are removed no longer', async () => {
    const { files, state, timers } = await started()
    expect(state.watches).toBe(1)
    const { id } = await files.roots.add(ADA, { kind: 'path', path: folderWith({ 'b.md': 'x' }) })
    expect(state).toMatchObject({ watches: 2, closed: 1 })
    expect((await files.status(ADA)).watching).toEqual({ mode: 'events', reason: null })
    for (const root of await files.roots.list(ADA)) await files.roots.remove(ADA, root.id)
    expect(state).toMatchObject({ watches: 3, closed: 3 })
    expect((await files.status(ADA)).watching.mode).toBe('off')
    expect(id).toMatch(/^root_/)
    await files.close()
    expect(timers.count).toBe(0)
  })
})

describe('a question', () => {
  it('[FX15] waits for changed files, and scans nothing without a change', async () => {
    const parts = await started({ pace: { cheapLookMs: 0 } })
    const { folder, hint, scans } = parts
    expect(await found(parts, 'coffee')).toEqual([])
    expect(scans()).toBe(0)
    put(folder, { 'b.md': 'Coffee.' })
    hint()
    expect(await found(parts, 'coffee')).toHaveLength(1)
    expect(scans()).toBe(1)
    expect(await found(parts, 'coffee')).toHaveLength(1)
    expect(scans()).toBe(0)
  })

  it('[FX15] finds every edit where nothing watches', async () => {
    const parts = await openFiles()
    const folder = folderWith({ 'a.md': 'Tea.' })
    await parts.files.roots.add(ADA, { kind: 'path', path: folder })
    expect(await found(parts, 'tea')).toHaveLength(1)
    put(folder, { 'a.md': 'Only coffee from now on.' })
    expect(await found(parts, 'coffee')).toHaveLength(1)
    expect(await found(parts, 'tea')).toEqual([])
  })

  it('[FX15] finds every edit at once where a scan is cheap, and else after a watcher event', async () => {
    const parts = await openFiles({ pace: { cheapLookMs: 60_000 } })
    const folder = folderWith({ 'a.md': 'Tea.' })
    await parts.files.roots.add(ADA, { kind: 'path', path: folder })
    await parts.files.start()
    await parts.files.sync(ADA)
    for (const word of ['coffee', 'milk', 'water']) {
      put(folder, { 'a.md': `Only ${word} from now on.` })
      expect(await found(parts, word)).toHaveLength(1)
    }
    const received = await openFiles({ pace: { cheapLookMs: 0 } })
    await received.files.roots.add(ADA, { kind: 'path', path: folder })
    await received.files.start()
    await received.files.sync(ADA)
    put(folder, { 'a.md': 'Only juice from now on.' })
    while ((await found(received, 'juice')).length === 0) await pause(5)
  })

  it('[FX15] that would wait too long is answered from what is there, and says so', async () => {
    const parts = await started({ pace: { searchWaitMs: 20 } })
    const { folder, hint, state, files } = parts
    const slow = gate()
    state.before = () => slow.opened
    put(folder, { 'b.md': 'Coffee, and tea.' })
    hint()
    const { hits, fallbackReason: fallback } = await files.search(ADA, { text: 'tea' })
    expect(hits).toHaveLength(1)
    expect(fallback).toMatch(/not indexed yet/)
    slow.open()
    await files.sync(ADA)
    expect((await files.search(ADA, { text: 'tea' })).hits).toHaveLength(2)
  })
})

describe('adding to a note', () => {
  const opened = async (now: string, timeZone: string) => {
    const folder = temporaryFolder()
    const clock = new FakeClock(Date.parse(now))
    const parts = await openFiles({
      ...{ clock, tree: treeOf() },
      settings: { timeZone },
      workspaceOf: (root) => createWorkspace({ path: root.path, clock: systemClock }),
    })
    await parts.files.roots.add(ADA, { kind: 'workspace', path: folder })
    return parts
  }

  it('[FX28] writes to today, as it is where the owner lives, and is found by the next question', async () => {
    const evening = '2026-11-15T23:30:00Z'
    for (const [zone, day] of [
      ['UTC', '2026-11-15'],
      ['Asia/Tokyo', '2026-11-16'],
      ['America/Los_Angeles', '2026-11-15'],
    ] as const) {
      const parts = await opened(evening, zone)
      const { path } = await parts.files.appendToDailyNote(ADA, 'We decided for the blue kettle.')
      expect(path).toBe(`memory/${day}.md`)
      await parts.files.appendToDailyNote(ADA, 'And for the green cup.')
      expect((await parts.files.readFile(ADA, path)).text).toBe(
        'We decided for the blue kettle.\nAnd for the green cup.\n',
      )
      expect(await found(parts, 'green cup')).toEqual([path])
    }
  })

  it('[FX28] needs a workspace, words, and a time zone that there is', async () => {
    const { files } = await openFiles()
    await expect(files.appendToDailyNote(ADA, 'x')).rejects.toMatchObject({ code: 'not_found' })
    const there = await opened('2026-11-15T12:00:00Z', 'Nowhere/At_All')
    await expect(there.files.appendToDailyNote(ADA, ' ')).rejects.toMatchObject({
      code: 'invalid_input',
    })
    await expect(there.files.appendToDailyNote(ADA, 'x')).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })
})
