/** Guards before models: breakers, a few calls at once, and budgets that servers share. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { OwnerId } from '../../../src/domain/ids.ts'
import { AppError, type ErrorCode } from '../../../src/lib/errors.ts'
import {
  guardModel,
  type ModelCallReport,
  type ModelGuardOptions,
} from '../../../src/models/guarded-models.ts'
import type { LanguageModel } from '../../../src/models/language-model.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/storage/store.ts'
import { countingIds, FakeClock } from '../../fakes/clock.ts'
import { errorOf } from '../embedders/embedder-support.ts'
import { question } from './llm-support.ts'

const ada = 'ada' as OwnerId
const bob = 'bob' as OwnerId
const DAY = 86_400_000
const ANSWER = { text: 'Noted.', isTruncated: false, tokens: { input: 70, output: 30 } }

/** A model that does what it is told, and counts. */
function scripted() {
  const model: LanguageModel & { calls: number; fails: ErrorCode | null } = {
    calls: 0,
    fails: null,
    complete: async () => {
      model.calls++
      if (model.fails !== null) throw new AppError(model.fails, 'As told.')
      return ANSWER
    },
  }
  return model
}

function guardedOn(
  store: Store,
  model: LanguageModel,
  clock: FakeClock,
  options: Partial<ModelGuardOptions> = {},
) {
  const ports = { store, clock, ids: countingIds(), settings: {} }
  return guardModel(model, ports, { budgetOf: async () => 500_000, ...options })
}

function open(options: Partial<ModelGuardOptions> = {}) {
  const clock = new FakeClock()
  const model = scripted()
  const store = createInMemoryStore()
  const models = guardedOn(store, model, clock, options)
  const ask = (name = 'some/model', owner = ada) =>
    models.for(owner).complete(question({ model: name }))
  return { clock, model, models, store, ask }
}

async function failFive({ model, ask }: Pick<ReturnType<typeof open>, 'model' | 'ask'>) {
  model.fails = 'unavailable'
  for (let n = 0; n < 5; n++) await errorOf(ask())
}

it('[LM9] a model that fails five times in a row is skipped for a minute', async () => {
  const { clock, model, models, ask } = open()
  await failFive({ model, ask })
  expect(model.calls).toBe(5)
  const until = clock.now() + 60_000
  const error = await errorOf(ask())
  expect(error).toMatchObject({ code: 'unavailable', facts: { until } })
  expect(error.message).toContain(new Date(until).toISOString())
  expect(models.openUntil('some/model')).toBe(until)
  clock.advance(59_999)
  await errorOf(ask())
  expect(model.calls).toBe(5)
  // Others are not to blame.
  model.fails = null
  await ask('another/model')
  clock.advance(1)
  await ask()
  expect(model.calls).toBe(7)
  expect(models.openUntil('some/model')).toBeNull()
})

it('[LM9] then one call finds out, and the others wait for what it finds', async () => {
  const { clock, model, models, ask } = open()
  await failFive({ model, ask })
  clock.advance(60_000)
  await errorOf(ask())
  expect(model.calls).toBe(6)
  await errorOf(ask())
  expect(model.calls).toBe(6)
  expect(models.openUntil('some/model')).toBe(clock.now() + 60_000)

  clock.advance(60_000)
  let answer = () => {}
  model.complete = () => {
    model.calls++
    return new Promise((resolve) => {
      answer = () => resolve(ANSWER)
    })
  }
  const trial = ask()
  await new Promise((resolve) => setImmediate(resolve))
  expect(await errorOf(ask())).toMatchObject({ code: 'unavailable' })
  expect(model.calls).toBe(7)
  answer()
  await trial
  expect(models.openUntil('some/model')).toBeNull()
})

it('[LM9] only failures of the model count, and only those in a row', async () => {
  const { model, ask } = open()
  const outcomes: readonly (ErrorCode | null)[] = [
    ...(['unavailable', 'timeout', 'unavailable', 'unavailable', null] as const),
    ...(['timeout', 'timeout', 'timeout', 'timeout', 'invalid_input'] as const),
    ...(['timeout', 'cancelled', 'timeout', 'cancelled', 'timeout', 'timeout'] as const),
  ]
  for (const outcome of outcomes) {
    model.fails = outcome
    await ask().catch(() => {})
  }
  expect(model.calls).toBe(outcomes.length)
  model.fails = 'timeout'
  await errorOf(ask())
  await errorOf(ask())
  expect(model.calls).toBe(outcomes.length + 1)
})

it('[LM9] a clock that is set back, or a trial that is stopped, does not keep it shut', async () => {
  const { clock, model, ask } = open()
  await failFive({ model, ask })
  clock.advance(-DAY)
  model.fails = 'cancelled'
  await errorOf(ask())
  model.fails = null
  await ask()
  expect(model.calls).toBe(7)
})

