import { expect, it } from 'vitest'
import { changeId, instant, memory } from '../../../test/fakes/memories.ts'
import { DAY_MS } from '../../lib/time.ts'
import { encodeWords } from './merging/word-sets.ts'
import { isPromotable, MentionIndex, promoteMemory } from './promotion.ts'

const NOW = instant(1_000 * DAY_MS)
const ago = (days: number) => instant(NOW - days * DAY_MS)
const at = (day: number, text: string) => ({ words: encodeWords(text), at: ago(day) })

it('[CN5] an episode mentions what it shares most of the telling words with', () => {
  const mentions = new MentionIndex([
    at(1, 'The user planned a climbing trip to the Dolomites with Ann.'),
    at(2, 'They talked about climbing shoes for the Dolomites.'),
    at(3, 'The user asked about tax returns.'),
  ])
  const of = (text: string) => mentions.of(encodeWords(text))
  expect(of('The user goes climbing in the Dolomites')).toEqual([ago(1), ago(2)])
  expect(of('The user is afraid of the dentist')).toEqual([])
  // One word in common is chance.
  expect(of('climbing')).toEqual([])
})

it('[CN5] a fact rises when three mention it, and again only with a newer one after a day', () => {
  const fact = memory({ salience: 0.5 })
  const mentions = [ago(2), ago(3), ago(4)]
  expect(isPromotable(fact, mentions.slice(1), NOW, 24)).toBe(false)
  expect(isPromotable(fact, mentions, NOW, 24)).toBe(true)
  const once = promoteMemory(fact, { change: changeId('rise'), now: NOW })
  expect(once).toMatchObject({ salience: 0.55, metadata: { promotedAt: NOW }, version: 2 })
  const hours = (count: number) => instant(NOW + count * 3_600_000)
  expect(isPromotable(once, mentions, hours(1), 1)).toBe(false)
  expect(isPromotable(once, mentions, hours(48), 1)).toBe(false)
  const newer = [...mentions, hours(2)]
  expect(isPromotable(once, newer, hours(3), 1)).toBe(false)
  expect(isPromotable(once, newer, hours(24), 1)).toBe(true)
  expect(isPromotable(once, newer, hours(24), 48)).toBe(false)
})

it('[CN5] it rises to 1 at most', () => {
  const fact = memory({ salience: 0.98 })
  const full = promoteMemory(fact, { change: changeId('rise'), now: NOW })
  expect(full.salience).toBe(1)
  expect(isPromotable({ ...full, metadata: {} }, [NOW, NOW, NOW], NOW, 24)).toBe(false)
})

it('[CN8] does not promote pinned memories, identities, episodes or those that wait for approval', () => {
  const mentions = [NOW, NOW, NOW]
  for (const fields of [
    { pinned: true },
    { category: 'identity' as const },
    { category: 'episode' as const },
    { trust: 'suspect' as const },
    { status: 'disabled' as const },
  ]) {
    expect(isPromotable(memory(fields), mentions, NOW, 24)).toBe(false)
  }
})

it('[CN12] a note from a clock that was ahead blocks nothing for years', () => {
  const fact = memory({ metadata: { promotedAt: ago(-400) } })
  expect(isPromotable(fact, [ago(1), ago(2), ago(3)], NOW, 24)).toBe(true)
})
