import { appendFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FILE_CHUNKS_MAX } from '../../src/engine/files/documents.ts'
import type { FileSettings } from '../../src/engine/files/settings.ts'
import {
  ADA,
  chunksByPath,
  everyChunk,
  found,
  type OpenOptions,
  openFiles,
} from './index-support.ts'
import { folderWith, treeOf } from './support.ts'

const said = (role: 'user' | 'assistant', text: string) =>
  `${JSON.stringify({ type: 'message', message: { role, content: [{ type: 'text', text }] } })}\n`
const FILLER = 'and so on and so forth, at some length, until it is enough for now '

async function opened(
  text: string,
  options: OpenOptions & { settings?: Partial<FileSettings> } = {},
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
    const { troubles } = await files.sync(ADA)
    expect(await chunks()).toMatchObject([
      { lineFirst: 2, lineLast: 4, text: 'User: Where is the kettle?\nAssistant: On the stove.' },
    ])
    expect(troubles).toMatchObject([{ path: 'sessions/s.jsonl', because: 'encoding' }])
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

  it('[FX11] that are large are read in pieces, and keep their latest chunks', async () => {
    const lines = FILE_CHUNKS_MAX + 60
    const text = Array.from({ length: lines }, (_, n) =>
      said('user', `number${n} ${FILLER.repeat(2)}`),
    ).join('')
    const { files, chunks, path } = await opened(text, {
      tree: treeOf({ tailBytesMax: 40_000 }),
      settings: { chunkTokens: 40, chunkOverlap: 0 },
    })
    const { troubles } = await files.sync(ADA)
    const all = await chunks()
    expect(all).toHaveLength(FILE_CHUNKS_MAX)
    expect(all.at(-1)?.lineLast).toBe(lines)
    expect(new Set(all.map(({ lineFirst }) => lineFirst)).size).toBe(FILE_CHUNKS_MAX)
    expect(troubles).toMatchObject([{ because: 'too_large' }])
    appendFileSync(path, said('assistant', 'A last word.'))
    await files.sync(ADA)
    expect((await chunks()).at(-1)?.text).toBe('Assistant: A last word.')
    expect(await chunks()).toHaveLength(FILE_CHUNKS_MAX)
  })

  it('[FX13] hold no secrets in the index, nor when they are read', async () => {
    const key = 'sk-ant-api03-abcdefghij0123456789'
    const parts = await opened(said('user', `My key is ${key}, and I am ann@example.org.`), {
      settings: { redactsMails: true },
    })
    await parts.files.sync(ADA)
    const kept = JSON.stringify(await everyChunk(parts.innerStore))
    expect(kept).toContain('[redacted:anthropic_key]')
    expect(kept).not.toContain(key)
    expect(kept).not.toContain('ann@example.org')
    const { text } = await parts.files.readFile(ADA, 'sessions/s.jsonl')
    expect(text).toBe('User: My key is [redacted:anthropic_key], and I am [redacted:mail].')
    expect(await found(parts, 'anthropic')).toHaveLength(1)
  })
})
