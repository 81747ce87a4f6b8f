import { expect, it } from 'vitest'
import { isCalculation } from './small-talk.ts'

it.each([
  'convert 3 miles to km',
  'What is 17 * 23?',
  'What is 15 percent of 240?',
  'how many minutes are 3 hours?',
  '5km in miles',
  'cuántos km son 3 millas',
  'Wie viel sind 20 Meilen in km?',
])('[CR33] knows a calculation: %s', (message) => {
  expect(isCalculation(message)).toBe(true)
})

it.each([
  'how many days until 24 april',
  'I ran 3 miles in 20 minutes',
  'Which of the 3 did you suggest?',
  'What is the mortgage rate of 4.6 percent for?',
  'How many km?',
  '',
])('[CR33] looks up what names something else: %s', (message) => {
  expect(isCalculation(message)).toBe(false)
})
