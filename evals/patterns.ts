/**
 * Measures pattern extraction on hand-labeled sentences, per language and category.
 *
 * A prediction is right when category, polarity and the whole clause agree with a label. Half a clause, or the right clause
 * in another category, counts twice: as a false positive and as a false negative.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { extractPatterns } from '../src/learning/patterns/extractor.ts'
import { PATTERN_LANGUAGES, type PatternLanguage } from '../src/learning/patterns/types.ts'
import { atLeast, type EvalOptions, type EvalReport, type Table } from './report.ts'

const LABELS = join('evals', 'patterns')
const PRECISION_MIN = 0.95
const RECALL_MIN = 0.85

type Fact = { readonly content: string; readonly category: string; readonly polarity: string }
type Labelled = { readonly text: string; readonly facts: readonly Fact[] }
type Verdict = 'right' | 'invented' | 'missed'
type Judged = {
  readonly language: PatternLanguage
  readonly text: string
  readonly fact: Fact
  readonly verdict: Verdict
}

export async function evaluatePatterns(options: EvalOptions): Promise<EvalReport> {
  const judged: Judged[] = []
  const sentences = new Map<PatternLanguage, number>()
  for (const language of PATTERN_LANGUAGES) {
    const labels = await readLabels(language)
    sentences.set(language, labels.length)
    judged.push(...labels.flatMap((labelled) => judge(language, labelled)))
  }
  const all = score(judged)
  const perLanguage = PATTERN_LANGUAGES.map((language) => ({
    name: language,
    sentences: sentences.get(language) ?? 0,
    ...score(judged.filter((each) => each.language === language)),
  }))
  const perCategory = [...new Set(judged.map(({ fact }) => fact.category))].sort().map((name) => ({
    name,
    ...score(judged.filter(({ fact }) => fact.category === name)),
  }))
  const sentencesTotal = perLanguage.reduce((sum, row) => sum + row.sentences, 0)
  return {
    eval: 'patterns',
    metrics: {
      sentences: sentencesTotal,
      ...all,
      ...toMetrics(perLanguage),
      ...toMetrics(perCategory),
    },
    tables: [
      {
        title: 'Pattern extraction by language',
        columns: ['language', 'sentences', 'precision', 'recall', 'f1'],
        rows: [...perLanguage, { name: 'all', sentences: sentencesTotal, ...all }].map((row) => [
          row.name,
          row.sentences,
          row.precision,
          row.recall,
          row.f1,
        ]),
      },
      {
        title: 'Pattern extraction by category',
        columns: ['category', 'precision', 'recall', 'f1'],
        rows: perCategory.map((row) => [row.name, row.precision, row.recall, row.f1]),
      },
      ...(options.explain ? [toMissesTable(judged)] : []),
    ],
    floors: [
      atLeast('precision', all.precision, PRECISION_MIN),
      atLeast('recall', all.recall, RECALL_MIN),
    ],
  }
}

async function readLabels(language: PatternLanguage): Promise<readonly Labelled[]> {
  const lines = await readFile(join(LABELS, `${language}.jsonl`), 'utf8')
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Labelled) // our own file, and the test reads every line of it
}

function judge(language: PatternLanguage, { text, facts }: Labelled): readonly Judged[] {
  const expected = new Map(facts.map((fact) => [toComparable(fact), fact]))
  const judged: Judged[] = []
  for (const { content, category, polarity } of extractPatterns(text)) {
    const fact = { content, category, polarity }
    const isRight = expected.delete(toComparable(fact))
    judged.push({ language, text, fact, verdict: isRight ? 'right' : 'invented' })
  }
  for (const fact of expected.values()) judged.push({ language, text, fact, verdict: 'missed' })
  return judged
}

function toComparable({ content, category, polarity }: Fact): string {
  const plain = content
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .replace(/^[\p{P}\s]+|[\p{P}\s]+$/gu, '')
  return [category, polarity, plain].join('\n')
}

type Score = { readonly precision: number; readonly recall: number; readonly f1: number }

function score(judged: readonly Judged[]): Score {
  const count = (verdict: Verdict) => judged.filter((each) => each.verdict === verdict).length
  const right = count('right')
  const precision = ratio(right, right + count('invented'))
  const recall = ratio(right, right + count('missed'))
  return { precision, recall, f1: ratio(2 * precision * recall, precision + recall) }
}

/** 1 for an empty set. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole
}

function toMetrics(rows: readonly (Score & { readonly name: string })[]): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ name, precision, recall, f1 }) => [
      [`precision.${name}`, precision],
      [`recall.${name}`, recall],
      [`f1.${name}`, f1],
    ]),
  )
}

function toMissesTable(judged: readonly Judged[]): Table {
  return {
    title: 'Misses',
    columns: ['verdict', 'language', 'category', 'polarity', 'content', 'text'],
    rows: judged
      .filter(({ verdict }) => verdict !== 'right')
      .map(({ verdict, language, fact, text }) => [
        verdict,
        language,
        fact.category,
        fact.polarity,
        fact.content,
        text.replace(/\n/gu, '⏎'),
      ]),
  }
}
