import { expect, it } from 'vitest'
import { addMs, DAY_MS, exponentialDecay, type Instant, remainingMs } from './time.ts'

it('adds to instants', () => {
  expect(addMs(1_000 as Instant, -DAY_MS)).toBe(1_000 - 86_400_000)
})

it('ends a pause when it is over, and when the clock was set back', () => {
  expect(remainingMs(100, 40, 60)).toBe(60)
  expect(remainingMs(100, 100, 60)).toBe(0)
  expect(remainingMs(100, 200, 60)).toBe(0)
  expect(remainingMs(100, 39, 60)).toBe(0)
  expect(remainingMs(Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY)).toBeGreaterThan(0)
})

it('halves with every half-life, and never exceeds 1', () => {
  expect(exponentialDecay(0, 7)).toBe(1)
  expect(exponentialDecay(14 * DAY_MS, 7)).toBe(0.25)
  expect(exponentialDecay(-DAY_MS, 7)).toBe(1)
})
