/** Memories that say otherwise than others, and what people make of them. */
import { describe, expect, it } from 'vitest'
import type { TurnId } from '../../src/domain/ids.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { ADA, type OpenStore, openLife } from '../learning/learning-support.ts'

/** Two numbers that can't both be right, and nothing that tells which one is. */
const NINE = 'The boat leaves at 9 in the morning'
const TEN = 'The boat leaves at 10 in the morning'
const ELEVEN = 'The boat leaves at 11 in the morning'

const turnId = (name: string) => `turn_${name}` as TurnId

async function openDispute(open: OpenStore) {
  const life = await openLife(open)
  const { memory: first } = await life.engine.remember(ADA, {
    content: NINE,
    key: 'boat',
    provenance: { source: 'cli', turns: [turnId('a')] },
  })
  life.clock.advance(1_000)
  const { memory: second, outcome } = await life.engine.remember(
    { ...ADA, session: 'port' },
    { content: TEN, provenance: { source: 'api', turns: [turnId('b')] } },
  )
  expect(outcome).toBe('conflict')
  return { ...life, first, second }
}

async function pairsOf(engine: Engine, scope: object = {}) {
  const { rows } = await engine.learning.review.listConflicts({ ...ADA, ...scope })
  return rows.map(({ memory, other }) => [memory.content, other.content])
}

