/**
 * Measures recall on public question sets: the rank of the text with the evidence.
 *
 * Everything runs through the real engine with default settings. For comparison, in the same run and on the same store:
 * keyword search, vector search, plain reciprocal rank fusion of the two, and the engine's own weighted fusion.
 */
import { createHash } from 'node:crypto'
import type { EmbeddingOptions } from '../src/app/models/model-selection.ts'
import type { MemoryId } from '../src/domain/ids.ts'
import type { RecallQuery } from '../src/recall/recall-query.ts'
import { type Abstention, abstentionRows, measureAbstention } from './abstention.ts'
import { type EvalQuery, type EvalSet, hasGold, loadSet, parseTime } from './datasets.ts'
import { evalEmbedding, type Haystack, openHaystack } from './haystack.ts'
import { average, METRICS, measure, percentile, type Scores } from './metrics.ts'
import { loadMultilingualSet } from './multilingual.ts'
import { officialPart } from './official.ts'
import { loadOwnSet } from './own.ts'
import {
  atLeast,
  type EvalOptions,
  type EvalReport,
  type Floor,
  type Table,
  timeLeft,
} from './report.ts'

const BUILT_IN_SETS: Readonly<Record<string, () => EvalSet>> = {
  own: loadOwnSet,
  multilingual: loadMultilingualSet,
}

export const RECALL_SETS = [
  'locomo',
  'longmemeval-s',
  'beam-100k',
  'scifact',
  'cmrc2018-zh',
  'jsquad-ja',
  'korquad-ko',
  'own',
  'multilingual',
] as const

export type RecallSet = (typeof RECALL_SETS)[number]

export const LINES = ['default', 'keyword', 'vector', 'rrf', 'weighted'] as const

export type Line = (typeof LINES)[number]

/** Deep enough for every metric: below rank 100 a first gold text adds less than 0.01 to MRR. */
const HITS_MAX = 100
const RRF_K = 60

/** The unanswerable questions of LoCoMo, reported separately. */
const ADVERSARIAL = '5'

/** The floors of the default configuration: level, metric, value. */
type SetFloor = readonly [level: 'turn' | 'session', metric: keyof Scores, value: number]
const FLOORS: Readonly<Record<RecallSet, readonly SetFloor[]>> = {
  'longmemeval-s': [
    ['session', 'any@5', 0.985],
    ['session', 'all@5', 0.9],
    ['turn', 'any@5', 0.88],
  ],
  locomo: [
    ['turn', 'rec@10', 0.74],
    ['session', 'all@10', 0.91],
  ],
  'beam-100k': [['turn', 'rec@10', 0.5]],
  scifact: [['turn', 'nDCG@10', 0.71]],
  'cmrc2018-zh': [['turn', 'any@10', 0.95]],
  'jsquad-ja': [['turn', 'any@10', 0.95]],
  'korquad-ko': [['turn', 'any@10', 0.95]],
  multilingual: [['turn', 'any@5', 0.8]],
  own: [['turn', 'any@5', 0.9]],
}

function floorsOf(set: string): readonly SetFloor[] {
  const known = RECALL_SETS.find((name) => name === set)
  return known === undefined ? [] : FLOORS[known]
}

type Outcome = {
  readonly query: EvalQuery
  readonly line: Line
  readonly turn: Scores | null
  readonly session: Scores | null
  readonly ranking: readonly string[]
}

export type RecallEvalOptions = EvalOptions & {
  readonly lines?: readonly Line[]
  /** Another embedder than the default. Null: none. */
  readonly embedding?: EmbeddingOptions | null
}

/** Measures any set in the common form. */
export async function evaluateRecall(set: string, options: RecallEvalOptions): Promise<EvalReport> {
  const all = await (BUILT_IN_SETS[set]?.() ?? loadSet(options.data, set))
  const data = sampled(all, options.sample)
  const measured = await measureSet(data, options)
  // The same questions by the definition of the set's authors, over user turns only.
  const official =
    set === 'longmemeval-s' ? await measureSet(officialPart(data), options, false) : null
  return toReport(set, measured, official, options)
}

async function measureSet(
  { documents, queries }: EvalSet,
  options: RecallEvalOptions,
  asksUnrelated = true,
): Promise<Measured> {
  const lines = options.lines ?? LINES
  const { embedding = evalEmbedding() } = options
  const haystack = await openHaystack(documents, {
    embedding: lines.some((line) => line !== 'keyword') ? embedding : null,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  })
  try {
    const sessionOf = new Map(documents.map(({ id, session }) => [id, session]))
    const outcomes: Outcome[] = []
    const latencies: number[] = []
    const answerable = queries.filter(hasGold)
    const remaining = timeLeft(answerable.length)
    for (const query of answerable) {
      // Timed without the embedding of the question: whether a cache has it depends on earlier runs.
      await haystack.embedder?.embed([query.question], { purpose: 'query' })
      for (const line of lines) {
        const began = performance.now()
        const ranking = await SEARCHES[line](haystack, query)
        if (line === 'default') latencies.push(performance.now() - began)
        outcomes.push({ query, line, ranking, ...scoresOf(query, ranking, sessionOf) })
      }
      options.onProgress?.(`searched ${remaining(outcomes.length / lines.length)}`)
    }
    const abstention =
      asksUnrelated && lines.includes('default')
        ? await measureAbstention(async (group, text) => {
            const scope = { owner: haystack.ownerOf(group) }
            const { memories } = await haystack.engine.recall(scope, { text, limit: 1 })
            return memories.length > 0
          }, queries)
        : null
    return { outcomes, latencies, haystack, lines, abstention }
  } finally {
    await haystack.engine.close()
  }
}

