/** Watching real folders, with the habits of editors. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  watch as watchFile,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { FileRoot } from '../../src/files/file.ts'
import type { FileWatch } from '../../src/files/file-tree.ts'
import type { FileTreeOptions } from '../../src/files/local/local-file-tree.ts'
import type { FileSystemWatcher } from '../../src/files/local/root-watcher.ts'
import { folderWith, pause, put, rootAt, treeOf, until } from './file-support.ts'

/** Longer than hints take that come together. */
const QUIET_MS = 150

type Listening = {
  readonly watch: FileWatch
  /** Does something, and waits for the hint that must follow. */
  hears(act: () => void): Promise<void>
  /** Does something that must give no hint. */
  hearsNothing(act: () => void): Promise<void>
  readonly hints: () => number
}

/** Begins when watching has. */
async function listen(root: FileRoot, options: Partial<FileTreeOptions> = {}): Promise<Listening> {
  let hints = 0
  const tree = treeOf({ pollMs: 50, ...options })
  const watch = tree.watch([root], () => {
    hints++
  })
  onTestFinished(() => watch.close())
  await until(() => hints > 0)
  const settled = async () => {
    for (let before = -1; before !== hints; ) {
      before = hints
      await pause(QUIET_MS)
    }
  }
  return {
    watch,
    hints: () => hints,
    hears: async (act) => {
      await settled()
      const before = hints
      act()
      await until(() => hints > before)
    },
    hearsNothing: async (act) => {
      await settled()
      const before = hints
      act()
      await settled()
      expect(hints).toBe(before)
    },
  }
}

