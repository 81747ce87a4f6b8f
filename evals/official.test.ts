import { expect, it } from 'vitest'
import type { EvalDocument, EvalQuery } from './datasets.ts'
import { officialPart } from './official.ts'

const turn = (id: string, speaker: string): EvalDocument => {
  return { id, group: 'g', session: `of ${id}`, ts: null, speaker, text: id, caption: null }
}
const query = (id: string, gold: readonly string[], isUnanswerable = false): EvalQuery => {
  const goldSessions = gold.map((each) => `of ${each}`)
  return {
    ...{ id, group: 'g', question: id, category: '', gold, goldSessions },
    ...{ askedAt: null, isUnanswerable },
  }
}

it('the official part of LongMemEval has user turns, and questions that they answer', () => {
  const { documents, queries } = officialPart({
    documents: [turn('u1', 'user'), turn('a1', 'assistant'), turn('u2', 'user')],
    queries: [
      query('by both', ['u1', 'a1']),
      query('by the assistant', ['a1']),
      query('by nobody', ['u2'], true),
      query('by a session alone', []),
    ],
  })
  expect(documents.map(({ id }) => id)).toEqual(['u1', 'u2'])
  expect(queries).toEqual([{ ...query('by both', ['u1']), goldSessions: [] }])
})