/** A deterministic sample of groups. */
export function sampled({ documents, queries }: EvalSet, sample: number | undefined): EvalSet {
  if (sample === undefined) return { documents, queries }
  const hash = (group: string) => createHash('sha256').update(group).digest('hex')
  const groups = [...new Set(documents.map(({ group }) => group))]
  const chosen = new Set(groups.sort((a, b) => (hash(a) < hash(b) ? -1 : 1)).slice(0, sample))
  return {
    documents: documents.filter(({ group }) => chosen.has(group)),
    queries: queries.filter(({ group }) => chosen.has(group)),
  }
}

type Search = (haystack: Haystack, query: EvalQuery) => Promise<readonly string[]>

const SEARCHES: Readonly<Record<Line, Search>> = {
  default: (haystack, query) => engineRanking(haystack, query),
  weighted: (haystack, query) => engineRanking(haystack, query, { fusion: 'weighted' }),
  keyword: (haystack, query) => keywordRanking(haystack, query),
  vector: (haystack, query) => vectorRanking(haystack, query),
  rrf: async (haystack, query) => {
    const scores = new Map<string, number>()
    const rankings = [await keywordRanking(haystack, query), await vectorRanking(haystack, query)]
    for (const ranking of rankings) {
      ranking.forEach((id, position) => {
        scores.set(id, (scores.get(id) ?? 0) + 1 / (RRF_K + position + 1))
      })
    }
    return [...scores].sort(([, a], [, b]) => b - a).map(([id]) => id)
  },
}

async function engineRanking(
  haystack: Haystack,
  { group, question, askedAt }: EvalQuery,
  choice: Pick<RecallQuery, 'fusion'> = {},
): Promise<readonly string[]> {
  haystack.setNow((askedAt === null ? null : parseTime(askedAt)) ?? Date.now())
  const { memories } = await haystack.engine.recall(
    { owner: haystack.ownerOf(group) },
    { text: question, limit: HITS_MAX, ...choice },
  )
  return documentsOf(
    haystack,
    memories.map(({ memory }) => memory.id),
  )
}

async function keywordRanking(
  haystack: Haystack,
  { group, question }: EvalQuery,
): Promise<readonly string[]> {
  const scope = { owner: haystack.ownerOf(group) }
  const { hits } = await haystack.store.searchText(scope, {
    text: question,
    limit: HITS_MAX,
    where: {},
  })
  return documentsOf(
    haystack,
    hits.map(({ id }) => id),
  )
}

async function vectorRanking(
  haystack: Haystack,
  { group, question }: EvalQuery,
): Promise<readonly string[]> {
  const { store, embedder, space } = haystack
  if (embedder === null || space === null) return []
  const [vector] = await embedder.embed([question], { purpose: 'query' })
  if (vector === undefined) return []
  const scope = { owner: haystack.ownerOf(group) }
  const hits = await store.vectors.search(space, scope, { vector, limit: HITS_MAX, where: {} })
  return documentsOf(
    haystack,
    hits.map(({ id }) => id),
  )
}

/** Each document once, at its best rank: a document may be several memories, or be in a set twice. */
function documentsOf({ documentOf }: Haystack, ids: readonly MemoryId[]): readonly string[] {
  return [...new Set(ids.flatMap((id) => documentOf.get(id)?.id ?? []))]
}

function scoresOf(
  query: EvalQuery,
  ranking: readonly string[],
  sessionOf: ReadonlyMap<string, string | null>,
): { readonly turn: Scores | null; readonly session: Scores | null } {
  const toSession = (id: string) => sessionOf.get(id) ?? []
  const goldSessions =
    query.goldSessions.length > 0 ? query.goldSessions : query.gold.flatMap(toSession)
  const sessions = [...new Set(ranking.flatMap(toSession))]
  return {
    turn: query.gold.length === 0 ? null : measure(ranking, new Set(query.gold)),
    session: goldSessions.length === 0 ? null : measure(sessions, new Set(goldSessions)),
  }
}

type Measured = {
  readonly outcomes: readonly Outcome[]
  readonly latencies: readonly number[]
  readonly haystack: Haystack
  readonly lines: readonly Line[]
  readonly abstention: Abstention | null
}