describe('events', () => {
  it('[FS14] every way to change a file is heard', async () => {
    const folder = folderWith({ 'a.md': 'x', 'deep/b.md': 'y' })
    const at = (name: string) => join(folder, name)
    const { hears, watch } = await listen(rootAt(folder), { pollMs: 60_000 })
    expect([watch.mode(), watch.getReason()]).toEqual(['events', null])
    await hears(() => writeFileSync(at('a.md'), 'in place'))
    await hears(() => appendFileSync(at('deep/b.md'), 'more'))
    await hears(() => truncateSync(at('a.md'), 0))
    await hears(() => writeFileSync(at('deep/new.md'), 'new'))
    await hears(() => unlinkSync(at('deep/new.md')))
    await hears(() => renameSync(at('deep/b.md'), at('deep/c.md')))
    await hears(() => renameSync(at('deep/c.md'), at('c.md')))
    await hears(() => symlinkSync('c.md', at('link.md')))
  })

  it('[FS14] editors that save by another file are heard, their swap files are not', async () => {
    const folder = folderWith({ 'notes/a.md': 'old' })
    const at = (name: string) => join(folder, 'notes', name)
    const { hears, hearsNothing } = await listen(rootAt(folder), { pollMs: 60_000 })
    // Vim: a swap file, a test whether it may write, the old file aside, a new one in its place.
    await hearsNothing(() => {
      writeFileSync(at('.a.md.swp'), 'swap')
      writeFileSync(at('4913'), '')
      unlinkSync(at('4913'))
    })
    await hears(() => {
      renameSync(at('a.md'), at('a.md~'))
      writeFileSync(at('a.md'), 'new')
      unlinkSync(at('a.md~'))
    })
    await hearsNothing(() => unlinkSync(at('.a.md.swp')))
    // A new file beside it that takes its name.
    await hears(() => {
      writeFileSync(at('.a.md.tmp123'), 'newer')
      renameSync(at('.a.md.tmp123'), at('a.md'))
    })
    // And again: the name now belongs to another file.
    await hears(() => appendFileSync(at('a.md'), 'newest'))
    // Emacs: a lock that is a link to nowhere, and its own copy.
    await hearsNothing(() => {
      symlinkSync('ada@host.1:1', at('.#a.md'))
      writeFileSync(at('#a.md#'), 'copy')
    })
  })

  it('[FS14] only what belongs to the root is heard', async () => {
    const folder = folderWith({ 'MEMORY.md': 'x', 'src/a.md': '', 'one.org': '', '.git/x': '' })
    const workspace = await listen(rootAt(folder, 'workspace'), { pollMs: 60_000 })
    await workspace.hearsNothing(() => {
      put(folder, { 'README.md': 'x', 'src/b.md': 'y', 'node_modules/p/x.md': 'z', '.git/y': '' })
    })
    await workspace.hears(() => writeFileSync(join(folder, 'MEMORY.md'), 'y'))
    await workspace.hears(() => mkdirSync(join(folder, 'memory')))
    await workspace.hears(() => writeFileSync(join(folder, 'memory', 'a.md'), 'y'))
    const file = await listen(rootAt(join(folder, 'one.org')), { pollMs: 60_000 })
    await file.hearsNothing(() => writeFileSync(join(folder, 'MEMORY.md'), 'z'))
    await file.hears(() => {
      writeFileSync(join(folder, 'one.org~'), 'x')
      renameSync(join(folder, 'one.org~'), join(folder, 'one.org'))
    })
    const all = await listen(rootAt(folder), { pollMs: 60_000 })
    await all.hears(() => writeFileSync(join(folder, '.gitignore'), 'src'))
    await all.hearsNothing(() => writeFileSync(join(folder, 'src', 'a.md'), 'x'))
  })

  it('[FS14] what a link inside the root leads to is heard', async () => {
    const folder = folderWith({ 'notes/main.md': 'x', 'more/a.md': 'y' })
    symlinkSync('notes/main.md', join(folder, 'MEMORY.md'))
    symlinkSync('more', join(folder, 'memory'))
    const { hears } = await listen(rootAt(folder, 'workspace'), { pollMs: 60_000 })
    await hears(() => writeFileSync(join(folder, 'notes', 'main.md'), 'z'))
    await hears(() => writeFileSync(join(folder, 'more', 'a.md'), 'z'))
  })

  it('[FS15] folders that come, go, move and come again are watched', async () => {
    const folder = folderWith({ 'a/b/c.md': 'x' })
    const at = (name: string) => join(folder, name)
    const { hears } = await listen(rootAt(folder), { pollMs: 60_000 })
    await hears(() => put(folder, { 'new/deep/er/x.md': 'x' }))
    await hears(() => appendFileSync(at('new/deep/er/x.md'), 'y'))
    await hears(() => renameSync(at('new'), at('moved')))
    await hears(() => appendFileSync(at('moved/deep/er/x.md'), 'z'))
    await hears(() => rmSync(at('a'), { recursive: true }))
    await hears(() => put(folder, { 'a/b/c.md': 'again' }))
    await hears(() => appendFileSync(at('a/b/c.md'), 'y'))
    // Gone and there again at once: the watcher of the old one is deaf.
    await hears(() => {
      rmSync(at('a'), { recursive: true })
      put(folder, { 'a/b/c.md': 'third' })
    })
    await hears(() => appendFileSync(at('a/b/c.md'), 'y'))
    await hears(() => {
      renameSync(at('moved'), at('aside'))
      renameSync(at('a'), at('moved'))
      renameSync(at('aside'), at('a'))
    })
    await hears(() => appendFileSync(at('moved/b/c.md'), 'y'))
    await hears(() => appendFileSync(at('a/deep/er/x.md'), 'y'))
  })

  it('[FS15] a root that is removed and created again is watched', async () => {
    const parent = folderWith({ 'root/a.md': 'x' })
    const at = (name: string) => join(parent, name)
    const { hears, watch } = await listen(rootAt(at('root')))
    await hears(() => rmSync(at('root'), { recursive: true }))
    await hears(() => put(parent, { 'root/b.md': 'x' }))
    await hears(() => appendFileSync(at('root/b.md'), 'y'))
    await hears(() => renameSync(at('root'), at('elsewhere')))
    await hears(() => put(parent, { 'root/sub/c.md': 'x' }))
    await hears(() => appendFileSync(at('root/sub/c.md'), 'y'))
    await hears(() => {
      rmSync(at('root'), { recursive: true })
      put(parent, { 'root/d.md': 'x' })
    })
    await hears(() => appendFileSync(at('root/d.md'), 'y'))
    expect(watch.mode()).toBe('events')
  })

  it('[FS15] a missing root is found when it is created', async () => {
    const parent = folderWith({})
    const { hears } = await listen(rootAt(join(parent, 'later', 'notes')))
    await hears(() => put(parent, { 'later/notes/a.md': 'x' }))
    await hears(() => appendFileSync(join(parent, 'later', 'notes', 'a.md'), 'y'))
  })

  it('[FS15] a link that is the root may be turned elsewhere', async () => {
    const parent = folderWith({ 'one/a.md': 'x', 'two/a.md': 'x' })
    symlinkSync('one', join(parent, 'root'))
    const { hears } = await listen(rootAt(join(parent, 'root')))
    await hears(() => {
      unlinkSync(join(parent, 'root'))
      symlinkSync('two', join(parent, 'root'))
    })
    await hears(() => appendFileSync(join(parent, 'two', 'a.md'), 'y'))
  })

  it('[FS16] folders are watched, not files, and thousands of them', async () => {
    const folder = folderWith({})
    for (let n = 0; n < 5_000; n++) {
      mkdirSync(join(folder, `d${n % 50}`, `e${n}`), { recursive: true })
    }
    put(folder, { 'd49/e4999/x.md': 'x' })
    const before = openFiles()
    const { hears, watch } = await listen(rootAt(folder), { pollMs: 60_000 })
    expect(watch.mode()).toBe('events')
    expect(openFiles() - before).toBeLessThan(20)
    await hears(() => appendFileSync(join(folder, 'd49/e4999/x.md'), 'y'))
    await hears(() => put(folder, { 'd0/e0/y.md': 'y' }))
    watch.close()
    await rm(folder, { recursive: true })
  }, 60_000)

  it('[FS17] closing releases everything and emits no more events', async () => {
    const folder = folderWith({ 'a/b.md': 'x' })
    const [before, watchersBefore] = [openFiles(), activeWatchers()]
    for (let round = 0; round < 50; round++) {
      let hints = 0
      const watch = treeOf({ pollMs: 10 }).watch(
        [rootAt(folder), rootAt(folder, 'workspace')],
        () => {
          hints++
        },
      )
      // Some are closed before they have begun.
      if (round % 2 === 0) await until(() => hints > 0)
      appendFileSync(join(folder, 'a', 'b.md'), 'x')
      watch.close()
      const events = hints
      if (round % 10 === 0) await pause(60)
      expect(hints).toBe(events)
    }
    await pause(100)
    expect(activeWatchers()).toBe(watchersBefore)
    expect(openFiles()).toBeLessThanOrEqual(before + 2)
  })
})

