import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { missingPages } from './files/corpus.ts'
import { KINDS, LANGUAGES, QUESTIONS } from './files/questions.ts'
import { evaluateFiles, isRight } from './files.ts'

const DATA = join('..', 'shared', 'evals')
const reason = missingPages(DATA)
const title = 'questions about public documentation'

describe('[FX31] the questions', () => {
  it('[FX31] cover every language and kind, without duplicates', () => {
    expect(QUESTIONS.length).toBeGreaterThanOrEqual(60)
    expect(new Set(QUESTIONS.map(({ text }) => text)).size).toBe(QUESTIONS.length)
    for (const language of LANGUAGES) {
      const kinds = QUESTIONS.filter((question) => question.language === language)
      expect(kinds.length, language).toBeGreaterThanOrEqual(20)
      expect(new Set(kinds.map(({ kind }) => kind))).toEqual(new Set(KINDS))
    }
  })

  it('[FX31] are answered by a hit in the right file that shares a line with the answer', () => {
    const question = { places: [{ path: 'a.md', lineFirst: 5, lineLast: 9 }] }
    const hit = (path: string, startLine: number, endLine: number) =>
      isRight({ path, startLine, endLine }, question)
    expect([hit('a.md', 9, 20), hit('a.md', 1, 5), hit('a.md', 6, 7)]).toEqual([true, true, true])
    expect([hit('a.md', 10, 20), hit('a.md', 1, 4), hit('b.md', 5, 9)]).toEqual([
      false,
      false,
      false,
    ])
  })
})

describe.skipIf(reason !== null)(reason === null ? title : `${title}: ${reason}`, () => {
  it.each(['part, words', 'answers, static model'] as const)(
    '[FX31] are answered with their lines in every language: %s',
    async (line) => {
      const lines = [line]
      const { floors, tables } = await evaluateFiles({ data: DATA, explain: true, lines })
      expect(floors.map(({ name }) => name)).toEqual(
        expect.arrayContaining(LANGUAGES.map((language) => `${line}, ${language} hit@5`)),
      )
      expect(
        floors.filter(({ holds }) => !holds),
        JSON.stringify(tables),
      ).toEqual([])
    },
    120_000,
  )
})
