/** Parts of recall that hang, fail or talk nonsense: what can still be answered is, and nothing is made up. */
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/lib/errors.ts'
import type { Embedder } from '../../src/models/embedder.ts'
import { createValidatedEmbedder } from '../../src/models/embedders/embedding-validation.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import type { Reranker } from '../../src/models/reranker.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../src/storage/in-memory/in-memory-vector-index.ts'
import type { VectorIndex } from '../../src/storage/vector-index.ts'
import { scriptedEmbedder, untilAborted } from '../fakes/embedder.ts'
import { ADA, broken, changed, found, NO_FLOORS, openEngine, until } from './recall-support.ts'

const IMPATIENT = { ...NO_FLOORS, 'recall.retrieverTimeoutMs': 30 }
const forever = () => new Promise<never>(() => {})
const TEA = 'I prefer tea over coffee'

describe('the embedder', () => {
  it.each<[string, Partial<Embedder>]>([
    ['hangs while it loads', { describe: forever }],
    ['hangs and knows no signal', { embed: forever }],
    ['hangs until it is stopped', { embed: (_, { signal }) => untilAborted(signal) }],
    ['can not be loaded', { describe: broken('no model') }],
    ['fails', { embed: broken('no power') }],
    ['throws', { embed: () => Promise.reject(new TypeError('x is not a function')) }],
    ['gives nothing', { embed: async () => [] }],
  ])('[RA14] that %s leaves recall to words, and that is told', async (_, methods) => {
    const embedder = changed(createHashingEmbedder(), methods)
    const { engine } = openEngine({ embedder, settings: IMPATIENT })
    await engine.remember(ADA, { content: TEA })
    const { memories, retrievers: legs } = await engine.recall(ADA, { text: 'tea' })
    expect(memories.map(({ memory }) => memory.content)).toEqual([TEA])
    expect(legs.keyword).toEqual({ state: 'searched', hits: 1, reason: null })
    expect(legs.vector).toMatchObject({ state: 'failed', hits: 0, reason: expect.any(String) })
  })

  it('[RA14] that fails is tried again, and recall is whole when it heals', async () => {
    let isWell = false
    const embedder = scriptedEmbedder(() => {
      if (!isWell) throw new AppError('unavailable', 'no power')
    })
    const { engine } = openEngine({ embedder })
    await engine.remember(ADA, { content: TEA })
    expect((await engine.recall(ADA, { text: 'tea' })).retrievers.vector.state).toBe('failed')
    expect((await engine.status()).index).toMatchObject({ withoutVector: 1, reason: 'no power' })
    isWell = true
    await until(
      async () => (await engine.recall(ADA, { text: 'tea' })).retrievers.vector.hits === 1,
    )
    expect((await engine.status()).index).toMatchObject({ withoutVector: 0, reason: null })
  })

  it.each<[string, (count: number) => unknown]>([
    ['too few vectors', (count) => Array.from({ length: count - 1 }, () => [1, 0])],
    ['vectors of another size', (count) => Array.from({ length: count }, () => [1, 0, 0])],
    ['numbers that are none', (count) => Array.from({ length: count }, () => [Number.NaN, 1])],
    ['no list', () => 'sorry'],
  ])('[RA14] that answers with %s counts as failed, and no vector is kept', async (_, answer) => {
    let isProbed = false
    const embedder = createValidatedEmbedder({
      sourceName: 'test',
      model: 'nonsense',
      embed: async (texts) => {
        if (isProbed) return answer(texts.length)
        isProbed = true
        return texts.map(() => [1, 0])
      },
      close: async () => {},
    })
    const { engine, vectors } = openEngine({ embedder })
    await engine.remember(ADA, { content: TEA })
    const { memories, retrievers: legs } = await engine.recall(ADA, { text: 'tea' })
    expect(memories).toHaveLength(1)
    expect(legs.vector).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('nonsense'),
    })
    expect(await vectors.spaces()).toEqual([])
  })

  it('[RA15] that refuses one text does not keep the others from their vectors', async () => {
    const embedder = scriptedEmbedder(({ texts }) => {
      if (texts.some((text) => text.includes('poison'))) {
        throw new AppError('invalid_input', 'The model refuses a text.')
      }
    })
    const { engine } = openEngine({ embedder })
    for (const content of ['apples are red', 'poison is green', 'plums are blue']) {
      await engine.remember(ADA, { content })
    }
    const { retrievers: legs } = await engine.recall(ADA, { text: 'apples' })
    expect(legs.vector).toMatchObject({ state: 'searched', hits: 2 })
    expect(await engine.admin.reindex()).toMatchObject({
      withoutVector: 1,
      reason: 'The model refuses a text.',
    })
    expect(await found(engine, 'poison')).toContain('poison is green')
  })
})

