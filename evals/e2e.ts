/**
 * `npm run eval -- e2e`: from conversations to the context block of a later prompt.
 *
 * Public conversations are written through `ingest`, or with `--gateway` through the HTTP gateway, one owner per group.
 * Then each question is options in a new session, and the context block is searched for the evidence turns.
 */

import { openEmbedder } from '../src/app/models/model-selection.ts'
import type { Embedder } from '../src/models/embedder.ts'
import { type EvalSet, hasSet, loadSet } from './datasets.ts'
import { openDirectReplay } from './e2e/direct-replay.ts'
import { openGatewayReplay } from './e2e/gateway-replay.ts'
import {
  BUDGET,
  type Measurement,
  type MeasureOptions,
  measureSet,
  type UnrelatedQuestion,
} from './e2e/measure.ts'
import { toReport } from './e2e/report.ts'
import { pickUnrelated, specificQuestions } from './e2e/unrelated.ts'
import { evalEmbedding } from './haystack.ts'
import { sampled } from './recall.ts'
import type { EvalOptions, EvalReport } from './report.ts'

export const E2E_SETS = ['longmemeval-s', 'locomo', 'beam-100k'] as const

export type E2eOptions = EvalOptions & {
  /** Default: all of `E2E_SETS`. */
  readonly sets?: readonly string[]
  /** In tokens. Default: 400, 800 and 2,000. */
  readonly budgets?: readonly number[]
  /** Runs one small group through the HTTP gateway instead of everything else. */
  readonly gateway?: boolean
  /** Only questions of these categories, and only groups that have any. */
  readonly categories?: readonly string[]
}

/** Recalls count as uses of memories, so questions with floors come first. */
const BUDGETS = [BUDGET, 400, 2_000] as const
const GATEWAY_SET = 'locomo'

export async function evaluateE2e(options: E2eOptions): Promise<EvalReport> {
  const { gateway = false, sets = gateway ? [GATEWAY_SET] : E2E_SETS } = options
  const embedder = openEmbedder(evalEmbedding())
  try {
    const measured: (readonly [string, Measurement])[] = []
    for (const set of sets) measured.push([set, await measureNamed(set, embedder, options)])
    return toReport(measured, options)
  } finally {
    await embedder?.close()
  }
}

async function measureNamed(
  set: string,
  embedder: Embedder | null,
  { data, sample, gateway = false, budgets, categories, onProgress }: E2eOptions,
): Promise<Measurement> {
  const all = filterCategories(await loadSet(data, set), categories)
  const options: MeasureOptions = {
    open: gateway ? openGatewayReplay : openDirectReplay,
    embedder,
    budgets: budgets ?? (gateway ? [BUDGET] : BUDGETS),
    unrelated: await unrelatedOf(data, set),
    ...(onProgress === undefined ? {} : { onProgress: (words) => onProgress(`${set}: ${words}`) }),
  }
  return measureSet(gateway ? firstGroup(all) : sampled(all, sample), options)
}

function filterCategories(set: EvalSet, categories: readonly string[] | undefined): EvalSet {
  if (categories === undefined) return set
  const queries = set.queries.filter(({ category }) => categories.includes(category))
  const groups = new Set(queries.map(({ group }) => group))
  return { documents: set.documents.filter(({ group }) => groups.has(group)), queries }
}

function firstGroup({ documents, queries }: EvalSet): EvalSet {
  const isFirst = ({ group }: { readonly group: string }) => group === documents[0]?.group
  return { documents: documents.filter(isFirst), queries: queries.filter(isFirst) }
}

const CLAIMS = 'scifact'

async function unrelatedOf(data: string, set: string): Promise<readonly UnrelatedQuestion[]> {
  const questionsOf = async (name: string) =>
    hasSet(data, name) ? specificQuestions(name, (await loadSet(data, name)).queries) : []
  const others = E2E_SETS.filter((name) => name !== set)
  return pickUnrelated({
    claims: await questionsOf(CLAIMS),
    otherSets: await Promise.all(others.map(questionsOf)),
  })
}
