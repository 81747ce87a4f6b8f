/** Weighing, diversifying, the floor and the budget: what happens to candidates that are already ranked. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instant, memoryId } from '../../../test/fakes/memories.ts'
import { candidate, loaded } from '../../../test/fakes/ranking-candidates.ts'
import type { MemoryId } from '../../domain/ids.ts'
import { type LoadedCandidate, NO_EVIDENCE, renderTrail } from './candidate.ts'
import { diversifyCandidates } from './diversity.ts'
import { applyBoosts, computeFreshness } from './score-boosts.ts'
import { createSimilarityScale, filterBySimilarity } from './similarity-threshold.ts'
import { fitBudget } from './token-budget.ts'

const DAY = 86_400_000
const NOW = instant(1_000 * DAY)
const idsOf = (candidates: readonly { readonly id: string }[]) => candidates.map(({ id }) => id)

describe('score boosts', () => {
  const options = { halfLifeDays: 90, recencyWeight: 0.5, importanceWeight: 0.2 }
  const daysOld = (days: number) => ({ createdAt: instant(NOW - days * DAY) })

  it('[RA9] freshness halves with every half-life and never grows with age', () => {
    expect(computeFreshness(loaded(1, 1, daysOld(90)).memory, NOW, 90)).toBeCloseTo(0.5, 12)
    expect(computeFreshness(loaded(1, 1, daysOld(180)).memory, NOW, 90)).toBeCloseTo(0.25, 12)
    const age = fc.double({ min: -1_000, max: 100_000, noNaN: true })
    const halfLife = fc.double({ min: 0, max: 3_650, noNaN: true })
    fc.assert(
      fc.property(age, age, halfLife, (one, other, halfLifeDays) => {
        const [young, old] = [Math.min(one, other), Math.max(one, other)].map((days) =>
          computeFreshness(loaded(1, 1, daysOld(days)).memory, NOW, halfLifeDays),
        )
        expect(young).toBeGreaterThanOrEqual(old ?? Number.NaN)
        expect(old).toBeGreaterThanOrEqual(0)
        expect(young).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('[RA9] pinned memories stay fresh, as do all without a half-life', () => {
    const old = daysOld(10_000)
    expect(computeFreshness(loaded(1, 1, { ...old, pinned: true }).memory, NOW, 90)).toBe(1)
    expect(computeFreshness(loaded(1, 1, old).memory, NOW, 0)).toBe(1)
    expect(computeFreshness(loaded(1, 1, { ...old, lastUsedAt: NOW }).memory, NOW, 90)).toBe(1)
  })

  it('[RA9] of equally relevant memories the fresher and more important ones come first', () => {
    const ages = applyBoosts([loaded(1, 1, daysOld(900)), loaded(2, 1, daysOld(1))], NOW, options)
    expect(idsOf(ages)).toEqual([2, 1].map(memoryId))
    const worths = applyBoosts(
      [loaded(1, 1, { importance: 2 }), loaded(2, 1, { importance: 9 }), loaded(3, 1)],
      NOW,
      options,
    )
    expect(idsOf(worths)).toEqual([2, 3, 1].map(memoryId))
    expect(renderTrail(worths[0]?.trail ?? [])[0]).toMatchObject({
      stage: 'boost',
      note: expect.stringContaining('importance 9'),
    })
  })

  it('[RA9] salience counts after decay, which pinned and identity memories are exempt from', () => {
    const ageless = { ...options, recencyWeight: 0 }
    const idle = { salience: 0.9, updatedAt: instant(NOW - 60 * DAY) }
    const weighed = applyBoosts(
      [
        loaded(1, 1, idle),
        loaded(2, 1, { salience: 0.5, updatedAt: NOW }),
        loaded(3, 1, { ...idle, pinned: true, salience: 0.7 }),
        loaded(4, 1, { ...idle, category: 'identity', salience: 0.8 }),
        loaded(5, 1, { ...idle, lastUsedAt: NOW }),
      ],
      NOW,
      ageless,
    )
    expect(idsOf(weighed)).toEqual([5, 4, 3, 2, 1].map(memoryId))
  })

  it('[RA9] zero weights change nothing, and no weight makes a score negative', () => {
    const none = { halfLifeDays: 90, recencyWeight: 0, importanceWeight: 0 }
    const stored = [loaded(2, 0.5, daysOld(5)), loaded(1, 0.5, { importance: 10 })]
    expect(applyBoosts(stored, NOW, none)).toEqual(stored)
    const most = { halfLifeDays: 1, recencyWeight: 1, importanceWeight: 1 }
    const [worst] = applyBoosts([loaded(1, 1, { importance: 1, salience: 0 })], NOW, most)
    expect(worst?.score).toBeGreaterThanOrEqual(0)
  })
})

describe('diversity', () => {
  const says = (id: number, score: number, content: string) => loaded(id, score, { content })

  it('[RA10] returns a permutation of the candidates', () => {
    const content = fc.constantFrom('red apples', 'green apples', 'a blue car', '', '我喜欢茶')
    const some = fc.array(fc.tuple(fc.double({ min: -5, max: 5, noNaN: true }), content), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(some, fc.double({ min: 0, max: 1, noNaN: true }), (rows, lambda) => {
        const candidates = rows
          .map(([score, text], id) => says(id, score, text))
          .sort((a, b) => b.score - a.score)
        const diverse = diversifyCandidates(candidates, lambda)
        expect(idsOf(diverse).sort()).toEqual(idsOf(candidates).sort())
        expect(diverse[0]?.id).toBe(lambda === 0 ? diverse[0]?.id : candidates[0]?.id)
        expect(diversifyCandidates(candidates, 1)).toBe(candidates)
      }),
    )
  })

  it.each([
    ['in English', 'I drink green tea every day', 'I drink green tea each day', 'My car is blue'],
    ['in Chinese', '我每天喝绿茶', '我天天喝绿茶', '他的车是蓝色的'],
  ])('[RA10] a repetition moves down, %s', (_, first, again, other) => {
    const candidates = [
      says(1, 1, first),
      says(2, 0.95, again),
      says(3, 0.8, other),
      says(4, 0.1, 'x'),
    ]
    expect(idsOf(diversifyCandidates(candidates, 0.5))[1]).toBe(memoryId(3))
    expect(diversifyCandidates(candidates, 0.5)[0]?.trail.at(-1)).toMatchObject({
      stage: 'diversity',
      note: 'new',
    })
  })

  it('[RA10] candidates without a reranker score stay behind the others, whatever the scales', () => {
    const candidates = [
      says(1, -3, 'one'),
      says(2, -5, 'two'),
      says(3, 0.9, 'three'),
      says(4, 0.8, 'four'),
    ]
    expect(idsOf(diversifyCandidates(candidates, 0.9))).toEqual([1, 2, 3, 4].map(memoryId))
  })
})

describe('similarity threshold', () => {
  const floors = { minTopSimilarity: 1.2, minSimilarity: 0.85 }
  const closeness = createSimilarityScale(100, { mean: 0.7, deviation: 0.03 })
  const near = (id: number, similarity: number, coverage = 0) =>
    candidate(id, {
      similarity,
      contextSimilarity: similarity,
      coverage,
      contextCoverage: coverage,
    })

  it('[RA11] the best of many unrelated memories has a calibrated similarity of about 1', () => {
    const few = createSimilarityScale(10, { mean: 0.7, deviation: 0.03 })
    expect(few(0.7)).toBe(0)
    expect(few(0.8)).toBeGreaterThan(closeness(0.8))
    for (const memories of [0, 1, 2, 1e9]) {
      expect(Number.isFinite(createSimilarityScale(memories, { mean: 0, deviation: 0.1 })(1))).toBe(
        true,
      )
    }
  })

  it('[RA11] abstains when all memories are unrelated', () => {
    expect(filterBySimilarity([near(1, 0.75), near(2, 0.72, 0.3)], closeness, floors)).toEqual([])
    expect(filterBySimilarity([candidate(1, { contextCoverage: 0.04 })], null, floors)).toEqual([])
    expect(filterBySimilarity([], closeness, floors)).toEqual([])
  })

  it('[RA11] keeps close candidates and drops distant ones', () => {
    const candidates = [near(1, 0.82), near(2, 0.79), near(3, 0.72)]
    expect(idsOf(filterBySimilarity(candidates, closeness, floors))).toEqual([1, 2].map(memoryId))
  })

  it('[RA11] coverage decides about a memory without a vector', () => {
    const found = candidate(1, { coverage: 0.3, contextCoverage: 0.3 })
    for (const how of [closeness, null]) {
      expect(idsOf(filterBySimilarity([found], how, floors))).toEqual([memoryId(1)])
    }
  })

  it('[RA11] higher coverage lowers the required similarity', () => {
    expect(filterBySimilarity([near(1, 0.79)], closeness, floors)).toEqual([])
    expect(filterBySimilarity([near(1, 0.79, 0.6)], closeness, floors)).toHaveLength(1)
  })

  it('[CR32] what was said is judged by similarity and words together, and favored texts need less', () => {
    const said = (similarity: number, coverage: number) => ({
      ...near(1, similarity, coverage),
      id: 'turn_1' as MemoryId, // as ids of turns are written
    })
    const others = Array.from({ length: 99 }, (_, at) => near(at + 2, 0.7))
    const filter = (turn: ReturnType<typeof said>, rules = {}) =>
      filterBySimilarity([turn, ...others], closeness, floors, rules)
    expect(filter(said(0.84, 0.1))).toEqual([])
    expect(filter(said(0.84, 0.5))).toHaveLength(1)
    expect(filter(said(0.84, 0.3))).toEqual([])
    expect(filter(said(0.84, 0.3), { isFavored: () => true })).toHaveLength(1)
    expect(filter(said(0.75, 0.3), { isFavored: () => true })).toEqual([])
    expect(filter(said(0.84, 0.1), { asksForCommonFact: true })).toHaveLength(1)
    // In a small store, less is similar by chance.
    expect(filterBySimilarity([said(0.84, 0.1)], closeness, floors)).toHaveLength(1)
  })

  it('[CR32] a turn from the time in the question answers alone when nothing else is asked', () => {
    const then = {
      ...candidate(1, { evidence: { ...NO_EVIDENCE, time: 1 }, contextSimilarity: 0.72 }),
      id: 'turn_1' as MemoryId, // as ids of turns are written
    }
    expect(filterBySimilarity([then], closeness, floors)).toEqual([])
    expect(filterBySimilarity([then], closeness, floors, { asksOnlyForTime: true })).toHaveLength(1)
  })

  it('[RA11] memories from the time in the question always pass', () => {
    const then = candidate(1, { evidence: { ...NO_EVIDENCE, time: 1 } })
    expect(filterBySimilarity([then], closeness, floors)).toHaveLength(1)
  })

  const floor = fc.double({ min: 0, max: 5, noNaN: true })
  const anyCandidates = fc
    .array(
      fc.tuple(
        fc.option(fc.double({ min: -1, max: 1, noNaN: true })),
        fc.double({ min: 0, max: 1, noNaN: true }),
      ),
      { maxLength: 12 },
    )
    .map((rows) =>
      rows.map(([similarity, coverage], id) =>
        candidate(id, {
          similarity,
          contextSimilarity: similarity,
          coverage,
          contextCoverage: coverage,
        }),
      ),
    )
  const anyNearness = fc.constantFrom(null, closeness)

  it('[RA11] memories that contain the words of the question always pass', () => {
    fc.assert(
      fc.property(
        anyCandidates,
        anyNearness,
        floor,
        floor,
        (some, how, minTopSimilarity, minSimilarity) => {
          const stored = idsOf(
            filterBySimilarity(some, how, {
              minTopSimilarity: minTopSimilarity,
              minSimilarity: minSimilarity,
            }),
          )
          for (const one of some) if (one.coverage >= 0.7) expect(stored).toContain(one.id)
        },
      ),
    )
  })

  it('[RA11] a threshold of 0 passes all, and a higher one never more than a lower one', () => {
    fc.assert(
      fc.property(anyCandidates, anyNearness, floor, floor, floor, (some, how, a, b, c) => {
        const kept = (minTopSimilarity: number, minSimilarity: number) =>
          idsOf(
            filterBySimilarity(some, how, {
              minTopSimilarity: minTopSimilarity,
              minSimilarity: minSimilarity,
            }),
          )
        expect(kept(0, 0)).toEqual(idsOf(some))
        const [low, high] = [Math.min(a, b), Math.max(a, b)]
        expect(kept(c, low)).toEqual(expect.arrayContaining(kept(c, high)))
        expect(kept(low, c)).toEqual(expect.arrayContaining(kept(high, c)))
      }),
    )
  })
})

describe('token budget', () => {
  const perCharacter = (text: string) => text.length
  const sized = (sizes: readonly number[]): readonly LoadedCandidate[] =>
    sizes.map((size, id) => loaded(id, 1, { content: 'x'.repeat(size) }))
  const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 12 })

  it('[RA12] selects whole memories from the top while they fit, and always the first', () => {
    expect(fitBudget(sized([5, 5, 5]), 10, 12, perCharacter)).toMatchObject([
      { tokens: 5 },
      { tokens: 5 },
    ])
    expect(fitBudget(sized([50, 5]), 10, 12, perCharacter)).toMatchObject([{ tokens: 50 }])
    expect(fitBudget(sized([5, 50, 5]), 10, 12, perCharacter)).toHaveLength(1)
    expect(fitBudget(sized([5, 5]), 10, null, perCharacter)).toHaveLength(2)
    expect(fitBudget(sized([5, 5]), 10, 0, perCharacter)).toEqual([])
  })

  it('[RA12] never exceeds the budget with more than one memory, and selects a prefix', () => {
    const budget = fc.option(fc.integer({ min: 0, max: 200 }))
    const limit = fc.integer({ min: 1, max: 12 })
    fc.assert(
      fc.property(sizes, budget, limit, limit, (some, tokensMax, one, other) => {
        const candidates = sized(some)
        const few = fitBudget(candidates, Math.min(one, other), tokensMax, perCharacter)
        const many = fitBudget(candidates, Math.max(one, other), tokensMax, perCharacter)
        expect(idsOf(many).slice(0, few.length)).toEqual(idsOf(few))
        expect(idsOf(candidates).slice(0, many.length)).toEqual(idsOf(many))
        const total = many.reduce((sum, { tokens }) => sum + tokens, 0)
        if (tokensMax !== null && many.length > 1) expect(total).toBeLessThanOrEqual(tokensMax)
      }),
    )
  })
})
