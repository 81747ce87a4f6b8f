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

function openBare(): Engine {
  return createEngineWith({
    store: createInMemoryStore(),
    clock: new FakeClock(),
    ids: countingIds(),
    settings: {},
  })
}

/** An instrumented engine, some of whose methods were replaced. */
function open(telemetry: Telemetry, replace: (engine: Engine) => object = () => ({})): Engine {
  const engine = openBare()
  return instrumentEngine({ ...engine, ...replace(engine) }, telemetry)
}

/** Namespaces that do not appear in the names of operations. */
const OPERATION_PREFIXES = [
  /^(memories|admin)\./,
  /^learning\.(?!status)/,
  /^conversations\.(?=\w+\.|recallForPrompt|captureMessages)/,
  /^files\.(?=\w+\.)/,
]

/** Methods without a promise are not measured, nor are the logins that every request of a browser looks up. */
const UNMEASURED = [
  'conversations.prepareWithoutMemory',
  'conversations.recordOutcome',
  'conversations.discard',
  'conversations.canRelease',
  'conversations.onFailure',
  'admin.settings.peek',
  'admin.settings.invalidate',
  'admin.replication.status',
  'admin.replication.subscribe',
  'admin.changeFeed.subscribe',
  'admin.changeFeed.close',
  'admin.applyExternalCommit',
  'admin.keys.logins.open',
  'admin.keys.logins.get',
  'admin.keys.logins.close',
  'admin.getComponents',
  'onChanged',
]

type Methods = { readonly [name: string]: unknown }

/** Names of all methods, with the path of their namespace. */
function listMethods(target: object, path = ''): readonly string[] {
  return Object.entries(target).flatMap(([name, value]): readonly string[] => {
    if (typeof value === 'function') return [path + name]
    return typeof value === 'object' && value !== null ? listMethods(value, `${path + name}.`) : []
  })
}

function callMethod(target: object, path: string): unknown {
  const [name = '', ...rest] = path.split('.')
  const member = (target as Methods)[name] // the path was listed on the same engine
  if (typeof member === 'function') return member(ADA, {})
  return callMethod(member as object, rest.join('.')) // as above: a namespace
}

