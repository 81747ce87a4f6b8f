/** Vectors by batches: at services that speak each protocol, and everything that may go wrong with them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AppError } from '../../../src/lib/errors.ts'
import { openBatchLedger } from '../../../src/models/embedders/batch-api/batch-ledger.ts'
import { openEmbeddingBatches } from '../../../src/models/embedders/batch-api/batch-providers.ts'
import {
  type CachePrefillOptions,
  cancelBatches,
  prefillCache,
} from '../../../src/models/embedders/batch-api/cache-prefill.ts'
import type { EmbeddingBatches } from '../../../src/models/embedders/batch-api/embedding-batches.ts'
import {
  createBatchBreaker,
  reportBatchState,
} from '../../../src/models/embedders/batch-api/provider-batch-embedder.ts'
import { withEmbeddingCache } from '../../../src/models/embedders/embedding-cache.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import {
  hashRemoteAccount,
  type RemoteEmbedderConfig,
} from '../../../src/models/embedders/remote/embedding-providers.ts'
import { openSqliteEmbeddingCache } from '../../../src/models/embedders/sqlite-embedding-cache.ts'
import { scriptedEmbedder } from '../../fakes/embedder.ts'
import { temporaryFile, temporaryFolder } from '../../support/temporary-folder.ts'
import { type BatchService, startBatchService } from './batch-services.ts'
import { embedAll, errorOf, expected, notes, PausingClock } from './embedder-support.ts'
import { reply } from './embedding-services.ts'

const KEY = 'sk-very-secret'
const MODELS = {
  openai: 'text-embedding-3-small',
  voyage: 'voyage-4-large',
  gemini: 'gemini-embedding-001',
} as const
type Name = keyof typeof MODELS
const NAMES = ['openai', 'voyage', 'gemini'] as const

async function opened(name: Name, limits: CachePrefillOptions['limits'] = {}) {
  const clock = new PausingClock()
  const service = await startBatchService(name)
  const config: RemoteEmbedderConfig = {
    ...{ provider: name, model: MODELS[name], apiKey: KEY, baseUrl: service.url, clock },
  }
  const path = temporaryFile('vectors.db')
  const folder = temporaryFolder()
  const identity = {
    model: await createHashingEmbedder().describe(),
    account: hashRemoteAccount(config),
    isPurposeSpecific: name !== 'openai',
  }
  const breaker = createBatchBreaker(clock)
  /** As a new process has it. */
  const fresh = () => {
    const cache = openSqliteEmbeddingCache({ path, clock })
    onTestFinished(() => cache.close())
    const batches = openEmbeddingBatches(config)
    if (batches === null) throw new Error('it has batches')
    return { cache, batches, ledger: openBatchLedger(folder) }
  }
  let current = fresh()
  const prefill = (texts: readonly string[], more: Partial<CachePrefillOptions> = {}) =>
    prefillCache({
      ...{ texts, identity, breaker, clock, ...current },
      limits: { textsMin: 1, ...limits },
      ...more,
    })
  /** How many texts a plain embedder is still asked for. */
  const plainCalls = async (texts: readonly string[]) => {
    const source = scriptedEmbedder()
    const embedder = withEmbeddingCache(source, { cache: current.cache, ...identity })
    const vectors = await embedAll(embedder, texts)
    const wanted = await expected(texts)
    for (const [at, vector] of vectors.entries()) {
      for (const [index, number] of vector.entries()) {
        expect(number).toBeCloseTo(wanted[at]?.[index] ?? Number.NaN, 5)
      }
    }
    return source.texts().length
  }
  return {
    ...{ service, clock, prefill, breaker, plainCalls, folder, config },
    batches: (): EmbeddingBatches => current.batches,
    ledger: () => current.ledger,
    restart: async () => {
      await current.cache.close()
      current = fresh()
    },
  }
}

