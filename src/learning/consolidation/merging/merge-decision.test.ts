import { describe, expect, it } from 'vitest'
import { changeId, instant, memory, user } from '../../../../test/fakes/memories.ts'
import type { Memory } from '../../../domain/memory.ts'
import { buildAbsorbed, buildSurvivor, decideMerge, isEntailedBy } from './merge-decision.ts'

const NOW = instant(1_000_000)
const never = () => false
const LONG = 'Ada meets her team in the blue room on the third floor of the office in Berlin'
const LONGER =
  'Ada meets her whole team in the blue room on the third floor of the office in Berlin'

const merged = (...memories: readonly Memory[]) => decideMerge(memories, NOW, never)

describe('what says the same', () => {
  it.each([
    ['I like tea.', 'i like  tea'],
    ['I really like hiking in the Alps', 'I like hiking in the Alps'],
    [LONG, LONGER],
    ['我住在柏林', '我住在柏林。'],
  ])('[CN2] "%s" is said by "%s"', (part, whole) => {
    expect(isEntailedBy(part, whole)).toBe(true)
  })

  it.each([
    [LONG, LONG.replace('meets', 'never meets')],
    [LONG, LONG.replace('blue', 'green')],
    [LONG, LONG.replace('third', 'third or fourth')],
    [LONG, `${LONG} every Tuesday`],
    [LONG, `${LONG} at 9`],
    [LONG, `${LONG} if it rains`],
    [LONG, LONG.replace('Ada meets', 'Ada used to meets')],
    [LONGER, LONG],
    ['Ann manages Bob', 'Bob manages Ann'],
    ['We moved the office from Berlin to Paris', 'We moved the office to Berlin from Paris'],
    ['run `a && b` in the folder', 'run `a || b` in the folder'],
    ['set x = -1', 'set x = 1'],
    ['Does Ada like tea?', 'Ada does like tea'],
    ['我喜欢喝茶', '我不喜欢喝茶'],
    ['Ada mag den Kaffee in der Kantine', 'Ada mag den Kaffee in der Kantine nicht'],
  ])('[CN2] "%s" is not said by "%s"', (part, whole) => {
    expect(isEntailedBy(part, whole)).toBe(false)
  })
})

describe('the surviving memory', () => {
  it('[CN3] the one that says more, else the more salient, else the older', () => {
    const [short, long] = [memory({ content: LONG, salience: 0.9 }), memory({ content: LONGER })]
    expect(merged(short, long)?.survivor).toBe(long)
    expect(merged(long, short)?.survivor).toBe(long)
    const [weak, strong] = [memory({ content: LONG }), memory({ content: LONG, salience: 0.9 })]
    expect(merged(weak, strong)?.survivor).toBe(strong)
    const [old, young] = [
      memory({ content: LONG }),
      memory({ content: LONG, createdAt: instant(2_000) }),
    ]
    expect(merged(young, old)?.survivor).toBe(old)
  })

  it('[CN3] one that a caller named, and one that is better trusted, even if it says less', () => {
    const named = memory({ content: LONG, key: 'meeting' })
    expect(merged(memory({ content: LONG, salience: 1 }), named)?.survivor).toBe(named)
    // What the other adds would be lost.
    expect(merged(memory({ content: LONGER }), named)).toBeNull()
    const said = memory({ content: LONG })
    expect(merged(memory({ content: LONG, trust: 'tool', salience: 1 }), said)?.survivor).toBe(said)
    expect(merged(memory({ content: LONGER, trust: 'tool' }), said)).toBeNull()
  })

  it('[CN3] the survivor has what all of them have, and its own words', () => {
    const one = memory({
      content: LONGER,
      sourceCount: 2,
      useCount: 4,
      entities: ['Ada'],
      metadata: { a: 1, tags: ['x', 'y'] },
    })
    const two = memory({
      content: LONG,
      sourceCount: 3,
      useCount: 5,
      salience: 0.9,
      importance: 8,
      entities: ['Berlin'],
      metadata: { a: 2, b: 3, tags: ['y', 'z'] },
      lastUsedAt: instant(5_000),
    })
    const merge = merged(one, two)
    expect(merge).not.toBeNull()
    if (merge === null) return
    const stamp = { change: changeId('merge'), now: NOW }
    expect(buildSurvivor(merge, stamp)).toEqual({
      ...one,
      sourceCount: 5,
      useCount: 9,
      salience: 0.9,
      importance: 8,
      entities: ['Ada', 'Berlin'],
      metadata: { a: 1, b: 3, tags: ['x', 'y', 'z'] },
      lastUsedAt: 5_000,
      version: 2,
      change: 'chg_merge',
      updatedAt: NOW,
    })
    expect(buildAbsorbed(two, one.id, stamp)).toMatchObject({
      content: LONG,
      status: 'superseded',
      supersededBy: one.id,
      version: 2,
    })
  })
})

