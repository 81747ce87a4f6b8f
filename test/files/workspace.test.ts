import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/app/system-clock.ts'
import type { Workspace } from '../../src/files/file-tree.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/files/local/local-workspace.ts'
import { child, ended } from '../faults/sqlite-support.ts'
import {
  canLosePermissions,
  folderWith,
  openFolder,
  pause,
  put,
  rootAt,
  smallFileSystem,
  treeOf,
  withoutPermissions,
} from './file-support.ts'

function workspaceAt(path: string, options: Partial<WorkspaceOptions> = {}): Workspace {
  return createWorkspace({ path, clock: systemClock, ...options })
}

/** What anyone sees who looks into the folder, this program's own lock aside. */
function namesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name !== '.recollect.lock')
    .sort()
}

describe('files', () => {
  it('[FS18] are made with their folders, once', async () => {
    const folder = join(folderWith({}), 'not', 'there')
    const workspace = workspaceAt(folder)
    expect(await workspace.read('memory/a.md')).toBeNull()
    expect(await workspace.list('', 1)).toBeNull()
    expect(await workspace.create('memory/deep/a.md', 'häh')).toBe(true)
    expect(await workspace.create('memory/deep/a.md', 'other')).toBe(false)
    expect(await workspace.create('memory/deep', 'other')).toBe(false)
    expect(await workspace.read('memory/deep/a.md')).toBe('häh')
    expect(await workspace.read('memory/deep')).toBeNull()
    expect(namesIn(join(folder, 'memory', 'deep'))).toEqual(['a.md'])
  })

  it('[FS18] are decided from the current content', async () => {
    const folder = folderWith({ 'a.md': 'old' })
    const workspace = workspaceAt(folder)
    await workspace.update('a.md', (text) => `${text}, new`)
    await workspace.update('b/c.md', (text) => (text === null ? 'first' : 'wrong'))
    const before = statSync(join(folder, 'a.md'))
    await workspace.update('a.md', (text) => text)
    await workspace.update('a.md', () => null)
    await workspace.update('none.md', () => null)
    expect(statSync(join(folder, 'a.md')).mtimeMs).toBe(before.mtimeMs)
    const failing = workspace.update('a.md', () => {
      throw new Error('not decided')
    })
    await expect(failing).rejects.toThrow('not decided')
    expect(await workspace.read('a.md')).toBe('old, new')
    expect(namesIn(folder)).toEqual(['a.md', 'b'])
  })

  it('[FS18] are added to on lines of their own', async () => {
    const folder = folderWith({ 'a.md': 'no break', 'b.md': 'break\n', 'c.md': '' })
    const workspace = workspaceAt(folder)
    for (const name of ['a.md', 'b.md', 'c.md', 'd.md']) {
      await workspace.append(name, 'one')
      await workspace.append(name, 'two\n')
    }
    expect(await workspace.read('a.md')).toBe('no break\none\ntwo\n')
    expect(await workspace.read('b.md')).toBe('break\none\ntwo\n')
    expect(await workspace.read('c.md')).toBe('one\ntwo\n')
    expect(await workspace.read('d.md')).toBe('one\ntwo\n')
  })

  it('[FS18] are removed and renamed, folders with all that is in them', async () => {
    const folder = folderWith({ 'a.md': 'x', 'b/c/d.md': 'y' })
    const workspace = workspaceAt(folder)
    expect(await workspace.rename('a.md', 'b/c/d.md')).toBe('taken')
    expect(await workspace.rename('none.md', 'new/none.md')).toBe('missing')
    expect(await workspace.rename('a.md', 'new/deep/e.md')).toBe('renamed')
    expect(await workspace.rename('b', 'new/b')).toBe('renamed')
    await expect(workspace.rename('new', 'new/b/new')).rejects.toMatchObject({
      code: 'invalid_input',
    })
    expect(await workspace.read('new/b/c/d.md')).toBe('y')
    expect(await workspace.remove('new/b')).toBe(true)
    expect(await workspace.remove('new/b')).toBe(false)
    expect(await workspace.remove('new/deep/e.md')).toBe(true)
    expect(await workspace.list('', 3)).toMatchObject([
      { path: '', isFolder: true },
      { path: 'new', isFolder: true },
      { path: 'new/deep', isFolder: true },
    ])
  })

  it('[FS18] are listed in order, hidden ones left out', async () => {
    const folder = folderWith({
      'b.md': '12',
      'a/z.md': '1',
      'a/b/c.md': '',
      '.x/y.md': '',
      'a.md': '',
    })
    const workspace = workspaceAt(folder)
    const paths = async (path: string, depth: number) =>
      (await workspace.list(path, depth))?.map((entry) => entry.path)
    expect(await paths('', 0)).toEqual([''])
    expect(await paths('', 1)).toEqual(['', 'a', 'a.md', 'b.md'])
    expect(await paths('', 2)).toEqual(['', 'a', 'a/b', 'a/z.md', 'a.md', 'b.md'])
    expect(await paths('a', 2)).toEqual(['a', 'a/b', 'a/b/c.md', 'a/z.md'])
    expect(await workspace.list('b.md', 2)).toEqual([
      { path: 'b.md', isFolder: false, sizeBytes: 2 },
    ])
    expect(await workspace.list('none', 1)).toBeNull()
  })

  it.skipIf(process.platform === 'win32')(
    '[FS18] keep their permissions, and new ones are private (not run on Windows)',
    async () => {
      const folder = folderWith({ 'a.md': 'x' })
      const path = join(folder, 'a.md')
      chmodSync(path, 0o640)
      if (process.getuid?.() === 0) chownSync(path, 1_234, 5_678)
      const before = statSync(path)
      await workspaceAt(folder).append('a.md', 'y')
      const { mode, uid, gid } = statSync(path)
      expect({ mode, uid, gid }).toEqual({ mode: before.mode, uid: before.uid, gid: before.gid })
      await workspaceAt(folder).create('new/b.md', 'z')
      expect(statSync(join(folder, 'new', 'b.md')).mode & 0o777).toBe(0o600)
      expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o700)
    },
  )

  it('[FS18] are atomic for concurrent readers', async () => {
    const folder = folderWith({ 'a.md': '0'.repeat(300_000) })
    const workspace = workspaceAt(folder)
    let isOver = false
    const writing = (async () => {
      for (let n = 0; n < 20; n++) await workspace.update('a.md', () => `${n % 10}`.repeat(300_000))
      isOver = true
    })()
    while (!isOver) {
      const text = readFileSync(join(folder, 'a.md'), 'utf8')
      expect([text.length, new Set(text).size]).toEqual([300_000, 1])
      await pause(1)
    }
    await writing
  })

  it('[FS18] lose no concurrent edit of a program without locks', async () => {
    const folder = folderWith({ 'a.md': 'one\n' })
    let calls = 0
    await workspaceAt(folder).update('a.md', (text) => {
      calls++
      // An editor saves between reading and writing.
      if (calls === 1) appendFileSync(join(folder, 'a.md'), 'by hand\n')
      return `${text}two\n`
    })
    expect(calls).toBe(2)
    expect(readFileSync(join(folder, 'a.md'), 'utf8')).toBe('one\nby hand\ntwo\n')
    await workspaceAt(folder).update('new.md', (text) => {
      if (text === null) writeFileSync(join(folder, 'new.md'), 'by hand\n')
      return `${text ?? ''}two\n`
    })
    expect(readFileSync(join(folder, 'new.md'), 'utf8')).toBe('by hand\ntwo\n')
  })
})

