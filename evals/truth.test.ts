import { describe, expect, it } from 'vitest'
import { TRUTH_LABELS, TRUTH_LANGUAGES, TRUTH_PAIRS } from './truth/pairs.ts'
import { judgePairs, scoreTruth, UNSEEN_DUPLICATES_CAUGHT } from './truth.ts'

describe('the labelled pairs', () => {
  it('[TR7] are enough, in every language and of every label, and none is there twice', () => {
    expect(TRUTH_PAIRS.length).toBeGreaterThanOrEqual(220)
    for (const language of TRUTH_LANGUAGES) {
      for (const label of TRUTH_LABELS) {
        const some = TRUTH_PAIRS.filter(
          (pair) => pair.language === language && pair.label === label,
        )
        expect(some.length, `${language} ${label}`).toBeGreaterThanOrEqual(4)
      }
    }
    expect(TRUTH_PAIRS.filter(({ older, newer }) => older === '' || newer === '')).toEqual([])
    const texts = TRUTH_PAIRS.map(({ older, newer }) => `${older} | ${newer}`)
    expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([])
  })

  it('[TR7] count a conflict that was settled without anybody being asked as a false supersede', () => {
    const [pair] = TRUTH_PAIRS.filter(({ label }) => label === 'conflict')
    if (pair === undefined) throw new Error('There is no conflict among the pairs.')
    expect(scoreTruth([{ ...pair, answered: 'update' }]).falseSupersede).toBe(1)
    expect(scoreTruth([{ ...pair, answered: 'conflict' }]).falseSupersede).toBe(0)
  })

  it.each(['words', 'meaning'] as const)(
    '[TR7] are told apart as well as promised, by %s',
    async (by) => {
      const judged = await judgePairs(by)
      for (const some of [judged, judged.filter(({ set }) => set === 'heldOut')]) {
        const { falseSupersede, duplicatesCaught } = scoreTruth(some)
        expect(falseSupersede).toBeLessThan(0.01)
        expect(duplicatesCaught).toBeGreaterThan(0.9)
      }
      const unseen = scoreTruth(judged.filter(({ set }) => set === 'unseen'))
      expect(unseen.falseSupersede).toBeLessThan(0.01)
      expect(unseen.duplicatesCaught).toBeGreaterThanOrEqual(UNSEEN_DUPLICATES_CAUGHT)
    },
    180_000,
  )
})
