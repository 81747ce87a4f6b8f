import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FileTree } from '../../src/files/file-tree.ts'
import type { Embedder } from '../../src/models/embedder.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import type { SqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { gate, scriptedEmbedder } from '../fakes/embedder.ts'
import { owner } from '../fakes/memories.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { folderWith, put, treeOf } from './file-support.ts'
import {
  ADA,
  chunksByPath,
  everyChunk,
  found,
  type OpenOptions,
  openFiles,
  sections,
} from './index-support.ts'

const CONTENTS = Object.fromEntries(
  Array.from({ length: 12 }, (_, n) => [`${n}.md`, sections(3, `topic${n}x`)]),
)

async function opened(options: OpenOptions = {}, contents: Record<string, string> = CONTENTS) {
  const folder = folderWith(contents)
  const parts = await openFiles(options)
  await parts.files.roots.add(ADA, { kind: 'path', path: folder })
  await parts.files.sync(ADA)
  return { ...parts, folder }
}

const generationsIn = async ({ innerStore }: { innerStore: SqliteStore }) => [
  ...new Set((await everyChunk(innerStore)).map(({ place }) => place.user)),
]

/** A tree whose reads wait at the n-th until they are let go on. */
function heldTree(at: number): {
  tree: FileTree
  held: Promise<void>
  release: () => void
  reads: () => number
} {
  const tree = treeOf()
  const reached = gate()
  const released = gate()
  let reads = 0
  return {
    tree: {
      ...tree,
      read: async (root, path) => {
        reads++
        if (reads === at) reached.open()
        if (reads >= at) await released.opened
        return tree.read(root, path)
      },
    },
    held: reached.opened,
    release: released.open,
    reads: () => reads,
  }
}