function toReport(
  set: string,
  measured: Measured,
  official: Measured | null,
  options: RecallEvalOptions,
): EvalReport {
  const isApart = ({ query }: Outcome) => set === 'locomo' && query.category === ADVERSARIAL
  const counted = measured.outcomes.filter((outcome) => !isApart(outcome))
  const averages = (line: Line) => averagesOf(line, counted)
  const officially = (line: Line) => averagesOf(line, official?.outcomes ?? [])
  const lines = Object.fromEntries(measured.lines.map((line) => [line, averages(line)]))
  const categories = Object.fromEntries(
    measured.lines.map((line) => [line, categoriesOf(line, measured.outcomes)]),
  )
  const first = measured.lines[0] ?? 'default'
  const queries = counted.filter(({ line }) => line === first).length
  const latencyMs = {
    p50: round(percentile(measured.latencies, 0.5)),
    p95: round(percentile(measured.latencies, 0.95)),
  }
  const index = { ms: Math.round(measured.haystack.indexMs), bytes: measured.haystack.bytes }
  const floors = measured.lines.includes('default')
    ? floorsOf(set).flatMap(([level, metric, floor]): readonly Floor[] => {
        const value = lines.default?.[level]?.[metric]
        return value === undefined ? [] : [atLeast(`${set} ${level} ${metric}`, value, floor)]
      })
    : []
  const { abstention } = measured
  return {
    eval: set,
    metrics: { queries },
    json: {
      ...{ set, queries, lines, categories, latencyMs, index, abstention },
      ...(official === null
        ? {}
        : {
            official: {
              queries: official.outcomes.length / official.lines.length,
              lines: Object.fromEntries(official.lines.map((line) => [line, officially(line)])),
            },
          }),
    },
    tables: [
      levelTable(`${set}: each text`, 'turn', measured.lines, averages),
      ...(lines[first]?.session === undefined
        ? []
        : [levelTable(`${set}: sessions`, 'session', measured.lines, averages)]),
      ...(official === null
        ? []
        : [levelTable(`${set}: sessions, official`, 'session', official.lines, officially)]),
      categoryTable(`By category, ${first}, each text`, 'turn', categories[first] ?? {}),
      ...(lines[first]?.session === undefined
        ? []
        : [categoryTable(`By category, ${first}, sessions`, 'session', categories[first] ?? {})]),
      aboutTable(queries, latencyMs, index, abstention),
      ...(options.explain ? [missed(counted, first)] : []),
    ],
    floors,
  }
}

function averagesOf(line: Line, outcomes: readonly Outcome[]) {
  const own = outcomes.filter((outcome) => outcome.line === line)
  const of = (level: 'turn' | 'session') => own.flatMap((outcome) => outcome[level] ?? [])
  return {
    turn: average(of('turn')),
    ...(of('session').length === 0 ? {} : { session: average(of('session')) }),
  }
}

function levelTable(
  title: string,
  level: 'turn' | 'session',
  lines: readonly Line[],
  averages: (line: Line) => { readonly turn: Scores; readonly session?: Scores },
): Table {
  const row = (line: Line) => {
    const scores = averages(line)[level]
    return [line, ...METRICS.map((metric) => scores?.[metric].toFixed(3) ?? '')]
  }
  return { title, columns: ['', ...METRICS], rows: lines.map(row) }
}

type Category = ReturnType<typeof averagesOf> & { readonly queries: number }

function categoriesOf(
  line: Line,
  outcomes: readonly Outcome[],
): { readonly [category: string]: Category } {
  const own = outcomes.filter((outcome) => outcome.line === line)
  const names = [...new Set(own.map(({ query }) => query.category))].sort()
  return Object.fromEntries(
    names.map((name) => {
      const some = own.filter(({ query }) => query.category === name)
      return [name, { queries: some.length, ...averagesOf(line, some) }]
    }),
  )
}

function categoryTable(
  title: string,
  level: 'turn' | 'session',
  categories: { readonly [category: string]: Category },
): Table {
  return {
    title,
    columns: ['category', 'queries', ...METRICS],
    rows: Object.entries(categories).map(([name, { queries, ...scores }]) => [
      name,
      queries,
      ...METRICS.map((metric) => scores[level]?.[metric].toFixed(3) ?? ''),
    ]),
  }
}

function aboutTable(
  queries: number,
  latencyMs: { readonly p50: number; readonly p95: number },
  index: { readonly ms: number; readonly bytes: number },
  abstention: Abstention | null,
): Table {
  return {
    title: 'About this run',
    columns: ['', ''],
    rows: [
      ['questions', queries],
      [
        'recall without embedding the question, median and 95 %',
        `${latencyMs.p50} / ${latencyMs.p95} ms`,
      ],
      ['indexing', `${(index.ms / 1_000).toFixed(1)} s, ${(index.bytes / 1e6).toFixed(1)} MB`],
      ...(abstention === null ? [] : abstentionRows(abstention)),
    ],
  }
}

function missed(outcomes: readonly Outcome[], line: Line): Table {
  return {
    title: 'No gold text among the first ten',
    columns: ['question', 'gold', 'first hit'],
    rows: outcomes
      .filter((outcome) => outcome.line === line && outcome.turn?.['any@10'] === 0)
      .map(({ query, ranking }) => [query.question, query.gold.join(' '), ranking[0] ?? '']),
  }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}
