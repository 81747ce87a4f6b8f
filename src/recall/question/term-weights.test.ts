import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryId } from '../../../test/fakes/memories.ts'
import type { Instant } from '../../lib/time.ts'
import { extractQueryTerms } from '../../text/search/terms.ts'
import type { LexicalHits } from '../ranking/evidence.ts'
import { markFrameTerms, removeTimeTerms } from './term-weights.ts'
import { parseTimeSpan } from './time-expressions.ts'

const NOW = Date.parse('2024-05-15T10:30:00Z') as Instant

/** What keyword search finds for a question in texts that have so many of each of its words. */
function found(question: string, ...counts: readonly (readonly number[])[]): LexicalHits {
  const terms = extractQueryTerms(question).map((text) => ({ text, rarity: 2 }))
  const hits = counts.map((each, position) => ({
    id: memoryId(position),
    score: each.reduce((sum, count) => sum + count, 0),
    coverage: each.filter((count) => count > 0).length / terms.length,
    counts: each,
    length: 10,
    session: null,
  }))
  return { terms, averageLength: 10, hits }
}

function spanOf(question: string) {
  const span = parseTimeSpan(question, NOW)
  if (span === null) throw new Error('That is a time.')
  return span
}

describe('words of a time expression', () => {
  const question = 'Which race did Ann win four weeks ago?'

  it('[RA8] do not count, and hits without other terms are dropped', () => {
    const terms = extractQueryTerms(question)
    const only = (...some: readonly string[]) => terms.map((term) => (some.includes(term) ? 1 : 0))
    const leg = found(
      question,
      only('four', 'week', 'ago'),
      only('four', 'race'),
      only('race', 'ann'),
    )
    const { hits, terms: left } = removeTimeTerms(leg, question, spanOf(question))
    expect(left.map(({ text }) => text)).toEqual(['race', 'ann', 'win'])
    expect(hits.map(({ id }) => id)).toEqual([memoryId(2), memoryId(1)])
    expect(hits.map(({ coverage }) => coverage)).toEqual([2 / 3, 1 / 3])
    expect(hits.every(({ counts }) => counts.length === 3)).toBe(true)
  })

  it('[RA8] stay if the question has them elsewhere, too, or has no other words', () => {
    const twice = 'Which three races were in the past three weeks?'
    const leg = removeTimeTerms(found(twice), twice, spanOf(twice))
    expect(leg.terms.map(({ text }) => text)).toEqual(['three', 'race'])
    const bare = found('last week?', [1, 1])
    expect(removeTimeTerms(bare, 'last week?', spanOf('last week?'))).toBe(bare)
  })

  it('[RA8] other words keep their counts, best first', () => {
    const row = fc.array(fc.nat(3), { minLength: 6, maxLength: 6 })
    fc.assert(
      fc.property(fc.array(row, { maxLength: 8 }), (rows) => {
        const leg = found(question, ...rows)
        const { hits } = removeTimeTerms(leg, question, spanOf(question))
        const scores = hits.map(({ score }) => score)
        expect(scores).toEqual([...scores].sort((a, b) => b - a))
        const total = (each: LexicalHits['hits'], from: number) =>
          each.flatMap(({ counts }) => counts.slice(0, from)).reduce((a, b) => a + b, 0)
        expect(total(hits, 3)).toBe(total(leg.hits, 3))
      }),
    )
  })
})

describe('words of how a question is asked', () => {
  it('[CR32] are no part of coverage, and keep their scores', () => {
    const question = 'How many days ago did I visit my dentist?'
    const terms = extractQueryTerms(question)
    const only = (...some: readonly string[]) => terms.map((term) => (some.includes(term) ? 1 : 0))
    const leg = found(question, only('i', 'my', 'ago'), only('dentist'))
    const { hits, terms: marked } = markFrameTerms(leg, question)
    expect(marked.filter(({ isFrame }) => isFrame !== true).map(({ text }) => text)).toEqual([
      'visit',
      'dentist',
    ])
    expect(hits.map(({ coverage }) => coverage)).toEqual([0, 0.5])
    expect(hits.map(({ score }) => score)).toEqual(leg.hits.map(({ score }) => score))
  })

  it('[CR32] count when the question has no others', () => {
    const leg = found('my many', [1, 1])
    expect(markFrameTerms(leg, 'my many')).toBe(leg)
  })
})
