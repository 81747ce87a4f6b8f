import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { hasSet, loadSet, parseTime } from './datasets.ts'
import type { Scores } from './metrics.ts'
import { evaluateRecall } from './recall.ts'

const folder = mkdtempSync(join(tmpdir(), 'eval-sets-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Row = Readonly<Record<string, unknown>>

function writeSet(set: string, documents: readonly Row[], queries: readonly Row[]): void {
  mkdirSync(join(folder, set))
  for (const [name, rows] of Object.entries({ docs: documents, queries })) {
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    writeFileSync(join(folder, set, `${name}.jsonl.gz`), gzipSync(text))
  }
}

/** Lexical scores: a test of the reader needs no model. */
async function scoresOf(
  set: string,
): Promise<{ readonly turn: Scores; readonly session?: Scores }> {
  const lines = ['default', 'keyword'] as const
  const report = await evaluateRecall(set, { data: folder, explain: true, lines, embedding: null })
  const scores = report.json as { lines: Record<string, { turn: Scores }> }
  return scores.lines.default as { turn: Scores; session?: Scores }
}

describe('a data set', () => {
  it('accepts all names and texts, and loses none', async () => {
    const long = 'word '.repeat(12_000)
    const odd = `@ ${'a long title '.repeat(30)}\t`
    writeSet(
      'odd',
      [
        { id: 'long', group: odd, session: odd, speaker: odd, text: `${long}xylophone` },
        { id: 'blank', group: odd, session: odd, text: ' ' },
        { id: 'empty', group: odd, text: '' },
        { id: 'picture', group: odd, text: null, caption: 'a zebra in the rain' },
        { id: 7, group: odd, session: 3, ts: 'some day', text: 'numbers for names, quinces' },
        { id: 'nul', group: odd, text: 'a \u0000 walrus \ud800' },
      ],
      [
        { id: 1, group: odd, question: 'where is the xylophone?', gold: ['long'] },
        { id: 2, group: odd, question: 'which zebra?', gold: ['picture'] },
        { id: 3, group: odd, question: 'quinces', gold: [7], question_date: 'whenever' },
        { id: 4, group: odd, question: 'the walrus', gold: 'nul', category: null },
        { id: 5, group: odd, question: 'nothing known', answer: 5 },
        { group: 'of no documents', question: '' },
      ],
    )
    expect((await scoresOf('odd')).turn).toMatchObject({ 'any@1': 1, 'all@5': 1, MRR: 1 })
  })

  it('may number documents per group, or have no groups', async () => {
    writeSet(
      'counted',
      [
        { id: '1', group: 'a', session: 'first', text: 'the cat sat on the mat' },
        { id: '1', group: 'b', session: 'second', text: 'the dog ate the bone' },
        { id: '1', text: 'a horse of no group', session: 'third' },
      ],
      [
        { id: '1', group: 'a', question: 'cat', gold: ['1'] },
        { id: '2', group: 'b', question: 'dog', gold: ['1'], gold_sessions: ['second'] },
        { id: '3', question: 'horse', gold: ['1'] },
      ],
    )
    const { turn, session } = await scoresOf('counted')
    expect([turn['any@1'], session?.['any@1']]).toEqual([1, 1])
    const { documents } = await loadSet(folder, 'counted')
    expect(new Set(documents.map(({ id }) => id)).size).toBe(3)
  })

  it('may contain a document twice, which is found once', async () => {
    writeSet(
      'twice',
      [1, 2, 3].flatMap(() => [{ id: 'same', group: 'g', text: 'a kettle of fish' }]),
      [{ id: 'q', group: 'g', question: 'kettle of fish', gold: ['same', 'same'] }],
    )
    expect((await scoresOf('twice')).turn).toMatchObject({ 'rec@10': 1, 'all@5': 1, 'nDCG@10': 1 })
  })

  it('counts empty questions and missing evidence as misses', async () => {
    writeSet(
      'missed',
      [{ id: 'tea', group: 'g', text: 'a cup of tea' }],
      [
        { id: 1, group: 'g', question: '', gold: ['tea'] },
        { id: 2, group: 'empty', question: 'tea', gold: ['tea'] },
        { id: 3, group: 'g', question: 'tea', gold: ['coffee'] },
        { id: 4, group: 'g', question: 'tea', gold: ['tea'] },
      ],
    )
    expect((await scoresOf('missed')).turn['any@10']).toBe(0.25)
  })

  it('accepts any name', () => {
    writeSet('our notes', [], [])
    expect(hasSet(folder, 'our notes')).toBe(true)
    expect(hasSet(folder, 'nowhere')).toBe(false)
    expect(hasSet(folder, '')).toBe(false)
  })
})

it.each([
  ['1:56 pm on 8 May, 2023', '2023-05-08T13:56:00Z'],
  ['12:05 am on 8 May, 2023', '2023-05-08T00:05:00Z'],
  ['2023/05/20 (Sat) 09:49', '2023-05-20T09:49:00Z'],
  ['March-15-2024', '2024-03-15T00:00:00Z'],
  ['2024-03-15', '2024-03-15T00:00:00Z'],
  ['2024-03-15 17:30', '2024-03-15T17:30:00Z'],
  ['2024-03-15T17:30:12', '2024-03-15T17:30:12Z'],
  ['2024-03-15T17:30:12.500Z', '2024-03-15T17:30:12.500Z'],
  ['2024-03-15T17:30:12+02:00', '2024-03-15T15:30:12Z'],
])('the time "%s" is %s', (text, iso) => {
  expect(parseTime(text)).toBe(Date.parse(iso))
})

it.each(['', 'yesterday', '2024-13-45T99:00'])('"%s" is no time', (text) => {
  expect(parseTime(text)).toBeNull()
})
