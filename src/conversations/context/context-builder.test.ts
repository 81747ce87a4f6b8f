import { describe, expect, it } from 'vitest'
import { computeSectionSizes } from './context-builder.ts'

describe('[GA8] the number of memories that are fetched for a budget', () => {
  it.each([
    [100, { pinned: 3, episodes: 2, transcript: 2 }],
    [800, { pinned: 13, episodes: 6, transcript: 4 }],
    [899, { pinned: 14, episodes: 7, transcript: 4 }],
    [960, { pinned: 15, episodes: 8, transcript: 4 }],
    [1_200, { pinned: 15, episodes: 8, transcript: 6 }],
    [4_000, { pinned: 15, episodes: 8, transcript: 6 }],
    [Number.POSITIVE_INFINITY, { pinned: 15, episodes: 8, transcript: 6 }],
    [-5, { pinned: 3, episodes: 2, transcript: 2 }],
    [Number.NaN, { pinned: 3, episodes: 2, transcript: 2 }],
  ])('%d tokens', (budgetTokens, sizes) => {
    expect(computeSectionSizes(budgetTokens)).toEqual(sizes)
  })
})
