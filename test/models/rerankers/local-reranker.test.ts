/** The local reranker with real processes, and a real model that is small enough to be worked out by hand. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { NEVER_ABORTED } from '../../../src/lib/abort.ts'
import {
  openLocalRerankerWith,
  type ScoringWorker,
  startScoringWorker,
} from '../../../src/models/rerankers/local-reranker.ts'
import {
  crossEncoderFiles,
  crossEncoderNetwork,
  crossEncoderTokenizer,
} from '../../fakes/tiny-cross-encoder.ts'
import { errorOf } from '../embedders/embedder-support.ts'
import { hastyClock } from '../embedders/local-support.ts'
import { expectFreshReranker, openLocal, scoresOf, tinyFolder } from './local-reranker-support.ts'

const QUESTION = 'Red, green or blue?'
const TEXTS = ['green', 'nothing', 'blue and red', 'red red red', '']
/** A red counts once, a green twice, a blue four times. */
const SCORES = [2, 0, 5, 3, 0]
const SLOW_TEST_MS = 120_000

beforeAll(expectFreshReranker)

describe('a model', { timeout: SLOW_TEST_MS }, () => {
  it.each(['auto', 'native', 'wasm'] as const)(
    '[RR4] scores question and text together (runtime: %s)',
    async (runtime) => {
      const reranker = openLocal({ folder: tinyFolder(), runtime })
      expect(await scoresOf(reranker, QUESTION, TEXTS)).toEqual(SCORES)
    },
  )

  it('[RR4] with two numbers speaks against and for a text', async () => {
    const folder = tinyFolder({ 'model.onnx': crossEncoderNetwork([-1, 0.5]) })
    expect(await scoresOf(openLocal({ folder }), QUESTION, TEXTS)).toEqual(
      SCORES.map((score) => 1.5 * score),
    )
  })

  it('[RR4] that gives no number for a text has no opinion on it', async () => {
    const reranker = openLocal({ folder: tinyFolder() })
    const scores = await scoresOf(reranker, 'red', ['red', 'broken red', 'red red'])
    expect(scores).toEqual([1, undefined, 2])
  })

  it('[RR4] reads as much as is allowed, and never more than it can', async () => {
    const folder = tinyFolder()
    const text = `${'mat '.repeat(40)} red ${'mat '.repeat(40)} red`
    expect(await scoresOf(openLocal({ folder, tokensMax: 32 }), 'red', [text])).toEqual([0])
    expect(await scoresOf(openLocal({ folder, tokensMax: 512 }), 'red', [text])).toEqual([1])
    const limit = { 'tokenizer_config.json': JSON.stringify({ model_max_length: 32 }) }
    expect(await scoresOf(openLocal({ folder: tinyFolder(limit) }), 'red', [text])).toEqual([0])
  })

  it.each([
    'onnx/model.onnx',
    'model_quantized.onnx',
    'onnx/model_quantized.onnx',
    'onnx/model_int8.onnx',
    'model_int8.onnx',
  ])('[RR4] may have its network in %s', async (file) => {
    const folder = tinyFolder({ [file]: crossEncoderNetwork([10]) })
    rmSync(join(folder, 'model.onnx'))
    expect(await scoresOf(openLocal({ folder }), 'red', ['red'])).toEqual([10])
  })

  it.each([
    ['three numbers', { 'model.onnx': crossEncoderNetwork([1, 1, 1]) }, /3 numbers/],
    [
      'no form for pairs',
      {
        'tokenizer.json': JSON.stringify({
          ...crossEncoderTokenizer(),
          post_processor: { type: 'ByteLevel' },
        }),
      },
      /can’t rerank/,
    ],
  ])('[RR4] with %s is no reranker', async (_, files, message) => {
    const error = await errorOf(scoresOf(openLocal({ folder: tinyFolder(files) }), 'red', ['red']))
    expect(error.code).toBe('invalid_input')
    expect(error.message).toMatch(message)
  })
})

