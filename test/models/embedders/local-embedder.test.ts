/** The built-in model, as it comes with the package. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type * as LocalModule from '../../../src/models/embedders/local/local-embedder.ts'
import { openLocalEmbedder } from '../../../src/models/embedders/local/local-embedder.ts'
import { truncateText } from '../../../src/text/well-formed-text.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { errorOf } from './embedder-support.ts'
import {
  cosine,
  embedOne,
  expectFreshWorker,
  expectSameBits,
  MODEL_FOLDER,
  openLocal,
  SLOW_TEST_MS,
} from './local-support.ts'

const run = promisify(execFile)
const TEXTS = ['I moved to Oslo last spring.', 'Hm.', '', 'Tea, no sugar. '.repeat(40), '漢字 🍵']

vi.setConfig({ testTimeout: SLOW_TEST_MS })
beforeAll(expectFreshWorker)

/** For tests that only look at vectors: loading the model takes longer than using it. */
const usual = openLocalEmbedder()
afterAll(() => usual.close())

it('[EM20] says what it is and how it runs, from cold to ready', async () => {
  const embedder = openLocal()
  expect(embedder.report()).toMatchObject({
    source: 'transformers',
    model: 'gte-small-multilingual',
    state: { kind: 'cold' },
    facts: { threads: 1, tokensMax: 256 },
  })
  const describing = embedder.describe()
  expect(embedder.report().state).toEqual({ kind: 'warming' })
  expect(await describing).toEqual({
    source: 'transformers',
    model: 'gte-small-multilingual',
    dimensions: 384,
    tokensMax: 256,
    languages: expect.arrayContaining(['en', 'de', 'zh', 'ja', 'ko']),
    isApproximateBeyondEnglish: true,
  })
  const { state, facts } = embedder.report()
  expect(state).toEqual({ kind: 'ready' })
  expect(facts.runtime).toMatch(/^onnxruntime-(?:node 1\.16\.3|web 1\.30\.0)$/)
  expect(facts.warmUpMs).toBeGreaterThan(0)
})

it('[EM20] the event loop turns while a text is embedded', async () => {
  await usual.describe()
  let isDone = false
  const embedding = embedOne(usual, 'A long story. '.repeat(200)).finally(() => {
    isDone = true
  })
  let turns = 0
  for (; !isDone; turns++) await nextTurn()
  await embedding
  expect(turns).toBeGreaterThan(20)
})

it('[EM20] similar meanings are close without shared words', async () => {
  const query = await embedOne(usual, 'Which pets does she have?', 'query')
  const near = await embedOne(usual, 'Ann got two kittens from the shelter.')
  const far = await embedOne(usual, 'The quarterly report is due on Friday.')
  expect(cosine(query, near)).toBeGreaterThan(cosine(query, far) + 0.03)
})

it('[EM37] finds by meaning in other languages and across languages', async () => {
  const facts = ['Ich wohne seit März in Hamburg.', '我对花生过敏。', 'My sister has two cats.']
  const vectors = await usual.embed(facts, { purpose: 'document' })
  const closest = async (question: string) => {
    const query = await embedOne(usual, question, 'query')
    const similarities = vectors.map((vector) => cosine(query, vector))
    return similarities.indexOf(Math.max(...similarities))
  }
  expect(await closest('In welcher Stadt ist er zu Hause?')).toBe(0)
  expect(await closest('他不能吃什么？')).toBe(1)
  expect(await closest('Quels animaux de compagnie a-t-elle ?')).toBe(2)
})

it('[EM37] embeds English as the English model does', async () => {
  const english = openLocal({ model: 'gte-small-int8' })
  expect((await english.describe()).languages).toEqual(['en'])
  for (const text of TEXTS.slice(0, 4)) {
    expectSameBits(await embedOne(english, text), await embedOne(usual, text))
  }
})

it('[EM21] returns the same bits alone, in any batch, from another process and with more threads', async () => {
  const together = await usual.embed(TEXTS, { purpose: 'document' })
  const reversed = await usual.embed(TEXTS.toReversed(), { purpose: 'document' })
  for (const [index, vector] of together.entries()) {
    expectSameBits(reversed.at(-1 - index), vector)
  }
  const others = [openLocal(), openLocal({ threads: 2 })]
  for (const [index, text] of TEXTS.entries()) {
    for (const other of [usual, ...others]) {
      expectSameBits(await embedOne(other, text), together[index])
    }
  }
})

