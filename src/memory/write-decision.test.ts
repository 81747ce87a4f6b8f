import { describe, expect, it } from 'vitest'
import { ADA, changeId, instant, memory, memoryId } from '../../test/fakes/memories.ts'
import { buildTombstones } from '../domain/tombstone.ts'
import type { Verdict } from '../domain/verdict.ts'
import { type DraftInput, parseDraft } from './draft.ts'
import { decideWrite, findUndecidedMemory, type WriteContext } from './write-decision.ts'

const NOW = instant(1_000_000)

function decide(input: DraftInput, known: Partial<WriteContext> = {}) {
  return decideWrite({ ...contextOf(input), ...known })
}

function contextOf(input: DraftInput): WriteContext {
  return {
    draft: parseDraft(input, NOW),
    place: ADA,
    now: NOW,
    change: changeId('now'),
    id: memoryId('new'),
    keyHolder: null,
    similarMemories: [],
    tombstones: [],
    reinforcementRate: 0.1,
  }
}

const stored = (content: string, fields = {}) => memory({ content, ...fields })

describe('decideWrite', () => {
  it('[WR1] creates a new memory', () => {
    const decision = decide({ content: 'I like tea', importance: 7 })
    expect(decision).toMatchObject({
      kind: 'create',
      memory: { content: 'I like tea', importance: 7, version: 1, sourceCount: 1, createdAt: NOW },
    })
  })

  it('[WR2] a known key updates: content replaced, metadata merged, creation kept', () => {
    const holder = stored('blue', { key: 'colour', metadata: { a: 1, b: 1 }, pinned: true })
    const input = { content: 'green', key: 'colour', metadata: { b: 2, c: 3 } }
    expect(decide(input, { keyHolder: holder })).toMatchObject({
      kind: 'update',
      previous: holder,
      memory: {
        id: holder.id,
        content: 'green',
        metadata: { a: 1, b: 2, c: 3 },
        pinned: true,
        createdAt: holder.createdAt,
        updatedAt: NOW,
        version: 2,
      },
    })
  })

  it('[WR2] the same content under the same key reinforces, unless the draft has further details', () => {
    const holder = stored('blue', { key: 'colour', importance: 5, metadata: { a: 1 } })
    const known = { keyHolder: holder }
    expect(decide({ content: 'Blue.', key: 'colour' }, known).kind).toBe('duplicate')
    expect(decide({ content: 'blue', key: 'colour', metadata: { a: 1 } }, known).kind).toBe(
      'duplicate',
    )
    expect(decide({ content: 'blue', key: 'colour', importance: 9 }, known).kind).toBe('update')
    expect(decide({ content: 'blue', key: 'colour', metadata: { z: 1 } }, known).kind).toBe(
      'update',
    )
  })

  it('[WR2] a draft with an explicit key is not absorbed by a similar memory', () => {
    const memories = [stored('I like tea')]
    expect(
      decide({ content: 'I like tea', key: 'drink' }, { similarMemories: memories }).kind,
    ).toBe('create')
  })

  it('[WR3] a restatement reinforces instead of duplicating', () => {
    const known = stored('I like tea', { salience: 0.5, importance: 5 })
    expect(
      decide({ content: 'I really like tea!', importance: 8 }, { similarMemories: [known] }),
    ).toMatchObject({
      kind: 'duplicate',
      previous: known,
      memory: {
        id: known.id,
        content: 'I like tea',
        sourceCount: 2,
        salience: 0.55,
        importance: 8,
      },
    })
  })

  it('[WR3] a restatement of a disabled memory leaves it disabled', () => {
    const known = stored('I like tea', { status: 'disabled' })
    const decision = decide({ content: 'I like tea' }, { similarMemories: [known] })
    expect(decision).toMatchObject({ kind: 'duplicate', memory: { status: 'disabled' } })
  })

  it('[WR4] a later contradiction supersedes, and both memories are linked', () => {
    const known = stored('I like Python')
    const decision = decide({ content: "I don't like Python" }, { similarMemories: [known] })
    expect(decision).toMatchObject({
      kind: 'supersede',
      reason: 'negation',
      memory: { content: "I don't like Python", status: 'active', validFrom: NOW },
      superseded: {
        id: known.id,
        content: 'I like Python',
        status: 'superseded',
        supersededBy: memoryId('new'),
        validUntil: NOW,
        version: 2,
      },
    })
  })

  it('[WR4] other numbers conflict unless a change is announced', () => {
    const memories = [stored('I have 2 cats')]
    expect(decide({ content: 'I have 3 cats' }, { similarMemories: memories })).toMatchObject({
      kind: 'conflict',
      reason: 'number',
      memory: { conflictsWith: memories[0]?.id },
    })
    expect(decide({ content: 'I now have 3 cats' }, { similarMemories: memories }).kind).toBe(
      'supersede',
    )
  })

  it('[WR4] pinned, newer or more trusted memories are never superseded', () => {
    const content = 'I live in Berlin'
    const input: DraftInput = { content: 'I live in Munich' }
    const kind = (draft: DraftInput, fields: object) =>
      decide(draft, { similarMemories: [stored(content, fields)] }).kind
    expect(kind(input, {})).toBe('supersede')
    expect(kind(input, { pinned: true })).toBe('conflict')
    expect(kind({ ...input, trust: 'assistant' }, { trust: 'user' })).toBe('conflict')
    expect(kind({ ...input, observedAt: 10 }, { createdAt: instant(20) })).toBe('conflict')
    expect(kind({ ...input, trust: 'suspect' }, {})).toBe('create')
  })

  it('[WR5] a less trusted source does not overwrite a key and is kept as a conflict', () => {
    const holder = stored('blue', { key: 'colour', trust: 'user' })
    expect(
      decide({ content: 'red', key: 'colour', trust: 'tool' }, { keyHolder: holder }),
    ).toMatchObject({
      kind: 'conflict',
      reason: 'trust',
      memory: { key: null, conflictsWith: holder.id },
    })
  })

  it('[WR6] a statement made before it was forgotten is refused; a later one is accepted', () => {
    const forgotten = stored('My PIN is 1234', { key: 'pin' })
    const tombstones = buildTombstones(forgotten, [], instant(500))
    const kind = (observedAt: number) =>
      decide({ content: 'my pin is 1234', observedAt }, { tombstones }).kind
    expect(kind(499)).toBe('refused')
    expect(kind(500)).toBe('refused')
    expect(kind(501)).toBe('create')
  })

  it('[WR7] a restatement revives an expired memory', () => {
    const holder = stored('blue', { key: 'colour', expiresAt: instant(5) })
    expect(decide({ content: 'blue', key: 'colour' }, { keyHolder: holder })).toMatchObject({
      kind: 'update',
      memory: { expiresAt: null },
    })
  })

  it.each([
    ['The museum is open on Sundays', 'The museum is not open on Sundays', 'conflict'],
    ['The museum is open on Sundays', 'The museum is no longer open on Sundays', 'supersede'],
    ['My brother eats meat', 'My brother never eats meat', 'conflict'],
    ['Ana come pescado', 'Ana no come pescado', 'conflict'],
    ['Como carne', 'No como carne', 'supersede'],
    ['小红吃鱼', '小红不吃鱼', 'conflict'],
    ['我吃鱼', '我不吃鱼', 'supersede'],
    ['The review is on Monday', 'The review is now on Tuesday', 'supersede'],
    ['My manager is now Stefan', 'My manager is Paula', 'create'],
  ])('[TR3] %s, then %s: %s', (older, newer, kind) => {
    expect(decide({ content: newer }, { similarMemories: [stored(older)] }).kind).toBe(kind)
  })

  describe('with a verdict of the adjudicator', () => {
    const known = stored('I drive a Golf')
    const input = { content: 'I drive a Tesla to work' }
    const given = (verdict: Verdict, memory = known) =>
      decide(input, {
        similarMemories: [memory],
        verdicts: new Map([[memory.content, verdict]]),
      }).kind

    it('[TR6] the verdict decides where rules cannot compare', () => {
      expect(given('duplicate')).toBe('duplicate')
      expect(given('update')).toBe('supersede')
      expect(given('conflict')).toBe('conflict')
      expect(given('unrelated')).toBe('create')
      expect(given('unsure')).toBe('create')
    })

    it('[TR6] the verdict changes neither pinned memories nor decisions of rules', () => {
      expect(given('update', { ...known, pinned: true })).toBe('conflict')
      expect(given('unrelated', stored('I do drive a Tesla to work'))).toBe('duplicate')
    })

    it('[TR6] the adjudicator is asked about close memories that rules keep apart', () => {
      const asked = (
        draft: DraftInput,
        memories: WriteContext['similarMemories'],
        close = false,
      ) => {
        const context = { ...contextOf(draft), similarMemories: memories }
        const ids = new Set(close ? memories.map(({ id }) => id) : [])
        return findUndecidedMemory(context, decideWrite(context), ids)?.content ?? null
      }
      expect(asked(input, [known])).toBeNull()
      expect(asked(input, [known], true)).toBe('I drive a Golf')
      expect(asked({ content: 'I drive a red Golf' }, [known])).toBe('I drive a Golf')
      expect(asked({ content: 'I really drive a Golf' }, [known], true)).toBeNull()
      expect(asked({ ...input, trust: 'suspect' }, [known], true)).toBeNull()
      expect(asked({ ...input, key: 'car' }, [known], true)).toBeNull()
    })
  })
})