describe('files', { timeout: SLOW_TEST_MS }, () => {
  const files = Object.keys(crossEncoderFiles())

  it.each(files)('[RR4] %s that is missing is named, and may come later', async (file) => {
    const folder = tinyFolder()
    rmSync(join(folder, file))
    const reranker = openLocal({ folder, now: hastyClock() })
    const error = await errorOf(scoresOf(reranker, QUESTION, TEXTS))
    expect(error.code).toBe('missing_part')
    expect(error.message).toContain(folder)
    expect(error.message).toContain('reranking model')
    writeFileSync(join(folder, file), crossEncoderFiles()[file] ?? '')
    expect(await scoresOf(reranker, QUESTION, TEXTS)).toEqual(SCORES)
  })

  it.each(files)('[RR4] %s that is cut short is named as damaged', async (file) => {
    const whole = Buffer.from(crossEncoderFiles()[file] ?? '')
    const folder = tinyFolder({ [file]: whole.subarray(0, whole.length / 2) })
    const error = await errorOf(scoresOf(openLocal({ folder }), QUESTION, TEXTS))
    expect(error.code).toBe('damaged')
    expect(error.facts.path).toBe(join(folder, file))
  })

  it.each([
    ['null', 'null'],
    ['empty', '{}'],
    ['without a frame', JSON.stringify({ ...crossEncoderTokenizer(), post_processor: 7 })],
    [
      'with half a frame',
      JSON.stringify({
        ...crossEncoderTokenizer(),
        post_processor: { type: 'TemplateProcessing' },
      }),
    ],
  ])('[RR4] a tokenizer that is %s is damaged', async (_, content) => {
    const folder = tinyFolder({ 'tokenizer.json': content })
    const error = await errorOf(scoresOf(openLocal({ folder }), QUESTION, TEXTS))
    expect(error.code).toBe('damaged')
    expect(error.facts.path).toBe(join(folder, 'tokenizer.json'))
  })

  it('[RR4] are compared with their checksums where there are some', async () => {
    const sums = Object.entries(crossEncoderFiles()).map(
      ([file, content]) => `${createHash('sha256').update(content).digest('hex')}  ${file}\n`,
    )
    const folder = tinyFolder({ SHA256SUMS: sums.join('') })
    const reranker = openLocal({ folder })
    expect(await scoresOf(reranker, QUESTION, TEXTS)).toEqual(SCORES)
    writeFileSync(join(folder, 'model.onnx'), crossEncoderNetwork([2]))
    const error = await errorOf(scoresOf(openLocal({ folder }), QUESTION, TEXTS))
    expect(error.code).toBe('damaged')
    expect(error.message).toContain('SHA256SUMS')
  })

  it('[RR4] that don’t belong together fail as unavailable', async () => {
    const { model, ...rest } = crossEncoderTokenizer() as { model: { vocab: object } } // as written there
    const vocab = { ...model.vocab, '[CLS]': 99_999 }
    const tokenizer = JSON.stringify({ ...rest, model: { ...model, vocab } })
    const folder = tinyFolder({ 'tokenizer.json': tokenizer })
    const error = await errorOf(scoresOf(openLocal({ folder }), QUESTION, TEXTS))
    expect(error.code).toBe('unavailable')
  })

  it('[RR4] a folder that is not there is named', async () => {
    const folder = join(tinyFolder(), 'elsewhere')
    const error = await errorOf(scoresOf(openLocal({ folder }), QUESTION, TEXTS))
    expect(error.code).toBe('missing_part')
    expect(error.message).toContain(folder)
  })
})

describe('the process', { timeout: SLOW_TEST_MS }, () => {
  it('[RR4] that is killed fails its call, and the next one starts another', async () => {
    const workers: ScoringWorker[] = []
    const start = () => {
      const worker = startScoringWorker()
      workers.push(worker)
      return worker
    }
    const reranker = openLocalRerankerWith(start, { folder: tinyFolder() })
    onTestFinished(() => reranker.close())
    expect(await scoresOf(reranker, QUESTION, TEXTS)).toEqual(SCORES)
    const call = errorOf(reranker.rerank(QUESTION, Array(5_000).fill('red'), NEVER_ABORTED))
    process.kill(workers[0]?.pid ?? Number.NaN, 'SIGKILL')
    expect(await call).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('SIGKILL'),
    })
    expect(await scoresOf(reranker, QUESTION, TEXTS)).toEqual(SCORES)
    expect(workers.length).toBe(2)
  })

  it('[RR4] does not keep a program from ending', () => {
    const module = pathToFileURL(resolve('dist/models/rerankers/local-reranker.js')).href
    const program = `
      import { openLocalReranker } from ${JSON.stringify(module)}
      const reranker = openLocalReranker({ folder: ${JSON.stringify(tinyFolder())} })
      const scores = await reranker.rerank('red', ['red', 'blue'], new AbortController().signal)
      console.log(JSON.stringify(scores))
    `
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program])
    expect(JSON.parse(printed.toString())).toEqual([
      { index: 0, score: 1 },
      { index: 1, score: 0 },
    ])
  })

  it('[RR4] reads its folder wherever that is copied to', async () => {
    const folder = join(tinyFolder(), 'with blanks and ümlauts')
    cpSync(tinyFolder(), folder, { recursive: true })
    const reranker = openLocal({ folder })
    expect(reranker.name).toBe('with blanks and ümlauts')
    expect(await scoresOf(reranker, QUESTION, TEXTS)).toEqual(SCORES)
  })
})
