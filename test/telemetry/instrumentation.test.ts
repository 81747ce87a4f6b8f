import { describe, expect, it } from 'vitest'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import { instrumentEngine } from '../../src/engine/instrumentation.ts'
import { AppError } from '../../src/lib/errors.ts'
import { yieldToEventLoop } from '../../src/lib/event-loop.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../src/storage/in-memory/in-memory-vector-index.ts'
import { createCompositeTelemetry } from '../../src/telemetry/composite-telemetry.ts'
import { createJsonLog } from '../../src/telemetry/json-log.ts'
import { NOOP_TELEMETRY, type Telemetry } from '../../src/telemetry/telemetry.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { KeptTelemetry } from '../fakes/telemetry.ts'

const ADA = { owner: 'ada', session: 'chat 7' }
const SECRET = 'The spare key is under the third pot.'

function open(telemetry: Telemetry): Engine {
  return instrumentEngine(
    createEngineWith({
      store: createInMemoryStore(),
      clock: new FakeClock(),
      ids: countingIds(),
      settings: {},
    }),
    telemetry,
  )
}

/** An engine of which only this much exists. */
function partly(methods: object): Engine {
  return methods as Engine
}

async function readAll(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all
}

describe('an observed engine', () => {
  it('[TE9] answers as it did before, and counts and times each call by its outcome', async () => {
    const telemetry = new KeptTelemetry()
    const engine = open(telemetry)
    const { memory } = await engine.remember(ADA, { content: 'I prefer tea over coffee.' })
    expect(await engine.get(ADA, memory.id)).toEqual(memory)
    await expect(engine.get(ADA, 'tea')).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(engine.erase(ADA, 'mem_nothere')).rejects.toMatchObject({ code: 'not_found' })
    await yieldToEventLoop()
    const counted = (operation: string, outcome: string) =>
      telemetry.counted('recollect_operations_total', { operation, outcome })
    expect(counted('remember', 'ok')).toBe(1)
    expect(counted('get', 'ok')).toBe(1)
    expect(counted('get', 'invalid_input')).toBe(1)
    expect(counted('erase', 'not_found')).toBe(1)
    const times = telemetry.observed.filter(({ name }) => name === 'recollect_operation_seconds')
    expect(times.map(({ labels }) => labels.operation)).toEqual(['remember', 'get', 'get', 'erase'])
    expect(times.every(({ seconds }) => seconds > 0)).toBe(true)
    await engine.close()
  })

  it('[TE9] methods that nobody knew of pass through, those of namespaces and classes too', async () => {
    class Keys {
      readonly #made: string[] = []
      async create(name: string): Promise<readonly string[]> {
        this.#made.push(name)
        return this.#made
      }
    }
    const telemetry = new KeptTelemetry()
    const inner = {
      version: 7,
      nothing: null,
      double: (number: number) => number * 2,
      later: async (number: number) => number * 2,
      keys: new Keys(),
    }
    const engine = instrumentEngine(partly(inner), telemetry) as unknown as typeof inner // as it was given
    expect([engine.version, engine.nothing, engine.double(2)]).toEqual([7, null, 4])
    expect(await engine.later(2)).toBe(4)
    expect(await engine.keys.create('a')).toEqual(['a'])
    expect(await engine.keys.create('b')).toEqual(['a', 'b'])
    await yieldToEventLoop()
    const outcome = 'ok'
    expect(telemetry.counted('recollect_operations_total', { operation: 'later', outcome })).toBe(1)
    expect(
      telemetry.counted('recollect_operations_total', { operation: 'keys.create', outcome }),
    ).toBe(2)
  })

  it('[TE9] a stream is counted when it ends, fails, or is left', async () => {
    const telemetry = new KeptTelemetry()
    const counted = (outcome: string) =>
      telemetry.counted('recollect_operations_total', { operation: 'export', outcome })
    let isLeft = false
    const engine = instrumentEngine(
      partly({
        export: async function* (scope: unknown) {
          try {
            yield 'one'
            if (scope === null) throw new AppError('unavailable', 'The store is gone.')
            yield 'two'
          } finally {
            isLeft = true
          }
        },
      }),
      telemetry,
    )
    const lines: string[] = []
    for await (const line of engine.export(ADA)) {
      await yieldToEventLoop()
      expect(counted('ok')).toBe(0)
      lines.push(line)
    }
    expect(lines).toEqual(['one', 'two'])
    await yieldToEventLoop()
    expect(counted('ok')).toBe(1)
    isLeft = false
    for await (const _ of engine.export(ADA)) break
    await yieldToEventLoop()
    expect([isLeft, counted('ok')]).toEqual([true, 2])
    await expect(readAll(engine.export(null))).rejects.toThrow('The store is gone.')
    await yieldToEventLoop()
    expect([counted('ok'), counted('unavailable')]).toEqual([2, 1])
  })

  it('[TE9] telemetry that fails, or an answer that it does not understand, harms no call', async () => {
    const broken = () => {
      throw new Error('telemetry is broken')
    }
    const engine = open({ ...NOOP_TELEMETRY, log: broken, count: broken, observe: broken })
    const { memory } = await engine.remember(ADA, { content: 'I prefer tea over coffee.' })
    expect(memory.content).toContain('tea')
    expect((await engine.recall(ADA, { text: 'tea' })).memories).toHaveLength(1)
    await expect(engine.get(ADA, 'tea')).rejects.toMatchObject({ code: 'invalid_input' })
    const odd = instrumentEngine(
      partly({ remember: async () => 'stored', recall: async () => null }),
      {
        ...NOOP_TELEMETRY,
      },
    )
    expect(await odd.remember(ADA, { content: 'x' })).toBe('stored')
    expect(await odd.recall(ADA, { text: 'x' })).toBeNull()
    await yieldToEventLoop() // what is told later harms nobody either
  })

  it('[TE9] silence costs nothing: the engine is left as it is', () => {
    const engine = partly({})
    expect(instrumentEngine(engine, NOOP_TELEMETRY)).toBe(engine)
  })
})

