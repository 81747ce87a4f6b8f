/**
 * Measures file search over public documentation in three languages: the rank of the lines that answer a question.
 *
 * Keyword search runs over all pages. Embedding all of them takes long, so keyword search and the built-in model also run
 * over a part that has every page with an answer, and the static model over those pages only. A hit is right when it is in
 * the right file and shares a line with the answer.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EmbeddingOptions } from '../src/app/models/model-selection.ts'
import type { FileHit } from '../src/files/file-search.ts'
import { unpackPages } from './files/corpus.ts'
import { openPageIndex, type PageIndex } from './files/index.ts'
import {
  type FileQuestion,
  KINDS,
  LANGUAGES,
  type Language,
  QUESTIONS,
  UNANSWERABLE,
} from './files/questions.ts'
import { evalEmbedding } from './haystack.ts'
import {
  atLeast,
  below,
  type EvalOptions,
  type EvalReport,
  type Floor,
  type Table,
} from './report.ts'

export const FILE_LINES = [
  'all pages, words',
  'part, words',
  'part, with the model',
  'answers, static model',
] as const
export type FileLine = (typeof FILE_LINES)[number]

/** The percentage of pages in the part, besides those with answers. */
const PART_PERCENT = 5

type Scores = Readonly<Record<'hit@1' | 'hit@5' | 'MRR', number>>

/** Floors over all questions, a little below the measured values. */
const FLOORS: Readonly<Record<FileLine, Scores>> = {
  'all pages, words': { 'hit@1': 0.55, 'hit@5': 0.75, MRR: 0.63 },
  'part, words': { 'hit@1': 0.71, 'hit@5': 0.82, MRR: 0.76 },
  'part, with the model': { 'hit@1': 0.75, 'hit@5': 0.88, MRR: 0.8 },
  'answers, static model': { 'hit@1': 0.66, 'hit@5': 0.88, MRR: 0.76 },
}
/** Floors per language, so that a bad one cannot hide behind the others. */
const LANGUAGE_FLOORS: Readonly<Record<FileLine, Readonly<Record<Language, number>>>> = {
  'all pages, words': { English: 0.68, Chinese: 0.76, Japanese: 0.87 },
  'part, words': { English: 0.74, Chinese: 0.8, Japanese: 0.95 },
  'part, with the model': { English: 0.8, Chinese: 0.8, Japanese: 0.95 },
  'answers, static model': { English: 0.88, Chinese: 0.8, Japanese: 0.95 },
}
/** How many unanswerable questions may get results. */
const ANSWERED_MAX = 0.3

type RankedQuestion = {
  readonly question: FileQuestion
  readonly hits: readonly FileHit[]
  /** 1-based; null when no hit is right. */
  readonly rank: number | null
}

type Measured = {
  readonly line: FileLine
  readonly chunks: number
  readonly questions: readonly RankedQuestion[]
  /** Unanswerable questions that got results. */
  readonly answered: readonly string[]
}

export type FileEvalOptions = EvalOptions & { readonly lines?: readonly FileLine[] }

export async function evaluateFiles(options: FileEvalOptions): Promise<EvalReport> {
  const measured: Measured[] = []
  for (const line of options.lines ?? FILE_LINES) {
    measured.push(await measureLine(line, options))
  }
  return toReport(measured, options)
}