describe('several writers', () => {
  it('[FS19] of one process lose no words', async () => {
    const folder = folderWith({})
    const workspaces = [
      workspaceAt(folder),
      workspaceAt(folder),
      workspaceAt(folder).within('memory'),
    ]
    const names = ['memory/a.md', 'memory/a.md', 'a.md']
    const lines = Array.from({ length: 90 }, (_, index) => `line ${index}`)
    await Promise.all(
      lines.map((line, index) => workspaces[index % 3]?.append(names[index % 3] ?? '', line)),
    )
    const text = readFileSync(join(folder, 'memory', 'a.md'), 'utf8')
    expect(text.trim().split('\n').sort()).toEqual([...lines].sort())
  })

  it('[FS19] of four processes lose no words, each in order', async () => {
    const folder = folderWith({})
    const writers = [0, 1, 2, 3]
    const children = writers.map((writer) =>
      child('../files/append.child.ts', { path: folder, writer, lines: 100 }),
    )
    for (const process of children) process.stdout?.resume()
    expect(await Promise.all(children.map(ended))).toEqual([0, 0, 0, 0])
    const lines = readFileSync(join(folder, 'memory', 'log.md'), 'utf8')
      .trim()
      .split('\n')
    expect(lines).toHaveLength(400)
    for (const writer of writers) {
      const own = lines.filter((line) => line.startsWith(`${writer}:`))
      expect(own).toEqual(Array.from({ length: 100 }, (_, line) => `${writer}:${line}`))
    }
    expect(readFileSync(join(folder, 'counter.txt'), 'utf8')).toBe('400')
    expect(namesIn(folder)).toEqual(['counter.txt', 'memory'])
    expect(namesIn(join(folder, 'memory'))).toEqual(['log.md'])
  }, 120_000)

  it('[FS19] that are killed release their lock and leave nothing', async () => {
    const folder = folderWith({})
    for (let round = 0; round < 8; round++) {
      const options = { path: folder, writer: round, lines: 10_000 }
      const process = child('../files/append.child.ts', options)
      if (process.stdout !== null) await once(process.stdout, 'data')
      await pause(round * 7)
      process.kill('SIGKILL')
      await ended(process)
      await workspaceAt(folder, { lockWaitMs: 2_000 }).append('memory/log.md', `after ${round}`)
    }
    const lines = readFileSync(join(folder, 'memory', 'log.md'), 'utf8')
      .trim()
      .split('\n')
    expect(lines.every((line) => /^(?:\d:\d+|after \d)$/.test(line))).toBe(true)
    expect(lines.filter((line) => line.startsWith('after'))).toHaveLength(8)
    await workspaceAt(folder).append('counter.txt', 'sweeps')
    expect(namesIn(folder)).toEqual(['counter.txt', 'memory'])
    expect(namesIn(join(folder, 'memory'))).toEqual(['log.md'])
  }, 120_000)

  it('[FS19] what a killed one left is swept, and never indexed', async () => {
    const folder = folderWith({
      'memory/.recollect-1.tmp': 'half a fi',
      'memory/.recollect-2.tmp/gone/x.md': 'removed by half',
      'memory/a.md': 'x',
    })
    const { files } = await treeOf().scan(rootAt(folder, 'workspace'))
    expect(files.map(({ path }) => path)).toEqual(['memory/a.md'])
    await workspaceAt(folder).append('memory/a.md', 'y')
    expect(namesIn(join(folder, 'memory'))).toEqual(['a.md'])
  })

  it('[FS19] that wait too long fail, and change nothing', async () => {
    const folder = folderWith({ 'a.md': 'x' })
    const workspace = workspaceAt(folder, { lockWaitMs: 30 })
    const other = new DatabaseSync(join(folder, '.recollect.lock'))
    other.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE')
    await expect(workspace.append('a.md', 'y')).rejects.toMatchObject({ code: 'busy' })
    await expect(workspace.remove('a.md')).rejects.toMatchObject({ code: 'busy' })
    expect(await workspace.read('a.md')).toBe('x')
    other.exec('ROLLBACK')
    await workspace.append('a.md', 'y')
    expect(await workspace.read('a.md')).toBe('x\ny\n')
    other.close()
  })
})

