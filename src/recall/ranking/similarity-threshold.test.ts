import { describe, expect, it } from 'vitest'
import { candidate } from '../../../test/fakes/ranking-candidates.ts'
import { createSimilarityScale, filterByDistribution } from './similarity-threshold.ts'

const scale = createSimilarityScale(10, { mean: 0.7, deviation: 0.03 })

const store = (similarities: readonly number[]) =>
  similarities.map((similarity, at) => ({
    ...candidate(at),
    similarity,
    contextSimilarity: similarity,
    coverage: 0,
  }))

const FLAT = store([0.79, 0.78, 0.78, 0.77, 0.77, 0.76, 0.76, 0.75, 0.75, 0.75])
const CLEAR = store([0.92, 0.78, 0.78, 0.77, 0.77, 0.76, 0.76, 0.75, 0.75, 0.75])

describe('the distribution of a small store', () => {
  it('[RA36.1] a message that is not about the user gets nothing from a flat store', () => {
    expect(filterByDistribution(FLAT, FLAT, scale, { isPersonal: false })).toEqual([])
    expect(filterByDistribution(FLAT, FLAT, scale, { isPersonal: true })).toEqual(FLAT)
  })

  it('[RA36.1] a memory with terms of the message stays', () => {
    const [first, ...others] = FLAT
    if (first === undefined) throw new Error('the store must not be empty')
    const matching = { ...first, coverage: 0.5 }
    expect(
      filterByDistribution([matching, ...others], FLAT, scale, {
        isPersonal: false,
      }),
    ).toEqual([matching])
  })

  it('[RA36.2] a clear answer leaves out what is close to the median', () => {
    for (const isPersonal of [true, false]) {
      expect(filterByDistribution(CLEAR, CLEAR, scale, { isPersonal })).toEqual(CLEAR.slice(0, 1))
    }
  })

  it('[RA36.1] changes nothing without vectors or in a large store', () => {
    const large = store(Array.from({ length: 80 }, () => 0.75))
    expect(filterByDistribution(FLAT, FLAT, null, { isPersonal: false })).toEqual(FLAT)
    expect(filterByDistribution(large, large, scale, { isPersonal: false })).toEqual(large)
  })
})
