/** Replays the groups of a set, and asks their questions and unrelated ones. */
import type { Embedder } from '../../src/models/embedder.ts'
import { type EvalDocument, type EvalQuery, type EvalSet, parseTime } from '../datasets.ts'
import { textOf } from '../haystack.ts'
import { timeLeft } from '../report.ts'
import { groupBy, timeOf, toConversations } from './conversations.ts'
import {
  type Evidence,
  findEvidence,
  findSharedPassages,
  type GoldTurn,
  isNewestFirst,
} from './evidence.ts'
import type { InjectedContext, OpenReplay, Replay } from './replay.ts'

/** The outcome of one question at one budget. */
export type QuestionOutcome = {
  readonly query: EvalQuery
  readonly budget: number
  readonly context: InjectedContext
  /** One per gold turn; empty if the set names none. */
  readonly evidence: readonly Evidence[]
  /** Null when unknown. */
  readonly newestFirst: boolean | null
}

export type UnrelatedKind = 'general' | 'claims' | 'other sets' | 'small talk'
export type UnrelatedQuestion = { readonly kind: UnrelatedKind; readonly text: string }
export type UnrelatedOutcome = UnrelatedQuestion & {
  readonly group: string
  readonly context: InjectedContext
}

export type Measurement = {
  readonly questions: readonly QuestionOutcome[]
  readonly unrelated: readonly UnrelatedOutcome[]
  readonly groups: number
  readonly turns: number
  readonly writeMs: number
  readonly askMs: number
}

export type MeasureOptions = {
  readonly open: OpenReplay
  readonly embedder: Embedder | null
  readonly budgets: readonly number[]
  readonly unrelated: readonly UnrelatedQuestion[]
  readonly onProgress?: (words: string) => void
}

/** The budget of the floors: the default of `gateway.contextTokensMax`. */
export const BUDGET = 800
/** The number of groups that get unrelated questions. */
const UNRELATED_GROUPS = 10
const DAY_MS = 86_400_000

export async function measureSet(set: EvalSet, options: MeasureOptions): Promise<Measurement> {
  const groups = [...groupBy(set.documents, ({ group }) => group)]
  const queriesOf = groupBy(set.queries, ({ group }) => group)
  const measured: Measurement[] = []
  const remaining = timeLeft(groups.length)
  for (const [group, documents] of groups) {
    const unrelated = measured.length < UNRELATED_GROUPS ? options.unrelated : []
    const queries = queriesOf.get(group) ?? []
    measured.push(await measureGroup({ documents, queries }, { ...options, unrelated }))
    options.onProgress?.(`groups ${remaining(measured.length)}`)
  }
  const sum = (of: (group: Measurement) => number) =>
    measured.reduce((total, group) => total + of(group), 0)
  return {
    questions: measured.flatMap(({ questions }) => questions),
    unrelated: measured.flatMap(({ unrelated }) => unrelated),
    groups: groups.length,
    turns: sum(({ turns }) => turns),
    writeMs: sum(({ writeMs }) => writeMs),
    askMs: sum(({ askMs }) => askMs),
  }
}

export async function measureGroup(
  { documents, queries }: EvalSet,
  options: MeasureOptions,
): Promise<Measurement> {
  const replay = await options.open(options.embedder)
  try {
    const conversations = toConversations(documents)
    const began = performance.now()
    await replay.write(conversations)
    const written = performance.now()
    const last = conversations.at(-1)?.at ?? 0
    const questions = await askAll(replay, { documents, queries }, last, options)
    const unrelated = await askUnrelated(replay, documents[0]?.group ?? '', last + DAY_MS, options)
    return {
      questions,
      unrelated,
      groups: 1,
      turns: documents.length,
      writeMs: written - began,
      askMs: performance.now() - written,
    }
  } finally {
    await replay.close()
  }
}

async function askAll(
  replay: Replay,
  { documents, queries }: EvalSet,
  last: number,
  { budgets, onProgress }: MeasureOptions,
): Promise<readonly QuestionOutcome[]> {
  const turns = documents.map(toGoldTurn)
  const turnOf = new Map(turns.map((turn) => [turn.id, turn]))
  const goldOf = ({ gold }: EvalQuery) => gold.flatMap((id) => turnOf.get(id) ?? [])
  const isShared = findSharedPassages([...new Set(queries.flatMap(goldOf))], turns)
  const outcomes: QuestionOutcome[] = []
  const remaining = timeLeft(budgets.length * queries.length)
  for (const budget of budgets) {
    for (const query of queries) {
      const context = await replay.ask({
        text: query.question,
        at: questionTime(query, last),
        budget,
      })
      const evidence = findEvidence(context, goldOf(query), isShared)
      const newestFirst = isNewestFirst(evidence)
      outcomes.push({ query, budget, context, evidence, newestFirst })
      if (queries.length > 1) onProgress?.(`questions of a group: ${remaining(outcomes.length)}`)
    }
  }
  return outcomes
}

/**
 * The date that the set names, otherwise a day after the last session. Some questions of LongMemEval are dated a few hours
 * before the last session of their day; these follow it.
 */
function questionTime({ askedAt }: EvalQuery, last: number): number {
  const named = askedAt === null ? null : parseTime(askedAt)
  return named === null ? last + DAY_MS : Math.max(named, last)
}

function toGoldTurn(document: EvalDocument): GoldTurn {
  return { id: document.id, text: textOf(document), at: timeOf(document) }
}

async function askUnrelated(
  replay: Replay,
  group: string,
  at: number,
  { budgets, unrelated }: MeasureOptions,
): Promise<readonly UnrelatedOutcome[]> {
  const budget = budgets.includes(BUDGET) ? BUDGET : (budgets[0] ?? BUDGET)
  const outcomes: UnrelatedOutcome[] = []
  for (const question of unrelated) {
    const context = await replay.ask({ text: question.text, at, budget })
    outcomes.push({ ...question, group, context })
  }
  return outcomes
}
