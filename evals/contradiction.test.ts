import { describe, expect, it } from 'vitest'
import { LABELED_PAIRS, PAIR_LABELS, PAIR_LANGUAGES } from './contradiction/pairs.ts'
import { judgePairs, scoreContradictions, UNSEEN_DUPLICATES_CAUGHT } from './contradiction.ts'

describe('the labelled pairs', () => {
  it('[TR7] cover every language and label, without duplicates', () => {
    expect(LABELED_PAIRS.length).toBeGreaterThanOrEqual(220)
    for (const language of PAIR_LANGUAGES) {
      for (const label of PAIR_LABELS) {
        const some = LABELED_PAIRS.filter(
          (pair) => pair.language === language && pair.label === label,
        )
        expect(some.length, `${language} ${label}`).toBeGreaterThanOrEqual(4)
      }
    }
    expect(LABELED_PAIRS.filter(({ older, newer }) => older === '' || newer === '')).toEqual([])
    const texts = LABELED_PAIRS.map(({ older, newer }) => `${older} | ${newer}`)
    expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([])
  })

  it('[TR7] count an update instead of a conflict as a false supersede', () => {
    const [pair] = LABELED_PAIRS.filter(({ label }) => label === 'conflict')
    if (pair === undefined) throw new Error('There is no conflict among the pairs.')
    expect(scoreContradictions([{ ...pair, answered: 'update' }]).falseSupersede).toBe(1)
    expect(scoreContradictions([{ ...pair, answered: 'conflict' }]).falseSupersede).toBe(0)
  })

  it.each(['words', 'meaning'] as const)(
    '[TR7] are classified at least as well as the floors, with %s',
    async (by) => {
      const judged = await judgePairs(by)
      for (const some of [judged, judged.filter(({ set }) => set === 'heldOut')]) {
        const { falseSupersede, duplicatesCaught } = scoreContradictions(some)
        expect(falseSupersede).toBeLessThan(0.01)
        expect(duplicatesCaught).toBeGreaterThan(0.9)
      }
      const unseen = scoreContradictions(judged.filter(({ set }) => set === 'unseen'))
      expect(unseen.falseSupersede).toBeLessThan(0.01)
      expect(unseen.duplicatesCaught).toBeGreaterThanOrEqual(UNSEEN_DUPLICATES_CAUGHT)
    },
    180_000,
  )
})
