/**
 * Fails the n-th store call of a whole working day, for n = 1, 2, 3 … until the day completes, once before and
 * once after the call's effect. Whatever fails, the store must hold a valid state, and doing the failed step
 * again must lead to where an undisturbed day leads.
 */
import { describe, expect, it } from 'vitest'
import { parseScope } from '../../src/domain/scope.ts'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import { AppError } from '../../src/lib/errors.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { turn, turnId } from '../fakes/entries.ts'
import { failingAt, InjectedFault } from '../fakes/faulty-store.ts'
import { ADA as AT_ADA, instant, session } from '../fakes/memories.ts'

const ADA = { owner: 'ada' }

/** Can be done again after a failure, as a person or a retry would. */
type Step = (engine: Engine) => Promise<unknown>

const DAY: readonly Step[] = [
  (engine) => engine.remember(ADA, { content: 'I live in Berlin', key: 'home' }),
  (engine) => engine.remember(ADA, { content: 'I like Python' }),
  (engine) => engine.remember(ADA, { content: "I don't like Python" }),
  (engine) => engine.remember(ADA, { content: 'I live in Munich', key: 'home' }),
  (engine) => engine.learn(ADA, 'I prefer tea. I always get up at six.'),
  async (engine) => engine.edit(ADA, await idOf(engine, 'home'), { importance: 9 }),
  async (engine) => engine.forget(ADA, await idOf(engine, 'home')),
  async (engine) => engine.memories.emptyTrash(ADA, { days: 0 }),
]

const SAID = ['one', 'one', 'one', 'two', 'two'].map((name, n) =>
  turn({
    id: turnId(n),
    place: { ...AT_ADA, session: session(name) },
    content: `We met at harbour ${n} of Oslo.`,
    position: n,
    saidAt: instant(n),
  }),
)

const CONVERSATION_DAY: readonly Step[] = [
  (engine) =>
    engine.conversations.turns.edit(ADA, turnId(0), {
      content: 'We met at the harbour of Bergen.',
    }),
  (engine) => engine.conversations.turns.disable(ADA, turnId(1)),
  (engine) => engine.conversations.turns.restore(ADA, turnId(1)),
  (engine) =>
    engine.remember(ADA, {
      content: 'The harbour of Oslo is where we met',
      key: 'met',
      provenance: { source: 'distillation', turns: [turnId(2)] },
    }),
  async (engine) => engine.forget(ADA, await idOf(engine, 'met')),
  (engine) => unlessGone(engine.conversations.turns.delete(ADA, turnId(1))),
  (engine) => unlessGone(engine.conversations.sessions.delete({ ...ADA, session: 'two' })),
]

/** Done again after an effect whose answer was lost. */
async function unlessGone(forgetting: Promise<unknown>): Promise<void> {
  try {
    await forgetting
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
  }
}

async function idOf(engine: Engine, key: string): Promise<string> {
  const { rows } = await engine.list(ADA, { key, statuses: ['active', 'forgotten'] })
  return rows[0]?.id ?? 'mem_missing'
}

describe.each([
  ['reference', async () => createInMemoryStore()],
  ['sqlite', () => openSqliteStore({ path: ':memory:', now: Date.now })],
] as const)('%s', (_, open: () => Promise<Store>) => {
  it.each(['before', 'after'] as const)(
    '[FT1] survives any call failing %s its effect',
    async (when) => {
      expect(await failEach(open, when, DAY)).toBeGreaterThan(40)
    },
  )

  it.each(['before', 'after'] as const)(
    '[FT1] survives any call failing %s its effect while turns are edited and forgotten',
    async (when) => {
      const openSaid = async () => {
        const store = await open()
        await store.commit(SAID.map((row) => ({ op: 'put', table: 'turn', row, expect: 'absent' })))
        return store
      }
      expect(await failEach(openSaid, when, CONVERSATION_DAY)).toBeGreaterThan(40)
    },
  )
})

/** How many calls an undisturbed day makes. */
async function failEach(
  open: () => Promise<Store>,
  when: 'before' | 'after',
  day: readonly Step[],
): Promise<number> {
  const undisturbed = await live(await open(), { call: 0, when }, day)
  for (let call = 1; call <= undisturbed.calls; call++) {
    const disturbed = await live(await open(), { call, when }, day)
    expect(disturbed.failed, `call ${call}`).toBe(true)
    expect(disturbed.statements, `call ${call}`).toEqual(undisturbed.statements)
    expect(disturbed.turns, `call ${call}`).toEqual(undisturbed.turns)
    expect(disturbed.found, `call ${call}`).toEqual(undisturbed.found)
  }
  return undisturbed.calls
}

async function live(
  store: Store,
  plan: { call: number; when: 'before' | 'after' },
  day: readonly Step[],
) {
  const broken = failingAt(store, plan)
  const clock = new FakeClock()
  const engine = createEngineWith({ store: broken, clock, ids: countingIds(), settings: {} })
  let failed = false
  for (const step of day) {
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
  const said = await store.find('turn', parseScope(ADA), { where: {}, limit: 100 })
  const turns = said.rows.map(({ content, disabled, version }) => [content, disabled, version])
  // In the search index as well.
  const { hits } = await store.searchText(parseScope(ADA), {
    text: 'harbour',
    limit: 100,
    where: { types: ['turn'] },
  })
  const found = hits.map(({ id }) => id)
  await store.close()
  const statements = rows.map(({ content, status, key }) => `${status} ${key}: ${content}`).sort()
  return { calls, failed, statements, turns, found }
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
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
}