it('[LM10] runs at most two calls at once, and skips those aborted in the queue', async () => {
  const { model, ask, models } = open()
  const waiting: (() => void)[] = []
  let atOnce = 0
  let most = 0
  model.complete = async () => {
    model.calls++
    atOnce++
    most = Math.max(most, atOnce)
    await new Promise<void>((resolve) => waiting.push(resolve))
    atOnce--
    return ANSWER
  }
  const turns = () => new Promise((resolve) => setTimeout(resolve, 0))
  const leaving = new AbortController()
  const calls = [ask('a'), ask('b'), ask('c', bob)]
  const left = errorOf(models.for(ada).complete(question({ signal: leaving.signal })))
  calls.push(ask('d'))
  await turns()
  expect(model.calls).toBe(2)
  leaving.abort()
  expect((await left).code).toBe('cancelled')
  for (let n = 0; n < 4; n++) {
    waiting.shift()?.()
    await turns()
  }
  await Promise.all(calls)
  expect({ calls: model.calls, most }).toEqual({ calls: 4, most: 2 })
  leaving.abort()
  expect((await errorOf(models.for(ada).complete(question({ signal: leaving.signal })))).code).toBe(
    'cancelled',
  )
})

it('[LM12] reports outcome and usage of each call', async () => {
  const events: ModelCallReport[] = []
  const { model, ask } = open({ onAsked: (asked) => events.push(asked) })
  await ask()
  model.fails = 'timeout'
  await errorOf(ask())
  expect(events).toEqual([
    { model: 'some/model', outcome: 'ok', tokens: ANSWER.tokens, ms: 0 },
    { model: 'some/model', outcome: 'timeout', tokens: null, ms: 0 },
  ])
})

const STORES: readonly (readonly [string, () => Promise<Store>])[] = [
  ['the reference store', async () => createInMemoryStore()],
  ['sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now })],
]

describe.each(STORES)('on %s', (_, openStore) => {
  async function servers(budget: number) {
    const store = await openStore()
    onTestFinished(() => store.close())
    const clock = new FakeClock(Date.UTC(2026, 2, 1, 22))
    const model = scripted()
    const serve = () => guardedOn(store, model, clock, { budgetOf: async () => budget })
    return { store, clock, model, serve }
  }

  it('[LM11] what an owner may use on a day is one sum for all servers, and outlives them', async () => {
    const { clock, model, serve } = await servers(300)
    const [first, second] = [serve(), serve()]
    await first.for(ada).complete(question())
    await second.for(ada).complete(question())
    await first.for(ada).complete(question())
    const until = Date.UTC(2026, 2, 2)
    for (const models of [first, second, serve()]) {
      const error = await errorOf(models.for(ada).complete(question()))
      expect(error).toMatchObject({ code: 'too_many_requests', facts: { until, budget: 300 } })
      expect(await models.spent(ada)).toEqual({
        ...{ day: '2026-03-01', calls: 3, input: 210, output: 90, budget: 300, until },
      })
    }
    expect(model.calls).toBe(3)
    await first.for(bob).complete(question())
    clock.advance(2 * 3_600_000)
    await second.for(ada).complete(question())
    expect(await first.spent(ada)).toMatchObject({ day: '2026-03-02', calls: 1 })
  })

  it('[LM11] loses nothing when several calls count at once', async () => {
    const { serve } = await servers(0)
    const all = [serve(), serve(), serve()]
    await Promise.all(
      Array.from({ length: 24 }, (_, n) => all[n % 3]?.for(ada).complete(question())),
    )
    expect(await serve().spent(ada)).toMatchObject({ calls: 24, input: 24 * 70, output: 24 * 30 })
  })

  it('[LM11] failures cost nothing; a sum that cannot be stored is stored later', async () => {
    const { store, clock, model } = await servers(0)
    let isDown = false
    const shaky = {
      ...store,
      commit: async (changes: Parameters<Store['commit']>[0]) => {
        if (isDown) throw new AppError('busy', 'Not now.')
        return store.commit(changes)
      },
    }
    const models = guardedOn(shaky, model, clock)
    isDown = true
    expect(await models.for(ada).complete(question())).toEqual(ANSWER)
    expect(await models.spent(ada)).toMatchObject({ calls: 1, input: 70 })
    isDown = false
    model.fails = 'timeout'
    await errorOf(models.for(ada).complete(question()))
    model.fails = null
    await models.for(ada).complete(question())
    expect(await guardedOn(store, model, clock).spent(ada)).toMatchObject({ calls: 2, input: 140 })
  })

  it('[LM11] sums are stored for forty days', async () => {
    const { store, clock, serve } = await servers(0)
    await serve().for(ada).complete(question())
    clock.advance(39 * DAY)
    await serve().for(ada).complete(question())
    const count = async () => (await store.getReport()).rows.entry
    expect(await count()).toBe(2)
    clock.advance(DAY)
    await serve().for(ada).complete(question())
    expect(await count()).toBe(2)
  })
})
