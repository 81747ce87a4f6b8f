/**
 * What models answer when they are not at their best, over the protocol that they speak. Nothing is half-stored, what was
 * said waits for another time, and the outcome says why.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { parseScope } from '../../src/domain/scope.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { createProviderLanguageModel } from '../../src/models/llm/provider-language-model.ts'
import { createUpstream } from '../../src/models/providers/provider-upstream.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { openUpstream, type Reply } from '../api/gateway/support/scripted-upstream.ts'
import { speak } from '../api/gateway/support/wire-format.ts'
import { FakeClock } from '../fakes/clock.ts'
import { factsOf, LEARNING, learnedFrom, OWNER, registryOf, say } from './learning-script.ts'

const ADA = parseScope({ owner: OWNER })
const SESSION = { owner: OWNER, session: 'one' }
const PATIENCE_MS = 20_000

/** For a model that says nothing at all. */
const SHORT_PATIENCE_MS = 2_000
const WHOLE = learnedFrom('one')

type Case = {
  readonly outcome: string
  readonly said?: string
  readonly reply?: Reply
  readonly patienceMs?: number
}

const CASES: Readonly<Record<string, Case>> = {
  prose: { said: 'I am sorry, but I can not help with that.', outcome: 'error:bad_answer' },
  'an answer that breaks off': { said: WHOLE.slice(0, 90), outcome: 'error:bad_answer' },
  'wrong types': {
    said: '{"episode": ["Rome"], "facts": {"content": 7}, "identity": 1e400}',
    outcome: 'error:bad_answer',
  },
  'an answer of another question': {
    said: '{"verdict": "duplicate"}',
    outcome: 'error:bad_answer',
  },
  'an empty answer': { said: '', outcome: 'error:unavailable' },
  'ten megabytes': {
    said: JSON.stringify({ facts: ['x'.repeat(10_000_000)] }),
    outcome: 'error:unavailable',
  },
  'half a protocol': { reply: { body: '{"choices": [{"mess' }, outcome: 'error:unavailable' },
  'an error': { reply: { status: 500, body: 'no' }, outcome: 'error:unavailable' },
  'a refusal': {
    reply: { status: 400, body: '{"error":{"message":"no"}}' },
    outcome: 'error:invalid_input',
  },
  'a connection that breaks': {
    reply: { body: 'x'.repeat(100), trouble: { after: 10, what: 'reset' } },
    outcome: 'error:unavailable',
  },
  silence: {
    reply: { body: 'x', trouble: { after: 'headers', what: 'hang' } },
    patienceMs: SHORT_PATIENCE_MS,
    outcome: 'error:timeout',
  },
}

describe('a model that gives', () => {
  it.each(Object.entries(CASES))('[LP3] %s costs nothing that was said', async (_, each) => {
    const { said, reply, outcome, patienceMs } = each
    const { engine, model, clock, memories } = await openLearning(patienceMs)
    model.respond((received) =>
      said === undefined ? (reply ?? {}) : speak(received, { text: said }),
    )
    expect((await engine.learning.distill(SESSION)).outcome).toBe(outcome)
    expect(await memories()).toEqual([])
    const { rows } = await engine.learning.signals.list(SESSION)
    expect(rows.map((signal) => [signal.status, signal.attempts])).toEqual([['pending', 1]])
    expect(rows[0]?.error).toBe(outcome.slice('error:'.length))
    // When it is well again, all of it is learned.
    model.respond((received) => speak(received, { text: WHOLE }))
    clock.advance(120_000)
    expect((await engine.learning.distill(SESSION)).outcome).toBe('distilled')
    expect(await memories()).toEqual(expect.arrayContaining([...factsOf('one')]))
  })

  it('[LP3] unknown sources, memories and kinds keeps the rest only', async () => {
    const { engine, model, store } = await openLearning()
    const [fact] = factsOf('one')
    const invented = {
      episode: { summary: 'The user moved crate one.', id: 'mem_00000001', supersedes: ['mem_1'] },
      facts: [
        {
          content: fact,
          id: 'mem_00000001',
          turns: [0, 17, -1, 'turn_1', null],
          category: 'prophecy',
          type: 'magic',
          owner: 'bob',
          trust: 'user',
          supersededBy: 'mem_00000002',
        },
      ],
      identity: [],
    }
    model.respond((received) => speak(received, { text: JSON.stringify(invented) }))
    expect((await engine.learning.distill(SESSION)).outcome).toBe('distilled')
    const { rows } = await store.find('memory', ADA, { where: {}, limit: 10 })
    const stored = rows.find(({ content }) => content === fact)
    const turns = await store.find('turn', ADA, { where: {}, limit: 10 })
    const asked = turns.rows.find(({ role }) => role === 'user')
    expect(stored).toMatchObject({
      category: 'general',
      supersededBy: null,
      provenance: { turns: [asked?.id] },
    })
    expect(rows.map(({ id }) => id)).not.toContain('mem_00000001')
    expect((await engine.admin.listPlaces()).map(({ owner }) => owner)).toEqual([OWNER])
  })

  it('[LP3] bad answers three times has it put aside, and its job with it', async () => {
    const { engine, model, clock, memories } = await openLearning()
    model.respond((received) => speak(received, { text: 'No.' }))
    for (const ahead of [20_000, 40_000, 80_000]) {
      clock.advance(ahead)
      expect(await engine.jobs.runDue()).toBe(1)
    }
    expect(await memories()).toEqual([])
    const { rows } = await engine.learning.signals.list(SESSION, { status: 'dead' })
    expect(rows.map(({ error }) => error)).toEqual(['bad_answer'])
    const { rows: jobs } = await engine.jobs.list({ owner: OWNER, kind: 'distill' })
    expect(jobs.map(({ outcome }) => outcome?.outcome)).toEqual(['dead_letter:1'])
    clock.advance(86_400_000)
    expect(await engine.jobs.runDue()).toBe(0)
  })
})

async function openLearning(patienceMs = PATIENCE_MS) {
  const model = await openUpstream()
  const upstream = createUpstream()
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  const clock = new FakeClock()
  const registry = registryOf(model.url)
  const patience = { connectMs: patienceMs, firstByteMs: patienceMs, idleMs: patienceMs }
  const providers = registry.providers.map((each) => ({ ...each, timeouts: patience }))
  const languageModel = createProviderLanguageModel({
    registry: { ...registry, providers },
    upstream,
    clock,
    // Without jitter, pauses are whole milliseconds.
    random: () => 0.5,
  })
  const engine = createEngineWith({
    store,
    clock,
    ids: createIdGenerator(),
    settings: LEARNING,
    languageModel,
  })
  onTestFinished(async () => {
    await engine.close()
    await upstream.close()
    await model.close()
  })
  await say(engine, 'one')
  const memories = async () => {
    const { rows } = await store.find('memory', ADA, { where: {}, limit: 100 })
    return rows.map(({ content }) => content)
  }
  return { engine, model, store, clock, memories }
}
