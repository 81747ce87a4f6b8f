/** How the engine finds what a new statement may be about, and who is asked what it is. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Adjudicate, Verdict } from '../../src/domain/verdict.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { AppError } from '../../src/lib/errors.ts'
import type { Embedder } from '../../src/models/embedder.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../../src/storage/in-memory/in-memory-vector-index.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { scriptedEmbedder, untilAborted } from '../fakes/embedder.ts'
import { synonymEmbedder } from '../fakes/synonym-embedder.ts'

const ADA = { owner: 'ada' }
const CATS = 'Cats delight me'
const FELINES = 'Felines please me'
const knowing = (inner?: Embedder) => synonymEmbedder({ felines: 'cats', please: 'delight' }, inner)

function openEngine(parts: { embedder?: Embedder; adjudicate?: Adjudicate } = {}) {
  const store = createInMemoryStore()
  const clock = new FakeClock()
  const vectors = parts.embedder === undefined ? {} : { vectors: createInMemoryVectorIndex(store) }
  const engine = createEngineWith({
    store,
    clock,
    ids: countingIds(),
    settings: {},
    ...vectors,
    ...parts,
  })
  onTestFinished(() => engine.close())
  return { engine, clock }
}

/** Someone who always says the same, and remembers what was asked. */
function judge(answer: () => Promise<Verdict>) {
  const requests: (readonly [string, string])[] = []
  const adjudicate: Adjudicate = (older, newer) => {
    requests.push([older, newer])
    return answer()
  }
  return { adjudicate, asked: requests }
}

describe('candidates', () => {
  it.each([
    ['Vivo en Madrid', 'Me mudé a Bilbao', 'supersede'],
    ['我住在北京', '我搬到上海了', 'supersede'],
    ['Je travaille chez Renault', 'I work at Airbus', 'supersede'],
  ])('[TR4] %s among many others, then %s: %s', async (older, newer, outcome) => {
    const { engine } = openEngine()
    await engine.remember(ADA, { content: older })
    for (let index = 0; index < 30; index++) {
      await engine.remember(ADA, { content: `Me, Bilbao, 上海 and note ${index} on Airbus` })
    }
    expect((await engine.remember(ADA, { content: newer })).outcome).toBe(outcome)
  })

  it('[TR5] close vectors find candidates and decide nothing', async () => {
    const { adjudicate, asked } = judge(async () => 'unsure')
    const { engine } = openEngine({ embedder: knowing(), adjudicate })
    await engine.remember(ADA, { content: CATS })
    await engine.admin.reindex()
    expect((await engine.remember(ADA, { content: FELINES })).outcome).toBe('create')
    expect(asked).toEqual([[CATS, FELINES]])
  })

  it('[TR5] a model that fails or hangs is skipped for a while', async () => {
    const troubles = [
      () => Promise.reject(new AppError('unavailable', 'The model is gone.')),
      untilAborted,
    ]
    for (const trouble of troubles) {
      const inner = scriptedEmbedder(async ({ texts, signal }) => {
        if (texts.some((text) => text.startsWith('New'))) await trouble(signal)
      })
      const { engine, clock } = openEngine({ embedder: inner })
      const bob = { owner: 'bob' }
      for (const scope of [ADA, bob]) await engine.remember(scope, { content: CATS })
      await engine.admin.reindex()
      const isAsked = async (scope: { readonly owner: string }, content: string) => {
        expect((await engine.remember(scope, { content })).outcome).toBe('create')
        return inner.texts().includes(content)
      }
      expect(await isAsked(ADA, 'New things please me')).toBe(true)
      expect(await isAsked(bob, 'Old things please me')).toBe(false)
      clock.advance(120_000)
      await engine.forget(bob, (await engine.list(bob)).rows[0]?.id ?? '')
      expect(await isAsked(bob, 'Other things please me')).toBe(true)
    }
  })

  it('[TR5] a cold model is not loaded, and no model is called while vectors lag or for long text', async () => {
    const lagging = scriptedEmbedder()
    const first = openEngine({ embedder: lagging })
    await first.engine.remember(ADA, { content: CATS })
    await first.engine.remember(ADA, { content: FELINES })
    expect(lagging.calls).toEqual([])

    const inner = scriptedEmbedder()
    let state: 'cold' | 'ready' = 'ready'
    const embedder = { ...inner, report: () => ({ ...inner.report(), state: { kind: state } }) }
    const { engine } = openEngine({ embedder })
    await engine.remember(ADA, { content: CATS })
    await engine.admin.reindex()
    const before = inner.calls.length
    await engine.remember(ADA, { content: `${FELINES}, ${'and much more, '.repeat(30)}` })
    state = 'cold'
    await engine.remember(ADA, { content: FELINES })
    expect(inner.calls.length).toBe(before)
  })
})

describe('adjudication', () => {
  it.each([
    ['duplicate', 'duplicate'],
    ['update', 'supersede'],
    ['conflict', 'conflict'],
    ['unrelated', 'create'],
    ['unsure', 'create'],
  ] as const)('[TR6] %s becomes %s', async (verdict, outcome) => {
    const { adjudicate, asked } = judge(async () => verdict)
    const { engine } = openEngine({ adjudicate })
    await engine.remember(ADA, { content: 'I drive a Golf' })
    const written = await engine.remember(ADA, { content: 'I drive a red Golf' })
    expect(written.outcome).toBe(outcome)
    expect(asked).toHaveLength(1)
  })

  it('[TR6] the adjudicator is not called where rules decide, and its failure counts as unsure', async () => {
    const { adjudicate, asked } = judge(() => Promise.reject(new Error('no answer')))
    const { engine } = openEngine({ adjudicate })
    await engine.remember(ADA, { content: 'I drive a Golf' })
    await engine.remember(ADA, { content: 'I really drive a Golf' })
    await engine.remember(ADA, { content: 'I like tulips' })
    expect(asked).toEqual([])
    const written = await engine.remember(ADA, { content: 'I drive a red Golf' })
    expect(written.outcome).toBe('create')
    expect(asked).toHaveLength(1)
  })
})
