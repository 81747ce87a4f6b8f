import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Haystack, openHaystack } from './haystack.ts'
import { loadOwnSet } from './own.ts'

/** The minimum share of questions per category with an answer among the first three, a little below the measured one. */
const FLOORS: readonly (readonly [string, number])[] = [
  ['words', 1],
  ['meaning', 0.9],
  ['context', 0.75],
  ['speaker', 1],
  ['time', 1],
]

describe('the built-in data set with the built-in model', () => {
  const { documents, queries } = loadOwnSet()
  let haystack: Haystack

  beforeAll(async () => {
    haystack = await openHaystack(documents, { embedding: {} })
    haystack.setNow(Date.parse('2026-01-20'))
  }, 60_000)
  afterAll(() => haystack.engine.close())

  const firstThree = async (text: string) => {
    const scope = { owner: haystack.ownerOf('own') }
    const { memories } = await haystack.engine.recall(scope, { text, limit: 3 })
    return memories.map(({ memory }) => haystack.documentOf.get(memory.id)?.id ?? '')
  }

  it.each(FLOORS)(
    '[RA20] %s: at least %d are answered within the first three',
    async (category, floor) => {
      const questions = queries.filter((query) => query.category === category)
      const misses: string[] = []
      for (const { question, gold } of questions) {
        const found = await firstThree(question)
        if (!found.some((id) => gold.includes(id))) misses.push(`${question} → ${found.join(' ')}`)
      }
      expect(1 - misses.length / questions.length, misses.join('\n')).toBeGreaterThanOrEqual(floor)
    },
  )

  it('[RA21] unrelated questions get no results', async () => {
    const answered: string[] = []
    for (const { question } of queries.filter(({ category }) => category === 'unrelated')) {
      const found = await firstThree(question)
      if (found.length > 0) answered.push(`${question} → ${found.join(' ')}`)
    }
    expect(answered.length, answered.join('\n')).toBeLessThanOrEqual(1)
  })
})