describe('a rebuild', () => {
  it('[FX16] leaves the old index answering until the new one is complete', async () => {
    const { tree, held, release } = heldTree(12 + 6)
    const parts = await opened({ tree, settings: { chunkOverlap: 0 } })
    const { files, set } = parts
    const before = (await chunksByPath(parts))['3.md'] ?? []
    set({ chunkTokens: 100 })
    const rebuilt = files.sync(ADA)
    await held
    const [first] = (await files.search(ADA, { text: 'topic3x2' })).hits
    expect(first).toMatchObject({ startLine: before[1]?.lineFirst, endLine: before[1]?.lineLast })
    // Files are read ahead: one is held before the first of them is told to be done.
    const rebuilding = async () => (await files.status(ADA)).rebuilding
    await expect.poll(rebuilding).toMatchObject({ filesTotal: 12 })
    release()
    expect(await rebuilt).toMatchObject({ added: 12 })
    expect(await generationsIn(parts)).toEqual(['g2'])
    expect((await chunksByPath(parts))['3.md']?.length).toBeGreaterThan(before.length)
    expect((await files.status(ADA)).rebuilding).toBeNull()
    expect(await found(parts, 'topic3x')).toContain(`${nameOf(parts.folder)}/3.md`)
  })

  it('[FX16] happens when forced or when the chunk settings change, and else never', async () => {
    const parts = await opened()
    const { files, set } = parts
    await files.sync(ADA)
    expect(await generationsIn(parts)).toEqual(['g1'])
    await files.sync(ADA, { force: true })
    expect(await generationsIn(parts)).toEqual(['g2'])
    set({ minScore: 0.1, maxResults: 3 })
    await files.sync(ADA)
    expect(await generationsIn(parts)).toEqual(['g2'])
    set({ chunkOverlap: 10 })
    await files.search(ADA, { text: 'topic1x' })
    await files.sync(ADA)
    expect(await generationsIn(parts)).toEqual(['g3'])
    const empty = await openFiles()
    await empty.files.roots.add(ADA, { kind: 'path', path: folderWith({}) })
    await empty.files.sync(ADA)
    empty.set({ chunkOverlap: 10 })
    await empty.files.sync(ADA)
    expect((await empty.files.status(ADA)).facts.generation).toBe('g1')
  })

  it('[FX16] includes concurrent changes in both generations', async () => {
    const { tree, held, release } = heldTree(12 + 6)
    const parts = await opened({ tree })
    const { files, folder } = parts
    const rebuilt = files.sync(ADA, { force: true })
    await held
    // The live index follows, while the other one is held at a file.
    const other = await openFiles({ path: parts.path, store: parts.store })
    put(folder, { '0.md': 'Now about zebras.', 'new.md': 'Also about zebras.' })
    expect(await found(other, 'zebras')).toHaveLength(2)
    release()
    await rebuilt
    expect(await generationsIn(parts)).toEqual(['g2'])
    expect(await found(parts, 'zebras')).toHaveLength(2)
    expect(Object.keys(await chunksByPath(parts))).toHaveLength(13)
  })

  it('[FX18] resumes after a stop, and abandoned generations are removed', async () => {
    const path = temporaryFile('files.db')
    const store = createInMemoryStore()
    const folder = folderWith(CONTENTS)
    const first = await openFiles({ path, store })
    await first.files.roots.add(ADA, { kind: 'path', path: folder })
    await first.files.sync(ADA)
    await first.files.close()

    const { tree, held, release } = heldTree(9)
    const second = await openFiles({ path, store, tree, settings: { chunkTokens: 100 } })
    second.files.sync(ADA).catch(() => {})
    await held
    const closing = second.files.close()
    release()
    await closing

    const reads: string[] = []
    const plain = treeOf()
    const counted: FileTree = {
      ...plain,
      read: (root, name) => {
        reads.push(name)
        return plain.read(root, name)
      },
    }
    // Meanwhile the old one answers.
    const third = await openFiles({ path, store, tree: counted, settings: { chunkTokens: 100 } })
    expect((await third.files.search(ADA, { text: 'topic5x' })).hits).not.toEqual([])
    await third.files.sync(ADA)
    expect(await generationsIn(third)).toEqual(['g2'])
    expect(reads.length).toBeLessThanOrEqual(12)
    await third.files.close()

    // One that was begun with other settings than those that are in force now is not gone on with.
    const fourth = heldTree(6)
    const result = await openFiles({
      path,
      store,
      tree: fourth.tree,
      settings: { chunkTokens: 80 },
    })
    result.files.sync(ADA).catch(() => {})
    await fourth.held
    const ending = result.files.close()
    fourth.release()
    await ending
    const last = await openFiles({ path, store, settings: { chunkTokens: 60, chunkOverlap: 0 } })
    await last.files.sync(ADA)
    expect(await generationsIn(last)).toEqual(['g4'])
    expect((await last.inner.status()).rows.entry).toBe(12 + 2)
  })

  it('[FX16] gives the new chunks their vectors first; where those fail, the old ones stay and the status says so', async () => {
    let isFailing = false
    const embedder = scriptedEmbedder(({ purpose }) => {
      if (isFailing && purpose === 'document') throw new Error('no model today')
    })
    const parts = await opened({ embedder })
    const { files } = parts
    await files.sync(ADA, { embeds: true })
    await files.sync(ADA, { force: true })
    expect(await files.status(ADA)).toMatchObject({ withoutVector: 0, withoutVectorReason: null })
    isFailing = true
    await expect(files.sync(ADA, { force: true })).rejects.toThrow('no model today')
    expect(await files.status(ADA)).toMatchObject({
      ...{ withoutVector: 0, facts: { generation: 'g2' } },
      roots: [{ problems: [{ reason: 'failed', message: expect.stringContaining('no model') }] }],
    })
    const answer = await files.search(ADA, { text: 'topic4x' })
    expect(answer).toMatchObject({ mode: 'hybrid', fallbackReason: null })
    expect(answer.hits).not.toEqual([])
    isFailing = false
    await files.sync(ADA)
    expect(await generationsIn(parts)).toEqual(['g3'])
    expect(await files.status(ADA)).toMatchObject({ withoutVector: 0, roots: [{ problems: [] }] })
  })

  it('[FX16] does without vectors where the old chunks have none either', async () => {
    const embedder = scriptedEmbedder(() => {
      throw new Error('no model today')
    })
    const parts = await opened({ embedder })
    await parts.files.sync(ADA, { force: true })
    expect(await generationsIn(parts)).toEqual(['g2'])
    const answer = await parts.files.search(ADA, { text: 'topic4x' })
    expect(answer).toMatchObject({
      mode: 'keyword',
      fallbackReason: expect.stringContaining('no model'),
    })
  })

  it('[FX16] waits for no vectors where the old chunks have none', async () => {
    const model = gate()
    const embedder = scriptedEmbedder(({ purpose }) =>
      purpose === 'document' ? model.opened : undefined,
    )
    const parts = await opened({ embedder })
    await parts.files.sync(ADA, { force: true })
    expect(await generationsIn(parts)).toEqual(['g2'])
    model.open()
    await parts.files.sync(ADA, { embeds: true })
    expect((await parts.files.status(ADA)).withoutVector).toBe(0)
  })
})

