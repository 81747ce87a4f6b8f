/** Models that hang or fail again and again: they rest, so that not every question waits for them. */
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { describeHealth } from '../../src/engine/health.ts'
import { type CircuitBreaker, createModelBreaker } from '../../src/lib/circuit-breaker.ts'
import { AppError } from '../../src/lib/errors.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'
import type { Reranker } from '../../src/models/reranker.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../src/storage/in-memory/in-memory-vector-index.ts'
import type { VectorIndex } from '../../src/storage/vector-index.ts'
import { openConversations } from '../conversations/conversations-support.ts'
import { FakeClock } from '../fakes/clock.ts'
import { type EmbedCall, gate, scriptedEmbedder, untilAborted } from '../fakes/embedder.ts'
import { ADA, broken, changed, NO_FLOORS, openEngine, until } from '../faults/recall-support.ts'

const TEA = 'I prefer tea over coffee'
const forever = () => new Promise<never>(() => {})
/** For what hangs. Everything else has time enough, however busy the machine is. */
const SHORT_MS = 100
const LONG_MS = 60_000

/** An engine whose embedder answers questions as it is told to; documents it always embeds. */
async function openWith(
  answer: (call: EmbedCall) => void | Promise<void>,
  legDeadlineMs = LONG_MS,
) {
  const patient = { answer: () => {}, questions: 0 } as {
    answer: typeof answer
    questions: number
  }
  const embedder = scriptedEmbedder((call) => {
    if (call.purpose !== 'query') return
    patient.questions++
    return patient.answer(call)
  })
  const opened = openEngine({
    embedder,
    settings: { ...NO_FLOORS, 'recall.retrieverTimeoutMs': legDeadlineMs },
  })
  await opened.engine.remember(ADA, { content: TEA })
  // A model is measured when it is loaded, with questions that nobody asked.
  await opened.engine.admin.reindex()
  patient.answer = answer
  patient.questions = 0
  return { ...opened, patient }
}

function fails(): never {
  throw new AppError('unavailable', 'no power')
}

async function meaningOf(engine: Engine, deadlineMs?: number) {
  const patience = deadlineMs === undefined ? {} : { timeoutMs: deadlineMs }
  const { memories, retrievers: legs } = await engine.recall(ADA, { text: 'tea', ...patience })
  expect(memories.map(({ memory }) => memory.content)).toEqual([TEA])
  return legs.vector
}

async function askTimes(times: number, engine: Engine): Promise<void> {
  for (let time = 0; time < times; time++) await meaningOf(engine)
}