it('[EM21] gives nearly the same vectors in WebAssembly', async () => {
  const native = openLocal({ runtime: 'native' })
  const wasm = openLocal({ runtime: 'wasm' })
  const likeness: number[] = []
  for (const text of TEXTS) {
    likeness.push(cosine(await embedOne(native, text), await embedOne(wasm, text)))
  }
  // Rounding activations to eight bits enlarges differences in the last digits.
  expect(Math.min(...likeness)).toBeGreaterThan(0.995)
  expect(likeness.reduce((sum, value) => sum + value) / likeness.length).toBeGreaterThan(0.999)
  expect(native.report().facts.runtime).toBe('onnxruntime-node 1.16.3')
  expect(wasm.report().facts.runtime).toBe('onnxruntime-web 1.30.0')
  expect(wasm.report().model).toBe(native.report().model)
})

it('[EM21] falls back to WebAssembly where the native runtime is not installed, and says why', async () => {
  const folder = packageWithoutNative()
  const { openLocalEmbedder }: typeof LocalModule = await import(
    pathToFileURL(join(folder, 'dist/models/embedders/local/local-embedder.js')).href
  )
  const embedder = openLocalEmbedder({ model: resolve(MODEL_FOLDER) })
  const native = openLocalEmbedder({ model: resolve(MODEL_FOLDER), runtime: 'native' })
  try {
    expect((await embedOne(embedder, 'Hello')).length).toBe(384)
    expect(embedder.report().facts).toMatchObject({
      runtime: 'onnxruntime-web 1.30.0',
      nativeRuntimeError: expect.stringContaining('onnxruntime-node'),
    })
    await expect(embedOne(native, 'Hello')).rejects.toMatchObject({
      code: 'missing_part',
      message: expect.stringContaining('npm install onnxruntime-node@1.16.3'),
    })
  } finally {
    await Promise.all([embedder.close(), native.close()])
  }
})

it('[EM22] text beyond the limit changes nothing', async () => {
  const embedder = openLocal({ tokensMax: 16 })
  const start = 'One two three four five six seven eight nine ten eleven twelve thirteen fourteen'
  const vector = await embedOne(embedder, start)
  for (const rest of ['fifteen', 'x '.repeat(500_000), '👍'.repeat(250_000), '\ud800\0']) {
    expectSameBits(await embedOne(embedder, `${start} ${rest}`), vector)
  }
})

it('[EM22] no text of a megabyte hangs it', async () => {
  for (const piece of ['a', ' ', '.', 'é\u0301', '👩‍👩‍👧', '[SEP]', '漢', '\0', '\ud800']) {
    const text = piece.repeat(Math.ceil(2 ** 20 / piece.length))
    expect((await embedOne(usual, text)).length).toBe(384)
  }
})

it('[EM22] texts are cut between characters, and lone halves of characters are replaced', () => {
  expect(truncateText('abc', 3)).toBe('abc')
  expect(truncateText('abcd', 3)).toBe('abc')
  expect(truncateText('ab👍', 3)).toBe('ab')
  expect(truncateText('ab👍', 4)).toBe('ab👍')
  expect(truncateText('a\ud83d', 5)).toBe('a\ufffd')
  expect(truncateText('\udc4da\ud83d', 2)).toBe('\ufffda')
  expect(truncateText('', 3)).toBe('')
})

it('[EM28] more tokens than the model reads, and options out of range, are refused', async () => {
  const embedder = openLocal({ tokensMax: 513 })
  expect(await errorOf(embedder.describe())).toMatchObject({ code: 'invalid_input' })
  expect((await openLocal({ tokensMax: 512 }).describe()).dimensions).toBe(384)
  for (const wrong of [
    { tokensMax: 3 },
    { threads: 0 },
    { queueMax: 1.5 },
    { model: 'owner/name' },
    { model: 'a/b/c' },
    { model: '' },
    { model: 'owner/..', cacheFolder: 'models' },
    { model: 'owner/name', cacheFolder: 'models', allowDownload: true, hubUrl: 'ftp://hub' },
  ]) {
    expect(() => openLocal(wrong), JSON.stringify(wrong)).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    )
  }
})

it('[EM29] a program waits for its vectors, and ends without closing', async () => {
  const program = `
    import { openLocalEmbedder } from ${JSON.stringify(pathToFileURL(resolve('dist/models/embedders/local/local-embedder.js')).href)}
    const embedder = openLocalEmbedder()
    const [vector] = await embedder.embed(['Hello'], { purpose: 'query' })
    console.log(vector.length)
  `
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
  expect(stdout.trim()).toBe('384')
})

/** A copy of the package beside modules among which the native runtime is not. */
function packageWithoutNative(): string {
  const folder = temporaryFolder()
  const parts = ['domain', 'lib', 'text', 'models', 'vendor/onnxruntime-web']
  for (const part of parts.map((name) => `dist/${name}`)) {
    cpSync(part, join(folder, part), { recursive: true })
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const link = join(folder, 'node_modules', '@huggingface/tokenizers')
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync(resolve('node_modules/@huggingface/tokenizers'), link, 'junction')
  return folder
}
