import { expect, it } from 'vitest'
import { instant } from '../../../test/fakes/memories.ts'
import { DAY_MS } from '../../lib/time.ts'
import { decayScore, getAgeReference, parsePathDate } from './file-dates.ts'

const WRITTEN = instant(Date.UTC(2027, 5, 1, 12))
const day = (year: number, month: number, date: number) => Date.UTC(year, month - 1, date)

it('[FC18] reads the day of a note from its name, anywhere under memory/', () => {
  const dated: readonly (readonly [string, number])[] = [
    ['memory/2026-11-15.md', day(2026, 11, 15)],
    ['memory/2026-11-15-standup.md', day(2026, 11, 15)],
    ['memory/standup-2026-11-15.md', day(2026, 11, 15)],
    ['memory/trips/2026/2026-11-15_tea.md', day(2026, 11, 15)],
    ['memory/2026-11-15/tea.md', day(2026, 11, 15)],
    ['memory/2026-11-14/2026-11-15.md', day(2026, 11, 15)],
    ['Memory/2024-02-29.md', day(2024, 2, 29)],
    ['memory/9999-99-99-or-2026-11-15.md', day(2026, 11, 15)],
    ['memory/旅行2026-11-15.md', day(2026, 11, 15)],
  ]
  for (const [path, at] of dated) {
    expect([path, parsePathDate(path)]).toEqual([path, at])
    expect(getAgeReference(path, WRITTEN)).toBe(at)
  }
})

it('[FC18] takes no other numbers for a day, and lets undated notes never grow old', () => {
  const evergreen = [
    'MEMORY.md',
    'memory.md',
    'memory/tea.md',
    'memory/2026-02-30.md',
    'memory/2026-13-01.md',
    'memory/2026-00-00.md',
    'memory/0000-01-01.md',
    'memory/2025-02-29.md',
    'memory/12026-01-01.md',
    'memory/2026-01-011.md',
    'memory/2026-1-1.md',
    'memory/20260101.md',
  ]
  for (const path of evergreen) expect([path, getAgeReference(path, WRITTEN)]).toEqual([path, null])
})

it('[FC18] takes other files for as old as their last change', () => {
  for (const path of [
    'docs/2026-11-15.md',
    'sessions/2026-11-15.jsonl',
    'docs/MEMORY.md',
    'a.md',
  ]) {
    expect([path, getAgeReference(path, WRITTEN)]).toEqual([path, WRITTEN])
    expect(parsePathDate(path)).toBeNull()
  }
})

it('[FC19] halves a score with every half-life, and never raises it', () => {
  expect(decayScore(0.8, 30 * DAY_MS, 30)).toBeCloseTo(0.4)
  expect(decayScore(0.8, 60 * DAY_MS, 30)).toBeCloseTo(0.2)
  expect(decayScore(0.8, 0, 30)).toBe(0.8)
  expect(decayScore(0.8, -DAY_MS, 30)).toBe(0.8)
  expect(decayScore(0.8, 30 * DAY_MS, 0)).toBe(0.8)
})
