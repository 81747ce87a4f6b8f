import { expect, it } from 'vitest'
import { instant, memory } from '../../test/fakes/memories.ts'
import { DAY_MS } from '../lib/time.ts'
import { computeEffectiveSalience, countIdleDays } from './salience-decay.ts'

const NOW = instant(1_000 * DAY_MS)
const ago = (days: number) => instant(NOW - days * DAY_MS)

it('[CN1] salience halves with every 30 days without use', () => {
  const of = (days: number) =>
    computeEffectiveSalience(memory({ salience: 0.8, updatedAt: ago(days) }), NOW)
  expect(of(0)).toBe(0.8)
  expect(of(14)).toBeCloseTo(0.58, 2)
  expect(of(30)).toBeCloseTo(0.4, 10)
  expect(of(60)).toBeCloseTo(0.2, 10)
})

it('[CN1] the later one of use and change counts', () => {
  const unused = memory({ salience: 1, updatedAt: ago(60) })
  expect(computeEffectiveSalience({ ...unused, lastUsedAt: ago(30) }, NOW)).toBeCloseTo(0.5, 10)
  const said = { ...unused, lastUsedAt: ago(90), updatedAt: ago(30) }
  expect(computeEffectiveSalience(said, NOW)).toBeCloseTo(0.5, 10)
})

it('[CN1] pinned and identity memories do not decay', () => {
  const old = memory({ salience: 0.7, updatedAt: ago(900) })
  expect(computeEffectiveSalience({ ...old, pinned: true }, NOW)).toBe(0.7)
  expect(computeEffectiveSalience({ ...old, category: 'identity' }, NOW)).toBe(0.7)
})

it('[CN12] a use in the future counts as now', () => {
  const ahead = memory({ salience: 0.7, updatedAt: ago(-400) })
  expect(computeEffectiveSalience(ahead, NOW)).toBe(0.7)
  expect(countIdleDays(ahead, NOW)).toBe(0)
})
