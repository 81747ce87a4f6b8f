/**
 * Keyword search alone, over public question sets: does the text that holds the evidence come back?
 *
 * Through the real SQLite store; each group of a set is an owner. Only what a person wrote is indexed: text,
 * speaker and the caption of a shared picture; never an id, never an answer.
 */
import { openSqliteStore } from '../src/adapters/sqlite/store.ts'
import { parseScope } from '../src/core/draft.ts'
import type { Place } from '../src/core/ids.ts'
import { COMMIT_CHANGES_MAX } from '../src/core/limits.ts'
import { queryTerms } from '../src/core/terms.ts'
import { memory } from '../test/fakes/memories.ts'
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
type Search = (group: string, question: string, limit: number) => Promise<readonly string[]>

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
  const search = await openSearch(groups)
  const answerable = queries.filter((query) => query.gold.length > 0)
  for (const query of answerable.filter((_, index) => index % (options.every ?? 1) === 0)) {
    const hits = await search(query.group, query.question, HITS_MAX)
    outcomes.push({ query, hits, values: measure(hits, query.gold) })
  }
  return toReport(set, outcomes, options)
}

/** A store with one owner per group, as each owner would have it. */
async function openSearch(groups: ReadonlyMap<string, readonly EvalDocument[]>): Promise<Search> {
  const store = await openSqliteStore({ path: ':memory:', now: Date.now })
  const documentOf = new Map<string, string>()
  for (const [group, documents] of groups) {
    const rows = documents.map((document) =>
      memory({ content: toText(document), place: at(group) }),
    )
    for (const [index, row] of rows.entries()) documentOf.set(row.id, documents[index]?.id ?? '')
    for (let start = 0; start < rows.length; start += COMMIT_CHANGES_MAX) {
      const batch = rows.slice(start, start + COMMIT_CHANGES_MAX)
      await store.commit(
        batch.map((row) => ({ op: 'put', table: 'memory', row, expect: 'absent' })),
      )
    }
  }
  return async (group, text, limit) => {
    const hits = await store.matchText(at(group), { text, limit, where: {} })
    return hits.map((hit) => documentOf.get(hit.id) ?? '')
  }
}

function at(group: string): Place {
  return { owner: parseScope({ owner: group }).owner, user: null, session: null }
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
