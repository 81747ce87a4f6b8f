/**
 * Kills a process with SIGKILL again and again while it makes the index of files anew. The index that was there goes on
 * answering, each file wholly, and the next look leaves nothing behind of what was cut short.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { chunkMarkdown } from '../../src/files/chunking/chunker.ts'
import { readGenerations } from '../../src/files/indexing/generations.ts'
import { readChunkMetadata } from '../../src/files/indexing/index-rows.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { bundled } from '../support/bundle.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { repetitions } from '../support/thoroughness.ts'
import { folderWith } from './file-support.ts'
import { ADA, everyChunk, openFiles, sections } from './index-support.ts'

const KILLS = repetitions({ usual: 20, thorough: 100 })
/** One per core of a small machine. */
const AT_ONCE = 2
const KILLS_PER_INDEX = 10
const DELAY_MS_MAX = 100
const FILES = Object.fromEntries(
  Array.from({ length: 6 }, (_, n) => [`${n}.md`, sections(2 + (n % 4), `topic${n}x`)]),
)
/** Ways to cut, which the rounds take turns with. */
const TOKENS = [100, 160] as const

let program = ''
beforeAll(async () => {
  program = await bundled('test/files/indexer.child.ts')
}, 120_000)

it('[FX17] is complete after a kill at any point, without remains', async () => {
  await Promise.all(Array.from({ length: AT_ONCE }, () => killRepeatedly(program, KILLS / AT_ONCE)))
}, 300_000)

it('[FX9] two processes that rebuild it at once end with every chunk and vector once', async () => {
  const [path, index] = [temporaryFile('memories.db'), temporaryFile('files.db')]
  await firstIndex(path, index)
  const tokens = TOKENS[0]
  const exits = Array.from({ length: 2 }, async () => {
    const inputs = [program, path, index, String(tokens), '2']
    const child = spawn(process.execPath, inputs, { stdio: ['ignore', 'ignore', 'inherit'] })
    return (await once(child, 'exit'))[0]
  })
  expect(await Promise.all(exits)).toEqual([0, 0])
  await expectWhole(index)
  await expectSwept(path, index, tokens)
}, 120_000)

async function killRepeatedly(program: string, kills: number): Promise<void> {
  let [path, index] = ['', '']
  for (let round = 0; round < kills; round++) {
    if (round % KILLS_PER_INDEX === 0) {
      ;[path, index] = [temporaryFile('memories.db'), temporaryFile('files.db')]
      await firstIndex(path, index)
    }
    const tokens = TOKENS[round % TOKENS.length] ?? 0
    await killed(program, [path, index, String(tokens)])
    await expectWhole(index)
    if (round % KILLS_PER_INDEX === KILLS_PER_INDEX - 1) await expectSwept(path, index, tokens)
  }
}

async function firstIndex(path: string, index: string): Promise<void> {
  const store = await openSqliteStore({ path, now: Date.now })
  const embedder = createHashingEmbedder()
  const settings = settingsOf(TOKENS[1])
  const { files } = await openFiles({ path: index, store, embedder, settings })
  await files.roots.add(ADA, { kind: 'path', path: folderWith(FILES) })
  await files.sync(ADA, { embeds: true })
  await files.close()
  await store.close()
}

async function killed(program: string, given: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [program, ...given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), exited])
  await delay(Math.random() * DELAY_MS_MAX)
  expect(child.exitCode, 'it ended by itself').toBeNull()
  child.kill('SIGKILL')
  await exited
}

/** What answers holds every file, each cut in one way from its first line to its last, and all are found by meaning. */
async function expectWhole(index: string): Promise<void> {
  const store = await openSqliteStore({ path: index, now: Date.now })
  try {
    const live = (await readGenerations({ store }, ADA))?.live.name
    let chunks = 0
    const texts: Record<string, string[]> = {}
    for (const row of await everyChunk(store)) {
      if (row.place.user !== live) continue
      const { path } = readChunkMetadata(row)
      texts[path] ??= []
      texts[path]?.push(row.content)
      chunks++
    }
    const home = { owner: ADA, ...(live === undefined ? {} : { user: live }) }
    const [space] = await store.vectors.spaces()
    expect(space === undefined ? 0 : await store.vectors.count(space, home)).toBe(chunks)
    expect(Object.keys(texts).sort()).toEqual(Object.keys(FILES).sort())
    for (const [path, found] of Object.entries(texts)) {
      expect(TOKENS.map((tokens) => cutsOf(path, tokens))).toContainEqual(found)
    }
  } finally {
    await store.close()
  }
}

async function expectSwept(path: string, index: string, tokens: number): Promise<void> {
  const store = await openSqliteStore({ path, now: Date.now })
  const { files, inner, innerStore } = await openFiles({
    ...{ path: index, store, embedder: createHashingEmbedder() },
    settings: settingsOf(tokens),
  })
  expect(await innerStore.checkIntegrity({ repair: false })).toEqual([])
  await files.sync(ADA, { embeds: true })
  const chunks = Object.keys(FILES).flatMap((name) => cutsOf(name, tokens))
  expect((await inner.status()).rows).toMatchObject({
    memory: chunks.length,
    // One for each file, one for the root, and one that says which generation answers.
    entry: Object.keys(FILES).length + 2,
  })
  expect(await innerStore.vectors.spaces()).toMatchObject([{ vectors: chunks.length }])
  expect((await everyChunk(innerStore)).map(({ content }) => content).sort()).toEqual(chunks.sort())
  await files.close()
  await store.close()
}

function settingsOf(chunkTokens: number) {
  return { chunkTokens, chunkOverlap: 0 }
}

function cutsOf(path: string, tokens: number): string[] {
  const options = { tokens, overlap: 0, bytesMax: 8_192 }
  return chunkMarkdown(FILES[path] ?? '', options).map(({ text }) => text)
}
