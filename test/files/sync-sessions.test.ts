import { appendFileSync, mkdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FileOptions } from '../../src/files/file-options.ts'
import { scriptedEmbedder } from '../fakes/embedder.ts'
import { folderWith, treeOf } from './file-support.ts'
import {
  ADA,
  chunksByPath,
  everyChunk,
  found,
  type OpenOptions,
  openFiles,
} from './index-support.ts'

const said = (role: 'user' | 'assistant', text: string) =>
  `${JSON.stringify({ type: 'message', message: { role, content: [{ type: 'text', text }] } })}\n`
const FILLER = 'and so on and so forth, at some length, until it is enough for now '

async function opened(
  text: string,
  options: OpenOptions & { settings?: Partial<FileOptions> } = {},
) {
  const folder = folderWith({ 's.jsonl': text })
  const parts = await openFiles(options)
  await parts.files.roots.add(ADA, { kind: 'sessions', path: folder })
  const path = join(folder, 's.jsonl')
  return {
    ...parts,
    folder,
    path,
    chunks: async () => (await chunksByPath(parts))['s.jsonl'] ?? [],
  }
}

describe('transcripts', () => {
  it('[FX11] are indexed as what was said, with the lines of the file', async () => {
    const { files, chunks } = await opened(
      `{"type":"session","id":"1"}\n${said('user', 'Where is the\nkettle?')}not json\n${said('assistant', 'On the stove.')}`,
    )
    const { problems: troubles } = await files.sync(ADA)
    expect(await chunks()).toMatchObject([
      { lineFirst: 2, lineLast: 4, text: 'User: Where is the kettle?\nAssistant: On the stove.' },
    ])
    expect(troubles).toMatchObject([{ path: 'sessions/s.jsonl', reason: 'encoding' }])
    const { hits } = await files.search(ADA, { text: 'kettle' })
    expect(hits).toMatchObject([
      { path: 'sessions/s.jsonl', startLine: 2, endLine: 4, source: 'sessions' },
    ])
  })

  it('[FX11] are read on from where they ended, and what makes no whole chunk yet is cut again', async () => {
    const reads: number[] = []
    const tree = treeOf()
    const { files, path, chunks } = await opened(said('user', 'One.'), {
      tree: {
        ...tree,
        readTail: (root, name, from) => {
          reads.push(from)
          return tree.readTail(root, name, from)
        },
      },
    })
    await files.sync(ADA)
    appendFileSync(path, said('assistant', 'Two.'))
    await files.sync(ADA)
    expect((await chunks()).map(({ text }) => text)).toEqual(['User: One.\nAssistant: Two.'])
    for (let n = 3; n < 40; n++) appendFileSync(path, said('user', `${n} ${FILLER.repeat(4)}`))
    await files.sync(ADA)
    const before = await chunks()
    expect(before.length).toBeGreaterThan(3)
    reads.length = 0
    appendFileSync(path, said('assistant', 'The very last.'))
    await files.sync(ADA)
    const after = await chunks()
    expect(reads).toEqual([expect.any(Number)])
    expect(reads[0]).toBeGreaterThan(5_000)
    expect(after.slice(0, -1)).toEqual(before)
    expect(after.at(-1)).toMatchObject({ lineFirst: 40, lineLast: 40 })
    // An unfinished line waits until it is finished.
    const line = said('user', 'In two halves.')
    appendFileSync(path, line.slice(0, 20))
    await files.sync(ADA)
    expect((await chunks()).at(-1)?.lineLast).toBe(40)
    appendFileSync(path, line.slice(20))
    await files.sync(ADA)
    expect((await chunks()).at(-1)).toMatchObject({ lineFirst: 40, lineLast: 41 })
  })

  it('[FX11] are looked at by themselves only when they have grown enough, by bytes or messages', async () => {
    const { files, path, chunks, set } = await opened('', {
      settings: { sessionBytes: 10_000, sessionMessages: 5 },
    })
    const look = async () => {
      await files.search(ADA, { text: 'anything' })
      return (await chunks()).at(-1)?.lineLast ?? 0
    }
    writeFileSync(path, said('user', 'one').repeat(4))
    expect(await look()).toBe(0)
    appendFileSync(path, said('user', 'five'))
    expect(await look()).toBe(5)
    appendFileSync(path, said('user', 'six').repeat(4))
    expect(await look()).toBe(5)
    appendFileSync(path, said('user', FILLER.repeat(200)))
    expect(await look()).toBe(10)
    appendFileSync(path, said('user', 'eleven'))
    expect(await look()).toBe(10)
    // Whoever asks for it gets everything.
    await files.sync(ADA)
    expect((await chunks()).at(-1)?.lineLast).toBe(11)
    set({ sessionBytes: 0 })
    appendFileSync(path, said('user', 'twelve'))
    expect(await look()).toBe(12)
  })

  it('[FX12] that were cut off, replaced or rotated are read from the start', async () => {
    const long = (word: string) =>
      Array.from({ length: 30 }, (_, n) => said('user', `${word} ${n} ${FILLER.repeat(4)}`)).join(
        '',
      )
    const parts = await opened(long('alpha'))
    const { files, path, folder, chunks } = parts
    await files.sync(ADA)
    const first = (await chunks()).length
    truncateSync(path, said('user', `alpha 0 ${FILLER.repeat(4)}`).length)
    await files.sync(ADA)
    expect((await chunks()).map(({ lineLast }) => lineLast)).toEqual([1])
    writeFileSync(path, long('beta'))
    await files.sync(ADA)
    expect(await chunks()).toHaveLength(first)
    expect((await chunks()).every(({ text }) => !text.includes('alpha'))).toBe(true)
    renameSync(path, join(folder, 's.1.jsonl'))
    writeFileSync(path, said('user', 'gamma'))
    await files.sync(ADA)
    expect((await chunks()).map(({ text }) => text)).toEqual(['User: gamma'])
    expect((await chunksByPath(parts))['s.1.jsonl']).toHaveLength(first)
    // One that is as long as before, and longer than where reading would go on.
    writeFileSync(path, long('delta'))
    await files.sync(ADA)
    writeFileSync(path, long('omega'))
    await files.sync(ADA)
    expect((await chunks()).every(({ text }) => text.includes('omega'))).toBe(true)
  })

  it('[FX11] that are large are read in pieces, and wholly', async () => {
    const lines = 2_600
    const text = (word: string, from = 0) =>
      Array.from({ length: lines - from }, (_, n) =>
        said('user', `${word}${n + from} ${FILLER.repeat(2)}`),
      ).join('')
    const { files, chunks, path } = await opened(text('number'), {
      tree: treeOf({ tailBytesMax: 40_000 }),
      settings: { chunkTokens: 40, chunkOverlap: 0 },
    })
    const { problems: troubles } = await files.sync(ADA)
    const all = await chunks()
    expect(all.map(({ lineFirst }) => lineFirst)).toEqual(all.map((_, index) => index + 1))
    expect(all).toHaveLength(lines)
    expect(troubles).toEqual([])
    appendFileSync(path, said('assistant', 'A last word.'))
    await files.sync(ADA)
    expect((await chunks()).at(-1)?.text).toBe('Assistant: A last word.')
    expect((await chunks()).slice(0, lines)).toEqual(all)
    // Another one in its place leaves nothing of it.
    writeFileSync(path, text('other', 1_000))
    expect(await files.sync(ADA)).toMatchObject({ changed: 1, removed: 0, chunks: lines - 1_000 })
    expect((await chunks()).every(({ text }) => text.startsWith('User: other'))).toBe(true)
  }, 60_000)

  it('[FX8] have their broken and overlong lines counted, also when they have grown since', async () => {
    const long = (word: string) => said('user', `${word} ${FILLER.repeat(40)}`)
    const { files, path } = await opened(`not json\n${long('one')}${long('two')}`, {
      tree: treeOf({ tailBytesMax: 20_000 }),
    })
    await files.sync(ADA)
    appendFileSync(path, long('three'))
    await files.sync(ADA)
    const troubles = async () => (await files.status(ADA)).roots[0]?.problems
    expect(await troubles()).toMatchObject([{ message: expect.stringContaining(': 1 of its') }])
    appendFileSync(path, said('user', FILLER.repeat(1_000)))
    appendFileSync(path, long('quokka').repeat(3))
    await files.sync(ADA)
    expect(await troubles()).toMatchObject([{ message: expect.stringContaining(': 2 of its') }])
    const { hits } = await files.search(ADA, { text: 'quokka' })
    expect(Math.min(...hits.map(({ startLine }) => startLine))).toBe(6)
    expect(Math.max(...hits.map(({ endLine }) => endLine))).toBe(8)
  })

  const talk = (word: string, count = 30) =>
    Array.from({ length: count }, (_, n) => said('user', `${word} ${n} ${FILLER.repeat(4)}`)).join(
      '',
    )

  it('[FX5] that are moved or renamed keep the ids and vectors of their chunks, and grow on', async () => {
    let isFailing = false
    const embedder = scriptedEmbedder(({ purpose }) => {
      if (isFailing && purpose === 'document') throw new Error('no model any more')
    })
    // Many begin alike: with the same instructions, for one.
    const system = `${JSON.stringify({ type: 'system', text: FILLER.repeat(30) })}\n`
    const parts = await opened(system + talk('alpha'), { embedder })
    const { files, path, folder } = parts
    writeFileSync(join(folder, 'b.jsonl'), system + talk('beta'))
    writeFileSync(join(folder, 'tiny.jsonl'), said('user', 'A tiny one.'))
    await files.sync(ADA, { embeds: true })
    const before = await chunksByPath(parts)
    const idsOf = async (name: string) =>
      ((await chunksByPath(parts))[name] ?? []).map(({ id }) => id)
    const known = (name: string) => (before[name] ?? []).map(({ id }) => id)
    mkdirSync(join(folder, 'old'))
    renameSync(path, join(folder, 'old', 'a.jsonl'))
    renameSync(join(folder, 'b.jsonl'), join(folder, 'old', 'b.jsonl'))
    renameSync(join(folder, 'tiny.jsonl'), join(folder, 'old', 'small.jsonl'))
    const moves = { added: 0, changed: 0, moved: 3, removed: 0, unchanged: 0 }
    isFailing = true
    expect(await files.sync(ADA)).toMatchObject(moves)
    expect(await idsOf('old/a.jsonl')).toEqual(known('s.jsonl'))
    expect(await idsOf('old/b.jsonl')).toEqual(known('b.jsonl'))
    expect(await idsOf('old/small.jsonl')).toEqual(known('tiny.jsonl'))
    expect(await idsOf('s.jsonl')).toEqual([])
    expect((await files.status(ADA)).withoutVector).toBe(0)
    const { hits } = await files.search(ADA, { text: 'alpha 3' })
    expect(hits[0]).toMatchObject({ path: 'sessions/old/a.jsonl' })
    // Moved and grown between two looks.
    renameSync(join(folder, 'old', 'a.jsonl'), path)
    appendFileSync(path, said('assistant', 'The quokka is last.'))
    expect(await files.sync(ADA)).toMatchObject({ moved: 1, unchanged: 2, removed: 0, added: 0 })
    expect((await idsOf('s.jsonl')).slice(0, known('s.jsonl').length)).toEqual(known('s.jsonl'))
    expect(await found(parts, 'quokka')).toEqual(['sessions/s.jsonl'])
    expect(await files.sync(ADA)).toMatchObject({ unchanged: 3, moved: 0 })
  })

  it('[FX5] that rotate take their chunks along, several in a row', async () => {
    const parts = await opened(talk('first'))
    const { files, path, folder } = parts
    const at = (name: string) => join(folder, name)
    await files.sync(ADA)
    const idsOf = async (name: string) =>
      ((await chunksByPath(parts))[name] ?? []).map(({ id }) => id)
    const first = await idsOf('s.jsonl')
    renameSync(path, at('s.1.jsonl'))
    writeFileSync(path, talk('second'))
    expect(await files.sync(ADA)).toMatchObject({ moved: 1, added: 1, changed: 0, removed: 0 })
    expect(await idsOf('s.1.jsonl')).toEqual(first)
    const second = await idsOf('s.jsonl')
    renameSync(at('s.1.jsonl'), at('s.2.jsonl'))
    renameSync(path, at('s.1.jsonl'))
    writeFileSync(path, talk('third'))
    expect(await files.sync(ADA)).toMatchObject({ moved: 2, added: 1, changed: 0, removed: 0 })
    expect(await idsOf('s.2.jsonl')).toEqual(first)
    expect(await idsOf('s.1.jsonl')).toEqual(second)
    const third = await idsOf('s.jsonl')
    // The oldest goes, and its place is taken.
    renameSync(at('s.1.jsonl'), at('s.2.jsonl'))
    renameSync(path, at('s.1.jsonl'))
    await files.sync(ADA)
    expect(await chunksByPath(parts)).not.toHaveProperty('s.jsonl')
    expect(await idsOf('s.1.jsonl')).toEqual(third)
    const texts = (await everyChunk(parts.innerStore)).map(({ content }) => content).join()
    expect(texts).not.toContain('first')
    expect(texts).toContain('second')
    // Two that change places are read anew, each as it is.
    renameSync(at('s.1.jsonl'), at('x.jsonl'))
    renameSync(at('s.2.jsonl'), at('s.1.jsonl'))
    renameSync(at('x.jsonl'), at('s.2.jsonl'))
    await files.sync(ADA)
    const by = await chunksByPath(parts)
    expect(by['s.1.jsonl']?.every(({ text }) => text.includes('second'))).toBe(true)
    expect(by['s.2.jsonl']?.every(({ text }) => text.includes('third'))).toBe(true)
  })

  it('[FX12] that begin like the one in their place, and have become longer, are another one', async () => {
    const system = `${JSON.stringify({ type: 'system', text: FILLER.repeat(30) })}\n`
    const { files, path, chunks } = await opened(system + talk('alpha'))
    await files.sync(ADA)
    writeFileSync(path, system + talk('omega', 60))
    await files.sync(ADA)
    expect((await chunks()).every(({ text }) => text.includes('omega'))).toBe(true)
  })

  it('[FX13] hold no secrets in the index, nor when they are read', async () => {
    const key = 'sk-ant-api03-abcdefghij0123456789'
    const parts = await opened(said('user', `My key is ${key}, and I am ann@example.org.`), {
      settings: { redactsEmails: true },
    })
    await parts.files.sync(ADA)
    const stored = JSON.stringify(await everyChunk(parts.innerStore))
    expect(stored).toContain('[redacted:anthropic_key]')
    expect(stored).not.toContain(key)
    expect(stored).not.toContain('ann@example.org')
    const { text } = await parts.files.readFile(ADA, 'sessions/s.jsonl')
    expect(text).toBe('User: My key is [redacted:anthropic_key], and I am [redacted:mail].')
    expect(await found(parts, 'anthropic')).toHaveLength(1)
  })
})
