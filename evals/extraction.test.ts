import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../test/support/temporary-folder.ts'
import { evaluateExtraction } from './extraction.ts'
import { renderTable } from './report.ts'

const OPTIONS = { explain: false }

function written(documents: readonly object[], queries: readonly object[]): string {
  const data = temporaryFolder()
  mkdirSync(join(data, 'locomo'))
  for (const [name, rows] of Object.entries({ docs: documents, queries })) {
    const lines = rows.map((row) => JSON.stringify(row)).join('\n')
    writeFileSync(join(data, 'locomo', `${name}.jsonl.gz`), gzipSync(lines))
  }
  return data
}

it('[LP5] counts facts learned from evidence turns', async () => {
  const turn = (id: string, text: string) => ({ id, group: 'a', text })
  const data = written(
    [
      turn('1', 'I live in Berlin with my sister.'),
      turn('2', 'Wow, what a lovely picture!'),
      turn('3', 'My brother Tom works as a baker.'),
      turn('4', 'Sounds good, see you there.'),
    ],
    [
      { id: 'q1', group: 'a', question: 'Who lives in Berlin?', category: 4, gold: ['1'] },
      { id: 'q2', group: 'a', question: 'Who likes the picture?', category: 1, gold: ['1', '2'] },
      { id: 'q3', group: 'a', question: 'What was never said?', category: 5, gold: ['4'] },
    ],
  )
  const { metrics } = await evaluateExtraction({ ...OPTIONS, data })
  expect(metrics).toMatchObject({
    turns: 4,
    statements: 2,
    learnedFrom: 0.5,
    evidenceLearnedFrom: 0.5,
    othersLearnedFrom: 0.5,
    precision: 0.5,
    chance: 0.5,
    questions: 2,
    anyLearned: 1,
    allLearned: 0.5,
    covered: 0.5,
  })
})

it('[LP5] reports that it was skipped without the data', async () => {
  const { tables, metrics, floors } = await evaluateExtraction({
    ...OPTIONS,
    data: temporaryFolder(),
  })
  expect(tables.map(renderTable).join()).toMatch(/^Skipped: there is no .*locomo/)
  expect([metrics, floors]).toEqual([{}, []])
})