describe('vectors', () => {
  it('[FX33] are made to the end where that is asked for, of this owner, and go on where they were stopped', async () => {
    const stop = new AbortController()
    const embedder = scriptedEmbedder()
    const parts = await opened({ embedder })
    const { files } = parts
    await files.roots.add(owner('bob'), { kind: 'path', path: folderWith({ 'b.md': 'Of Bob.' }) })
    const { chunks } = await files.sync(ADA)
    const seen: number[] = []
    const stopped = files.sync(ADA, {
      ...{ embeds: true, signal: stop.signal },
      onEmbedding: ({ done, total }) => {
        expect(total).toBe(chunks)
        seen.push(done)
        if (done > 0) stop.abort()
      },
    })
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' })
    const left = (await files.status(ADA)).withoutVector
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(chunks)
    const before = documentsOf(embedder).length
    await files.sync(ADA, { embeds: true, onEmbedding: ({ done }) => seen.push(done) })
    expect(documentsOf(embedder).length - before).toBeLessThanOrEqual(left)
    expect(seen.at(-1)).toBe(chunks)
    expect((await files.status(ADA)).withoutVector).toBe(0)
    await files.sync(owner('bob'))
    expect((await files.status(ADA)).withoutVector).toBe(0)
  })

  it('[FX33] that fail are told, and words find meanwhile', async () => {
    const embedder = scriptedEmbedder(() => {
      throw new Error('no model today')
    })
    const { files } = await opened({ embedder })
    const { problems: troubles, chunks } = await files.sync(ADA, { embeds: true })
    expect(troubles).toMatchObject([{ reason: 'failed', message: /no model today/ }])
    await expect
      .poll(() => files.status(ADA))
      .toMatchObject({
        withoutVector: chunks,
        withoutVectorReason: expect.stringMatching(/no model/),
      })
  })

  it('[FX34] of another model are made beside the old ones, which answer until all are there', async () => {
    const path = temporaryFile('files.db')
    const store = createInMemoryStore()
    const first = await opened({ path, store, embedder: scriptedEmbedder() })
    await first.files.sync(ADA, { embeds: true })
    await first.files.close()
    const held = gate()
    const embedder = named('new', () => held.opened)
    const former = scriptedEmbedder()
    const second = await openFiles({ path, store, embedder, formerEmbedder: () => former })
    const answer = await second.files.search(ADA, { text: 'topic4x' })
    expect(answer).toMatchObject({ mode: 'hybrid', fallbackReason: null })
    expect(former.calls.map(({ purpose }) => purpose)).toContain('query')
    expect((await second.files.status(ADA)).withoutVector).toBeGreaterThan(0)
    held.open()
    await second.files.sync(ADA, { embeds: true })
    expect(await second.files.status(ADA)).toMatchObject({ withoutVector: 0, model: 'new' })
    expect(await second.innerStore.vectors?.spaces()).toMatchObject([
      { signature: expect.stringContaining('new') },
    ])
    expect(await generationsIn(second)).toEqual(['g1'])
  })
})

