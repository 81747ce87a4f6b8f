/** What charts say without being pointed at. */
import { expect, it } from 'vitest'
import { lastDayWithData } from '../../studio/src/ui/last-day.ts'

const DAYS = ['2026-11-15', '2026-11-16', '2026-11-17', '2026-11-18']

it('[SP5] a chart tells of the last day on which there was something', () => {
  const day = (...all: readonly (readonly (number | null)[])[]) =>
    DAYS[
      lastDayWithData(
        DAYS,
        all.map((values) => ({ values })),
      )
    ]
  expect(day([1, 5, 0, 0], [0, 2, 3, 0])).toBe('2026-11-17')
  expect(day([1, 5, 0, 7])).toBe('2026-11-18')
  expect(day([null, 0.5, null, null])).toBe('2026-11-16')
  expect(day([0, 0, 0, 0])).toBe('2026-11-18')
  expect(lastDayWithData([], [])).toBe(-1)
})
