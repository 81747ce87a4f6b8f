import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FileRoot } from '../../src/files/file.ts'
import type { FileTreeOptions } from '../../src/files/local/local-file-tree.ts'
import {
  canLosePermissions,
  folderWith,
  openFolder,
  put,
  rootAt,
  treeOf,
  withoutPermissions,
} from './file-support.ts'

async function pathsIn(
  root: FileRoot,
  options?: Partial<FileTreeOptions>,
): Promise<readonly string[]> {
  return (await treeOf(options).scan(root)).files.map(({ path }) => path)
}

async function troublesIn(root: FileRoot, options?: Partial<FileTreeOptions>) {
  const { problems: troubles, isComplete: isWhole } = await treeOf(options).scan(root)
  return { reason: troubles.map(({ path, reason: because }) => `${path} ${because}`), isWhole }
}

describe('which files count', () => {
  it('[FS1] a workspace is MEMORY.md, memory.md and the texts under memory/', async () => {
    const folder = folderWith({
      'MEMORY.md': 'a',
      'README.md': 'no',
      'memory/2026-11-15.md': 'b',
      'memory/deep/er/note.markdown': 'c',
      'memory/list.TXT': 'd',
      'memory/picture.png': 'no',
      'memory/node_modules/x.md': 'no',
      'memoryless/x.md': 'no',
      'docs/memory/x.md': 'no',
      '.gitignore': 'memory\nMEMORY.md\n',
    })
    const root = rootAt(folder, 'workspace')
    const found = ['MEMORY.md', 'memory/2026-11-15.md', 'memory/deep/er/note.markdown']
    expect(await pathsIn(root)).toEqual([...found, 'memory/list.TXT'])
    // Where names that differ by case are one, this is the first file again.
    put(folder, { 'memory.md': 'b' })
    const isSensitive = !existsSync(join(folder, 'mEMORY.md'))
    expect(await pathsIn(root)).toHaveLength(isSensitive ? 5 : 4)
  })

  it('[FS1] one file by two names is one file', async () => {
    const folder = folderWith({ 'MEMORY.md': 'a', 'memory/x.md': 'b' })
    symlinkSync('MEMORY.md', join(folder, 'memory.md'))
    symlinkSync('x.md', join(folder, 'memory', 'current.md'))
    expect(await pathsIn(rootAt(folder, 'workspace'))).toEqual(['MEMORY.md', 'memory/x.md'])
  })

  it('[FS2] a folder is its Markdown and plain text, at any depth', async () => {
    const folder = folderWith({
      'a.md': '',
      'b.markdown': '',
      'c.mdx': '',
      'd.txt': '',
      'e.text': '',
      'f.rst': '',
      'UP.MD': '',
      'deep/.hidden/g.md': '',
      'no.html': '',
      md: '',
      'x.md~': '',
      '.x.md.swp': '',
      '._x.md': 'attributes that macOS keeps',
      '.recollect-1.tmp/x.md': 'a folder that is being removed',
    })
    const found = ['UP.MD', 'a.md', 'b.markdown', 'c.mdx', 'd.txt', 'deep/.hidden/g.md']
    expect(await pathsIn(rootAt(folder))).toEqual([...found, 'e.text', 'f.rst'])
  })

  it('[FS2] a file is itself, whatever its name, and not its neighbours', async () => {
    const folder = folderWith({ 'notes.org': 'x', 'other.md': 'y' })
    const root = rootAt(join(folder, 'notes.org'))
    expect(await pathsIn(root)).toEqual(['notes.org'])
    expect((await treeOf().read(root, 'notes.org')).kind).toBe('read')
    expect(await treeOf().read(root, 'other.md')).toMatchObject({
      trouble: { reason: 'outside_root' },
    })
    const linked = join(folderWith({}), 'link.org')
    symlinkSync(join(folder, 'notes.org'), linked)
    expect(await pathsIn(rootAt(linked))).toEqual(['notes.org'])
  })

  it('[FS2] globs choose among them', async () => {
    const folder = folderWith({
      'a.md': '',
      'docs/b.md': '',
      'docs/c.txt': '',
      'docs/drafts/d.md': '',
      'src/docs/e.md': '',
      '!odd.md': '',
    })
    const chosen = (include: readonly string[], exclude: readonly string[] = []) =>
      pathsIn(rootAt(folder, 'path', { include, exclude }))
    expect(await chosen(['docs/**'])).toEqual(['docs/b.md', 'docs/c.txt', 'docs/drafts/d.md'])
    expect(await chosen(['/docs'])).toEqual(['docs/b.md', 'docs/c.txt', 'docs/drafts/d.md'])
    expect(await chosen(['docs/'])).toHaveLength(4)
    expect(await chosen(['*.txt'])).toEqual(['docs/c.txt'])
    expect(await chosen(['docs/*.{md,txt}'])).toEqual(['docs/b.md', 'docs/c.txt'])
    expect(await chosen([], ['drafts', '*.txt', 'src/'])).toEqual(['!odd.md', 'a.md', 'docs/b.md'])
    expect(await chosen(['!odd.md'])).toEqual(['!odd.md'])
    expect(await chosen(['*.png'])).toEqual([])
  })

  it('[FS3] passes over what programs make, and what Git ignores', async () => {
    const folder = folderWith({
      'a.md': '',
      '.gitignore': '\uFEFFbuild/\n*.tmp.md\n!keep.tmp.md\n/only-here.md\n# comment\n',
      'only-here.md': '',
      'b.tmp.md': '',
      'keep.tmp.md': '',
      'build/x.md': '',
      'deep/only-here.md': '',
      'deep/build/y.md': '',
      'deep/.gitignore': '*.md\n!/wanted.md\n',
      'deep/wanted.md': '',
      'deep/unwanted.md': '',
      'deep/er/wanted.md': '',
      'other/.gitignore': '!*.tmp.md',
      'other/c.tmp.md': '',
      'CASE/Build/z.md': '',
    })
    const skipped = ['.git', 'node_modules', '.pnpm-store', '.venv', 'venv', '.tox', '__pycache__']
    for (const name of skipped) {
      put(folder, { [`${name}/x.md`]: '', [`deep/${name}/wanted.md`]: '' })
    }
    const expected = ['CASE/Build/z.md', 'a.md', 'deep/wanted.md', 'keep.tmp.md', 'other/c.tmp.md']
    expect(await pathsIn(rootAt(folder))).toEqual(expected)
    expect(await pathsIn(rootAt(folder))).toEqual(gitKeeps(folder, expected))
  })

  it('[FS3] heeds what its repository ignores above it, unless that is all of it', async () => {
    const folder = folderWith({
      '.gitignore': 'hidden.md\n',
      'repository/.git/HEAD': '',
      'repository/.gitignore': 'drafts/\n*.tmp.md\n/docs/old.md\n/private/\n',
      'repository/docs/.gitignore': '!kept.tmp.md\n',
      'repository/docs/guide/a.md': '',
      'repository/docs/guide/b.tmp.md': '',
      'repository/docs/guide/kept.tmp.md': '',
      'repository/docs/guide/hidden.md': '',
      'repository/docs/guide/drafts/c.md': '',
      'repository/docs/old.md': '',
      'repository/private/mine.md': '',
    })
    const paths = (path: string) => pathsIn(rootAt(join(folder, 'repository', path)))
    expect(await paths('docs/guide')).toEqual(['a.md', 'hidden.md', 'kept.tmp.md'])
    expect(await paths('docs')).not.toContain('old.md')
    expect(await paths('private')).toEqual(['mine.md'])
  })

  it('[FS4] a folder of sessions is its transcripts, however large', async () => {
    const folder = folderWith({
      'a.jsonl': '{}\n'.repeat(100),
      'project/b.jsonl': '{}\n',
      'notes.md': '',
      'c.jsonl.lock': '',
    })
    const root = rootAt(folder, 'sessions')
    expect(await pathsIn(root, { fileBytesMax: 10 })).toEqual(['a.jsonl', 'project/b.jsonl'])
  })
})

