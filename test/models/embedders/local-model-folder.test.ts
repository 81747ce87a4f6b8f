/** Models of one's own, and models of the hub. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { LocalEmbedderOptions } from '../../../src/models/embedders/local/local-embedder-options.ts'
import {
  type TinyFiles,
  tinyFiles,
  tinyVector,
  writeTinyModel,
} from '../../fakes/tiny-embedding-model.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { errorOf } from './embedder-support.ts'
import {
  embedOne,
  expectFreshWorker,
  hastyClock,
  openLocal,
  SLOW_TEST_MS,
} from './local-support.ts'

const POOLING_FILE = '1_Pooling/config.json'
const PROMPTS_FILE = 'config_sentence_transformers.json'

vi.setConfig({ testTimeout: SLOW_TEST_MS })
beforeAll(expectFreshWorker)

describe('a folder', () => {
  it('[EM28] gives vectors of its own size: the mean over all tokens', async () => {
    const embedder = openTiny()
    expect((await embedder.describe()).dimensions).toBe(4)
    expectNear(
      await embedOne(embedder, 'Red red GREEN'),
      tinyVector('[CLS]', 'red', 'red', 'green', '[SEP]'),
    )
    expectNear(await embedOne(embedder, ''), tinyVector('[CLS]', '[SEP]'))
    expectNear(await embedOne(embedder, 'violet'), tinyVector('[CLS]', '[UNK]', '[SEP]'))
  })

  it('[EM22] cuts a text at the limit and keeps the mark of its end', async () => {
    const embedder = openTiny({}, { tokensMax: 5 })
    expectNear(
      await embedOne(embedder, 'red green blue blue blue blue'),
      tinyVector('[CLS]', 'red', 'green', 'blue', '[SEP]'),
    )
    expect(embedder.report().facts.tokensMax).toBe(5)
  })

  it('[EM28] reads no more than the model supports, also by default', async () => {
    const embedder = openTiny()
    await embedder.describe()
    expect(embedder.report().facts.tokensMax).toBe(64)
  })

  it.each([
    ['older', { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }],
    ['newer', { pooling_mode: 'cls' }],
  ])(
    '[EM28] takes the vector of the first token where its files say so, in the %s form',
    async (_, config) => {
      const embedder = openTiny({ [POOLING_FILE]: JSON.stringify(config) })
      expectNear(await embedOne(embedder, 'red'), tinyVector('[CLS]'))
    },
  )

  it('[EM28] refuses a pooling that it does not know', async () => {
    const config = JSON.stringify({ pooling_mode_max_tokens: true })
    const error = await errorOf(openTiny({ [POOLING_FILE]: config }).describe())
    expect(error).toMatchObject({ code: 'invalid_input' })
    expect(error.message).toContain('max_tokens')
  })

  it('[EM28] puts the words before texts that the model wants', async () => {
    const prompts = { query: 'blue ', passage: 'green ' }
    const embedder = openTiny({ [PROMPTS_FILE]: JSON.stringify({ prompts }) })
    const response = await embedOne(embedder, 'red', 'query')
    expectNear(response, tinyVector('[CLS]', 'blue', 'red', '[SEP]'))
    const answered = await embedOne(embedder, 'red', 'document')
    expectNear(answered, tinyVector('[CLS]', 'green', 'red', '[SEP]'))
  })

  it('[EM28] is known by its content as well as by its name', async () => {
    const one = (await openTiny().describe()).model
    const same = (await openTiny().describe()).model
    const changed = await openTiny({ [POOLING_FILE]: '{ "pooling_mode": "cls" }' }).describe()
    expect(one).toMatch(/^tiny@[0-9a-f]{12}$/)
    expect(same).toBe(one)
    expect(changed.model).not.toBe(one)
  })
})

describe('the hub', () => {
  it('[EM27] is used only when downloads are allowed', async () => {
    const hub = await openHub()
    const error = await errorOf(openFromHub(hub, { allowDownload: false }).describe())
    expect(error).toMatchObject({ code: 'missing_part' })
    expect(error.message).toContain('allowDownload')
    expect(hub.requests).toEqual([])
  })

  it('[EM27] downloads a model once, and stores it with its checksums', async () => {
    const hub = await openHub()
    const cacheFolder = temporaryFolder()
    const first = openFromHub(hub, { cacheFolder })
    expectNear(await embedOne(first, 'red'), tinyVector('[CLS]', 'red', '[SEP]'))
    const { model } = await first.describe()
    expect(model).toMatch(/^someone\/tiny@[0-9a-f]{12}$/)
    expect(readdirSync(join(cacheFolder, 'someone'))).toEqual(['tiny'])
    expect(readdirSync(join(cacheFolder, 'someone', 'tiny')).sort()).toEqual([
      'SHA256SUMS',
      'onnx',
      'tokenizer.json',
      'tokenizer_config.json',
    ])
    const count = hub.requests.length
    const second = openFromHub(hub, { cacheFolder, allowDownload: false })
    expect((await second.describe()).model).toBe(model)
    expect(hub.requests.length).toBe(count)
  })

  it.each([
    [
      'cut off',
      (response: ServerResponse, content: Uint8Array) => {
        response.writeHead(200, { 'content-length': content.length })
        response.write(content.subarray(0, content.length / 2), () => response.destroy())
      },
    ],
    [
      'ended early',
      (response: ServerResponse, content: Uint8Array) => {
        response.end(content.subarray(0, content.length / 2))
      },
    ],
    [
      'changed',
      (response: ServerResponse, content: Uint8Array) => {
        response.end(Buffer.from(content).fill(1, 50, 60))
      },
    ],
    [
      'longer than announced',
      (response: ServerResponse, content: Uint8Array) => {
        response.end(Buffer.concat([content, content]))
      },
    ],
  ])(
    '[EM27] keeps nothing of a download that was %s, and succeeds when it is whole',
    async (_, serve) => {
      for (const file of ['onnx/model.onnx', 'tokenizer.json']) {
        const hub = await openHub()
        const cacheFolder = temporaryFolder()
        hub.serveInstead.set(file, serve)
        const embedder = openFromHub(hub, { cacheFolder, now: hastyClock() })
        const error = await errorOf(embedder.describe())
        expect(error).toMatchObject({ code: 'unavailable', facts: { file } })
        expect(readdirSync(join(cacheFolder, 'someone'))).toEqual([])
        hub.serveInstead.clear()
        expect((await embedder.describe()).dimensions).toBe(4)
      }
    },
  )

  it('[EM27] names what it does not have, and that it cannot be reached', async () => {
    const hub = await openHub()
    const cacheFolder = temporaryFolder()
    const missing = openFromHub(hub, { model: 'someone/else', cacheFolder })
    expect(await errorOf(missing.describe())).toMatchObject({ code: 'missing_part' })
    const withoutWeights = await openHub({ 'tokenizer.json': '{}' })
    const error = await errorOf(openFromHub(withoutWeights, { cacheFolder }).describe())
    expect(error).toMatchObject({ code: 'missing_part' })
    expect(error.message).toContain('ONNX')
    const nowhere = openFromHub({ url: 'http://127.0.0.1:1' }, { cacheFolder })
    expect(await errorOf(nowhere.describe())).toMatchObject({ code: 'unavailable' })
    expect(existsSync(join(cacheFolder, 'someone'))).toBe(false)
  })
})

function openTiny(more: TinyFiles = {}, options: LocalEmbedderOptions = {}) {
  const folder = join(temporaryFolder(), 'tiny')
  writeTinyModel(folder, more)
  return openLocal({ model: folder, ...options })
}

function openFromHub(hub: { readonly url: string }, options: LocalEmbedderOptions = {}) {
  return openLocal({
    model: 'someone/tiny',
    cacheFolder: temporaryFolder(),
    allowDownload: true,
    hubUrl: hub.url,
    ...options,
  })
}

type Serve = (response: ServerResponse, content: Uint8Array) => void

/** A hub with one model, `someone/tiny`: a list of its files, and the files. */
async function openHub(files: TinyFiles = hubFiles()) {
  const requests: string[] = []
  const serveInstead = new Map<string, Serve>()
  const server = createServer(({ url = '' }, response) => {
    requests.push(url)
    if (url === '/api/models/someone/tiny/tree/main?recursive=true') {
      response.end(JSON.stringify([{ type: 'directory', path: 'onnx' }, ...listOf(files)]))
      return
    }
    const file = url.replace('/someone/tiny/resolve/main/', '')
    const content = files[file]
    if (content === undefined) response.writeHead(404).end()
    else (serveInstead.get(file) ?? wholly)(response, Buffer.from(content))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo // it listens on a port
  return { url: `http://127.0.0.1:${port}`, requests, serveInstead }
}

function wholly(response: ServerResponse, content: Uint8Array): void {
  response.end(content)
}

function hubFiles(): TinyFiles {
  const { 'model.onnx': weights = '', ...others } = tinyFiles()
  return { ...others, 'onnx/model.onnx': weights, 'README.md': '# Tiny', '../escape.json': '{}' }
}

/** Weights are kept outside of git, and listed with their SHA-256; other files with the hash of git. */
function listOf(files: TinyFiles): readonly object[] {
  return Object.entries(files).map(([path, content]) => {
    const bytes = Buffer.from(content)
    const oid = hash('sha1', `blob ${bytes.length}\0`, bytes)
    const lfs = { oid: hash('sha256', bytes), size: bytes.length, pointerSize: 130 }
    return {
      type: 'file',
      path,
      size: bytes.length,
      oid,
      ...(path.endsWith('.onnx') ? { lfs } : {}),
    }
  })
}

function hash(algorithm: string, ...parts: readonly (string | Uint8Array)[]): string {
  return parts.reduce((sum, part) => sum.update(part), createHash(algorithm)).digest('hex')
}

function expectNear(vector: Float32Array, expected: readonly number[]): void {
  expect(vector.length).toBe(expected.length)
  for (const [index, number] of expected.entries()) expect(vector[index]).toBeCloseTo(number, 6)
}