describe('never merges', () => {
  const base = { content: LONG }
  it.each([
    ['pinned', { ...base, pinned: true }],
    ['of identity', { ...base, category: 'identity' as const }],
    ['of another user', { ...base, place: { ...memory().place, user: user('eve') } }],
    ['said by another', { ...base, provenance: { ...memory().provenance, speaker: 'Eve' } }],
    ['waiting for approval', { ...base, trust: 'suspect' as const }],
    ['an episode, with a fact', { ...base, category: 'episode' as const }],
    ['over', { ...base, validUntil: instant(10) }],
    ['forgotten', { ...base, status: 'forgotten' as const }],
    ['an event of another day', { ...base, category: 'event' as const, validFrom: instant(99) }],
  ])('[CN2] what is %s', (_, fields) => {
    expect(merged(memory(base), memory(fields))).toBeNull()
  })

  it('[CN2] two memories in conflict, or that a person separated', () => {
    const one = memory(base)
    expect(merged(one, memory({ ...base, conflictsWith: one.id }))).toBeNull()
    expect(decideMerge([one, memory(base)], NOW, () => true)).toBeNull()
  })

  it('[CN2] two names that callers gave', () => {
    expect(merged(memory({ ...base, key: 'a' }), memory({ ...base, key: 'b' }))).toBeNull()
  })
})

it('[CN3] of several, those that the surviving one replaces', () => {
  const [short, middle, long] = [
    memory({ content: LONG }),
    memory({ content: LONG }),
    memory({ content: LONGER }),
  ]
  const other = memory({ content: LONG.replace('blue', 'green') })
  expect(merged(short, other, middle, long)).toEqual({ survivor: long, absorbed: [middle, short] })
})

it('[CN3] two digests of conversations with the same words are one', () => {
  const episode = { content: LONG, category: 'episode' as const }
  const one = memory({ ...episode, validFrom: instant(1) })
  const two = memory({ ...episode, validFrom: instant(9) })
  expect(merged(two, one)?.absorbed).toHaveLength(1)
})

it('[CN3] two digests become one with all that was decided, and none where that is at odds', () => {
  const digest = (metadata: Memory['metadata']) =>
    memory({ content: LONG, category: 'episode', metadata })
  const one = digest({ topics: ['offices'], decisions: ['Meet in the blue room'], actionItems: [] })
  const two = digest({ topics: ['lunch'], decisions: ['Order pizza'], actionItems: ['Call Bob'] })
  const merge = merged(one, two)
  expect(merge && buildSurvivor(merge, { change: changeId('merge'), now: NOW }).metadata).toEqual({
    topics: ['offices', 'lunch'],
    decisions: ['Meet in the blue room', 'Order pizza'],
    actionItems: ['Call Bob'],
  })
  expect(merged(one, digest({ decisions: ['Meet in the green room'] }))).toBeNull()
  expect(merged(two, digest({ actionItems: ["Don't call Bob"] }))).toBeNull()
})
