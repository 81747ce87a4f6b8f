/** What people say again and again must not keep out what answers them. */
import { describe, expect, it } from 'vitest'
import { toDocumentId } from '../../src/domain/search-document.ts'
import type { Turn } from '../../src/domain/turn.ts'
import { ADA, type OpenStore, openConversations } from '../conversations/conversations-support.ts'
import { turn as turnRow } from '../fakes/entries.ts'

const QUESTION = 'What is the code of the garage door in Lindenstrasse?'
const REPETITIONS = 400
const DAY_MS = 86_400_000

export function describeRepeatedTurns(name: string, open: OpenStore): void {
  const opened = async (contentOf: (index: number) => string) => {
    const { engine, store } = await openConversations(open)
    const start = Date.UTC(2023, 0, 1)
    const rows = Array.from({ length: REPETITIONS }, (_, index): Turn => {
      const { place } = turnRow()
      return turnRow({
        place: { ...place, session: `day-${index}` as never }, // a name
        content: contentOf(index),
        position: 0,
        saidAt: (start + index * DAY_MS) as never, // whole milliseconds
      })
    })
    for (let at = 0; at < rows.length; at += 100) {
      await store.commit(
        rows
          .slice(at, at + 100)
          .map((row) => ({ op: 'put', table: 'turn', row, expect: 'absent' }) as const),
      )
    }
    const found = async (text = QUESTION) =>
      (await engine.recall(ADA, { text, limit: 100 })).memories.map(({ memory }) => memory)
    return { engine, store, rows, found, scope: rows[0]?.place ?? ADA }
  }

  describe(`${name}: repeated turns`, () => {
    it('[CR21] a question asked hundreds of times does not hide the fact that answers it', async () => {
      const { engine, found } = await opened(() => QUESTION)
      const { memory } = await engine.remember(ADA, { content: 'The garage opens with 4711' })
      expect((await found()).map(({ id }) => id)).toContain(memory.id)
    })

    it('[CR21] nor the turn that answers it', async () => {
      const { store, rows, found } = await opened(() => QUESTION)
      const [first] = rows
      const answer = turnRow({
        place: { ...turnRow().place, session: 'answer' as never }, // a name
        content: 'By the way, the garage opens with 4711.',
        saidAt: first?.saidAt ?? (0 as never), // whole milliseconds
      })
      await store.commit([{ op: 'put', table: 'turn', row: answer, expect: 'absent' }])
      const documents = await found()
      expect(documents.map(({ id }) => id)).toContain(toDocumentId(answer.id))
      // Of the repetitions, the newest.
      const newest = rows.slice(-3).map(({ id }) => toDocumentId(id))
      const repeated = documents.filter(({ content }) => content === QUESTION)
      expect(new Set(repeated.map(({ id }) => id))).toEqual(new Set(newest))
    })

    it('[CR21] nor do hundreds of nearly equal turns', async () => {
      const { engine, found } = await opened(
        (index) => `Continue, please: the code of the garage door, take ${index}.`,
      )
      const { memory } = await engine.remember(ADA, { content: 'Lindenstrasse opens with 4711' })
      expect((await found()).map(({ id }) => id)).toContain(memory.id)
    })

    it('[CR21] nor do hundreds of facts hide the turn that answers', async () => {
      const { engine, store, found } = await opened(() => 'Good morning')
      for (let index = 0; index < 130; index++) {
        await engine.remember(ADA, { content: `The code of garage door number ${index} is secret` })
      }
      const answer = turnRow({
        place: { ...turnRow().place, session: 'answer' as never }, // a name
        content: 'By the way, the garage opens with 4711.',
      })
      await store.commit([{ op: 'put', table: 'turn', row: answer, expect: 'absent' }])
      expect((await found()).map(({ id }) => id)).toContain(toDocumentId(answer.id))
    })
  })
}
