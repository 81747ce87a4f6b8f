import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { evaluateKeyword, type KeywordSet } from './keyword.ts'

const DATA = '../shared/evals'
/**
 * A quarter of the questions is enough for every run; `npm run eval` asks them all. English floors stand below what
 * is measured, so that a loss shows and noise does not.
 */
const FLOORS: readonly (readonly [KeywordSet, number])[] = [
  ['cmrc2018-zh', 0.95],
  ['jsquad-ja', 0.95],
  ['korquad-ko', 0.95],
  ['locomo', 0.66],
  ['beam-100k', 0.63],
]

describe.skipIf(!existsSync(DATA))('keyword search on public sets (they are not here)', () => {
  it.each(FLOORS)('[TX5] %s: any@10 is at least %d', async (set, floor) => {
    const { metrics } = await evaluateKeyword(set, { data: DATA, explain: false, every: 4 })
    expect(metrics['any@10']).toBeGreaterThanOrEqual(floor)
  })
})