describe('an embedder', () => {
  it.each<[string, (call: EmbedCall) => void | Promise<void>]>([
    ['fails', fails],
    ['hangs until it is stopped', ({ signal }) => untilAborted(signal)],
    ['hangs and knows no signal', forever],
  ])(
    '[RA24] that %s three times in a row is not called again, and the report says so',
    async (_, ill) => {
      const { engine, clock, patient } = await openWith(ill, SHORT_MS)
      const since = new Date(clock.now()).toISOString()
      await askTimes(2, engine)
      clock.advance(1_000)
      await askTimes(1, engine)
      expect(patient.questions).toBe(3)
      clock.advance(4_999)
      const { state, reason: because } = await meaningOf(engine)
      expect(patient.questions).toBe(3)
      expect(state).toBe('failed')
      expect(because).toContain(since)
      expect(because).toContain(new Date(clock.now() + 1).toISOString())
      expect(because).toMatch(/no power|Timed out after 100 ms/)
    },
  )

  it('[RA24] that sometimes answers is called every time', async () => {
    let number = 0
    const { engine, patient } = await openWith(() => {
      number++
      if (number % 3 !== 0) fails()
    })
    await askTimes(9, engine)
    expect(patient.questions).toBe(9)
  })

  it('[RA24] that rejects a text counts as available', async () => {
    const { engine, patient } = await openWith(() => {
      throw new AppError('invalid_input', 'Too long.')
    })
    await askTimes(5, engine)
    expect(patient.questions).toBe(5)
  })

  it('[RA24] that cannot be loaded opens the circuit, too, and keyword search serves recall', async () => {
    let loads = 0
    const embedder = changed(createHashingEmbedder(), {
      describe: () => {
        loads++
        return broken('no model')()
      },
    })
    const { engine } = openEngine({ embedder })
    const ask = () => engine.recall(ADA, { text: 'tea' })
    for (let time = 0; time < 3; time++) await ask()
    const before = loads
    const { retrievers: legs } = await ask()
    expect(legs.vector).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('no model'),
    })
    expect(loads).toBe(before)
    const semantic = await engine.recall(ADA, { text: 'tea', strategy: 'semantic' })
    expect(semantic).toMatchObject({
      strategy: 'keyword',
      retrievers: { vector: { state: 'failed' } },
    })
  })

  it.each(['count', 'search'] as const)(
    '[RA24] is not blamed for an index that fails in %s',
    async (method) => {
      const store = createInMemoryStore()
      const vectors: VectorIndex = changed(createInMemoryVectorIndex(store), {
        [method]: broken('no index'),
      })
      const { engine } = openEngine({ store, vectors })
      await engine.remember(ADA, { content: TEA })
      await engine.admin.reindex()
      for (let time = 0; time < 5; time++) {
        expect(await meaningOf(engine)).toMatchObject({ state: 'failed', reason: 'no index' })
      }
    },
  )

  it('[RA25] is probed after 5, 10, 20 and 40 s, then every minute', async () => {
    const { engine, clock, patient } = await openWith(fails)
    await askTimes(3, engine)
    for (const seconds of [5, 10, 20, 40, 60, 60]) {
      const before = patient.questions
      clock.advance(seconds * 1_000 - 1)
      await askTimes(2, engine)
      expect(patient.questions).toBe(before)
      clock.advance(1)
      expect((await meaningOf(engine)).state).toBe('failed')
      // The next rest begins when the trial has failed.
      await until(
        async () => (await meaningOf(engine)).reason?.includes(after(clock, seconds)) === true,
      )
      expect(patient.questions).toBe(before + 1)
    }
  })

  it('[RA25] one question at a time starts a probe, none waits for it, and its answer closes the circuit', async () => {
    const { engine, clock, patient } = await openWith(fails)
    await askTimes(3, engine)
    clock.advance(5_000)
    const held = gate()
    // Nobody waits: all of these are answered while the trial is under way.
    patient.answer = () => held.opened
    const asked = await Promise.all([1, 2, 3].map(() => meaningOf(engine)))
    expect(asked.map(({ state }) => state)).toEqual(['failed', 'failed', 'failed'])
    await until(() => patient.questions === 4)
    held.open()
    patient.answer = () => {}
    await until(async () => (await engine.status()).index?.embedder.state.kind === 'ready')
    expect((await meaningOf(engine)).state).toBe('searched')
    expect(patient.questions).toBe(5)
  })

  it('[RA25] a running probe does not delay closing', async () => {
    const { engine, clock, patient } = await openWith(fails)
    await askTimes(3, engine)
    clock.advance(5_000)
    patient.answer = forever
    await askTimes(1, engine)
    await until(() => patient.questions === 4)
    await engine.close()
  })

  it('[RA26] is called by a question with a longer timeout, whose answer closes nothing', async () => {
    const { engine, clock, patient } = await openWith(fails, LONG_MS / 2)
    await askTimes(3, engine)
    patient.answer = () => {
      clock.advance(LONG_MS / 2 + 1) // slow, but there
    }
    expect((await meaningOf(engine, LONG_MS)).state).toBe('searched')
    expect((await meaningOf(engine)).state).toBe('failed')
    patient.answer = () => {}
    expect((await meaningOf(engine, LONG_MS)).state).toBe('searched')
    expect((await meaningOf(engine)).state).toBe('searched')
  })

  it('[RA26] is not called again after that failed, too', async () => {
    const { engine, patient } = await openWith(fails, LONG_MS / 2)
    await askTimes(3, engine)
    await meaningOf(engine, LONG_MS)
    expect(patient.questions).toBe(4)
    await meaningOf(engine, LONG_MS)
    expect(patient.questions).toBe(4)
  })

  it('[RA27] status and health report an open circuit until it closes', async () => {
    const { engine, clock, patient } = await openWith(fails)
    const codes = async () => describeHealth(await engine.status()).codes
    await askTimes(2, engine)
    expect(await codes()).toEqual([])
    await askTimes(1, engine)
    expect(await codes()).toEqual(['embedder_failing'])
    const { embedder } = engine.admin.getComponents()
    expect(embedder?.state).toMatchObject({
      kind: 'failing',
      reason: expect.stringContaining('tried again after'),
    })
    patient.answer = () => {}
    clock.advance(5_000)
    await askTimes(1, engine)
    await until(async () => (await codes()).length === 0)
  })
})

