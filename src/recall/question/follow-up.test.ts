import { expect, it } from 'vitest'
import { memoryId } from '../../../test/fakes/memories.ts'
import { extractQueryTerms } from '../../text/search/terms.ts'
import { hasContentWord, isFollowUp } from './follow-up.ts'
import { discountContextTerms } from './term-weights.ts'

it.each([
  'And where is it?',
  'you know his name?',
  'What about her?',
  'Und wie heißt er?',
  'Et où est-il ?',
  'And in winter?',
])('[CR13] detects a follow-up question: %s', (message) => {
  expect(isFollowUp(message)).toBe(true)
})

it.each([
  'Which colour did we pick for the kitchen?',
  'When does the flight to Lisbon leave on Monday?',
  'Welche Farbe haben wir für die Küche gewählt?',
])('[CR13] detects an independent question: %s', (message) => {
  expect(isFollowUp(message)).toBe(false)
})

it('[CR13] detects messages without searchable words', () => {
  expect(hasContentWord('And where is it?')).toBe(false)
  expect(hasContentWord('Where is the key?')).toBe(true)
})

it('[CR13] weights the words of the question most', () => {
  const hit = (n: number, counts: readonly number[]) => {
    return { id: memoryId(n), score: 1, coverage: 0.5, counts, length: 5, session: null }
  }
  const leg = {
    terms: extractQueryTerms('key boiler').map((text) => ({ text, rarity: 2 })),
    averageLength: 5,
    hits: [hit(1, [0, 1]), hit(2, [1, 0])],
  }
  const { hits } = discountContextTerms(leg, 'Which key?')
  expect(hits.map(({ id }) => id)).toEqual([memoryId(2), memoryId(1)])
  expect(hits[0]?.score).toBeGreaterThan(hits[1]?.score ?? 1)
})
