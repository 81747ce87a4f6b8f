import { expect, it } from 'vitest'
import { instant, memory } from '../../../../test/fakes/memories.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { isClockSuspect } from '../report.ts'
import { computeRetentionCutoff, decideEviction } from './eviction-policy.ts'

const NOW = instant(5_000 * DAY_MS)
const ago = (days: number) => instant(NOW - days * DAY_MS)
const settings = { 'retention.minSalience': 0.2, 'retention.unusedDays': 0 }
const decide = (fields: Parameters<typeof memory>[0], of = settings) =>
  decideEviction({ ...memory(fields), isProtected: false }, NOW, of)

it('[CN6] a fact leaves below the floor, after thirty days without use', () => {
  expect(decide({ salience: 0.5, updatedAt: ago(39) })).toBeNull()
  expect(decide({ salience: 0.5, updatedAt: ago(40) })).toEqual({
    kind: 'evict',
    reason: 'Its salience of 0.50 has faded to 0.20, below 0.2: it was not used for 40 days.',
  })
  expect(decide({ salience: 0.1, updatedAt: ago(29) })).toBeNull()
  expect(decide({ salience: 0.1, updatedAt: ago(30) })?.kind).toBe('evict')
  expect(decide({ salience: 0.1, updatedAt: ago(90), lastUsedAt: ago(5) })).toBeNull()
  expect(
    decide({ salience: 0, updatedAt: ago(90) }, { ...settings, 'retention.minSalience': 0 }),
  ).toBeNull()
})

it('[CN6] everything leaves that was not used for as long as the setting says', () => {
  const fields = { ...settings, 'retention.unusedDays': 100 }
  expect(decide({ salience: 1, updatedAt: ago(99), category: 'episode' }, fields)).toBeNull()
  expect(decide({ salience: 1, updatedAt: ago(100), category: 'episode' }, fields)).toEqual({
    kind: 'expire',
    reason: 'It was not used for 100 days, and is kept for 100 days.',
  })
})

it('[CN8] never evicts pinned, inactive or identity memories', () => {
  const fields = { ...settings, 'retention.unusedDays': 1 }
  const old = { salience: 0, updatedAt: ago(900) }
  expect(decide({ ...old, pinned: true }, fields)).toBeNull()
  expect(decide({ ...old, category: 'identity' }, fields)).toBeNull()
  expect(decide({ ...old, status: 'disabled' }, fields)).toBeNull()
  expect(decide({ ...old, category: 'episode' })).toBeNull()
  expect(decide({ ...old, trust: 'suspect' })).toBeNull()
})

it('[CN7] a retention of 0 days keeps everything', () => {
  expect(computeRetentionCutoff(NOW, 0)).toBeNull()
  expect(computeRetentionCutoff(NOW, 365)).toBe(ago(365))
})

it('[CN12] after a long gap, the elapsed time is unknown', () => {
  expect(isClockSuspect(null, NOW)).toBe(false)
  expect(isClockSuspect(ago(30), NOW)).toBe(false)
  expect(isClockSuspect(ago(31), NOW)).toBe(true)
  expect(isClockSuspect(ago(-31), NOW)).toBe(false)
})