describe('a reranker', () => {
  async function openReranked(rerank: Reranker['rerank']) {
    const patient = { rerank, calls: 0 }
    const reranker: Reranker = {
      name: 'test',
      rerank: (...given) => {
        patient.calls++
        return patient.rerank(...given)
      },
      close: async () => {},
    }
    const opened = openEngine({
      reranker,
      settings: { ...NO_FLOORS, 'recall.retrieverTimeoutMs': SHORT_MS },
    })
    for (const content of ['red apples', 'green apples']) {
      await opened.engine.remember(ADA, { content })
    }
    await opened.engine.admin.reindex()
    const ask = async () => (await opened.engine.recall(ADA, { text: 'apples' })).retrievers.rerank
    return { ...opened, patient, ask }
  }

  it.each<[string, Reranker['rerank']]>([
    ['fails', broken('no reranker')],
    ['hangs', forever],
  ])('[RA24] that %s three times in a row is paused until a probe succeeds', async (_, rerank) => {
    const { engine, clock, patient, ask } = await openReranked(rerank)
    for (let time = 0; time < 5; time++) expect((await ask()).state).toBe('failed')
    expect(patient.calls).toBe(3)
    expect(describeHealth(await engine.status()).codes).toEqual(['reranker_failing'])
    patient.rerank = async (_question, texts) => texts.map((_text, index) => ({ index, score: 1 }))
    clock.advance(5_000)
    expect((await ask()).state).toBe('failed')
    await until(async () => (await engine.status()).rerankerProblem === null)
    expect((await ask()).state).toBe('searched')
  })
})

describe('the circuit breaker', () => {
  const late = (guard: CircuitBreaker) =>
    guard.runGuarded(SHORT_MS, (_, { awaitAnswer: asks }) => asks(forever))

  it('[RA24] failures of calls made before the last answer do not count', async () => {
    const guard = createModelBreaker(new FakeClock())
    const held = gate()
    const failing = Array.from({ length: 3 }, () =>
      guard.runGuarded(60_000, (_, { awaitAnswer: asks }) => asks(() => held.opened.then(fails))),
    )
    await guard.runGuarded(60_000, (_, { awaitAnswer: asks }) => asks(async () => 'well'))
    held.open()
    expect((await Promise.all(failing)).map(({ kind }) => kind)).toEqual(Array(3).fill('failed'))
    expect(guard.openReason).toBeNull()
  })

  it('[RA25] a model that loads late is called with the next question', async () => {
    const guard = createModelBreaker(new FakeClock())
    const loaded = gate()
    let asked = 0
    const ask = () =>
      guard.runGuarded(SHORT_MS, async (_, { awaitLoad: loads, awaitAnswer: asks }) => {
        await loads(() => loaded.opened)
        await asks(async () => asked++)
      })
    for (let time = 0; time < 3; time++) await ask()
    expect(guard.openReason).not.toBeNull()
    loaded.open()
    await until(() => asked === 3) // those that nobody waits for any more, and that count for nothing
    expect(guard.openReason).not.toBeNull()
    expect((await ask()).kind).toBe('failed')
    await until(() => guard.openReason === null)
  })

  it('[RA25] a clock that is set back does not prolong the pause', async () => {
    const clock = new FakeClock()
    const guard = createModelBreaker(clock)
    for (let time = 0; time < 3; time++) await late(guard)
    clock.advance(-86_400_000)
    await guard.runGuarded(SHORT_MS, (_, { awaitAnswer: asks }) => asks(async () => 'well'))
    await until(() => guard.openReason === null)
  })

  it('[RA25] a probe that does not reach the model changes nothing', async () => {
    const clock = new FakeClock()
    const guard = createModelBreaker(clock)
    for (let time = 0; time < 3; time++) await late(guard)
    const told = guard.openReason
    clock.advance(5_000)
    let ended = 0
    const besides = () =>
      guard.runGuarded(SHORT_MS, async () => {
        ended++
      })
    await besides()
    await until(() => ended === 1)
    expect(guard.openReason).toBe(told)
    await until(async () => {
      await besides()
      return ended > 1 // the next one is a trial again
    })
  })
})

describe('a model request', () => {
  it('[RA27] reports failed retrievers, as does the receipt', async () => {
    const store = createInMemoryStore()
    let isIll = false
    const { engine, client } = await openConversations(async () => store, {
      store,
      vectors: createInMemoryVectorIndex(store),
      embedder: scriptedEmbedder(({ purpose }) => {
        if (isIll && purpose === 'query') fails()
      }),
      settings: NO_FLOORS,
    })
    await engine.remember(ADA, { content: 'I drink green tea' })
    await engine.admin.reindex()
    expect((await client.ask(['Do I drink tea in the morning?'], 'Yes.')).degraded).toEqual([])
    isIll = true
    for (const when of ['noon', 'night', 'dawn', 'dusk']) {
      const prepared = await client.ask([`Do I drink tea in the garden at ${when}?`], 'Yes.')
      expect(prepared).toMatchObject({ skipped: null, degraded: ['vector'] })
    }
    const { rows } = await engine.conversations.receipts.list(ADA)
    expect(rows.map(({ degraded }) => degraded)).toEqual([...Array(4).fill(['vector']), []])
  })
})

function after(clock: FakeClock, seconds: number): string {
  return new Date(clock.now() + Math.min(seconds * 2, 60) * 1_000).toISOString()
}