/** How each is asked about notes, as its documentation has it. */
const NOTE = 'Note number 0 about kites'
const fileAndBatch = (batch: string) => [
  ...['POST /v1/files', 'POST /v1/batches', `GET /v1/batches/${batch}`],
  ...['GET /v1/files/file-2/content', 'DELETE /v1/files/file-1', 'DELETE /v1/files/file-2'],
]
const WIRE = {
  openai: {
    paths: fileAndBatch('batch_openai_1'),
    created: {
      ...{ input_file_id: 'file-1', endpoint: '/v1/embeddings', completion_window: '24h' },
    },
    line: {
      ...{ method: 'POST', url: '/v1/embeddings' },
      body: { model: MODELS.openai, input: NOTE, encoding_format: 'float' },
    },
  },
  voyage: {
    paths: fileAndBatch('batch_voyage_1'),
    created: {
      ...{ input_file_id: 'file-1', endpoint: '/v1/embeddings', completion_window: '12h' },
      request_params: { model: MODELS.voyage, input_type: 'document' },
    },
    line: { body: { input: [NOTE] } },
  },
  gemini: {
    paths: [
      'POST /upload/v1beta/files',
      'POST /upload/session/1',
      'POST /v1beta/models/gemini-embedding-001:asyncBatchEmbedContent',
      'GET /v1beta/batches/b-1',
      'GET /download/v1beta/files/file-2:download?alt=media',
      'DELETE /v1beta/files/file-1',
      'DELETE /v1beta/files/file-2',
    ],
    created: { batch: { displayName: 'texts', inputConfig: { fileName: 'files/file-1' } } },
    line: {
      request: {
        ...{ model: 'models/gemini-embedding-001', taskType: 'RETRIEVAL_DOCUMENT' },
        content: { parts: [{ text: NOTE }] },
      },
    },
  },
} as const

const count = (service: BatchService, pattern: RegExp) =>
  service.paths().filter((path) => pattern.test(path)).length
const SUBMITS = /^POST \S*(?:\/batches$|:asyncBatchEmbedContent$)/

