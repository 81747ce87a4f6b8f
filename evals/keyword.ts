/**
 * Keyword search alone, over public question sets: does the text that holds the evidence come back?
 *
 * Each group of a set is a corpus of its own, as each owner is. Only what a person wrote is indexed: text,
 * speaker and the caption of a shared picture; never an id, never an answer.
 */
import { scoreOccurrences } from '../src/core/bm25.ts'
import { indexTerms, queryTerms } from '../src/core/terms.ts'
import { type EvalDocument, type EvalQuery, loadSet } from './datasets.ts'
import { atLeast, type EvalOptions, type EvalReport, type Table } from './report.ts'

export const KEYWORD_SETS = [
  'locomo',
  'longmemeval-s',
  'beam-100k',
  'scifact',
  'cmrc2018-zh',
  'jsquad-ja',
  'korquad-ko',
] as const
export type KeywordSet = (typeof KEYWORD_SETS)[number]

/** any@10 that must be reached. The English sets are compared by eye with the published lines instead. */
const ANY_AT_10_FLOORS: Readonly<Partial<Record<KeywordSet, number>>> = {
  'cmrc2018-zh': 0.95,
  'jsquad-ja': 0.95,
  'korquad-ko': 0.95,
}

/** Deep enough for MRR to see every first gold text that matters: below rank 100 one adds less than 0.01. */
const HITS_MAX = 100
/** Questions of LoCoMo that have no true answer; reported apart. */
const ADVERSARIAL_CATEGORY = '5'

/** Ids of the best documents for one question, best first. */
export type Search = (question: string, limit: number) => Promise<readonly string[]>

const METRICS = ['any@1', 'any@5', 'any@10', 'all@10', 'rec@10', 'MRR'] as const
type Metric = (typeof METRICS)[number]
type Outcome = {
  readonly query: EvalQuery
  readonly hits: readonly string[]
  readonly values: Readonly<Record<Metric, number>>
}

export async function evaluateKeyword(set: KeywordSet, options: EvalOptions): Promise<EvalReport> {
  const { documents, queries } = await loadSet(options.data, set)
  const groups = grouped(documents)
  const outcomes: Outcome[] = []
  for (const [group, asked] of grouped(queries.filter((query) => query.gold.length > 0))) {
    const search = openSearch(groups.get(group) ?? [])
    for (const query of asked) {
      const hits = await search(query.question, HITS_MAX)
      outcomes.push({ query, hits, values: measure(hits, query.gold) })
    }
  }
  return toReport(set, outcomes, options)
}

/** One group's index. Exact: every document that holds a term of the question is scored. */
function openSearch(documents: readonly EvalDocument[]): Search {
  const postings = new Map<string, Map<number, number>>()
  const lengths = documents.map((document, position) => {
    const terms = indexTerms(toText(document))
    for (const term of terms) {
      const posting = postings.get(term) ?? new Map<number, number>()
      postings.set(term, posting.set(position, (posting.get(position) ?? 0) + 1))
    }
    return terms.length
  })
  const corpus = {
    documents: documents.length,
    averageLength: lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length),
    documentsWith: (term: string) => postings.get(term)?.size ?? 0,
  }
  return async (question, limit) => {
    const query = queryTerms(question)
    const candidates = new Set(query.flatMap((term) => [...(postings.get(term)?.keys() ?? [])]))
    const scored = Array.from(candidates, (position) => {
      const occurrences = new Map(
        query.map((term) => [term, postings.get(term)?.get(position) ?? 0]),
      )
      const { score } = scoreOccurrences(occurrences, lengths[position] ?? 0, corpus)
      return { position, score }
    })
    scored.sort((a, b) => b.score - a.score || a.position - b.position)
    return scored.slice(0, limit).map(({ position }) => documents[position]?.id ?? '')
  }
}

function toText(document: EvalDocument): string {
  const said = document.speaker === null ? document.text : `${document.speaker}: ${document.text}`
  return document.caption === null ? said : `${said}\n${document.caption}`
}

function measure(hits: readonly string[], gold: readonly string[]): Outcome['values'] {
  const wanted = new Set(gold)
  const first = hits.findIndex((id) => wanted.has(id))
  const found = hits.slice(0, 10).filter((id) => wanted.has(id)).length
  const within = (depth: number) => (first >= 0 && first < depth ? 1 : 0)
  return {
    'any@1': within(1),
    'any@5': within(5),
    'any@10': within(10),
    'all@10': found === wanted.size ? 1 : 0,
    'rec@10': found / wanted.size,
    MRR: first < 0 ? 0 : 1 / (first + 1),
  }
}

function toReport(set: KeywordSet, outcomes: readonly Outcome[], options: EvalOptions): EvalReport {
  const isApart = ({ query }: Outcome) =>
    set === 'locomo' && query.category === ADVERSARIAL_CATEGORY
  const counted = outcomes.filter((outcome) => !isApart(outcome))
  const averages = average(counted)
  const categories = grouped(
    outcomes.map((outcome) => ({ ...outcome, group: outcome.query.category })),
  )
  const rows = [...categories].sort(([a], [b]) => a.localeCompare(b))
  const columns = ['', 'queries', ...METRICS]
  const toRow = (name: string, some: readonly Outcome[]) => {
    const values = average(some)
    return [name, some.length, ...METRICS.map((metric) => values[metric].toFixed(3))]
  }
  const floor = ANY_AT_10_FLOORS[set]
  return {
    eval: set,
    metrics: { queries: counted.length, ...averages },
    tables: [
      {
        title: `${set}, keyword search`,
        columns,
        rows: [
          toRow(
            outcomes.some(isApart) ? `all but category ${ADVERSARIAL_CATEGORY}` : 'all',
            counted,
          ),
          ...(rows.length > 1 ? rows.map(([name, some]) => toRow(`category ${name}`, some)) : []),
        ],
      },
      ...(options.explain ? [missed(counted)] : []),
    ],
    floors: floor === undefined ? [] : [atLeast(`${set} any@10`, averages['any@10'], floor)],
  }
}

function missed(outcomes: readonly Outcome[]): Table {
  return {
    title: 'No gold text among the first ten',
    columns: ['question', 'terms', 'gold', 'first hit'],
    rows: outcomes
      .filter(({ values }) => values['any@10'] === 0)
      .map(({ query, hits }) => [
        query.question,
        queryTerms(query.question).join(' '),
        query.gold.join(' '),
        hits[0] ?? '',
      ]),
  }
}

function average(outcomes: readonly Outcome[]): Record<Metric, number> {
  const mean = (metric: Metric) =>
    outcomes.reduce((sum, { values }) => sum + values[metric], 0) / Math.max(1, outcomes.length)
  return {
    'any@1': mean('any@1'),
    'any@5': mean('any@5'),
    'any@10': mean('any@10'),
    'all@10': mean('all@10'),
    'rec@10': mean('rec@10'),
    MRR: mean('MRR'),
  }
}

function grouped<T extends { readonly group: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(item.group)
    if (group === undefined) groups.set(item.group, [item])
    else group.push(item)
  }
  return groups
}
