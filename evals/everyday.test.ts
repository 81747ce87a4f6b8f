import { describe, expect, it } from 'vitest'
import {
  type EverydayQuestion,
  evaluateEveryday,
  judge,
  readConversations,
  readQuestions,
} from './everyday.ts'

/** Only ends what hangs: conversations of two years are replayed, on a machine that may be busy. */
const HANGING_MS = 900_000

const createQuestion = (fields: Partial<EverydayQuestion>): EverydayQuestion => ({
  person: 'ines',
  category: 'updated fact',
  question: 'How much?',
  split: 'dev',
  ...fields,
})

describe('everyday conversations', () => {
  it('contain the answers to all questions, half of which are held out', async () => {
    const conversations = await readConversations()
    const questions = await readQuestions()
    const textOf = (person: string) =>
      conversations
        .filter((each) => each.person === person)
        .flatMap(({ at, exchanges }) => [
          at,
          ...exchanges.flatMap(({ user, assistant }) => [user, assistant]),
        ])
        .join('\n')
    for (const { person, question, required = [], outdated } of questions) {
      for (const pattern of [...required, ...(outdated === undefined ? [] : [outdated])]) {
        expect(textOf(person), question).toMatch(new RegExp(pattern, 'iu'))
      }
    }
    expect(questions).toHaveLength(72)
    expect(questions.filter(({ split }) => split === 'heldout')).toHaveLength(36)
    expect(new Set(questions.map(({ question }) => question)).size).toBe(72)
  })

  it('are judged by the content and the order of the block', () => {
    const question = createQuestion({ required: ['589'], outdated: '612' })
    const block = (text: string | null) => ({ block: text, items: text === null ? 0 : 1 })
    expect(judge(question, block('- now 589\n- was 612'))).toMatchObject({
      verdict: 'correct',
      isStale: false,
    })
    expect(judge(question, block('- was 612\n- now 589'))).toMatchObject({
      verdict: 'half',
      isStale: true,
    })
    expect(judge(question, block('- was 612'))).toMatchObject({ verdict: 'wrong', isStale: true })
    expect(judge(question, block(null))).toMatchObject({ verdict: 'wrong', isStale: null })
    const two = createQuestion({ category: 'multi-hop', required: ['640', '35mm'] })
    expect(judge(two, block('- paid 640')).verdict).toBe('half')
    const nothing = createQuestion({ category: 'abstention', misleading: '9:40' })
    expect(judge(nothing, block(null)).verdict).toBe('correct')
    expect(judge(nothing, block('- at the market')).verdict).toBe('half')
    expect(judge(nothing, block('- at 9:40')).verdict).toBe('wrong')
  })

  it(
    '[CR34] are remembered through the gateway',
    async () => {
      const { floors } = await evaluateEveryday({ data: '', explain: false })
      expect(floors.filter(({ holds }) => !holds)).toEqual([])
    },
    HANGING_MS,
  )
})