describe.each(NAMES)('batches of %s', (name) => {
  it('[EB1] fill the cache that indexing looks into, with no text twice', async () => {
    const { service, prefill, plainCalls, clock } = await opened(name)
    const texts = ['One kite', 'Two kites', 'One kite', ' ', 'lone \ud800 half']
    const progress: number[] = []
    const report = await prefill(texts, { onProgress: ({ done }) => progress.push(done) })
    expect(report).toEqual({ texts: 4, cached: 0, filled: 4, remaining: 0, stopReason: null })
    expect(service.uploads.map((lines) => lines.length)).toEqual([4])
    expect(await plainCalls(['One kite', 'Two kites'])).toBe(0)
    expect(progress.at(-1)).toBe(4)
    expect(clock.pauses).toEqual([2_000, 2_000])
    expect(await prefill(texts)).toMatchObject({ cached: 4, filled: 0, remaining: 0 })
    expect(service.uploads).toHaveLength(1)
  })

  it('[EB2] speak its protocol, and have what was uploaded removed', async () => {
    const { service, prefill } = await opened(name)
    await prefill(notes(2))
    const [created] = service.asked.filter(({ method, path }) => SUBMITS.test(`${method} ${path}`))
    const [line] = service.uploads[0] ?? []
    expect(service.paths().filter((path, at, all) => path !== all[at - 1])).toEqual(
      WIRE[name].paths,
    )
    expect(JSON.parse(created?.body.toString() ?? '')).toEqual(WIRE[name].created)
    const key = expect.stringMatching(/^[0-9a-f]{64}$/)
    const called = name === 'gemini' ? { key } : { custom_id: key }
    expect(line).toEqual({ ...called, ...WIRE[name].line })
    for (const { headers } of service.asked) {
      const result = name === 'gemini' ? headers['x-goog-api-key'] : headers.authorization
      expect(result).toBe(name === 'gemini' ? KEY : `Bearer ${KEY}`)
    }
  })

  it('[EB3] go on after a restart, without being submitted again', async () => {
    const { service, prefill, plainCalls, restart, folder, clock } = await opened(name)
    service.polls = 1_000_000
    const stopping = new AbortController()
    const sleep = clock.sleep.bind(clock)
    clock.sleep = (ms, signal) => {
      if (clock.pauses.length === 2) stopping.abort()
      return sleep(ms, signal)
    }
    const error = await errorOf(prefill(notes(3), { signal: stopping.signal }))
    expect(error.code).toBe('cancelled')
    const [file = ''] = readdirSync(folder)
    const stored = readFileSync(join(folder, file), 'utf8')
    for (const secret of [KEY, 'kites']) expect(stored).not.toContain(secret)

    await restart()
    service.polls = 0
    // One text more than before: only that one is new.
    expect(await prefill(notes(4))).toMatchObject({ filled: 4, remaining: 0 })
    expect(service.uploads.map((lines) => lines.length)).toEqual([3, 1])
    expect(await plainCalls(notes(4))).toBe(0)
    expect(readdirSync(folder)).toEqual([])
  })

  it('[EB4] fail when a line is missing or wrong, and keep the valid lines', async () => {
    const changes: readonly BatchService['change'][] = [
      (lines) => lines.slice(1),
      ([first, ...rest]) => [{ ...first, error: { code: 'server_error' } }, ...rest],
      ([first, ...rest]) => {
        const short = JSON.stringify(first).replace(/\[[-\d.,e]+\]/, '[1, 2]')
        return [JSON.parse(short), ...rest]
      },
    ]
    for (const change of changes) {
      const { service, prefill, plainCalls, breaker } = await opened(name)
      service.change = change
      const report = await prefill(notes(3))
      expect(report).toMatchObject({ filled: 2, remaining: 1 })
      expect(report.stopReason).toMatch(/gave no vectors for 1 of 3 texts/)
      expect(reportBatchState(breaker)).toMatchObject({
        batchApiEnabled: true,
        batchApiFailures: 1,
      })
      expect(await plainCalls(notes(3))).toBe(1)
    }
  })

  it('[EB4] fail when the service reports it', async () => {
    const { service, prefill, folder } = await opened(name)
    service.end = name === 'gemini' ? 'EXPIRED' : 'expired'
    service.change = (lines) => lines.slice(1)
    const { stopReason: because } = await prefill(notes(2))
    expect(because).toMatch(/ended as expired/)
    expect(readdirSync(folder)).toEqual([])
  })

  it('[EB5] are waited for once more when they take too long, then cancelled', async () => {
    const { service, prefill, clock, folder } = await opened(name, { timeoutMs: 10_000 })
    service.polls = 8
    expect(await prefill(notes(2))).toMatchObject({ filled: 2 })
    service.polls = 1_000_000
    const before = clock.now()
    const report = await prefill(['Another one'])
    expect(report).toMatchObject({
      filled: 0,
      remaining: 1,
      stopReason: expect.stringMatching(/deadline/),
    })
    expect(clock.now() - before).toBe(20_000)
    expect(service.paths().at(-1)).toMatch(/cancel$/)
    expect(count(service, SUBMITS)).toBe(2)
    expect(readdirSync(folder)).toEqual([])
  })

  it('[EB6] are disabled for the process after two failures, and the status reports why', async () => {
    const { service, prefill, breaker } = await opened(name)
    service.misbehave = ({ method, path }, response) =>
      SUBMITS.test(`${method} ${path}`) && reply(response, 500, { error: { code: 'overloaded' } })
    await prefill(['One'])
    expect(reportBatchState(breaker)).toEqual({ batchApiEnabled: true, batchApiFailures: 1 })
    await prefill(['One'])
    expect(reportBatchState(breaker)).toMatchObject({
      batchApiEnabled: false,
      batchApiDisabledReason: expect.stringMatching(/failed \(500, overloaded\)/),
    })
    service.misbehave = () => false
    const asked = service.asked.length
    expect(await prefill(['One'])).toMatchObject({ remaining: 1, stopReason: breaker.openReason })
    expect(service.asked).toHaveLength(asked)
  })

  it('[EB6] are disabled at once where they are not supported', async () => {
    const { service, prefill, breaker } = await opened(name)
    service.misbehave = ({ method, path }, response) =>
      SUBMITS.test(`${method} ${path}`) && reply(response, 404, {})
    expect(await prefill(['One'])).toMatchObject({ remaining: 1 })
    expect(breaker.openReason).toMatch(/does not know/)
  })

  it('[EB7] are polled again after a transient failure, and left to others when it persists', async () => {
    const { service, prefill, folder, restart } = await opened(name)
    const isPoll = (path: string) => /\/batches\/[^/:]+$/.test(path)
    let faults = 3
    service.misbehave = ({ path }, response) =>
      isPoll(path) && faults-- > 0 && reply(response, 503, {})
    expect(await prefill(notes(2))).toMatchObject({ filled: 2, remaining: 0 })
    faults = 1_000
    expect(await prefill(['Later'])).toMatchObject({ remaining: 1 })
    expect(readdirSync(folder)).toHaveLength(1)
    faults = 0
    await restart()
    expect(await prefill(['Later'])).toMatchObject({ filled: 1, remaining: 0 })
    expect(count(service, SUBMITS)).toBe(2)
  })

  it('[EB7] are submitted again when the service has lost them', async () => {
    const { service, prefill, folder, ledger } = await opened(name)
    service.polls = 1_000_000
    const stopping = new AbortController()
    await errorOf(prefill(['One'], { signal: stopping.signal, onProgress: () => stopping.abort() }))
    const [handle] = await ledger().list()
    expect(handle).toMatchObject({ timeouts: 0 })
    service.misbehave = ({ path, method }, response) =>
      method === 'GET' && path.includes('batches') && reply(response, 404, {})
    expect(await prefill(['One'])).toMatchObject({ remaining: 1 })
    expect(readdirSync(folder)).toEqual([])
    service.misbehave = () => false
    service.polls = 0
    expect(await prefill(['One'])).toMatchObject({ filled: 1 })
  })

  it('[EB8] can be cancelled', async () => {
    const { service, prefill, batches, ledger } = await opened(name)
    service.polls = 1_000_000
    const stopping = new AbortController()
    await errorOf(prefill(['One'], { signal: stopping.signal, onProgress: () => stopping.abort() }))
    expect(await cancelBatches({ batches: batches(), ledger: ledger() })).toBe(1)
    expect(service.paths().at(-1)).toMatch(/^POST \S+cancel$/)
    expect(await cancelBatches({ batches: batches(), ledger: ledger() })).toBe(0)
  })
})

