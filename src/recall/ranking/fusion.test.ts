import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryId } from '../../../test/fakes/memories.ts'
import type { MemoryId } from '../../domain/ids.ts'
import { isTurnId } from '../../domain/search-document.ts'
import { FUSIONS } from '../../domain/settings/setting-choices.ts'
import type { Candidate, Evidence } from './candidate.ts'
import {
  gatherEvidence,
  type LexicalHits,
  rankInitialHits,
  type SessionContext,
} from './evidence.ts'
import {
  EVIDENCE_WEIGHTS,
  type FusionOptions,
  fuseAdaptive,
  fuseCandidates,
  type RetrieverHits,
} from './fusion.ts'

const OPTIONS: FusionOptions = { fusion: 'adaptive', rrfK: 60, vectorWeight: 0.7 }

/** One term for each number of a hit; all of them equally rare. */
function words(hits: Readonly<Record<number, readonly number[]>>, session = 'today'): LexicalHits {
  const rows = Object.entries(hits).map(([id, counts]) => {
    const found = counts.filter((count) => count > 0).length
    return {
      id: memoryId(id),
      score: found,
      coverage: found / counts.length,
      counts,
      length: 10,
      session,
    }
  })
  const terms = (rows[0]?.counts ?? []).map((_, term) => ({ text: `term${term}`, rarity: 2 }))
  return { terms, averageLength: 10, hits: rows.sort((a, b) => b.score - a.score) }
}

/** Memories that were learned one after the other. */
function sessionOf(...ids: readonly number[]): SessionContext {
  const row = ids.map(memoryId)
  return new Map(
    row.map((id, at) => [
      id,
      {
        session: 'today',
        before: row.slice(0, at).reverse().slice(0, 4),
        after: row.slice(at + 1, at + 5),
      },
    ]),
  )
}

const of = (candidates: readonly Candidate[], id: number) => {
  const found = candidates.find((candidate) => candidate.id === memoryId(id))
  if (found === undefined) throw new Error(`There is no candidate ${id}.`)
  return found
}

const leg = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 15 })
const keywordLeg: fc.Arbitrary<LexicalHits> = fc
  .record({
    ids: leg,
    rarities: fc.array(fc.double({ min: 0.01, max: 12, noNaN: true }), {
      minLength: 1,
      maxLength: 4,
    }),
    averageLength: fc.integer({ min: 0, max: 200 }),
    seed: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 60, maxLength: 60 }),
  })
  .map(({ ids, rarities, averageLength, seed }) => ({
    terms: rarities.map((rarity, term) => ({ text: `term${term}`, rarity })),
    averageLength,
    hits: ids.map((id, at) => {
      const counts = rarities.map((_, term) => seed[(at * 4 + term) % seed.length] ?? 0)
      const score = counts.reduce((sum, count, term) => sum + count * (rarities[term] ?? 0), 0.1)
      const session = id % 3 === 0 ? null : `session ${id % 4}`
      return { id: memoryId(id), score, coverage: 0.5, counts, length: id * 7, session }
    }),
  }))
const meaningLeg = fc
  .tuple(leg, fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 15 }))
  .map(([ids, similarities]) => {
    const sorted = [...similarities].sort((a, b) => b - a)
    return ids.map((id, at) => ({ id: memoryId(id), similarity: sorted[at] ?? -1 }))
  })
const anyLegs: fc.Arbitrary<RetrieverHits> = fc.record({
  keyword: fc.option(keywordLeg),
  vector: fc.option(meaningLeg),
})
const anyCourse = fc
  .uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 20 })
  .map((ids) => sessionOf(...ids.sort((a, b) => a - b)))

