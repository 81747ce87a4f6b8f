/**
 * `npm run eval -- currency`: whether recall puts what holds (or held at the asked time) above what no longer does.
 *
 * Every store is written in order of time through `remember`, then asked at the question's day. `currency/` may be tuned
 * on; `unseen-truth/currency.jsonl` was written by somebody who has not seen the rules, and only its totals are printed.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createIdGenerator } from '../src/app/id-generator.ts'
import { openEmbedder } from '../src/app/models/model-selection.ts'
import { createEngineWith } from '../src/engine/engine.ts'
import { HOUR_MS, type Instant } from '../src/lib/time.ts'
import type { Embedder } from '../src/models/embedder.ts'
import { createInMemoryStore } from '../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../src/storage/in-memory/in-memory-vector-index.ts'
import type { EvalOptions, EvalReport, Table } from './report.ts'

const FILES = {
  development: join('evals', 'currency', 'stores.jsonl'),
  unseen: join('evals', 'unseen-truth', 'currency.jsonl'),
} as const
type Part = keyof typeof FILES
const PARTS = Object.keys(FILES) as readonly Part[] // the keys above

const RETRIEVERS = ['keyword', 'built-in model'] as const
const KINDS = ['current', 'then', 'when'] as const
const NOON_MS = 12 * HOUR_MS
const RESULTS_MAX = 10

type CurrencyStore = {
  readonly lang: string
  readonly memories: readonly { readonly content: string; readonly at: string }[]
  readonly questions: readonly Question[]
}

type Question = {
  readonly question: string
  readonly today: string
  readonly first: number
  readonly notAbove: readonly number[]
  readonly kind: (typeof KINDS)[number]
}

type Judged = Question & {
  readonly part: Part
  readonly by: (typeof RETRIEVERS)[number]
  readonly lang: string
  readonly results: readonly string[]
  readonly expected: string
  /** The rank of the right memory, from 0; -1 when it is missing. */
  readonly rank: number
  /** Whether a memory that must not rank above the right one does, or is given without it. */
  readonly isOutOfOrder: boolean
}

export async function evaluateCurrency({ explain }: EvalOptions): Promise<EvalReport> {
  const judged: Judged[] = []
  for (const by of RETRIEVERS) {
    const embedder = by === 'keyword' ? null : openEmbedder({ source: 'transformers' })
    try {
      for (const part of PARTS) {
        for (const store of await readStores(part)) {
          judged.push(...(await judgeStore(store, part, by, embedder)))
        }
      }
    } finally {
      await embedder?.close()
    }
  }
  const withModel = judged.filter(({ by }) => by === 'built-in model')
  return {
    eval: 'currency',
    metrics: Object.fromEntries(
      PARTS.flatMap((part) => {
        const some = withModel.filter((each) => each.part === part)
        return [
          [`first.${part}`, share(some, ({ rank }) => rank === 0)],
          [`ordered.${part}`, share(some, isOrdered)],
        ]
      }),
    ),
    tables: [toTable(judged), ...(explain ? [toMisses(withModel)] : [])],
    floors: [],
  }
}

async function readStores(part: Part): Promise<readonly CurrencyStore[]> {
  const lines = (await readFile(FILES[part], 'utf8')).trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as CurrencyStore) // our own files
}

async function judgeStore(
  { lang, memories, questions }: CurrencyStore,
  part: Part,
  by: Judged['by'],
  embedder: Embedder | null,
): Promise<readonly Judged[]> {
  let now = 0
  const store = createInMemoryStore()
  const engine = createEngineWith({
    store,
    clock: {
      now: () => now as Instant, // whole milliseconds
      sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    },
    ids: createIdGenerator(),
    settings: {},
    ...(embedder === null
      ? {}
      : {
          embedder: { ...embedder, close: async () => {} },
          vectors: createInMemoryVectorIndex(store),
        }),
  })
  const scope = { owner: 'person' }
  try {
    const ids: string[] = []
    const inOrder = memories
      .map(({ content, at }, index) => ({ content, index, at: toInstant(at) }))
      .toSorted((a, b) => a.at - b.at)
    for (const { content, at, index } of inOrder) {
      now = at
      const { memory } = await engine.remember(scope, { content })
      ids[index] = memory.id
    }
    if (embedder !== null) await engine.admin.reindex()
    const judged: Judged[] = []
    for (const question of questions) {
      now = toInstant(question.today)
      const { memories: found } = await engine.recall(scope, {
        text: question.question,
        limit: RESULTS_MAX,
      })
      const results = found.map(({ memory }) => memory.id as string)
      const rankOf = (index: number) => results.indexOf(ids[index] ?? '')
      const rank = rankOf(question.first)
      const isAbove = (index: number) =>
        rankOf(index) >= 0 &&
        ids[index] !== ids[question.first] &&
        (rank < 0 || rankOf(index) < rank)
      judged.push({
        ...question,
        part,
        by,
        lang,
        results: found.map(({ memory }) => memory.content),
        expected: memories[question.first]?.content ?? '',
        rank,
        isOutOfOrder: question.notAbove.some(isAbove),
      })
    }
    return judged
  } finally {
    await engine.close()
  }
}

/** A day is noon of that day; a month its first noon. */
function toInstant(at: string): number {
  const ms = Date.parse(at)
  return /T/.test(at) ? ms : ms + NOON_MS
}

function isOrdered({ rank, isOutOfOrder }: Judged): boolean {
  return rank >= 0 && !isOutOfOrder
}

function share(judged: readonly Judged[], holds: (judged: Judged) => boolean): number {
  return judged.length === 0 ? 0 : judged.filter(holds).length / judged.length
}

function toTable(judged: readonly Judged[]): Table {
  return {
    title: 'Questions to stores with changed facts',
    columns: [
      'part',
      'retriever',
      'kind',
      'questions',
      'first',
      'among 5',
      'ordered',
      'outdated above',
    ],
    rows: PARTS.flatMap((part) =>
      RETRIEVERS.flatMap((by) =>
        [...KINDS, 'all' as const].map((kind) => {
          const some = judged.filter(
            (each) =>
              each.part === part && each.by === by && (kind === 'all' || each.kind === kind),
          )
          const count = (holds: (judged: Judged) => boolean) => some.filter(holds).length
          return [
            part,
            by,
            kind,
            some.length,
            count(({ rank }) => rank === 0),
            count(({ rank }) => rank >= 0 && rank < 5),
            count(isOrdered),
            count(({ isOutOfOrder }) => isOutOfOrder),
          ]
        }),
      ),
    ),
  }
}

function toMisses(judged: readonly Judged[]): Table {
  return {
    title: 'Misses among the questions that may be tuned on',
    columns: [''],
    rows: judged
      .filter((each) => each.part === 'development' && (each.rank !== 0 || each.isOutOfOrder))
      .map(({ question, today, expected, results, kind, isOutOfOrder }) => [
        [
          `${question} (${today}, ${kind})${isOutOfOrder ? ' out of order' : ''}: ${expected}`,
          ...results.slice(0, 5).map((result) => `  | ${result}`),
        ].join('\n'),
      ]),
  }
}