describe('faults', () => {
  it('[FS20] a full disk is reported, and nothing is half-written (needs mount)', async (test) => {
    const folder = smallFileSystem('1m')
    if (folder === null) return test.skip()
    const workspace = workspaceAt(folder)
    await workspace.create('a.md', 'old\n')
    const large = 'x'.repeat(3_000_000)
    const disk = { code: 'disk_full', message: 'a.md was not changed: there is no space left.' }
    await expect(workspace.append('a.md', large)).rejects.toMatchObject(disk)
    await expect(workspace.update('a.md', () => large)).rejects.toMatchObject(disk)
    await expect(workspace.create('memory/b.md', large)).rejects.toMatchObject({
      code: 'disk_full',
    })
    expect(readFileSync(join(folder, 'a.md'), 'utf8')).toBe('old\n')
    expect(existsSync(join(folder, 'memory', 'b.md'))).toBe(false)
    expect(namesIn(folder).filter((name) => name !== 'memory')).toEqual(['a.md'])
    await workspace.append('a.md', 'fits')
    expect(await workspace.read('a.md')).toBe('old\nfits\n')
  })

  it.skipIf(!canLosePermissions)(
    '[FS20] an unwritable folder is reported (not run on Windows)',
    async () => {
      const folder = openFolder()
      put(folder, { 'closed/a.md': 'x', 'open/': '' })
      chmodSync(join(folder, 'closed'), 0o555)
      chmodSync(join(folder, 'closed', 'a.md'), 0o444)
      await withoutPermissions(async () => {
        const workspace = workspaceAt(join(folder, 'closed'))
        expect(await workspace.read('a.md')).toBe('x')
        for (const change of [
          workspace.append('a.md', 'y'),
          workspace.create('b.md', 'y'),
          workspace.remove('a.md'),
          workspace.rename('a.md', 'b.md'),
        ]) {
          await expect(change).rejects.toMatchObject({ code: 'read_only' })
        }
        await expect(
          workspaceAt(join(folder, 'closed', 'new')).create('a', ''),
        ).rejects.toMatchObject({ code: 'read_only' })
      })
      expect(readdirSync(join(folder, 'closed'))).toEqual(['a.md'])
      expect(readFileSync(join(folder, 'closed', 'a.md'), 'utf8')).toBe('x')
    },
  )

  it('[FS20] a file in place of a folder or of the lock is reported', async () => {
    const folder = folderWith({ 'a.md': 'x' })
    const workspace = workspaceAt(folder)
    await expect(workspace.create('a.md/b.md', '')).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(workspace.update('a.md/b/c.md', () => '')).rejects.toMatchObject({
      code: 'invalid_input',
    })
    mkdirSync(join(folder, 'folder'))
    await expect(workspace.append('folder', '')).rejects.toMatchObject({ code: 'invalid_input' })
    const other = folderWith({ '.recollect.lock': 'something that somebody needs'.repeat(100) })
    await expect(workspaceAt(other).create('a.md', '')).rejects.toMatchObject({ code: 'read_only' })
    expect(readFileSync(join(other, '.recollect.lock'), 'utf8')).toContain('somebody needs')
  })

  it('[FS20] files that are too large are neither read nor written', async () => {
    const folder = folderWith({ 'a.md': 'x'.repeat(11), 'b.md': 'x'.repeat(8) })
    const workspace = workspaceAt(folder, { fileBytesMax: 10 })
    await expect(workspace.read('a.md')).rejects.toMatchObject({ code: 'too_large' })
    await expect(workspace.append('b.md', 'xx')).rejects.toMatchObject({ code: 'too_large' })
    await expect(workspace.create('c.md', 'ü'.repeat(6))).rejects.toMatchObject({
      code: 'too_large',
    })
    expect(namesIn(folder)).toEqual(['a.md', 'b.md'])
  })

  it('[FS20] bytes that are no UTF-8 are added to, but never rewritten', async () => {
    const latin = Buffer.from('caf\xe9', 'latin1')
    const folder = folderWith({ 'a.md': latin, 'wide.md': Buffer.from('\uFEFFx', 'utf16le') })
    const workspace = workspaceAt(folder)
    await workspace.append('a.md', 'new')
    expect(readFileSync(join(folder, 'a.md'))).toEqual(
      Buffer.concat([latin, Buffer.from('\nnew\n')]),
    )
    const refused = { code: 'invalid_input' }
    await expect(workspace.update('a.md', (text) => `${text}!`)).rejects.toMatchObject(refused)
    await expect(workspace.append('wide.md', 'new')).rejects.toMatchObject(refused)
    expect(await workspace.read('a.md')).toBe('caf\uFFFD\nnew\n')
  })
})

