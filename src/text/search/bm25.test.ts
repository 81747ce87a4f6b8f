import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CorpusStatistics, scoreDocument } from './bm25.ts'

function toCorpus(documents: readonly (readonly string[])[]): CorpusStatistics {
  const terms = documents.reduce((sum, document) => sum + document.length, 0)
  return {
    documents: documents.length,
    averageLength: documents.length > 0 ? terms / documents.length : 0,
    countDocumentsWith: (term) => documents.filter((document) => document.includes(term)).length,
  }
}

const DOCUMENTS = [
  ['the', 'dog', 'bark'],
  ['the', 'cat', 'sleep'],
  ['the', 'dog', 'sleep'],
  ['the', 'parrot', 'talk'],
]
const CORPUS = toCorpus(DOCUMENTS)
const [barkingDog = []] = DOCUMENTS

describe('BM25', () => {
  it('[TX6] matches the textbook formula', () => {
    // One of four documents holds `bark`, all are of average length: ln(1 + 3.5 / 1.5) × 2.2 / 2.2.
    expect(scoreDocument(['bark'], barkingDog, CORPUS).score).toBeCloseTo(
      Math.log(1 + 3.5 / 1.5),
      12,
    )
  })

  it('[TX6] is above zero even for a word in every document', () => {
    const { score, coverage } = scoreDocument(['the'], barkingDog, CORPUS)
    expect(score).toBeGreaterThan(0)
    expect(coverage).toBe(1)
  })

  it('[TX6] rises with the inverse document frequency', () => {
    const scores = ['the', 'dog', 'bark'].map(
      (term) => scoreDocument([term], barkingDog, CORPUS).score,
    )
    expect(scores).toEqual([...scores].sort((a, b) => a - b))
    expect(new Set(scores).size).toBe(3)
  })

  it('[TX6] rises with the number of matching words, and a missing word does not lose the hit', () => {
    const both = scoreDocument(['dog', 'bark'], barkingDog, CORPUS)
    const one = scoreDocument(['dog', 'talk'], barkingDog, CORPUS)
    const none = scoreDocument(['cat', 'talk'], barkingDog, CORPUS)
    expect(both.score).toBeGreaterThan(one.score)
    expect(both.coverage).toBe(1)
    expect(one.score).toBeGreaterThan(0)
    expect(one.coverage).toBeGreaterThan(0)
    expect(one.coverage).toBeLessThan(1)
    expect(none).toEqual({ score: 0, coverage: 0 })
  })

  it('[TX6] prefers shorter documents and more occurrences', () => {
    const short = scoreDocument(['dog'], ['dog', 'x'], CORPUS).score
    expect(short).toBeGreaterThan(scoreDocument(['dog'], ['dog', 'x', 'x', 'x'], CORPUS).score)
    expect(scoreDocument(['dog'], ['dog', 'dog'], CORPUS).score).toBeGreaterThan(short)
  })

  it('[TX6] is finite and never negative, also when the counts of a store disagree', () => {
    const count = fc.integer({ min: 0, max: 1_000_000 })
    const terms = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 20 })
    fc.assert(
      fc.property(
        terms,
        terms,
        count,
        count,
        count,
        (query, document, documents, length, holding) => {
          const corpus: CorpusStatistics = {
            documents,
            averageLength: length,
            countDocumentsWith: () => holding,
          }
          const { score, coverage } = scoreDocument([...new Set(query)], document, corpus)
          expect(Number.isFinite(score)).toBe(true)
          expect(score > 0).toBe(query.some((term) => document.includes(term)))
          expect(coverage).toBeGreaterThanOrEqual(0)
          expect(coverage).toBeLessThanOrEqual(1)
        },
      ),
    )
  })
})