describe('polling', () => {
  /** The real one, until so many folders are watched; then it fails as the system would. */
  function limited(folders: number, code: string): FileSystemWatcher {
    let watched = 0
    return {
      watchFolder: (path, { onEvent, onError }) => {
        if (watched >= folders) throw Object.assign(new Error(`${code}: watch`), { code })
        watched++
        const watcher = watchFile(path, { persistent: false }, onEvent)
        watcher.on('error', onError)
        return watcher
      },
      fileSystemOf: async () => 0,
    }
  }

  for (const code of ['ENOSPC', 'EMFILE', 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM']) {
    it(`[FS16] polls when the system provides no watcher (${code}), and reports it`, async () => {
      const folder = folderWith({ 'a/b/c.md': 'x', 'd/e.md': 'y' })
      const watchSystem = limited(2, code)
      const before = activeWatchers()
      const { hears, hearsNothing, watch } = await listen(rootAt(folder), { watchSystem })
      await until(() => watch.mode() === 'polling')
      expect(watch.getReason()).toContain(folder)
      if (code === 'ENOSPC') expect(watch.getReason()).toContain('max_user_watches')
      expect(activeWatchers()).toBe(before)
      await hears(() => appendFileSync(join(folder, 'a/b/c.md'), 'in place'))
      await hears(() => put(folder, { 'new/x.md': 'x' }))
      await hearsNothing(() => put(folder, { 'new/x.png': 'x' }))
      await hears(() => rmSync(folder, { recursive: true }))
      await hears(() => put(folder, { 'x.md': 'x' }))
    })
  }

  it('[FS16] takes over when there are more folders than are watched', async () => {
    const folder = folderWith({ 'a/b/c.md': 'x' })
    const { hears, watch } = await listen(rootAt(folder), { watchedFoldersMax: 2 })
    expect([watch.mode(), watch.getReason()]).toEqual([
      'polling',
      `${folder}: there are more folders than are watched`,
    ])
    await hears(() => appendFileSync(join(folder, 'a/b/c.md'), 'y'))
  })

  it.skipIf(process.platform !== 'linux')(
    '[FS16] takes over on drives of other machines (Linux)',
    async () => {
      const folder = folderWith({ 'a.md': 'x' })
      const watchSystem = { ...limited(100, ''), fileSystemOf: async () => 0x6969 }
      const { hears, watch } = await listen(rootAt(folder), { watchSystem })
      expect(watch.getReason()).toBe(`${folder}: NFS tells nothing of changes made elsewhere`)
      await hears(() => appendFileSync(join(folder, 'a.md'), 'y'))
    },
  )

  it('[FS16] one root that is polled leaves the others their events', async () => {
    const [one, two] = [folderWith({ 'a/b/c.md': 'x' }), folderWith({ 'a.md': 'x' })]
    const events: string[] = []
    const tree = treeOf({ watchedFoldersMax: 2, pollMs: 60_000 })
    const watch = tree.watch([rootAt(one), rootAt(two)], ({ path }) => events.push(path))
    onTestFinished(() => watch.close())
    await until(() => events.includes(one) && events.includes(two))
    expect(watch.getReason()).toContain(one)
    events.length = 0
    appendFileSync(join(two, 'a.md'), 'y')
    await until(() => events.includes(two))
  })
})

function openFiles(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0
}

/** What the system watches for this process. */
function activeWatchers(): number {
  if (process.platform !== 'linux') return 0
  const lines = readdirSync('/proc/self/fdinfo').flatMap((name) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${name}`, 'utf8').split('\n')
    } catch {
      return [] // closed since
    }
  })
  return lines.filter((line) => line.startsWith('inotify wd:')).length
}