describe('evidence', () => {
  it('[RA6] lies between 0 and 1 for any hits and context', () => {
    fc.assert(
      fc.property(anyLegs, anyCourse, ({ keyword, vector: meaning }, course) => {
        const candidates = gatherEvidence(keyword, meaning, course)
        expect(new Set(candidates.map(({ id }) => id)).size).toBe(candidates.length)
        for (const { evidence, coverage, contextCoverage } of candidates) {
          for (const part of [...Object.values(evidence), coverage, contextCoverage]) {
            expect(part >= 0 && part <= 1 + 1e-9, JSON.stringify(evidence)).toBe(true)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('[RA6] has exactly the hits and their neighbors', () => {
    fc.assert(
      fc.property(anyLegs, anyCourse, ({ keyword, vector: meaning }, course) => {
        const hits = rankInitialHits(keyword, meaning).map(({ id }) => id)
        const around = [...course].flatMap(([id, { before, after }]) => [id, ...before, ...after])
        const candidates = gatherEvidence(keyword, meaning, course).map(({ id }) => id)
        expect(new Set(candidates)).toEqual(new Set<MemoryId>([...hits, ...around]))
      }),
      { numRuns: 100 },
    )
  })

  it('[RA6] finds a turn through its neighbors: the answer next to the question', () => {
    const candidates = gatherEvidence(words({ 2: [1, 1] }), null, sessionOf(1, 2, 3, 4, 5))
    expect(candidates).toHaveLength(5)
    for (const near of [1, 2, 3, 4])
      expect(of(candidates, near).evidence.context).toBeGreaterThan(0)
    expect(of(candidates, 5).evidence.context).toBe(0)
    expect(of(candidates, 3)).toMatchObject({ coverage: 0, contextCoverage: 1 })
    const [first, second] = fuseCandidates(candidates, { keyword: null, vector: null }, OPTIONS)
    expect(first?.id).toBe(memoryId(2))
    expect(second?.score).toBeGreaterThan(0)
  })

  it('[RA6] words spread over neighbors count together', () => {
    const together = gatherEvidence(words({ 2: [1, 0], 3: [0, 1] }), null, sessionOf(1, 2, 3, 4))
    expect(of(together, 2)).toMatchObject({ coverage: 0.5, contextCoverage: 1 })
    const apart = gatherEvidence(words({ 2: [1, 0], 3: [0, 1] }), null, new Map())
    expect(of(apart, 2)).toMatchObject({ coverage: 0.5, contextCoverage: 0.5 })
    // Alone, each is a session of its own, and no better than the other.
    expect(of(apart, 2).evidence.context).toBe(of(apart, 3).evidence.context)
  })

  it('[RA6] words that no memory contains do not lower the others', () => {
    const known = gatherEvidence(words({ 1: [1, 0], 2: [0, 1] }), null, new Map())
    const unheard = gatherEvidence(words({ 1: [1, 0, 0, 0], 2: [0, 1, 0, 0] }), null, new Map())
    expect(of(unheard, 1).evidence.keyword).toBe(of(known, 1).evidence.keyword)
    // A word that another memory holds could have been there as well.
    const missing = gatherEvidence(
      words({ 1: [1, 0, 0, 0], 2: [0, 1, 0, 0], 3: [0, 0, 1, 0], 4: [0, 0, 0, 1] }),
      null,
      new Map(),
    )
    expect(of(missing, 1).evidence.keyword).toBeLessThan(of(known, 1).evidence.keyword)
  })

  it('[RA6] context counts less for longer texts, neighbors less than the session', () => {
    const { terms, averageLength, hits } = words({ 1: [1, 1], 2: [1, 1] })
    const long = hits.map((hit) => (hit.id === memoryId(2) ? { ...hit, length: 150 } : hit))
    const leg = { terms, averageLength, hits: long }
    const candidates = gatherEvidence(leg, null, sessionOf(1, 2))
    const share = (kind: 'context' | 'session') =>
      of(candidates, 2).evidence[kind] / of(candidates, 1).evidence[kind]
    expect(share('session')).toBeLessThan(1)
    expect(share('context')).toBeLessThan(share('session'))
  })

  it('[RA6] an answer reveals the subject of its question', () => {
    const meaning = [
      { id: memoryId(2), similarity: 0.9 },
      { id: memoryId(9), similarity: 0.1 },
    ]
    const candidates = gatherEvidence(null, meaning, sessionOf(1, 2, 3))
    expect(of(candidates, 1).evidence).toMatchObject({ vector: 0, reply: 1 })
    expect(of(candidates, 3).evidence.reply).toBe(0)
    expect(of(candidates, 3).contextSimilarity).toBe(0.9)
  })
})

describe('fusion', () => {
  it.each(FUSIONS)(
    '[RA6] %s: the result does not depend on the order of the candidates',
    (fusion) => {
      const options = { ...OPTIONS, fusion }
      fc.assert(
        fc.property(anyLegs, anyCourse, (legs, course) => {
          const candidates = gatherEvidence(legs.keyword, legs.vector, course)
          const fused = fuseCandidates(candidates, legs, options)
          expect(fuseCandidates([...candidates].reverse(), legs, options)).toEqual(fused)
          for (const [at, { score }] of fused.entries()) {
            expect(Number.isFinite(score)).toBe(true)
            expect(score).toBeLessThanOrEqual(fused[at - 1]?.score ?? Number.POSITIVE_INFINITY)
          }
        }),
        { numRuns: 150 },
      )
    },
  )

  it('[RA6] a limit changes nothing about the best candidates of each kind', () => {
    const toKind = (id: MemoryId): MemoryId =>
      Number(id.slice(-1)) % 2 === 0 ? id : (id.replace(/^mem_/, 'turn_') as MemoryId) // as a turn's
    const relabel = <Hit extends { readonly id: MemoryId }>(hits: readonly Hit[]) =>
      hits.map((hit) => ({ ...hit, id: toKind(hit.id) }))
    fc.assert(
      fc.property(anyLegs, anyCourse, fc.integer({ min: 1, max: 8 }), (legs, course, count) => {
        const keyword = legs.keyword && { ...legs.keyword, hits: relabel(legs.keyword.hits) }
        const vector = legs.vector && relabel(legs.vector)
        const context = new Map(
          [...course].map(([id, { session, before, after }]) => [
            toKind(id),
            { session, before: before.map(toKind), after: after.map(toKind) },
          ]),
        )
        const limit = { scoreOf: fuseAdaptive, count }
        const bestOf = (candidates: readonly Candidate[]) => {
          const fused = fuseCandidates(candidates, { keyword, vector }, OPTIONS)
          const isOfTurn = ({ id }: Candidate) => isTurnId(id)
          const facts = fused.filter((each) => !isOfTurn(each))
          return [facts.slice(0, count), fused.filter(isOfTurn).slice(0, count)]
        }
        expect(bestOf(gatherEvidence(keyword, vector, context, undefined, limit))).toEqual(
          bestOf(gatherEvidence(keyword, vector, context)),
        )
      }),
      { numRuns: 300 },
    )
  })

  it('[RA6] rrf is the sum of 1 / (k + rank), with ranks from 1', () => {
    fc.assert(
      fc.property(anyLegs, fc.integer({ min: 1, max: 1_000 }), (legs, rrfK) => {
        const candidates = gatherEvidence(legs.keyword, legs.vector, new Map())
        for (const { id, score } of fuseCandidates(candidates, legs, {
          ...OPTIONS,
          fusion: 'rrf',
          rrfK,
        })) {
          const ranks = [legs.keyword?.hits ?? [], legs.vector ?? []]
            .map((hits) => hits.findIndex((hit) => hit.id === id) + 1)
            .filter((rank) => rank > 0)
          expect(score).toBeCloseTo(
            ranks.reduce((sum, rank) => sum + 1 / (rrfK + rank), 0),
            12,
          )
        }
      }),
      { numRuns: 100 },
    )
  })

  it('[RA6] rrf: first in both rankings beats first in one', () => {
    const keyword = words({ 1: [1, 1], 2: [1, 0] })
    const meaning = [1, 3].map((id) => ({ id: memoryId(id), similarity: 1 / id }))
    const candidates = gatherEvidence(keyword, meaning, new Map())
    const fused = fuseCandidates(
      candidates,
      { keyword, vector: meaning },
      { ...OPTIONS, fusion: 'rrf', rrfK: 60 },
    )
    expect(fused.map(({ id, score }) => [id, score])).toEqual([
      [memoryId(1), 2 / 61],
      [memoryId(3), 1 / 62],
      [memoryId(2), 1 / 62],
    ])
  })

  it('[RA6] weighted compares normalized scores', () => {
    // The scores of words are larger by far; only their share of the best counts.
    const hits = words({ 1: [1, 1], 2: [1, 0] }).hits
    const keyword = {
      ...words({ 1: [1, 1] }),
      hits: hits.map((hit) => ({ ...hit, score: hit.score * 1_000 })),
    }
    const meaning = [
      { id: memoryId(2), similarity: 0.8 },
      { id: memoryId(3), similarity: 0.7 },
      { id: memoryId(1), similarity: 0.6 },
    ]
    const candidates = gatherEvidence(keyword, meaning, new Map())
    const fused = fuseCandidates(
      candidates,
      { keyword, vector: meaning },
      { ...OPTIONS, fusion: 'weighted', vectorWeight: 0.7 },
    )
    expect(of(fused, 1).score).toBeCloseTo(0.3, 12)
    expect(of(fused, 2).score).toBeCloseTo(0.3 * 0.5 + 0.7, 12)
    expect(of(fused, 3).score).toBeCloseTo(0.35, 12)
  })

  it.each(FUSIONS)(
    '[RA6] %s: a missing retriever does not change the order of the other',
    (fusion) => {
      const options = { ...OPTIONS, fusion }
      fc.assert(
        fc.property(keywordLeg, (keyword) => {
          const alone = gatherEvidence(keyword, null, new Map())
          const beside = gatherEvidence(keyword, [], new Map())
          const ids = fuseCandidates(alone, { keyword, vector: null }, options).map(({ id }) => id)
          expect(
            fuseCandidates(beside, { keyword, vector: [] }, options).map(({ id }) => id),
          ).toEqual(ids)
          if (fusion !== 'rrf') expect(ids).toHaveLength(keyword.hits.length)
        }),
        { numRuns: 50 },
      )
      expect(fuseCandidates([], { keyword: null, vector: null }, options)).toEqual([])
    },
  )

  it('[RA6] more of any evidence never lowers a score', () => {
    const kinds = Object.keys(EVIDENCE_WEIGHTS) as (keyof Evidence)[] // the table's own keys
    expect(kinds.every((kind) => EVIDENCE_WEIGHTS[kind] > 0)).toBe(true)
  })

  it.each(['rrf', 'weighted'] as const)('[RA6] %s scores hits only', (fusion) => {
    const keyword = words({ 2: [1] })
    const candidates = gatherEvidence(keyword, null, sessionOf(1, 2, 3))
    const fused = fuseCandidates(candidates, { keyword, vector: null }, { ...OPTIONS, fusion })
    expect(fused.map(({ id }) => id)).toEqual([memoryId(2)])
  })
})
