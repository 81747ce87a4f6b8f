/** How the local embedder treats the calls that wait, with a worker whose answers the test decides. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Embedder, EmbeddingPurpose } from '../../../src/models/embedder.ts'
import { openLocalEmbedderWith } from '../../../src/models/embedders/local/local-embedder.ts'
import type { LocalEmbedderOptions } from '../../../src/models/embedders/local/local-embedder-options.ts'
import { type FakeWorker, fakeWorkers } from '../../fakes/embedder-worker.ts'

function opened(options: LocalEmbedderOptions = {}) {
  const { start, started } = fakeWorkers()
  const embedder = openLocalEmbedderWith(start, options)
  const embed = (texts: readonly string[], purpose: EmbeddingPurpose, signal?: AbortSignal) =>
    outcomeOf(embedder.embed(texts, signal === undefined ? { purpose } : { purpose, signal }))
  const worker = (index = 0): FakeWorker => {
    const found = started[index]
    if (found === undefined) throw new Error(`There is no worker ${index}.`)
    return found
  }
  return { embedder, embed, worker, started }
}

/** Never rejects, so that a test can look at it later. */
function outcomeOf(call: Promise<readonly Float32Array[]>): Promise<string | number> {
  return call.then(
    (vectors) => vectors.length,
    (error) => String(error.code),
  )
}

describe('waiting', () => {
  it('[EM25] queries overtake waiting documents, and one text is under way at a time', async () => {
    const { embed, worker } = opened()
    const documents = embed(['document 1', 'document 2'], 'document')
    const others = embed(['document 3'], 'document')
    worker().open()
    const query = embed(['query'], 'query')
    expect(worker().asked).toEqual(['document 1'])
    for (let text = 0; text < 4; text++) worker().embed()
    expect(worker().asked).toEqual(['document 1', 'query', 'document 2', 'document 3'])
    expect(await Promise.all([documents, others, query])).toEqual([2, 1, 1])
  })

  it('[EM25] refuses beyond its limit, and a backlog of documents leaves room for queries', async () => {
    const { embedder, embed, worker } = opened({ queueMax: 3 })
    const taken = embed(['1', '2'], 'document')
    expect(await embed(['3', '4'], 'document')).toBe('unavailable')
    expect(await embed(['1', '2', '3', '4'], 'document')).toBe('invalid_input')
    const query = embed(['q'], 'query')
    expect(embedder.report().facts.queuedTexts).toBe(3)
    worker().open()
    for (let text = 0; text < 3; text++) worker().embed()
    expect(await Promise.all([taken, query])).toEqual([2, 1])
    const later = embed(['3', '4'], 'document')
    worker().embed()
    worker().embed()
    expect(await later).toBe(2)
  })

  it('[EM25] cancelled texts are never embedded, and the one under way is dropped', async () => {
    const { embed, worker } = opened()
    const controller = new AbortController()
    const stopped = embed(['1', '2', '3'], 'document', controller.signal)
    const other = embed(['4'], 'document')
    worker().open()
    controller.abort()
    expect(await stopped).toBe('cancelled')
    worker().embed(Float32Array.of(0, 1))
    expect(worker().asked).toEqual(['1', '4'])
    worker().embed()
    expect(await other).toBe(1)
  })

  it('[EM22] only what a model can see of a text is sent to its process', async () => {
    const { embed, worker } = opened({ tokensMax: 8 })
    void embed([`${'x'.repeat(127)}👍${'y'.repeat(1_000_000)}`], 'document')
    worker().open()
    expect(worker().asked).toEqual(['x'.repeat(127)])
  })

  it('[EM25] closing cancels queued calls and refuses new ones', async () => {
    const { embedder, embed, worker } = opened()
    const waiting = embed(['1'], 'document')
    await embedder.close()
    expect(await waiting).toBe('cancelled')
    expect(await embed(['2'], 'document')).toBe('unavailable')
    expect(worker().isStopped).toBe(true)
  })

  it('[EM29] the worker keeps the process alive only during calls', async () => {
    const { embed, worker } = opened()
    const controller = new AbortController()
    const cancelled = embed(['1'], 'query', controller.signal)
    expect(worker().isHeld).toBe(true)
    controller.abort()
    await cancelled
    expect(worker().isHeld).toBe(false)
    const answered = embed(['2'], 'query')
    expect(worker().isHeld).toBe(true)
    worker().open()
    worker().embed()
    await answered
    expect(worker().isHeld).toBe(false)
  })
})