describe('links', () => {
  it('[FS5] are never followed out of a root, and are reported', async () => {
    const outside = folderWith({ 'secret.md': 'x', 'sub/secret.md': 'y' })
    const folder = folderWith({ 'a.md': '' })
    symlinkSync(outside, join(folder, 'out'))
    symlinkSync(join(outside, 'secret.md'), join(folder, 'out.md'))
    symlinkSync(join(outside, 'secret.md'), join(folder, 'out.png'))
    symlinkSync('/nowhere/at/all', join(folder, 'dangling.md'))
    symlinkSync('ada@host.1234:1', join(folder, '.#a.md'))
    expect(await pathsIn(rootAt(folder))).toEqual(['a.md'])
    expect(await troublesIn(rootAt(folder))).toEqual({
      reason: ['out outside_root', 'out.md outside_root'],
      isWhole: true,
    })
  })

  it('[FS5] are followed once inside it, and circles end', async () => {
    const folder = folderWith({ 'real/a.md': '', 'real/deep/b.md': '', 'z.md': '' })
    symlinkSync('real', join(folder, 'alias'))
    symlinkSync('../..', join(folder, 'real', 'deep', 'up'))
    symlinkSync('self', join(folder, 'self'))
    symlinkSync('z.md', join(folder, 'a-before-z.md'))
    expect(await pathsIn(rootAt(folder))).toEqual(['real/a.md', 'real/deep/b.md', 'z.md'])
  })

  it('[FS5] include files without another path', async () => {
    const folder = folderWith({
      'notes/a.md': 'x',
      'notes/main.md': 'y',
      'node_modules/p/c.md': '',
    })
    symlinkSync('notes', join(folder, 'memory'))
    symlinkSync('notes/main.md', join(folder, 'MEMORY.md'))
    const root = rootAt(folder, 'workspace')
    expect(await pathsIn(root)).toEqual(['MEMORY.md', 'memory/a.md'])
    expect(await treeOf().read(root, 'memory/a.md')).toMatchObject({ text: 'x' })
    symlinkSync('node_modules/p', join(folder, 'docs'))
    expect(await pathsIn(rootAt(folder))).toEqual(['notes/a.md', 'notes/main.md'])
  })

  it('[FS5] may be the root itself', async () => {
    const folder = folderWith({ 'a.md': 'x' })
    const link = join(folderWith({}), 'root')
    symlinkSync(folder, link)
    expect(await pathsIn(rootAt(link))).toEqual(['a.md'])
    expect(await treeOf().read(rootAt(link), 'a.md')).toMatchObject({ text: 'x' })
  })
})