describe('batches', () => {
  it('[EB1] are as large as they may be, and two at a time', async () => {
    const { service, prefill } = await opened('openai', { textsMax: 2 })
    let [open, most] = [0, 0]
    service.misbehave = ({ method, path }) => {
      if (SUBMITS.test(`${method} ${path}`)) most = Math.max(most, ++open)
      if (path.endsWith('/content')) open--
      return false
    }
    expect(await prefill(notes(7))).toMatchObject({ filled: 7 })
    expect(service.uploads.map((lines) => lines.length)).toEqual([2, 2, 2, 1])
    expect(most).toBe(2)
    const long = await opened('openai', { charactersMax: 40 })
    await long.prefill(notes(3))
    expect(long.service.uploads.map((lines) => lines.length)).toEqual([1, 1, 1])
  })

  it('[EB1] are not made for a few texts, nor at services that have none', async () => {
    const { service, prefill, config } = await opened('openai')
    const report = await prefill(notes(3), { limits: {} })
    expect(report).toMatchObject({
      remaining: 3,
      stopReason: 'Too few texts for a batch.',
    })
    expect(service.asked).toEqual([])
    expect(openEmbeddingBatches({ ...config, provider: 'ollama' })).toBe(null)
  })

  it('[EB9] send key and texts to no other host', async () => {
    const gemini = await opened('gemini')
    const stranger = await startBatchService('gemini')
    gemini.service.misbehave = ({ path }, response) =>
      path.startsWith('/upload/v1beta') &&
      reply(response, 200, {}, { 'x-goog-upload-url': `${stranger.url}/upload` })
    expect(await gemini.prefill(['One'])).toMatchObject({
      stopReason: expect.stringMatching(/no address of its own/),
    })
    const openai = await opened('openai')
    openai.service.misbehave = ({ path }, response) =>
      path.endsWith('/content') && reply(response, 302, {}, { location: `${path}/?signed` })
    expect(await openai.prefill(['One'])).toMatchObject({ filled: 1 })
    const signed = openai.service.asked.find(({ path }) => path.includes('signed'))
    expect(signed?.headers.authorization).toBe(undefined)
    expect(stranger.asked).toEqual([])
  })

  it('[EB9] include no key and no text in errors', async () => {
    const { service, prefill } = await opened('openai')
    service.misbehave = (_, response) =>
      reply(response, 400, { error: { message: `${KEY} kites`, code: KEY } })
    const { stopReason: because } = await prefill(notes(2))
    expect(because).toMatch(/refused/)
    for (const secret of [KEY, 'kites']) expect(because).not.toContain(secret)
  })

  it('[EB3] are noted in files that may be damaged', async () => {
    const { prefill, folder, ledger } = await opened('openai')
    writeFileSync(join(folder, 'a.json'), '{"source": "openai"')
    writeFileSync(join(folder, 'b.json'), '{"source": "openai", "batch": 3}')
    expect(await ledger().list()).toEqual([])
    expect(await prefill(['One'])).toMatchObject({ filled: 1 })
  })

  it('[EB7] leave everything to plain calls when the cache fails', async () => {
    const { service, prefill } = await opened('openai')
    const fail = async () => {
      throw new AppError('disk_full', 'No space.')
    }
    const cache = { get: fail, put: fail, clear: fail, report: () => ({}), close: async () => {} }
    expect(await prefill(notes(2), { cache })).toMatchObject({
      remaining: 2,
      stopReason: 'No space.',
    })
    expect(service.asked).toEqual([])
    const forgetful = { ...cache, get: async () => new Map() }
    const { ledger, ...other } = await opened('openai')
    expect(await other.prefill(notes(2), { cache: forgetful })).toMatchObject({ remaining: 2 })
    // Its vectors are still there to be fetched.
    expect(await ledger().list()).toHaveLength(1)
    expect(await other.prefill(notes(2))).toMatchObject({ filled: 2, remaining: 0 })
  })
})