describe('the index', () => {
  const methods = ['put', 'search', 'count', 'list', 'spaces'] as const
  it.each(methods)('[RA14] that fails in %s leaves recall to words', async (method) => {
    const store = createInMemoryStore()
    let isWell = false
    const inner = createInMemoryVectorIndex(store)
    const vectors: VectorIndex = changed(inner, {
      [method]: (...args: never[]) =>
        isWell ? Reflect.apply(inner[method], inner, args) : broken('no index')(),
    })
    const { engine } = openEngine({ store, vectors })
    await engine.remember(ADA, { content: TEA })
    expect(await found(engine, 'tea')).toEqual([TEA])
    isWell = true
    await until(
      async () => (await engine.recall(ADA, { text: 'tea' })).retrievers.vector.hits === 1,
    )
  })
})

describe('the store', () => {
  it('[RA14] that can not match words leaves recall to meaning', async () => {
    const store = changed(createInMemoryStore(), { searchText: broken('no words') })
    const { engine } = openEngine({
      store,
      settings: { ...NO_FLOORS, 'memory.similarMemoriesMax': 0 },
    })
    await engine.remember(ADA, { content: TEA })
    const { memories, retrievers: legs } = await engine.recall(ADA, { text: 'tea' })
    expect(memories).toHaveLength(1)
    expect(legs.keyword).toEqual({ state: 'failed', hits: 0, reason: 'no words' })
    expect(legs.vector.state).toBe('searched')
  })

  it('[RA14] that cannot read the order of sessions omits it', async () => {
    const store = changed(createInMemoryStore(), { findNeighbors: broken('no course') })
    const { engine } = openEngine({ store })
    await engine.remember({ ...ADA, session: 'monday' }, { content: TEA })
    expect(await found(engine, 'tea')).toEqual([TEA])
  })

  it('[RA14] when nothing can be looked up that is an error, not an empty answer', async () => {
    const store = changed(createInMemoryStore(), { searchText: broken('no words') })
    const embedder = changed(createHashingEmbedder(), { embed: broken('no power') })
    const { engine } = openEngine({ store, embedder })
    const failing = { code: 'unavailable', message: 'no words' }
    await expect(engine.recall(ADA, { text: 'tea' })).rejects.toMatchObject(failing)
    await expect(engine.recall(ADA, { text: 'tea', strategy: 'keyword' })).rejects.toMatchObject(
      failing,
    )
    await expect(engine.recall(ADA, { text: 'tea', strategy: 'semantic' })).rejects.toThrow(
      'no words',
    )
  })

  it('[RA14] that can not read the memories that were found is an error', async () => {
    const inner = createInMemoryStore()
    let isWell = true
    const store = changed(inner, {
      findDocuments: (...args) => (isWell ? inner.findDocuments(...args) : broken('no rows')()),
    })
    const { engine } = openEngine({ store })
    await engine.remember(ADA, { content: TEA })
    isWell = false
    await expect(engine.recall(ADA, { text: 'tea' })).rejects.toThrow('no rows')
    isWell = true
  })
})

