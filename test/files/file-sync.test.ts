import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FileRoot } from '../../src/files/file.ts'
import type { FileReadResult, FileTree, FolderScan } from '../../src/files/file-tree.ts'
import { AppError } from '../../src/lib/errors.ts'
import { scriptedEmbedder } from '../fakes/embedder.ts'
import { folderWith, put, treeOf } from './file-support.ts'
import { ADA, chunksByPath, everyChunk, found, openFiles, sections } from './index-support.ts'

const NOTHING = { added: 0, changed: 0, moved: 0, removed: 0, unchanged: 0 }

/** The real tree, with what is read of it noted, and changed where a test says so. */
function heardTree(script: {
  scan?: (root: FileRoot, scan: FolderScan) => FolderScan
  read?: (path: string, read: FileReadResult) => FileReadResult | Promise<FileReadResult>
}): FileTree & { readonly read: FileTree['read']; readonly paths: string[] } {
  const tree = treeOf()
  const paths: string[] = []
  return {
    ...tree,
    paths,
    scan: async (root, signal) => {
      const scan = await tree.scan(root, signal)
      return script.scan?.(root, scan) ?? scan
    },
    read: async (root, path) => {
      paths.push(path)
      const read = await tree.read(root, path)
      return (await script.read?.(path, read)) ?? read
    },
  }
}

async function opened(contents: Record<string, string>, tree: FileTree = treeOf()) {
  const folder = folderWith(contents)
  const parts = await openFiles({ tree })
  await parts.files.roots.add(ADA, { kind: 'path', path: folder })
  return { ...parts, folder }
}