/** The same namespaces with methods that only note that they were called. */
function replaceMethods<Target extends object>(
  target: Target,
  path: string,
  called: string[],
): Target {
  const entries = Object.entries(target).map(([name, value]) => {
    if (typeof value === 'function') {
      return [
        name,
        (): unknown => {
          called.push(path + name)
          return UNMEASURED.includes(path + name) ? null : Promise.resolve(null)
        },
      ]
    }
    const isNamespace = typeof value === 'object' && value !== null
    return [name, isNamespace ? replaceMethods(value, `${path + name}.`, called) : value]
  })
  return Object.fromEntries(entries) as Target // the same names
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
    await expect(engine.memories.erase(ADA, 'mem_nothere')).rejects.toMatchObject({
      code: 'not_found',
    })
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

  it('[TE9] every asynchronous method is counted under its name, in all namespaces', async () => {
    const telemetry = new KeptTelemetry()
    const called: string[] = []
    const engine = instrumentEngine(replaceMethods(openBare(), '', called), telemetry)
    // A stream is counted when it ends; see the next test.
    const names = listMethods(engine).filter((name) => name !== 'admin.export')
    expect(names.length).toBeGreaterThan(100)
    for (const name of names) await callMethod(engine, name)
    await yieldToEventLoop()
    const everyday = (name: string) => name.replace(/^memories\./, '')
    expect(called.map(everyday)).toEqual(names.map(everyday))
    const uncounted = names.filter((name) => {
      const operation = OPERATION_PREFIXES.reduce((rest, prefix) => rest.replace(prefix, ''), name)
      return telemetry.counted('recollect_operations_total', { operation, outcome: 'ok' }) === 0
    })
    expect(uncounted).toEqual(UNMEASURED)
  })

  it('[TE9] a stream is counted when it ends, fails, or is left', async () => {
    const telemetry = new KeptTelemetry()
    const counted = (outcome: string) =>
      telemetry.counted('recollect_operations_total', { operation: 'export', outcome })
    let isLeft = false
    const engine = open(telemetry, ({ admin }) => ({
      admin: {
        ...admin,
        export: async function* (scope: unknown) {
          try {
            yield 'one'
            if (scope === null) throw new AppError('unavailable', 'The store is gone.')
            yield 'two'
          } finally {
            isLeft = true
          }
        },
      },
    }))
    const lines: string[] = []
    for await (const line of engine.admin.export(ADA)) {
      await yieldToEventLoop()
      expect(counted('ok')).toBe(0)
      lines.push(line)
    }
    expect(lines).toEqual(['one', 'two'])
    await yieldToEventLoop()
    expect(counted('ok')).toBe(1)
    isLeft = false
    for await (const _ of engine.admin.export(ADA)) break
    await yieldToEventLoop()
    expect([isLeft, counted('ok')]).toEqual([true, 2])
    await expect(readAll(engine.admin.export(null))).rejects.toThrow('The store is gone.')
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
    const odd = open({ ...NOOP_TELEMETRY }, ({ memories }) => ({
      memories: { ...memories, remember: async () => 'stored' },
      recall: async () => null,
    }))
    expect(await odd.remember(ADA, { content: 'x' })).toBe('stored')
    expect(await odd.recall(ADA, { text: 'x' })).toBeNull()
    await yieldToEventLoop() // what is told later harms nobody either
  })

  it('[TE9] silence costs nothing: the engine is left as it is', () => {
    const engine = openBare()
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
    const quiet = open(telemetry, () => ({
      recall: async () => ({ retrievers: {}, abstained: true, memories: [], strategy: 'x' }),
    }))
    await quiet.recall(ADA, { text: 'x' })
    expect(telemetry.counted('recollect_recalls_abstained_total')).toBe(1)
  })

  it('[TE10] logs a failing retriever once, and its recovery once', async () => {
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
    const reports = telemetry.logged.filter(({ level }) => level !== 'debug')
    expect(reports).toEqual([
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
  it('[TE6] enclose operations on memories and name the records', async () => {
    const telemetry = new KeptTelemetry()
    const engine = open(telemetry)
    const { memory } = await engine.remember(ADA, { content: SECRET })
    await engine.learn(ADA, 'My name is Ada. I live in Paris.')
    await engine.recall(ADA, { text: 'spare key', limit: 1 })
    await engine.edit(ADA, memory.id, { importance: 9 })
    await engine.memories.disable(ADA, memory.id)
    await engine.restore(ADA, memory.id)
    await engine.forget(ADA, memory.id)
    await engine.memories.erase(ADA, memory.id)
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
      await expect(engine.memories.erase(ADA, id as string)).rejects.toMatchObject({
        code: 'invalid_input',
      })
    }
    expect(telemetry.spans.map(({ facts }) => facts.memory)).toEqual(Array(4).fill('invalid'))
    expect(telemetry.spans.every(({ isFailed }) => isFailed)).toBe(true)
    await engine.memories.emptyTrash(ADA)
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
    const failing = open(createCompositeTelemetry({ log }), ({ admin }) => ({
      status: async () => {
        throw new Error(SECRET)
      },
      admin: {
        ...admin,
        listPlaces: async () => {
          throw new AppError('unavailable', 'The store is gone.', {}, new Error(SECRET))
        },
      },
    }))
    await expect(failing.status()).rejects.toThrow(SECRET)
    await expect(failing.admin.listPlaces()).rejects.toThrow('The store is gone.')
    await yieldToEventLoop()
    expect(lines.join('')).not.toContain('spare key')
    const reports = lines.map((line) => JSON.parse(line))
    expect(reports.slice(-2)).toMatchObject([
      { level: 'error', event: 'operation_failed', operation: 'status', outcome: 'internal' },
      { level: 'warn', event: 'operation_failed', operation: 'listPlaces', outcome: 'unavailable' },
    ])
    expect(reports.slice(0, -2).every(({ level }) => level === 'debug')).toBe(true)
    await engine.close()
  })
})