describe('trouble', () => {
  it('[FS6] reports a missing root, and keeps its index', async () => {
    const folder = folderWith({ 'a.md': '' })
    expect(await troublesIn(rootAt(join(folder, 'none')))).toEqual({
      reason: [' missing'],
      isWhole: false,
    })
    expect(await troublesIn(rootAt(join(folder, 'a.md'), 'workspace'))).toEqual({
      reason: [' unreadable'],
      isWhole: false,
    })
    const { problems: troubles } = await treeOf().scan(rootAt(join(folder, 'none')))
    expect(troubles[0]?.message).toBe(`${join(folder, 'none')}: it is not there.`)
  })

  it.skipIf(!canLosePermissions)(
    '[FS6] reports an unreadable folder, and scans the rest (not run on Windows)',
    async () => {
      const folder = openFolder()
      put(folder, { 'a.md': 'x', 'closed/b.md': '', 'c.md': 'secret' })
      chmodSync(join(folder, 'closed'), 0o000)
      chmodSync(join(folder, 'c.md'), 0o000)
      const root = rootAt(folder)
      await withoutPermissions(async () => {
        expect(await pathsIn(root)).toEqual(['a.md', 'c.md'])
        expect(await troublesIn(root)).toEqual({ reason: ['closed unreadable'], isWhole: false })
        expect(await treeOf().read(root, 'c.md')).toEqual({
          kind: 'trouble',
          trouble: { path: 'c.md', reason: 'unreadable', message: 'c.md: access is denied.' },
        })
        expect((await treeOf().read(root, 'closed/b.md')).kind).toBe('trouble')
      })
      chmodSync(join(folder, 'closed'), 0o700)
      expect(await troublesIn(root)).toEqual({ reason: [], isWhole: true })
    },
  )

  it('[FS7] reports files that are too large or have an invalid name', async () => {
    const folder = folderWith({ 'a.md': 'x'.repeat(100), 'b.md': 'x'.repeat(101), 'c.md/d.md': '' })
    const options = { fileBytesMax: 100 }
    expect(await pathsIn(rootAt(folder), options)).toEqual(['a.md', 'c.md/d.md'])
    expect(await troublesIn(rootAt(folder), options)).toEqual({
      reason: ['b.md too_large'],
      isWhole: true,
    })
    expect(await treeOf(options).read(rootAt(folder), 'b.md')).toMatchObject({
      trouble: { reason: 'too_large' },
    })
  })

  it.skipIf(process.platform !== 'linux')(
    '[FS7] names that are no text, and pipes, stop nothing (Linux)',
    async () => {
      const folder = folderWith({ 'a.md': '', 'back\\slash.md': '' })
      writeFileSync(
        Buffer.concat([Buffer.from(`${folder}/`), Buffer.from('b\xff.md', 'latin1')]),
        '',
      )
      execFileSync('mkfifo', [join(folder, 'pipe.md')])
      expect(await pathsIn(rootAt(folder))).toEqual(['a.md'])
      expect((await troublesIn(rootAt(folder))).reason).toEqual([
        'back\\slash.md encoding',
        'b\uFFFD.md encoding',
      ])
      expect(await treeOf().read(rootAt(folder), 'pipe.md')).toMatchObject({
        trouble: { reason: 'unreadable' },
      })
    },
  )

  it('[FS7] a root with too many files is none', async () => {
    const folder = folderWith({ 'a.md': '', 'b/c.md': '', 'd/e/f.md': '' })
    expect(await pathsIn(rootAt(folder), { filesMax: 2 })).toEqual([])
    expect(await troublesIn(rootAt(folder), { filesMax: 2 })).toEqual({
      reason: [' too_large'],
      isWhole: false,
    })
    expect(await pathsIn(rootAt(folder), { filesMax: 3 })).toHaveLength(3)
  })

  it('[FS6] folders that come and go while they are looked at break nothing', async () => {
    const folder = folderWith({ 'stays.md': 'x' })
    let isOver = false
    const churn = (async () => {
      for (let round = 0; !isOver; round++) {
        put(folder, { [`d${round % 7}/e/f.md`]: 'x' })
        if (round % 3 === 0) renameSync(join(folder, `d${round % 7}`), join(folder, `m${round}`))
        rmSync(join(folder, `m${round - 3}`), { recursive: true, force: true })
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    for (let scans = 0; scans < 50; scans++) {
      const { files, isComplete: isWhole } = await treeOf().scan(rootAt(folder))
      expect(isWhole).toBe(true)
      expect(files.map(({ path }) => path)).toContain('stays.md')
    }
    isOver = true
    await churn
  })

  it('[FS6] a scan stops when it is aborted', async () => {
    const folder = folderWith({ 'a.md': '' })
    await expect(treeOf().scan(rootAt(folder), AbortSignal.abort())).rejects.toMatchObject({
      code: 'cancelled',
    })
  })

  it('[FS6] five thousand folders are no trouble', async () => {
    const folder = folderWith({})
    for (let n = 0; n < 5_000; n++) {
      mkdirSync(join(folder, `d${n % 50}`, `e${n}`), { recursive: true })
      if (n % 10 === 0) put(folder, { [`d${n % 50}/e${n}/x.md`]: 'x' })
    }
    const { files, problems: troubles, isComplete: isWhole } = await treeOf().scan(rootAt(folder))
    expect([files.length, troubles.length, isWhole]).toEqual([500, 0, true])
    // At the very end, removing so many would keep everything else waiting.
    await rm(folder, { recursive: true })
  })

  it('[FS1] two names of one file on the disk are two files', async () => {
    // They can be told apart only by what is in them, and one of them may be replaced.
    const folder = folderWith({ 'a.md': 'x' })
    linkSync(join(folder, 'a.md'), join(folder, 'b.md'))
    expect(await pathsIn(rootAt(folder))).toEqual(['a.md', 'b.md'])
  })
})

/** What Git itself would keep of these, and of nothing else, where there is a Git. */
function gitKeeps(folder: string, otherwise: readonly string[]): readonly string[] {
  try {
    rmSync(join(folder, '.git'), { recursive: true })
    execFileSync('git', ['init', '-q'], { cwd: folder, stdio: 'pipe' })
    const stored = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const skipped = /(?:^|\/)(?:node_modules|\.pnpm-store|\.venv|venv|\.tox|__pycache__)\//
    return stored
      .split('\n')
      .filter((path) => path.endsWith('.md') && !skipped.test(path))
      .sort()
  } catch {
    return otherwise
  }
}