describe('a look', () => {
  it('[FX3] finds new, changed, touched and removed files', async () => {
    const parts = await opened({
      'a.md': '# Tea\n\nGreen.',
      'b.md': 'Coffee.',
      'sub/c.txt': 'Milk.',
    })
    const { files, folder } = parts
    expect(await files.sync(ADA)).toMatchObject({ ...NOTHING, added: 3, chunks: 3, problems: [] })
    expect(await files.sync(ADA)).toMatchObject({ ...NOTHING, unchanged: 3, chunks: 3 })
    put(folder, { 'a.md': '# Tea\n\nBlack tea, and more of it.', 'd.md': 'Water.' })
    rmSync(join(folder, 'b.md'))
    utimesSync(join(folder, 'sub/c.txt'), new Date(), new Date())
    const report = await files.sync(ADA)
    expect(report).toMatchObject({ added: 1, changed: 1, moved: 0, removed: 1, unchanged: 1 })
    expect(Object.keys(await chunksByPath(parts)).sort()).toEqual(['a.md', 'd.md', 'sub/c.txt'])
    expect((await chunksByPath(parts))['a.md']?.[0]).toMatchObject({
      ...{ lineFirst: 1, lineLast: 3, headings: ['Tea'], source: 'memory' },
      text: '# Tea\n\nBlack tea, and more of it.',
    })
  })

  it('[FX4] reads only what has another size or time than before', async () => {
    const tree = heardTree({})
    const { files, folder } = await opened({ 'a.md': 'one', 'b.md': 'two', 'c.md': 'three' }, tree)
    await files.sync(ADA)
    expect(tree.paths.splice(0).sort()).toEqual(['a.md', 'b.md', 'c.md'])
    await files.sync(ADA)
    expect(tree.paths).toEqual([])
    put(folder, { 'b.md': 'another two' })
    await files.sync(ADA)
    expect(tree.paths).toEqual(['b.md'])
  })

  it('[FX5] knows a moved file again: its chunks keep their ids and their vectors', async () => {
    const embedder = scriptedEmbedder()
    const folder = folderWith({ 'a.md': sections(4), 'b.md': 'Something else.' })
    const parts = await openFiles({ embedder })
    const { files, inner } = parts
    await files.roots.add(ADA, { kind: 'path', path: folder })
    await files.sync(ADA)
    await inner.admin.reindex()
    const before = (await chunksByPath(parts))['a.md'] ?? []
    const embedded = embedder.texts().length
    put(folder, { 'deep/': '' })
    renameSync(join(folder, 'a.md'), join(folder, 'deep/z.md'))
    expect(await files.sync(ADA)).toMatchObject({ ...NOTHING, moved: 1, unchanged: 1 })
    const { 'deep/z.md': after = [], 'a.md': old } = await chunksByPath(parts)
    expect(old).toBeUndefined()
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    await inner.admin.reindex()
    expect(embedder.texts().slice(embedded)).toEqual([])
  })

  it('[FX5] chunks before and behind an edit keep their ids and vectors, in the order of the file', async () => {
    const embedder = scriptedEmbedder()
    const folder = folderWith({ 'a.md': sections(8) })
    const parts = await openFiles({ embedder, settings: { chunkOverlap: 0 } })
    const { files, inner } = parts
    await files.roots.add(ADA, { kind: 'path', path: folder })
    await files.sync(ADA)
    await inner.admin.reindex()
    const before = (await chunksByPath(parts))['a.md'] ?? []
    expect(before.length).toBe(8)
    const embedded = embedder.texts().length
    const all = sections(8).split(/(?=## )/)
    put(folder, {
      'a.md': [...all.slice(0, 4), `${sections(2, 'between')}\n`, ...all.slice(4)].join(''),
    })
    await files.sync(ADA)
    await inner.admin.reindex()
    const after = (await chunksByPath(parts))['a.md'] ?? []
    expect(after.map(({ headings }) => headings.at(-1))).toEqual([
      ...['section 1', 'section 2', 'section 3', 'section 4', 'between 1', 'between 2'],
      ...['section 5', 'section 6', 'section 7', 'section 8'],
    ])
    const ids = after.map(({ id }) => id)
    expect([...ids.slice(0, 4), ...ids.slice(6)]).toEqual(before.map(({ id }) => id))
    expect(embedder.texts().length - embedded).toBe(2)
    // Lines behind the edit have other numbers now.
    expect(after[6]?.lineFirst).toBeGreaterThan(before[4]?.lineFirst ?? 0)
  })

  it('[FX7] of a part of a root only takes nothing away', async () => {
    let isWhole = true
    const tree = heardTree({
      scan: (_, scan) =>
        isWhole
          ? scan
          : {
              ...scan,
              isComplete: isWhole,
              files: scan.files.filter(({ path }) => path !== 'b.md'),
            },
    })
    const parts = await opened({ 'a.md': 'Tea.', 'b.md': 'Coffee.' }, tree)
    const { files, folder } = parts
    await files.sync(ADA)
    isWhole = false
    put(folder, { 'a.md': 'Milk and tea.' })
    expect(await files.sync(ADA)).toMatchObject({ changed: 1, removed: 0 })
    expect(Object.keys(await chunksByPath(parts)).sort()).toEqual(['a.md', 'b.md'])
    rmSync(folder, { recursive: true })
    expect((await files.sync(ADA)).problems).toMatchObject([{ reason: 'missing', path: folder }])
    expect(await found(parts, 'coffee')).toHaveLength(1)
  })

  it('[FX8] names problems of single files, and indexes the others', async () => {
    const { files, folder } = await opened({ 'a.md': 'Tea.', 'zero.md': 'x\0y' })
    writeFileSync(join(folder, 'latin.md'), Buffer.from('caf\xe9 au lait', 'latin1'))
    const { problems: troubles } = await files.sync(ADA)
    const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1)
    const name = folder.slice(folder.lastIndexOf('/') + 1)
    expect([...troubles].sort(byPath)).toMatchObject([
      { path: `${name}/latin.md`, reason: 'encoding' },
      { path: `${name}/zero.md`, reason: 'binary' },
    ])
    // Told again by a look that reads nothing, and by the status.
    expect((await files.sync(ADA)).problems).toHaveLength(2)
    const [root] = (await files.status(ADA)).roots
    expect(root).toMatchObject({ files: 3, chunks: 2, isDirty: false })
    expect(root?.problems).toHaveLength(2)
    expect((await files.search(ADA, { text: 'lait' })).hits).toHaveLength(1)
    put(folder, { 'zero.md': 'Readable now.' })
    await files.sync(ADA)
    expect((await files.search(ADA, { text: 'readable' })).hits).toHaveLength(1)
  })

  it('[FX8] keeps what it has of a file that changes all the time, and looks at it again', async () => {
    let isChanging = false
    const tree = heardTree({
      read: (path, read) =>
        isChanging
          ? { kind: 'trouble', trouble: { path, reason: 'modified_during_read', message: 'x' } }
          : read,
    })
    const parts = await opened({ 'a.md': 'Tea.' }, tree)
    await parts.files.sync(ADA)
    isChanging = true
    put(parts.folder, { 'a.md': 'Coffee, for a change.' })
    expect((await parts.files.sync(ADA)).problems).toMatchObject([
      { reason: 'modified_during_read' },
    ])
    expect(Object.values(await chunksByPath(parts)).flat()[0]?.text).toBe('Tea.')
    expect((await parts.files.status(ADA)).roots[0]?.isDirty).toBe(true)
    isChanging = false
    expect(await found(parts, 'coffee')).toHaveLength(1)
  })

  const lines = (count: number) =>
    Array.from(
      { length: count },
      (_, n) => `## Heading ${n}\n\nWord${n} stands in a line of its own, as one of very many.\n`,
    ).join('\n')
  const SMALL = { chunkTokens: 20, chunkOverlap: 0 }

  it('[FX8] indexes what fits of a file with too many chunks, and names it', async () => {
    const parts = await openFiles({ settings: { ...SMALL, chunksMax: 60 } })
    await parts.files.roots.add(ADA, { kind: 'path', path: folderWith({ 'a.md': lines(80) }) })
    const { problems: troubles, chunks } = await parts.files.sync(ADA)
    expect(chunks).toBe(60)
    expect(troubles).toMatchObject([
      { reason: 'too_large', message: expect.stringMatching(/80 chunks, and 60 /) },
    ])
  })

  it('[FX6] takes a large file in one commit, follows its edits and moves, and takes it out in parts', async () => {
    const commits: number[] = []
    let fails = false
    const parts = await openFiles({
      settings: SMALL,
      wrapStore: (store) => ({
        ...store,
        commit: async (changes) => {
          commits.push(changes.length)
          if (fails && commits.length > 1) throw new AppError('unavailable', 'no more')
          return store.commit(changes)
        },
      }),
    })
    const folder = folderWith({ 'a.md': lines(3_300) })
    await parts.files.roots.add(ADA, { kind: 'path', path: folder })
    expect(await parts.files.sync(ADA)).toMatchObject({ chunks: 3_300, problems: [] })
    expect(commits).toContain(3_302)
    const ids = async () => (await everyChunk(parts.innerStore)).map(({ id }) => id)
    const first = await ids()
    put(folder, { 'a.md': lines(3_300).replace('Word1700 stands', 'Word1700 sits') })
    await parts.files.sync(ADA)
    expect(await ids()).toEqual(first)
    expect(await found(parts, 'word1700 sits')).toHaveLength(1)
    renameSync(join(folder, 'a.md'), join(folder, 'b.md'))
    expect(await parts.files.sync(ADA)).toMatchObject({ moved: 1, chunks: 3_300 })
    expect(await ids()).toEqual(first)
    // Stopped while it is taken out, it is read anew when it is there again.
    const away = join(folderWith({}), 'b.md')
    renameSync(join(folder, 'b.md'), away)
    fails = true
    commits.length = 0
    await expect(parts.files.sync(ADA)).rejects.toThrow('no more')
    expect((await ids()).length).toBe(2_300)
    fails = false
    renameSync(away, join(folder, 'b.md'))
    expect(await parts.files.sync(ADA)).toMatchObject({ changed: 1, chunks: 3_300 })
    expect((await ids()).length).toBe(3_300)
    rmSync(join(folder, 'b.md'))
    commits.length = 0
    expect(await parts.files.sync(ADA)).toMatchObject({ removed: 1, chunks: 0 })
    expect(Math.max(...commits)).toBeLessThan(1_010)
    expect(await ids()).toEqual([])
    expect((await parts.files.status(ADA)).roots).toMatchObject([{ files: 0, chunks: 0 }])
  }, 60_000)

  it('[FX3] forgets the files of a root that was removed', async () => {
    const parts = await opened({ 'a.md': 'Tea.' })
    const { files } = parts
    await files.roots.add(ADA, { kind: 'path', path: folderWith({ 'b.md': 'Coffee.' }) })
    await files.sync(ADA)
    const [first] = await files.roots.list(ADA)
    await files.roots.remove(ADA, first?.id ?? '')
    expect(await files.sync(ADA)).toMatchObject({ removed: 1, unchanged: 1 })
    expect(Object.keys(await chunksByPath(parts))).toHaveLength(1)
    expect((await files.status(ADA)).roots).toHaveLength(1)
  })

  it('[FX10] is shared by concurrent callers', async () => {
    let scans = 0
    const tree = heardTree({
      scan: (_, scan) => {
        scans++
        return scan
      },
    })
    const { files } = await opened({ 'a.md': 'Tea.' }, tree)
    const reports = await Promise.all(Array.from({ length: 20 }, () => files.sync(ADA)))
    // The first does its own, and all others that which begins after they have asked.
    expect(scans).toBe(2)
    expect(reports[0]).toMatchObject({ added: 1 })
    expect(new Set(reports.slice(1).map(({ unchanged }) => unchanged))).toEqual(new Set([1]))
  })

  it('[FX10] reports its progress', async () => {
    const { files, folder } = await opened({ 'a.md': 'a', 'b.md': 'b', 'c.md': 'c' })
    const events: unknown[] = []
    await files.sync(ADA, { onProgress: (progress) => events.push(progress) })
    const progress = { root: folder, filesTotal: 3 }
    expect(events).toEqual([
      { ...progress, filesDone: 1, path: 'a.md' },
      { ...progress, filesDone: 2, path: 'b.md' },
      { ...progress, filesDone: 3, path: 'c.md' },
    ])
  })

  it('[FX30] ends when all is closed, and nothing begins after that', async () => {
    const { files } = await opened(
      Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`${n}.md`, sections(2)])),
    )
    const look = files.sync(ADA).then(
      () => 'done',
      (error: unknown) => (error as { code?: string }).code,
    )
    await files.close()
    expect(['done', 'cancelled']).toContain(await look)
    await files.close()
  })
})