const documentsOf = ({ calls }: ReturnType<typeof scriptedEmbedder>) =>
  calls.filter(({ purpose }) => purpose === 'document').flatMap(({ texts }) => texts)

/** Another model, whose documents wait. */
function named(model: string, beforeDocuments: () => Promise<void>): Embedder {
  const inner = scriptedEmbedder(async ({ purpose, texts }) => {
    if (purpose === 'document' && texts.some((text) => text.includes('topic')))
      await beforeDocuments()
  })
  return {
    ...inner,
    describe: async (signal) => ({ ...(await inner.describe(signal)), model }),
    report: () => ({ ...inner.report(), model }),
  }
}

describe('two who index the same files', () => {
  it('[FX9] end with each chunk once, in any order', async () => {
    const path = temporaryFile('files.db')
    const store = createInMemoryStore()
    const folder = folderWith(CONTENTS)
    const [a, b] = [await openFiles({ path, store }), await openFiles({ path, store })]
    await a.files.roots.add(ADA, { kind: 'path', path: folder })
    const expected = async () => {
      const alone = await openFiles({ store })
      await alone.files.sync(ADA)
      return textsByPath(await chunksByPath(alone))
    }
    const same = async () => expect(textsByPath(await chunksByPath(a))).toEqual(await expected())
    await Promise.all([a.files.sync(ADA), b.files.sync(ADA)])
    await same()
    for (let round = 0; round < 5; round++) {
      put(folder, {
        [`${round}.md`]: sections(2 + round, `round${round}`),
        [`new${round}.md`]: `# New\n\nNumber ${round}.`,
      })
      await Promise.all([a.files.sync(ADA), b.files.sync(ADA)])
      await same()
    }
    await Promise.all([a.files.sync(ADA, { force: true }), b.files.sync(ADA, { force: true })])
    await same()
    expect(await generationsIn(a)).toHaveLength(1)
    const entries = await a.innerStore.find(
      'entry',
      { owner: ADA },
      { where: { kinds: ['file'] }, limit: 1_000 },
    )
    expect(entries.rows).toHaveLength(17)
  })

  it('[FX6] never let a reader see the old and the new of one file together', async () => {
    const path = temporaryFile('files.db')
    const store = createInMemoryStore()
    const folder = folderWith({ 'a.md': sections(6, 'state0') })
    const [writer, reader] = [await openFiles({ path, store }), await openFiles({ path, store })]
    await writer.files.roots.add(ADA, { kind: 'path', path: folder })
    await writer.files.sync(ADA)
    let isOver = false
    const seen = new Set<string>()
    const reading = (async () => {
      while (!isOver) {
        const rows = await everyChunk(reader.innerStore)
        const states = new Set(rows.map(({ content }) => /state\d+/.exec(content)?.[0]))
        expect(states.size).toBe(1)
        const [state = ''] = states
        const number = Number(state?.slice('state'.length))
        expect(rows).toHaveLength(6 + (number % 3))
        seen.add(state ?? '')
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    for (let round = 1; round <= 12; round++) {
      put(folder, { 'a.md': sections(6 + (round % 3), `state${round}`) })
      await writer.files.sync(ADA)
    }
    isOver = true
    await reading
    expect(seen.size).toBeGreaterThan(1)
  })
})

function textsByPath(chunks: Awaited<ReturnType<typeof chunksByPath>>) {
  return Object.fromEntries(
    Object.entries(chunks).map(([path, some]) => [path, some.map(({ text }) => text)]),
  )
}

function nameOf(folder: string): string {
  return join(folder, '.').split('/').at(-1) ?? ''
}
