/**
 * Fails the n-th store call of a whole working day, for n = 1, 2, 3 … until the day completes, once before and
 * once after the call's effect. Whatever fails, the store must hold a valid state, and doing the failed step
 * again must lead to where an undisturbed day leads.
 */
import { describe, expect, it } from 'vitest'
import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import { parseScope } from '../../src/core/draft.ts'
import { createEngineOn, type Engine } from '../../src/engine/engine.ts'
import type { Store } from '../../src/ports/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { failingAt, InjectedFault } from '../fakes/faulty-store.ts'

const ADA = { owner: 'ada' }

/** Each step can be done again after a failure, as a person or a retry would. */
const DAY: readonly ((engine: Engine) => Promise<unknown>)[] = [
  (engine) => engine.remember(ADA, { content: 'I live in Berlin', key: 'home' }),
  (engine) => engine.remember(ADA, { content: 'I like Python' }),
  (engine) => engine.remember(ADA, { content: "I don't like Python" }),
  (engine) => engine.remember(ADA, { content: 'I live in Munich', key: 'home' }),
  (engine) => engine.learn(ADA, 'I prefer tea. I always get up at six.'),
  async (engine) => engine.edit(ADA, await idOf(engine, 'home'), { importance: 9 }),
  async (engine) => engine.forget(ADA, await idOf(engine, 'home')),
  async (engine) => engine.emptyBin(ADA, { days: 0 }),
]

async function idOf(engine: Engine, key: string): Promise<string> {
  const { rows } = await engine.list(ADA, { key, statuses: ['active', 'forgotten'] })
  return rows[0]?.id ?? 'mem_missing'
}

describe.each([
  ['reference', async () => createReferenceStore()],
  ['sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now })],
] as const)('%s', (_, open: () => Promise<Store>) => {
  it.each(['before', 'after'] as const)(
    '[FT1] survives any call failing %s its effect',
    async (when) => {
      const undisturbed = await live(await open(), { call: 0, when })
      expect(undisturbed.calls).toBeGreaterThan(40)
      for (let call = 1; call <= undisturbed.calls; call++) {
        const disturbed = await live(await open(), { call, when })
        expect(disturbed.failed, `call ${call}`).toBe(true)
        expect(disturbed.statements, `call ${call}`).toEqual(undisturbed.statements)
      }
    },
  )
})

async function live(store: Store, plan: { call: number; when: 'before' | 'after' }) {
  const broken = failingAt(store, plan)
  const clock = new FakeClock()
  const engine = createEngineOn({ store: broken, clock, ids: countingIds(), settings: {} })
  let failed = false
  for (const step of DAY) {
    clock.advance(1_000)
    try {
      await step(engine)
    } catch (error) {
      if (!(error instanceof InjectedFault)) throw error
      failed = true
      await expectValid(store)
      clock.advance(1_000)
      await step(engine)
    }
    await expectValid(store)
  }
  const calls = broken.calls()
  const { rows } = await store.find('memory', parseScope(ADA), { where: {}, limit: 100 })
  await store.close()
  const statements = rows.map(({ content, status, key }) => `${status} ${key}: ${content}`).sort()
  return { calls, failed, statements }
}

/** The laws of the data: complete histories, one holder a key, links that lead somewhere, nothing to mend. */
async function expectValid(store: Store): Promise<void> {
  const scope = parseScope(ADA)
  const { rows: memories } = await store.find('memory', scope, { where: {}, limit: 1_000 })
  const { rows: revisions } = await store.find('revision', scope, { where: {}, limit: 1_000 })
  for (const memory of memories) {
    const versions = revisions.filter((revision) => revision.memory.id === memory.id)
    expect(versions.map((revision) => revision.memory.version).sort()).toEqual(
      Array.from({ length: memory.version - 1 }, (_, index) => index + 1),
    )
    if (memory.status === 'superseded') {
      expect(memories.some((other) => other.id === memory.supersededBy)).toBe(true)
    }
  }
  const keys = memories
    .filter((memory) => memory.key !== null && memory.status === 'active')
    .map((memory) => memory.key)
  expect(new Set(keys).size).toBe(keys.length)
  expect(await store.inspect({ repair: false })).toEqual([])
}