export function describeConflicts(name: string, open: OpenStore): void {
  describe(`conflicts ${name}`, () => {
    it('[SR3] are listed with both memories while both are active, page by page', async () => {
      const { engine, second } = await openDispute(open)
      await engine.remember(ADA, { content: 'I prefer tea' })
      expect(await pairsOf(engine)).toEqual([[TEN, NINE]])
      expect(await pairsOf(engine, { session: 'port' })).toEqual([[TEN, NINE]])
      expect(await pairsOf(engine, { owner: 'bob' })).toEqual([])
      const { memory: third } = await engine.remember(ADA, { content: ELEVEN })
      expect(third.conflictsWith).not.toBeNull()
      const page = await engine.learning.review.listConflicts(ADA, { limit: 1 })
      expect(page.rows.map(({ memory }) => memory.id)).toEqual([third.id])
      const rest = await engine.learning.review.listConflicts(ADA, { after: page.next ?? '' })
      expect(rest.rows.map(({ memory }) => memory.id)).toEqual([second.id])
      await engine.forget(ADA, third.id)
      await engine.memories.disable(ADA, second.id)
      expect(await pairsOf(engine)).toEqual([])
    })

    it('[SR3] are not listed while one memory is suspect', async () => {
      const { engine, second } = await openDispute(open)
      await engine.edit(ADA, second.id, { trust: 'suspect' })
      expect(await pairsOf(engine)).toEqual([])
      await engine.learning.review.approve(ADA, second.id)
      expect(await pairsOf(engine)).toEqual([[TEN, NINE]])
    })

    it('[SR4] are resolved in one change, which passes the key on and can be undone', async () => {
      const { engine, first, second } = await openDispute(open)
      const { kept, dropped } = await engine.learning.review.resolveConflict(ADA, {
        keep: second.id,
        drop: first.id,
      })
      expect(kept).toMatchObject({ content: TEN, key: 'boat', conflictsWith: null, sourceCount: 1 })
      expect(dropped).toMatchObject({ status: 'superseded', supersededBy: second.id })
      expect(dropped.change).toBe(kept.change)
      expect(await engine.get(ADA, second.id)).toEqual(kept)
      expect(await engine.get(ADA, first.id)).toEqual(dropped)
      expect(await pairsOf(engine)).toEqual([])
      await engine.undo(ADA, kept.change)
      expect(await engine.get(ADA, first.id)).toMatchObject({ status: 'active', key: 'boat' })
      expect(await engine.get(ADA, second.id)).toMatchObject({ key: null })
      expect(await pairsOf(engine)).toEqual([[TEN, NINE]])
    })

    it('[SR4] can be resolved for the older memory; a merged wording has the sources of both', async () => {
      const { engine, first, second } = await openDispute(open)
      const words = 'The boat leaves at 9 on weekdays and at 10 on Sundays'
      const ids = { keep: first.id, drop: second.id }
      const { kept, dropped } = await engine.learning.review.resolveConflict(ADA, ids, words)
      expect(kept).toMatchObject({ content: words, key: 'boat', sourceCount: 2 })
      expect(kept.provenance.turns).toEqual([turnId('a'), turnId('b')])
      expect(dropped.supersededBy).toBe(first.id)
      const found = await engine.recall(ADA, { text: 'When does the boat leave?' })
      expect(found.memories.map(({ memory }) => memory.content)).toEqual([words])
    })

    it('[SR5] with a third memory survive the resolution', async () => {
      const { engine, first, second } = await openDispute(open)
      const { memory: third } = await engine.remember(ADA, { content: ELEVEN })
      const other = third.conflictsWith === first.id ? second : first
      const gone = third.conflictsWith ?? ''
      const { kept } = await engine.learning.review.resolveConflict(ADA, {
        keep: other.id,
        drop: gone,
      })
      expect(await engine.get(ADA, third.id)).toMatchObject({
        conflictsWith: other.id,
        change: kept.change,
      })
      expect(await pairsOf(engine)).toEqual([[ELEVEN, other.content]])
      await engine.undo(ADA, kept.change)
      expect(await engine.get(ADA, third.id)).toMatchObject({ conflictsWith: gone })
    })

    it('[SR6] end when both memories hold', async () => {
      const { engine, first, second } = await openDispute(open)
      const settled = await engine.learning.review.keepBoth(ADA, second.id)
      expect(settled).toMatchObject({ status: 'active', conflictsWith: null })
      expect(await pairsOf(engine)).toEqual([])
      await expect(engine.learning.review.keepBoth(ADA, first.id)).rejects.toMatchObject({
        code: 'conflict',
      })
      await engine.undo(ADA, settled.change)
      expect(await pairsOf(engine)).toEqual([[TEN, NINE]])
    })

    it('[SR7] are resolved only between two active memories of one user', async () => {
      const { engine, first, second } = await openDispute(open)
      const { memory: kims } = await engine.remember({ ...ADA, user: 'kim' }, { content: NINE })
      const refused = async (keep: string, drop: string) => {
        const before = await engine.get(ADA, first.id)
        const error = await engine.learning.review
          .resolveConflict(ADA, { keep, drop })
          .catch(({ code }) => code)
        expect(await engine.get(ADA, first.id)).toEqual(before)
        return error
      }
      expect(await refused(first.id, first.id)).toBe('invalid_input')
      expect(await refused(kims.id, first.id)).toBe('invalid_input')
      await engine.edit(ADA, second.id, { trust: 'suspect' })
      expect(await refused(second.id, first.id)).toBe('conflict')
      await engine.forget(ADA, second.id)
      expect(await refused(first.id, second.id)).toBe('conflict')
      await expect(
        engine.learning.review.resolveConflict(
          { owner: 'bob' },
          { keep: first.id, drop: second.id },
        ),
      ).rejects.toMatchObject({ code: 'not_found' })
    })
  })

  describe(`sessions ${name}`, () => {
    it('[SR2] report their first message and failed signals', async () => {
      const { engine, clock } = await openLife(open)
      const long = 'When does the train leave? '.repeat(20)
      const said = { owner: 'ada', skipExtraction: true }
      await engine.learning.ingest({ ...said, conversation: 'long', turns: [{ user: long }] })
      clock.advance(1_000)
      const turns = [{ user: 'Is it late? 😀', assistant: 'No.' }, { user: 'Good.' }]
      await engine.learning.ingest({ ...said, conversation: 'short', turns })
      const { rows } = await engine.conversations.sessions.list(ADA)
      expect(rows.map(({ firstMessage: opening }) => opening)).toEqual([
        'Is it late? 😀',
        long.slice(0, 200),
      ])
      expect(rows.map(({ deadLetterSignals: dead }) => dead)).toEqual([0, 0])
    })
  })
}
