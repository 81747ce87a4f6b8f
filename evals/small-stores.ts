/**
 * Measures abstention in small stores: ten memories, questions that one of them answers, messages that none of them helps
 * with, and messages whose context must contain facts that matter for safety. Each store is measured twice, with its memories
 * as facts and as turns of conversations. Of the unseen stores, only totals are reported.
 */
import { openEmbedder } from '../src/app/models/model-selection.ts'
import type { Embedder } from '../src/models/embedder.ts'
import { normalize } from './e2e/evidence.ts'
import { BUDGET } from './e2e/measure.ts'
import { openSmallStoreReplay, type StoreForm } from './e2e/small-store-replay.ts'
import { evalEmbedding } from './haystack.ts'
import { ratio, readLabels, UNSEEN } from './labels.ts'
import {
  atLeast,
  atMost,
  type EvalOptions,
  type EvalReport,
  type Table,
  timeLeft,
} from './report.ts'

const SILENT_MIN = 0.95
const LOST_MAX = 0.05
const SAFETY_MIN = 0.9

type Store = {
  readonly memories: readonly string[]
  readonly related: readonly { readonly question: string; readonly answerIndex: number }[]
  readonly unrelated: readonly string[]
  readonly safety: readonly { readonly message: string; readonly memoryIndex: number }[]
}

type Kind = 'related' | 'unrelated' | 'safety'

type MeasuredMessage = {
  readonly kind: Kind
  readonly form: StoreForm
  readonly message: string
  readonly isRight: boolean
  readonly items: number
  readonly tokens: number
}

const FORMS: readonly StoreForm[] = ['facts', 'turns']

export async function evaluateSmallStores(options: EvalOptions): Promise<EvalReport> {
  const developed = await readLabels<Store>('evals', 'small-stores', 'abstention.jsonl')
  const unseen = await readLabels<Store>(UNSEEN, 'abstention.jsonl')
  const embedder = openEmbedder(evalEmbedding())
  try {
    const tuned = await measureAll(embedder, developed, options)
    const measured = await measureAll(embedder, unseen, options)
    const silent = getRightShare(tuned, 'unrelated')
    const lost = 1 - getRightShare(tuned, 'related')
    const safety = getRightShare(tuned, 'safety')
    return {
      eval: 'abstention',
      metrics: { silent, lost, safety, ...toUnseenMetrics(measured) },
      tables: [
        toTable('Stores that rules are tuned on', tuned),
        toTable('Unseen stores', measured),
        ...(options.explain ? [toMissesTable(tuned)] : []),
      ],
      floors: [
        atLeast('silent', silent, SILENT_MIN),
        atMost('lost', lost, LOST_MAX),
        atLeast('safety', safety, SAFETY_MIN),
      ],
    }
  } finally {
    await embedder?.close()
  }
}

async function measureAll(
  embedder: Embedder | null,
  stores: readonly Store[],
  { onProgress }: EvalOptions,
): Promise<readonly MeasuredMessage[]> {
  const remaining = timeLeft(stores.length * FORMS.length)
  const measured: MeasuredMessage[] = []
  for (const [index, store] of stores.entries()) {
    for (const [at, form] of FORMS.entries()) {
      measured.push(...(await measureStore(embedder, store, form)))
      onProgress?.(`abstention: stores ${remaining(index * FORMS.length + at + 1)}`)
    }
  }
  return measured
}

async function measureStore(
  embedder: Embedder | null,
  { memories, related, unrelated, safety }: Store,
  form: StoreForm,
): Promise<readonly MeasuredMessage[]> {
  const replay = await openSmallStoreReplay(embedder, memories, form)
  const measure = async (
    kind: Kind,
    message: string,
    expected: string | null,
  ): Promise<MeasuredMessage> => {
    const { block, items, tokens } = await replay.ask(message, BUDGET)
    const isFound = expected !== null && normalize(block ?? '').includes(normalize(expected))
    return {
      ...{ kind, form, message, items, tokens },
      isRight: expected === null ? items === 0 : isFound,
    }
  }
  try {
    const measured: MeasuredMessage[] = []
    for (const { question, answerIndex } of related) {
      measured.push(await measure('related', question, memories[answerIndex] ?? ''))
    }
    for (const message of unrelated) measured.push(await measure('unrelated', message, null))
    for (const { message, memoryIndex } of safety) {
      measured.push(await measure('safety', message, memories[memoryIndex] ?? ''))
    }
    return measured
  } finally {
    await replay.close()
  }
}

function getRightShare(measured: readonly MeasuredMessage[], kind: Kind): number {
  const some = measured.filter((each) => each.kind === kind)
  return ratio(some.filter(({ isRight }) => isRight).length, some.length)
}

function toUnseenMetrics(measured: readonly MeasuredMessage[]): Record<string, number> {
  return {
    'silent.unseen': getRightShare(measured, 'unrelated'),
    'lost.unseen': 1 - getRightShare(measured, 'related'),
    'safety.unseen': getRightShare(measured, 'safety'),
  }
}

function toTable(title: string, measured: readonly MeasuredMessage[]): Table {
  const kinds = ['related', 'unrelated', 'safety'] as const
  return {
    title,
    columns: ['message', 'memories as', 'measured', 'right', 'share', 'lines per block'],
    rows: kinds.flatMap((kind) =>
      FORMS.map((form) => {
        const some = measured.filter((each) => each.kind === kind && each.form === form)
        const right = some.filter(({ isRight }) => isRight)
        const lines = some.reduce((sum, { items }) => sum + items, 0)
        return [
          ...[kind, form, some.length, right.length],
          ...[ratio(right.length, some.length), ratio(lines, some.length)],
        ]
      }),
    ),
  }
}

function toMissesTable(measured: readonly MeasuredMessage[]): Table {
  return {
    title: 'Misses among the stores that may be tuned on',
    columns: ['message', 'memories as', 'lines', 'text'],
    rows: measured
      .filter(({ isRight }) => !isRight)
      .map(({ kind, form, items, message }) => [kind, form, items, message]),
  }
}