describe('fences', () => {
  it('[FS21] no call leads out by words or links', async () => {
    const outside = folderWith({ 'secret.md': 'secret', 'deep/x.md': 'x' })
    const folder = folderWith({ 'a.md': 'x' })
    symlinkSync(outside, join(folder, 'out'))
    symlinkSync(join(outside, 'secret.md'), join(folder, 'out.md'))
    symlinkSync(join(outside, 'not-yet.md'), join(folder, 'dangling.md'))
    const workspace = workspaceAt(folder)
    const paths = ['../x.md', '..', '/etc/x.md', 'a/../../x.md', 'a\\b', 'x\0', '', 'out/secret.md']
    for (const path of [...paths, 'out.md', 'out/new/deep.md']) {
      const calls = [
        () => workspace.read(path),
        () => workspace.create(path, 'x'),
        () => workspace.update(path, () => 'x'),
        () => workspace.append(path, 'x'),
        () => workspace.remove(path),
        () => workspace.rename(path, 'b.md'),
        () => workspace.rename('a.md', path),
        ...(path === '' ? [] : [() => workspace.list(path, 1)]),
      ]
      for (const call of calls)
        await expect(call()).rejects.toMatchObject({ code: 'invalid_input' })
    }
    await expect(workspace.append('dangling.md', 'x')).rejects.toMatchObject({
      code: 'invalid_input',
    })
    expect(await workspace.create('dangling.md', 'x')).toBe(false)
    expect((await workspace.list('', 2))?.map(({ path }) => path)).toEqual(['', 'a.md'])
    expect(namesIn(outside)).toEqual(['deep', 'secret.md'])
    expect(readFileSync(join(outside, 'secret.md'), 'utf8')).toBe('secret')
    expect(namesIn(folder)).toEqual(['a.md', 'dangling.md', 'out', 'out.md'])
  })

  it('[FS21] one of its folders can be the fence', async () => {
    const folder = folderWith({ 'MEMORY.md': 'x', 'memory/a.md': 'y' })
    symlinkSync('../MEMORY.md', join(folder, 'memory', 'up.md'))
    const fenced = workspaceAt(folder).within('memory')
    expect(await fenced.read('a.md')).toBe('y')
    await expect(fenced.read('up.md')).rejects.toMatchObject({ facts: { reason: 'link' } })
    await expect(fenced.append('up.md', '')).rejects.toMatchObject({ facts: { reason: 'link' } })
    expect(await workspaceAt(folder).read('memory/up.md')).toBe('x')
    expect(() => workspaceAt(folder).within('../x')).toThrow('no path inside')
    await workspaceAt(folder).within('new').within('er').create('b.md', 'z')
    expect(await workspaceAt(folder).read('new/er/b.md')).toBe('z')
  })

  it('[FS21] links inside stay links, and what they lead to is changed', async () => {
    const folder = folderWith({ 'notes/real.md': 'x\n' })
    symlinkSync('notes/real.md', join(folder, 'MEMORY.md'))
    symlinkSync('notes', join(folder, 'memory'))
    const workspace = workspaceAt(folder)
    await workspace.append('MEMORY.md', 'y')
    await workspace.append('memory/real.md', 'z')
    await workspace.create('memory/new.md', 'n')
    expect(readFileSync(join(folder, 'notes', 'real.md'), 'utf8')).toBe('x\ny\nz\n')
    expect(namesIn(join(folder, 'notes'))).toEqual(['new.md', 'real.md'])
    expect(await workspace.remove('MEMORY.md')).toBe(true)
    expect(await workspace.read('notes/real.md')).toBe('x\ny\nz\n')
  })

  it('[FS21] a link that replaces a folder during the write is not followed', async () => {
    const outside = folderWith({ 'log.md': 'outside\n' })
    const folder = folderWith({ 'here/log.md': 'inside\n' })
    const swapping = child('../files/swap.child.ts', { folder, outside })
    try {
      if (swapping.stdout !== null) await once(swapping.stdout, 'data')
      for (let writes = 0; writes < 150; writes++) {
        await workspaceAt(folder)
          .append('here/log.md', `line ${writes}`)
          .catch(() => {})
      }
    } finally {
      swapping.stdin?.write('stop')
      await ended(swapping)
    }
    expect(readFileSync(join(outside, 'log.md'), 'utf8')).toBe('outside\n')
    expect(readdirSync(outside)).toEqual(['log.md'])
  }, 60_000)
})