describe('the reranker', () => {
  const APPLES = ['red apples', 'green apples', 'yellow apples', 'blue apples'] as const
  const openWith = async (rerank: Reranker['rerank'], settings = {}) => {
    const reranker = { name: 'test', rerank, close: async () => {} }
    const { engine } = openEngine({ reranker, settings: { ...IMPATIENT, ...settings } })
    for (const content of APPLES) await engine.remember(ADA, { content })
    await engine.admin.reindex()
    return engine
  }
  const plainOrder = async () => found(await openWith(broken('no reranker')), 'apples')

  it.each<[string, Reranker['rerank']]>([
    ['hangs', forever],
    ['hangs until it is stopped', (_, __, signal) => untilAborted(signal)],
    ['fails', broken('no reranker')],
  ])('[RA14] that %s leaves the order as it was', async (_, rerank) => {
    const engine = await openWith(rerank)
    const { memories, retrievers: legs } = await engine.recall(ADA, { text: 'apples' })
    expect(memories.map(({ memory }) => memory.content)).toEqual(await plainOrder())
    expect(legs.rerank).toMatchObject({ state: 'failed', reason: expect.any(String) })
  })

  it('[RA14] that is silent about some has those behind the others, in their order', async () => {
    const plain = await plainOrder()
    const engine = await openWith(async () => [{ index: 2, score: -7 }])
    const expected = [plain[2], plain[0], plain[1], plain[3]]
    expect(await found(engine, 'apples')).toEqual(expected)
    const diverse = await openWith(async () => [{ index: 2, score: -7 }], {
      'recall.mmrLambda': 0.99,
    })
    expect((await found(diverse, 'apples'))[0]).toBe(plain[2])
  })

  it('[RA14] that names unknown documents loses no results', async () => {
    const plain = await plainOrder()
    const nonsense = [
      { index: 3, score: 1 },
      { index: -1, score: 9 },
      { index: 0.5, score: 9 },
      { index: 1, score: Number.NaN },
      { index: 100, score: 9 },
    ]
    const engine = await openWith(async () => nonsense, { 'recall.rerankCandidates': 3 })
    const { memories, retrievers: legs } = await engine.recall(ADA, { text: 'apples' })
    expect(memories.map(({ memory }) => memory.content)).toEqual(plain)
    expect(legs.rerank.hits).toBe(0)
  })
})

describe('counting uses', () => {
  it('[RA22] keeps what could not be written for the next time', async () => {
    const inner = createInMemoryStore()
    let failures = 0
    const store = changed(inner, {
      commit: async (changes) => {
        if (failures > 0 && changes.some(({ op }) => op === 'count')) {
          failures--
          throw new AppError('busy', 'The database is locked.')
        }
        return inner.commit(changes)
      },
    })
    const { engine } = openEngine({ store })
    const { memory } = await engine.remember(ADA, { content: TEA })
    failures = 2
    await expect(engine.memories.recordUse(ADA, [memory.id])).rejects.toMatchObject({
      code: 'busy',
    })
    const noted = engine.memories.recordUse(ADA, [memory.id])
    const refused = expect(noted).rejects.toMatchObject({ code: 'busy' })
    await engine.recall(ADA, { text: 'tea', purpose: 'prompt' })
    await refused
    await engine.memories.recordUse(ADA, [memory.id])
    expect((await engine.get(ADA, memory.id))?.useCount).toBe(4)
  })

  it('[RA22] flushes pending counts on close, and closes even if that fails', async () => {
    for (const isBroken of [false, true]) {
      const inner = createInMemoryStore()
      let isClosed = false
      let isFailing = false
      const store = changed(inner, {
        commit: (changes) => (isFailing ? broken('no disk')() : inner.commit(changes)),
        close: async () => {
          isClosed = true
        },
      })
      const { engine } = openEngine({ store })
      const { memory } = await engine.remember(ADA, { content: TEA })
      await engine.recall(ADA, { text: 'tea', purpose: 'prompt' })
      isFailing = isBroken
      await engine.close()
      expect(isClosed).toBe(true)
      const stored = await inner.get('memory', memory.place, memory.id)
      expect(stored?.useCount).toBe(isBroken ? 0 : 1)
    }
  })
})
