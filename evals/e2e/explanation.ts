/** Lists failures for analysis. */
import type { Table } from '../report.ts'
import { BUDGET, type Measurement, type QuestionOutcome, type UnrelatedOutcome } from './measure.ts'

const GOLD_CHARACTERS = 300
const BLOCK_LINES = 6
const LINE_CHARACTERS = 160

/** Questions without any of their evidence at `BUDGET`, wrong orders, and unrelated questions that got a block. */
export function explainTable(
  set: string,
  { questions, unrelated }: Measurement,
  isCounted: (outcome: QuestionOutcome) => boolean,
): Table {
  const counted = questions.filter((outcome) => outcome.budget === BUDGET && isCounted(outcome))
  const missed = counted.filter(
    ({ evidence }) => evidence.length > 0 && evidence.every(({ source }) => source === null),
  )
  const partial = counted.filter(
    ({ evidence }) =>
      evidence.some(({ source }) => source === null) &&
      evidence.some(({ source }) => source !== null),
  )
  const disordered = counted.filter(({ newestFirst }) => newestFirst === false)
  return {
    title: `${set}: misses at ${BUDGET} tokens`,
    columns: [''],
    rows: [
      ...missed.map((outcome) => [explainQuestion('no evidence', outcome)]),
      ...partial.map((outcome) => [explainQuestion('evidence not complete', outcome)]),
      ...disordered.map((outcome) => [explainQuestion('newest not first', outcome)]),
      ...unrelated
        .filter(({ context }) => context.items > 0)
        .map((outcome) => [explainUnrelated(outcome)]),
    ],
  }
}

function explainQuestion(what: string, { query, evidence, context }: QuestionOutcome): string {
  return [
    `${what} [${query.category}] ${query.question}`,
    ...evidence.map(
      ({ gold, source }) =>
        `  gold${source === null ? ', missing' : ''}: ${cut(gold.text, GOLD_CHARACTERS)}`,
    ),
    ...blockLines(context),
    '',
  ].join('\n')
}

function explainUnrelated({ kind, text, group, context }: UnrelatedOutcome): string {
  return [`block for ${kind} [${group}] ${text}`, ...blockLines(context), ''].join('\n')
}

function blockLines({ block, skipped }: QuestionOutcome['context']): readonly string[] {
  if (block === null) return [`  no block: ${skipped}`]
  return block
    .split('\n')
    .slice(1, BLOCK_LINES + 1)
    .map((line) => `  | ${cut(line, LINE_CHARACTERS)}`)
}

function cut(text: string, characters: number): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length <= characters ? line : `${line.slice(0, characters)}…`
}