describe('recall', () => {
  it('[TE10] is counted by its legs, by what it returned, and when it abstained', async () => {
    const telemetry = new KeptTelemetry()
    const engine = open(telemetry)
    await engine.remember(ADA, { content: 'I prefer tea over coffee.' })
    await engine.recall(ADA, { text: 'tea or coffee' })
    await engine.recall(ADA, { text: 'tea', strategy: 'keyword' })
    await yieldToEventLoop()
    const counted = (retriever: string, state: string) =>
      telemetry.counted('recollect_recall_retrievers_total', { retriever, state })
    expect([counted('keyword', 'searched'), counted('vector', 'skipped')]).toEqual([2, 2])
    expect(telemetry.counted('recollect_memories_recalled_total')).toBe(2)
    expect(telemetry.counted('recollect_recalls_abstained_total')).toBe(0)
    const times = telemetry.observed.filter(({ name }) => name === 'recollect_recall_seconds')
    expect(times.map(({ labels }) => labels.strategy)).toEqual(['hybrid', 'keyword'])
    const quiet = instrumentEngine(
      partly({
        recall: async () => ({ retrievers: {}, abstained: true, memories: [], strategy: 'x' }),
      }),
      telemetry,
    )
    await quiet.recall(ADA, { text: 'x' })
    expect(telemetry.counted('recollect_recalls_abstained_total')).toBe(1)
  })

  it('[TE10] a retriever that fails is told once, and once more when it works again', async () => {
    const telemetry = new KeptTelemetry()
    let isBroken = false
    const inner = createHashingEmbedder()
    const store = createInMemoryStore()
    const engine = instrumentEngine(
      createEngineWith({
        store,
        clock: new FakeClock(),
        ids: countingIds(),
        settings: {},
        vectors: createInMemoryVectorIndex(store),
        embedder: {
          ...inner,
          embed: async (texts, options) => {
            if (isBroken) throw new AppError('unavailable', `No vector for ${texts[0]}`)
            return inner.embed(texts, options)
          },
        },
      }),
      telemetry,
    )
    await engine.remember(ADA, { content: SECRET })
    await engine.recall(ADA, { text: 'spare key' })
    isBroken = true
    await engine.recall(ADA, { text: 'spare key' })
    await engine.recall(ADA, { text: 'spare key' })
    isBroken = false
    await engine.recall(ADA, { text: 'spare key' })
    const told = telemetry.logged.filter(({ level }) => level !== 'debug')
    expect(told).toEqual([
      {
        level: 'warn',
        event: 'retriever_failed',
        fields: { retriever: 'vector', state: 'failed' },
      },
      {
        level: 'info',
        event: 'retriever_recovered',
        fields: { retriever: 'vector', state: 'searched' },
      },
    ])
    await engine.close()
  })
})

