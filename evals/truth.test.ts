import { describe, expect, it } from 'vitest'
import { TRUTH_LABELS, TRUTH_LANGUAGES, TRUTH_PAIRS } from './truth/pairs.ts'
import { judgePairs, scoreTruth } from './truth.ts'

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

  it.each(['words', 'meaning'] as const)(
    '[TR7] are told apart as well as promised, by %s',
    async (by) => {
      const judged = await judgePairs(by)
      for (const some of [judged, judged.filter(({ set }) => set === 'heldOut')]) {
        const { falseSupersede, duplicatesCaught } = scoreTruth(some)
        expect(falseSupersede).toBeLessThan(0.01)
        expect(duplicatesCaught).toBeGreaterThan(0.9)
      }
    },
    180_000,
  )
})