async function measureLine(line: FileLine, options: FileEvalOptions): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-docs-'))
  const onProgress = (words: string) => options.onProgress?.(`${line}: ${words}`)
  try {
    unpackPages(options.data, folder, PAGES[line])
    const index = await openPageIndex(folder, { embedding: embeddingOf(line), onProgress })
    try {
      return { line, chunks: index.chunks, ...(await askAll(index, onProgress)) }
    } finally {
      await index.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const ANSWERING: ReadonlySet<string> = new Set(
  QUESTIONS.flatMap(({ places }) => places.map(({ path }) => path)),
)

/** A deterministic shuffle. */
function isInPart(path: string): boolean {
  if (ANSWERING.has(path)) return true
  const [first = 0] = createHash('sha256').update(path).digest()
  return first < (256 * PART_PERCENT) / 100
}

const PAGES: Readonly<Record<FileLine, (path: string) => boolean>> = {
  'all pages, words': () => true,
  'part, words': isInPart,
  'part, with the model': isInPart,
  'answers, static model': (path) => ANSWERING.has(path),
}

function embeddingOf(line: FileLine): EmbeddingOptions | null {
  if (line === 'answers, static model') return { source: 'static' }
  if (line !== 'part, with the model') return null
  return evalEmbedding()
}

async function askAll(
  index: PageIndex,
  onProgress: (words: string) => void,
): Promise<Pick<Measured, 'questions' | 'answered'>> {
  const questions: RankedQuestion[] = []
  for (const question of QUESTIONS) {
    const hits = await index.ask(question.text)
    const found = hits.findIndex((hit) => isRight(hit, question))
    questions.push({ question, hits, rank: found < 0 ? null : found + 1 })
    onProgress(`searched ${questions.length} questions`)
  }
  const answered: string[] = []
  for (const text of UNANSWERABLE) if ((await index.ask(text)).length > 0) answered.push(text)
  return { questions, answered }
}

export function isRight(
  { path, startLine, endLine }: Pick<FileHit, 'path' | 'startLine' | 'endLine'>,
  { places }: Pick<FileQuestion, 'places'>,
): boolean {
  return places.some(
    (place) => place.path === path && place.lineFirst <= endLine && startLine <= place.lineLast,
  )
}

function toReport(measured: readonly Measured[], { explain }: FileEvalOptions): EvalReport {
  const metrics: Record<string, number> = {}
  const floors: Floor[] = []
  for (const { line, chunks, questions, answered } of measured) {
    const scores = scoresOf(questions)
    metrics[`${line}.chunks`] = chunks
    for (const [name, value] of Object.entries(scores)) metrics[`${line}.${name}`] = value
    for (const name of ['hit@1', 'hit@5', 'MRR'] as const) {
      floors.push(atLeast(`${line}, ${name}`, scores[name], FLOORS[line][name]))
    }
    for (const language of LANGUAGES) {
      const { 'hit@5': hits } = scoresOf(
        questions.filter((one) => one.question.language === language),
      )
      metrics[`${line}.${language}.hit@5`] = hits
      floors.push(atLeast(`${line}, ${language} hit@5`, hits, LANGUAGE_FLOORS[line][language]))
    }
    const share = answered.length / UNANSWERABLE.length
    metrics[`${line}.answered without an answer`] = share
    floors.push(below(`${line}, answered without an answer`, share, ANSWERED_MAX))
  }
  const tables = [
    tableOf('By language', measured, LANGUAGES, ({ language }) => language),
    tableOf('By kind of question', measured, KINDS, ({ kind }) => kind),
    ...(explain ? measured.map(missesOf) : []),
  ]
  return { eval: 'files', metrics, tables, floors }
}

function scoresOf(questions: readonly RankedQuestion[]): Scores {
  const share = (depth: number) =>
    questions.filter(({ rank }) => rank !== null && rank <= depth).length /
    Math.max(1, questions.length)
  const reciprocal = questions.reduce((sum, { rank }) => sum + (rank === null ? 0 : 1 / rank), 0)
  return {
    'hit@1': share(1),
    'hit@5': share(5),
    MRR: reciprocal / Math.max(1, questions.length),
  }
}

function tableOf<Group extends string>(
  title: string,
  measured: readonly Measured[],
  groups: readonly Group[],
  groupOf: (question: FileQuestion) => Group,
): Table {
  const rows = measured.flatMap(({ line, questions }) =>
    [...groups, null].map((group) => {
      const some = questions.filter(({ question }) => group === null || groupOf(question) === group)
      const scores = scoresOf(some)
      return [
        `${line}: ${group ?? 'all'}`,
        some.length,
        ...[scores['hit@1'], scores['hit@5'], scores.MRR].map((score) => score.toFixed(3)),
      ]
    }),
  )
  return { title, columns: ['', 'questions', 'hit@1', 'hit@5', 'MRR'], rows }
}

function missesOf({ line, questions, answered }: Measured): Table {
  return {
    title: `Not first: ${line}`,
    columns: ['question', 'rank', 'what came first'],
    rows: [
      ...questions
        .filter(({ rank }) => rank !== 1)
        .map(({ question, rank, hits: [first] }) => [
          question.text,
          rank ?? 'none',
          first === undefined
            ? 'nothing'
            : `${first.path}#L${first.startLine}-L${first.endLine} ${first.score}`,
        ]),
      ...answered.map((text) => [text, 'no answer', 'something']),
    ],
  }
}