describe('spans', () => {
  it('[TE6] stand around what is done with memories, with the records they are about', async () => {
    const telemetry = new KeptTelemetry()
    const engine = open(telemetry)
    const { memory } = await engine.remember(ADA, { content: SECRET })
    await engine.learn(ADA, 'My name is Ada. I live in Paris.')
    await engine.recall(ADA, { text: 'spare key', limit: 1 })
    await engine.edit(ADA, memory.id, { importance: 9 })
    await engine.disable(ADA, memory.id)
    await engine.restore(ADA, memory.id)
    await engine.forget(ADA, memory.id)
    await engine.erase(ADA, memory.id)
    await engine.list(ADA)
    const about = { owner: 'ada', session: 'chat 7' }
    expect(telemetry.spans.map(({ name }) => name)).toEqual([
      'upsert_memory',
      'upsert_memory',
      'search_memory',
      'update_memory',
      'update_memory',
      'update_memory',
      'delete_memory',
      'delete_memory',
    ])
    for (const { facts } of telemetry.spans) expect(facts).toMatchObject(about)
    const [written, learned, asked, edited, , , , erased] = telemetry.spans
    expect(written?.facts).toMatchObject({ memory: memory.id, memories: 1 })
    expect(written?.facts.contents?.()).toEqual([{ id: memory.id, content: SECRET }])
    expect(learned?.facts.memories).toBe(2)
    expect(asked?.facts).toMatchObject({ query: 'spare key', memories: 1 })
    expect(asked?.facts.contents?.()).toMatchObject([{ id: memory.id, score: expect.any(Number) }])
    expect(edited?.facts.memory).toBe(memory.id)
    expect(erased?.facts).toMatchObject({ memory: memory.id, memories: 1 })
  })

  it('[TE6] a deletion always names a record, because without one all would be meant', async () => {
    const telemetry = new KeptTelemetry()
    const engine = open(telemetry)
    for (const id of [SECRET, '', undefined, { id: SECRET }]) {
      await expect(engine.erase(ADA, id as string)).rejects.toMatchObject({ code: 'invalid_input' })
    }
    expect(telemetry.spans.map(({ facts }) => facts.memory)).toEqual(Array(4).fill('invalid'))
    expect(telemetry.spans.every(({ isFailed }) => isFailed)).toBe(true)
    await engine.emptyTrash(ADA)
    expect(telemetry.spans).toHaveLength(4)
  })
})

describe('the log of an observed engine', () => {
  it('[TE2] holds no text of memories and questions, not even when everything is logged', async () => {
    const lines: string[] = []
    const log = createJsonLog({
      level: 'debug',
      destination: { write: (line) => lines.push(line) },
    })
    const engine = open(createCompositeTelemetry({ log }))
    const { memory } = await engine.remember(ADA, { content: SECRET, metadata: { note: SECRET } })
    await engine.recall(ADA, { text: SECRET })
    await engine.edit(ADA, memory.id, { content: `${SECRET} Really.` })
    await expect(engine.get(ADA, SECRET)).rejects.toThrow()
    await expect(engine.recall(ADA, { text: 7 as unknown as string })).rejects.toThrow()
    const failing = instrumentEngine(
      partly({
        status: async () => {
          throw new Error(SECRET)
        },
        listPlaces: async () => {
          throw new AppError('unavailable', 'The store is gone.', {}, new Error(SECRET))
        },
      }),
      createCompositeTelemetry({ log }),
    )
    await expect(failing.status()).rejects.toThrow(SECRET)
    await expect(failing.listPlaces()).rejects.toThrow('The store is gone.')
    await yieldToEventLoop()
    expect(lines.join('')).not.toContain('spare key')
    const told = lines.map((line) => JSON.parse(line))
    expect(told.slice(-2)).toMatchObject([
      { level: 'error', event: 'operation_failed', operation: 'status', outcome: 'internal' },
      { level: 'warn', event: 'operation_failed', operation: 'listPlaces', outcome: 'unavailable' },
    ])
    expect(told.slice(0, -2).every(({ level }) => level === 'debug')).toBe(true)
    await engine.close()
  })
})
