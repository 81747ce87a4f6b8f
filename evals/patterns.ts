/**
 * Measures pattern extraction on labeled messages: what it extracts, and whether it leaves other people's words alone.
 *
 * A prediction is right when category, polarity and the whole clause agree with a label. Half a clause, or the right clause
 * in another category, counts twice: as a false positive and as a false negative. The columns "clause" ignore the category,
 * which borderline statements share. Of the unseen messages, only totals are reported.
 */
import { join } from 'node:path'
import { extractPatterns } from '../src/learning/patterns/extractor.ts'
import { parseMemoryRequests } from '../src/learning/patterns/memory-requests.ts'
import { PATTERN_LANGUAGES, type PatternLanguage } from '../src/learning/patterns/types.ts'
import { ratio, readLabels, UNSEEN } from './labels.ts'
import { atLeast, type EvalOptions, type EvalReport, type Table } from './report.ts'

const FOLDER = join('evals', 'patterns')
const OWN_WORDS_FOLDER = join('evals', 'whose-words')
const PRECISION_MIN = 0.95
const RECALL_MIN = 0.85
/** Of the messages with other people's words, those from which nothing is learned. */
const CLEAN_MIN = 0.95

type Fact = { readonly content: string; readonly category: string; readonly polarity: string }
type Labelled = {
  readonly text: string
  readonly lang: PatternLanguage
  readonly facts: readonly Fact[]
}
type Verdict = 'right' | 'invented' | 'missed'
type Judged = {
  readonly language: PatternLanguage
  readonly text: string
  readonly fact: Fact
  readonly verdict: Verdict
}

export async function evaluatePatterns({ explain }: EvalOptions): Promise<EvalReport> {
  const perLanguage = await Promise.all(PATTERN_LANGUAGES.map(readSentences))
  const [foreign, mixed, unseenForeign, unseenMixed, unseen] = await Promise.all([
    readLabels<Labelled>(OWN_WORDS_FOLDER, 'whose-words.jsonl'),
    readLabels<Labelled>(OWN_WORDS_FOLDER, 'mixed.jsonl'),
    readLabels<Labelled>(UNSEEN, 'whose-words.jsonl'),
    readLabels<Labelled>(UNSEEN, 'mixed.jsonl'),
    readLabels<Labelled>(UNSEEN, 'messages.jsonl'),
  ])
  const sentences = perLanguage.flat()
  const judged = judgeAll(sentences)
  const all = score(judged)
  const categories = [...new Set(judged.map(({ fact }) => fact.category))].sort()
  const clean = getCleanShare(foreign)
  return {
    eval: 'patterns',
    metrics: {
      sentences: sentences.length,
      ...all,
      ...toMetrics('', scoreLanguages(sentences)),
      ...toMetrics('unseen.', scoreLanguages(unseen)),
      clean,
      'clean.unseen': getCleanShare(unseenForeign),
    },
    tables: [
      toLanguageTable('Messages that rules are tuned on', sentences),
      toLanguageTable('Unseen messages', unseen),
      toCleanTable(foreign, unseenForeign),
      toLanguageTable('Own words beside those of others, tuned on', mixed),
      toLanguageTable('Own words beside those of others, unseen', unseenMixed),
      {
        title: 'By category, messages that rules are tuned on',
        columns: ['category', 'precision', 'recall', 'f1'],
        rows: categories.map((name) => {
          const scored = score(judged.filter(({ fact }) => fact.category === name))
          return [name, scored.precision, scored.recall, scored.f1]
        }),
      },
      ...(explain ? [toMissesTable([...judged, ...judgeAll(mixed)]), toLearnedTable(foreign)] : []),
    ],
    floors: [
      atLeast('precision', all.precision, PRECISION_MIN),
      atLeast('recall', all.recall, RECALL_MIN),
      atLeast('clean', clean, CLEAN_MIN),
    ],
  }
}

async function readSentences(lang: PatternLanguage): Promise<readonly Labelled[]> {
  const lines = await readLabels<Omit<Labelled, 'lang'>>(FOLDER, `${lang}.jsonl`)
  return lines.map((line) => ({ ...line, lang }))
}

function judgeAll(labels: readonly Labelled[]): readonly Judged[] {
  return labels.flatMap(judge)
}

function judge({ lang, text, facts }: Labelled): readonly Judged[] {
  const expected = new Map(facts.map((fact) => [toComparable(fact), fact]))
  const judged: Judged[] = []
  for (const { content, category, polarity } of extractOnce(text)) {
    const fact = { content, category, polarity }
    const isRight = expected.delete(toComparable(fact))
    judged.push({ language: lang, text, fact, verdict: isRight ? 'right' : 'invented' })
  }
  for (const fact of expected.values()) {
    judged.push({ language: lang, text, fact, verdict: 'missed' })
  }
  return judged
}

