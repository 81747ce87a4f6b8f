import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instant, memoryId } from '../../../test/fakes/memories.ts'
import { loaded } from '../../../test/fakes/ranking-candidates.ts'
import type { Memory } from '../../domain/memory.ts'
import { getEventTime } from '../../domain/memory.ts'
import { parseQuestion } from '../question/question-analysis.ts'
import { EVIDENCE_WEIGHTS } from './fusion.ts'
import { boostQuestionMatches } from './question-match.ts'

const NOW = instant(Date.parse('2024-05-15T10:30:00Z'))

const said = (speaker: string | null): Partial<Memory> => ({
  provenance: { source: 'test', speaker, turns: [], extractor: null, extractorVersion: null },
})

/** Whether a question asks for what someone said. */
function isRaised(question: string, speaker: string | null): boolean {
  const [best] = boostQuestionMatches([loaded(1, 1, said(speaker))], parseQuestion(question, NOW))
  return best?.evidence.speaker === 1
}

describe('speakers in a question', () => {
  it.each([
    ['What did Ann say?', 'Ann'],
    ["What is ANN's job?", 'ann'],
    ['Ann, what now?', 'Ann'],
    ['(Ann)', 'Ann'],
    ['Did Mary Jane come?', 'Mary Jane'],
    ['Does C++ (the bot) know?', 'C++ (the bot)'],
    ['What did a.*b say?', 'a.*b'],
    ['What does [x]$^ like?', '[x]$^'],
    ['小明喜欢什么？', '小明'],
    ['たけしは何が好き？', 'たけし'],
    ['민수는 어디에 살아?', '민수'],
    ['Что сказала Анна?', 'Анна'],
    ['Τι είπε η Ελένη;', 'Ελένη'],
    ['What did 𐐀𐐁 say?', '𐐀𐐁'],
    ['what did 🦊 say', '🦊'],
    ['Where do I live?', 'user'],
    ["What's my name?", 'USER'],
    ['Which of us won?', 'user'],
    ['I’m where?', 'user'],
    ['What did you tell me?', 'assistant'],
    ["What's YOUR advice?", 'Assistant'],
  ])('[RA8] "%s" asks for %s', (question, speaker) => {
    expect(isRaised(question, speaker)).toBe(true)
  })

  it.each([
    ['What is also good?', 'Al'],
    ['Annabel was here', 'Ann'],
    ['Joann was here', 'Ann'],
    ['Что сказала Аннабель?', 'Анна'],
    ['𐐀ann', 'ann'],
    ['anńa', 'an'],
    ['abb', 'a.*b'],
    ['What does Tom like?', 'Ann'],
    ['What does Tom like?', null],
    ['What does Tom like?', 'user'],
    ['What did they buy in the US?', 'user'],
    ['C’est le même.', 'user'],
    ['What does the user say?', 'assistant'],
    ['Youth and beauty', 'assistant'],
    ['anything', ''],
    ['any thing', ' '],
    ['', 'Ann'],
  ])('[RA8] "%s" does not ask for %s', (question, speaker) => {
    expect(isRaised(question, speaker)).toBe(false)
  })

  it('[RA8] finds any name that a question contains as a word', () => {
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(name, fc.string(), (speaker, rest) => {
        const lower = speaker.toLowerCase()
        fc.pre(speaker.trim() !== '' && !['user', 'assistant'].includes(lower))
        expect(isRaised(`${rest} ${speaker} `, speaker)).toBe(
          `${rest} ${speaker} `.toLowerCase().includes(` ${lower} `),
        )
      }),
    )
  })
})

describe('question match', () => {
  const asked = parseQuestion('What did Ann do last week?', NOW)

  it('[RA8] speaker and time raise a score by a share of the best, with a note', () => {
    const lastWeek = instant(Date.parse('2024-05-08'))
    const matched = boostQuestionMatches(
      [
        loaded(1, 0.4, said('Bob')),
        loaded(2, 0.3, { ...said('Ann'), createdAt: lastWeek }),
        loaded(3, 0.2, said('Ann')),
      ],
      asked,
    )
    expect(matched[0]).toMatchObject({
      id: memoryId(2),
      evidence: { speaker: 1, time: 1 },
      trail: [{ stage: 'question-match', note: 'said by Ann, from last week' }],
    })
    expect(matched[0]?.score).toBeCloseTo(
      0.3 + 0.4 * (EVIDENCE_WEIGHTS.speaker + EVIDENCE_WEIGHTS.time),
      12,
    )
    const other = matched.find(({ id }) => id === memoryId(1))
    expect(other?.trail).toMatchObject([{ note: 'not from last week' }])
    expect(other?.score).toBeLessThan(0.4)
  })

  it('[RA8] drops no candidate and lowers no score without a time', () => {
    const scores = fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { maxLength: 8 })
    fc.assert(
      fc.property(scores, (some) => {
        const candidates = some.map((score, id) => loaded(id, score, said(id % 2 ? 'Ann' : 'Bob')))
        const matched = boostQuestionMatches(candidates, { ...asked, span: null })
        expect(matched).toHaveLength(candidates.length)
        for (const { id, score } of matched) {
          const before = candidates.find((candidate) => candidate.id === id)
          expect(score).toBeGreaterThanOrEqual(before?.score ?? Number.POSITIVE_INFINITY)
        }
      }),
    )
  })

  it('[RA8] the event time is when a memory became true', () => {
    const { memory } = loaded(1, 1, { createdAt: instant(5), validFrom: instant(3) })
    expect(getEventTime(memory)).toBe(3)
    expect(getEventTime({ ...memory, validFrom: null })).toBe(5)
  })
})