describe('failing', () => {
  it('[EM24] after a failure to open, the next attempt waits for a pause that grows', async () => {
    let now = 0
    const { embedder, embed, worker, started } = opened({ now: () => now })
    const fail = (index: number) =>
      worker(index).answer({ kind: 'failed', code: 'damaged', message: 'It is broken.', facts: {} })
    const first = [embed(['1'], 'query'), embed(['2'], 'document')]
    fail(0)
    expect(await Promise.all(first)).toEqual(['damaged', 'damaged'])
    expect(worker(0).isStopped).toBe(true)
    expect(embedder.report().state).toEqual({ kind: 'failing', reason: 'It is broken.' })
    now = 999
    expect(await embed(['3'], 'query')).toBe('damaged')
    expect(started.length).toBe(1)
    now = 1_000
    const second = embed(['4'], 'query')
    expect(embedder.report().state).toEqual({ kind: 'warming' })
    fail(1)
    expect(await second).toBe('damaged')
    now = 2_999
    expect(await embed(['5'], 'query')).toBe('damaged')
    now = 3_000
    const third = embed(['6'], 'query')
    worker(2).open()
    worker(2).embed()
    expect(await third).toBe(1)
    expect(embedder.report().state).toEqual({ kind: 'ready' })
  })

  it('[EM24] a worker that ends before it has opened the model counts as such a failure', async () => {
    const { embed, worker, started } = opened({ now: () => 0 })
    const call = embed(['1'], 'query')
    worker().end('signal SIGKILL')
    expect(await call).toBe('unavailable')
    expect(await embed(['2'], 'query')).toBe('unavailable')
    expect(started.length).toBe(1)
  })

  it('[EM26] a worker that does not answer is replaced', async () => {
    const { embed, worker } = opened({ answerTimeoutMs: 5 })
    const call = embed(['1'], 'query')
    worker(0).open()
    expect(await call).toBe('unavailable')
    expect(worker(0).isStopped).toBe(true)
    const next = embed(['2'], 'query')
    worker(1).open()
    worker(1).embed()
    expect(await next).toBe(1)
  })

  it('[EM26] an idle worker is never taken for stuck', async () => {
    const { embed, worker } = opened({ answerTimeoutMs: 5 })
    const call = embed(['1'], 'query')
    worker().open()
    worker().embed()
    expect(await call).toBe(1)
    await delay(20)
    expect(worker().isStopped).toBe(false)
  })

  it.each([
    ['of another dimension', Float32Array.of(1, 0, 0)],
    ['that holds no number', Float32Array.of(Number.NaN, 0)],
  ])('[EM26] a vector %s fails its call and no other', async (_, vector) => {
    const { embed, worker } = opened()
    const calls = [embed(['1', '2'], 'document'), embed(['3'], 'document')]
    worker().open()
    worker().embed(vector)
    expect(worker().asked).toEqual(['1', '3'])
    worker().embed()
    expect(await Promise.all(calls)).toEqual(['unavailable', 1])
  })

  it('[EM26] ignores answers of a replaced worker', async () => {
    const { embedder, embed, worker } = opened({ now: () => 0 })
    const call = embed(['1'], 'query')
    worker().end('exit code 1')
    expect(await call).toBe('unavailable')
    worker().open()
    expect(embedder.report().state.kind).toBe('failing')
  })

  it('[EM28] refuses a model that was replaced: its vectors cannot be compared', async () => {
    const { embedder, embed, worker } = opened()
    const before = modelOf(embedder)
    worker(0).open({ model: 'mine@1' })
    expect(await before).toBe('mine@1')
    const lost = embed(['1'], 'query')
    worker(0).end('signal SIGKILL')
    expect(await lost).toBe('unavailable')
    const after = embed(['2'], 'query')
    worker(1).open({ model: 'mine@2' })
    expect(await after).toBe('unavailable')
    expect(await modelOf(embedder)).toBe('mine@1')
  })
})

async function modelOf(embedder: Embedder): Promise<string> {
  return (await embedder.describe()).model
}