const extracted = new Map<string, ReturnType<typeof extractPatterns>>()

/** Tables share their messages. */
function extractOnce(text: string): ReturnType<typeof extractPatterns> {
  const facts = extracted.get(text) ?? extractPatterns(text)
  extracted.set(text, facts)
  return facts
}

function toComparable({ content, category, polarity }: Fact): string {
  const plain = content
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .replace(/^[\p{P}\s]+|[\p{P}\s]+$/gu, '')
  return [category, polarity, plain].join('\n')
}

function isClean({ text }: Labelled): boolean {
  return extractOnce(text).length === 0 && parseMemoryRequests(text).length === 0
}

function getCleanShare(labels: readonly Labelled[]): number {
  return ratio(labels.filter(isClean).length, labels.length)
}

type Score = {
  readonly precision: number
  readonly recall: number
  readonly f1: number
  /** Whatever the category. */
  readonly clausePrecision: number
  readonly clauseRecall: number
}

function score(judged: readonly Judged[]): Score {
  const { precision, recall } = computeShares(judged)
  const clauses = computeShares(mergeCategories(judged))
  return {
    precision,
    recall,
    f1: ratio(2 * precision * recall, precision + recall),
    clausePrecision: clauses.precision,
    clauseRecall: clauses.recall,
  }
}

function computeShares(judged: readonly Judged[]) {
  const count = (verdict: Verdict) => judged.filter((each) => each.verdict === verdict).length
  const right = count('right')
  return {
    precision: ratio(right, right + count('invented')),
    recall: ratio(right, right + count('missed')),
  }
}

/** An invented and a missed statement with the same clause are one right statement. */
function mergeCategories(judged: readonly Judged[]): readonly Judged[] {
  const keyOf = ({ text, fact }: Judged) =>
    JSON.stringify([text, toComparable({ ...fact, category: '' })])
  const missed = new Set(judged.filter(({ verdict }) => verdict === 'missed').map(keyOf))
  const invented = new Set(judged.filter(({ verdict }) => verdict === 'invented').map(keyOf))
  return judged.flatMap((each): readonly Judged[] => {
    if (each.verdict === 'missed' && invented.has(keyOf(each))) return []
    const isMerged = each.verdict === 'invented' && missed.has(keyOf(each))
    return [isMerged ? { ...each, verdict: 'right' } : each]
  })
}

function scoreLanguages(labels: readonly Labelled[]) {
  return PATTERN_LANGUAGES.map((name) => ({
    name,
    messages: labels.filter(({ lang }) => lang === name).length,
    ...score(judgeAll(labels.filter(({ lang }) => lang === name))),
  }))
}

function toMetrics(
  prefix: string,
  rows: readonly (Score & { readonly name: string })[],
): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ name, precision, recall, f1 }) => [
      [`${prefix}precision.${name}`, precision],
      [`${prefix}recall.${name}`, recall],
      [`${prefix}f1.${name}`, f1],
    ]),
  )
}

function toLanguageTable(title: string, labels: readonly Labelled[]): Table {
  const all = { name: 'all', messages: labels.length, ...score(judgeAll(labels)) }
  const rows = [...scoreLanguages(labels), all]
  return {
    title,
    columns: ['language', 'messages', 'precision', 'recall', 'f1', 'clause prec.', 'clause recall'],
    rows: rows.map((row) => [
      ...[row.name, row.messages, row.precision, row.recall, row.f1],
      ...[row.clausePrecision, row.clauseRecall],
    ]),
  }
}

function toCleanTable(developed: readonly Labelled[], unseen: readonly Labelled[]): Table {
  const languages = [...PATTERN_LANGUAGES, null]
  const cellsOf = (labels: readonly Labelled[], language: PatternLanguage | null) => {
    const some = labels.filter(({ lang }) => language === null || lang === language)
    return [some.length, getCleanShare(some)]
  }
  return {
    title: 'Words of others: messages from which nothing is learned',
    columns: ['language', 'tuned on', 'kept clean', 'unseen', 'kept clean'],
    rows: languages.map((language) => [
      language ?? 'all',
      ...cellsOf(developed, language),
      ...cellsOf(unseen, language),
    ]),
  }
}

const SHOWN_CHARACTERS_MAX = 200

function showText(text: string): string {
  return text.replace(/\n/gu, '⏎').slice(0, SHOWN_CHARACTERS_MAX)
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
        showText(text),
      ]),
  }
}

function toLearnedTable(labels: readonly Labelled[]): Table {
  return {
    title: 'Learned from the words of others',
    columns: ['language', 'learned', 'text'],
    rows: labels.flatMap(({ lang, text }) =>
      [...extractPatterns(text), ...parseMemoryRequests(text)].map(({ content }) => [
        lang,
        content,
        showText(text),
      ]),
    ),
  }
}
