/**
 * Fits `EVIDENCE_WEIGHTS` to the development sets and validates them on held-out conversations.
 *
 * The engine provides the hundred best candidates of each question with their evidence. Coordinate ascent from the present
 * weights moves one weight at a time as long as the mean of the headline metrics rises. It is deterministic, and eight
 * weights for a thousand questions leave little to overfit.
 */
import type { Evidence } from '../src/recall/ranking/candidate.ts'
import { EVIDENCE_WEIGHTS } from '../src/recall/ranking/fusion.ts'
import { type EvalQuery, loadSet, parseTime } from './datasets.ts'
import { evalEmbedding, openHaystack } from './haystack.ts'
import { measure } from './metrics.ts'
import { type RecallSet, sampled } from './recall.ts'
import type { EvalOptions, EvalReport, Table } from './report.ts'

/** The metrics to optimize. LongMemEval is large; a sample is enough for eight weights. */
const SETS: readonly {
  readonly set: RecallSet
  readonly sample?: number
  readonly metrics: readonly (readonly [
    'turn' | 'session',
    'rec@10' | 'all@10' | 'any@5' | 'all@5',
  ])[]
}[] = [
  {
    set: 'locomo',
    metrics: [
      ['turn', 'rec@10'],
      ['session', 'all@10'],
    ],
  },
  { set: 'beam-100k', metrics: [['turn', 'rec@10']] },
  {
    set: 'longmemeval-s',
    sample: 25,
    metrics: [
      ['turn', 'any@5'],
      ['session', 'all@5'],
    ],
  },
  { set: 'scifact', metrics: [['turn', 'rec@10']] },
]
const FOLDS = 4
const STEPS = [0.08, 0.04, 0.02]
const CANDIDATES = 100

type Kind = keyof Evidence
const KINDS = Object.keys(EVIDENCE_WEIGHTS) as Kind[] // the table's own keys

type Case = {
  readonly set: RecallSet
  readonly group: string
  readonly query: EvalQuery
  readonly gold: ReadonlySet<string>
  readonly goldSessions: ReadonlySet<string>
  readonly candidates: readonly {
    readonly id: string
    readonly session: string | null
    readonly evidence: Evidence
  }[]
}

export async function fitWeights(options: EvalOptions): Promise<EvalReport> {
  const cases: Case[] = []
  for (const { set, sample } of SETS) cases.push(...(await casesOf(set, sample, options)))
  const groups = [...new Set(cases.map(({ group }) => group))]
  const foldOf = new Map(groups.map((group, position) => [group, position % FOLDS]))
  const held: number[] = []
  const before: number[] = []
  for (let fold = 0; fold < FOLDS; fold++) {
    const weights = climb(cases.filter(({ group }) => foldOf.get(group) !== fold))
    before.push(
      objective(
        cases.filter(({ group }) => foldOf.get(group) === fold),
        EVIDENCE_WEIGHTS,
      ),
    )
    held.push(
      objective(
        cases.filter(({ group }) => foldOf.get(group) === fold),
        weights,
      ),
    )
    options.onProgress?.(`fitted ${fold + 1} of ${FOLDS + 1} times`)
  }
  const fitted = climb(cases)
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    eval: 'fit',
    metrics: {
      present: objective(cases, EVIDENCE_WEIGHTS),
      fitted: objective(cases, fitted),
      presentHeldOut: mean(before),
      fittedHeldOut: mean(held),
      ...fitted,
    },
    tables: [weightTable(fitted), objectiveTable(cases, fitted, mean(before), mean(held))],
    floors: [],
  }
}

async function casesOf(
  set: RecallSet,
  sample: number | undefined,
  options: EvalOptions,
): Promise<readonly Case[]> {
  const { documents, queries } = sampled(await loadSet(options.data, set), sample)
  const haystack = await openHaystack(documents, {
    embedding: evalEmbedding(),
    settings: { 'recall.minTopSimilarity': 0, 'recall.minSimilarity': 0 },
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  })
  const sessionOf = new Map(documents.map(({ id, session }) => [id, session]))
  const cases: Case[] = []
  for (const query of queries.filter(({ gold, category }) => gold.length > 0 && category !== '5')) {
    haystack.setNow((query.askedAt === null ? null : parseTime(query.askedAt)) ?? Date.now())
    const { memories } = await haystack.engine.recall(
      { owner: haystack.ownerOf(query.group) },
      { text: query.question, limit: CANDIDATES },
    )
    const goldSessions =
      query.goldSessions.length > 0
        ? query.goldSessions
        : query.gold.flatMap((id) => sessionOf.get(id) ?? [])
    cases.push({
      set,
      group: query.group,
      query,
      gold: new Set(query.gold),
      goldSessions: new Set(goldSessions),
      candidates: memories.map(({ memory, evidence }) => {
        const id = haystack.documentOf.get(memory.id)?.id ?? ''
        return { id, session: sessionOf.get(id) ?? null, evidence }
      }),
    })
  }
  await haystack.engine.close()
  return cases
}

/** Coordinate ascent from the present weights. */
function climb(cases: readonly Case[]): Evidence {
  let best: Evidence = EVIDENCE_WEIGHTS
  let height = objective(cases, best)
  for (const step of STEPS) {
    for (let isRising = true; isRising; ) {
      isRising = false
      for (const kind of KINDS) {
        for (const direction of [step, -step]) {
          const weights = { ...best, [kind]: Math.max(0, best[kind] + direction) }
          const reached = objective(cases, weights)
          if (reached <= height + 1e-6) continue
          best = weights
          height = reached
          isRising = true
        }
      }
    }
  }
  return best
}

/** The mean over the sets of the mean of their metrics. */
function objective(cases: readonly Case[], weights: Evidence): number {
  const perSet = SETS.flatMap(({ set, metrics }) => {
    const own = cases.filter((each) => each.set === set)
    if (own.length === 0) return []
    const sum = own.reduce((total, each) => total + caseScore(each, metrics, weights), 0)
    return [sum / own.length]
  })
  return perSet.reduce((sum, value) => sum + value, 0) / Math.max(1, perSet.length)
}

function caseScore(
  { candidates, gold, goldSessions }: Case,
  metrics: (typeof SETS)[number]['metrics'],
  weights: Evidence,
): number {
  const ranked = candidates
    .map((candidate) => ({ candidate, score: scoreOf(candidate.evidence, weights) }))
    .sort((a, b) => b.score - a.score)
    .map(({ candidate }) => candidate)
  const turn = measure(
    ranked.map(({ id }) => id),
    gold,
  )
  const sessions = [...new Set(ranked.flatMap(({ session }) => session ?? []))]
  const session = goldSessions.size === 0 ? turn : measure(sessions, goldSessions)
  const values = metrics.map(([level, metric]) => (level === 'turn' ? turn : session)[metric])
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function scoreOf(evidence: Evidence, weights: Evidence): number {
  let score = 0
  for (const kind of KINDS) score += weights[kind] * evidence[kind]
  return score
}

function weightTable(fitted: Evidence): Table {
  return {
    title: 'Weights',
    columns: ['evidence', 'present', 'fitted'],
    rows: KINDS.map((kind) => [kind, EVIDENCE_WEIGHTS[kind].toFixed(2), fitted[kind].toFixed(2)]),
  }
}

function objectiveTable(
  cases: readonly Case[],
  fitted: Evidence,
  presentHeldOut: number,
  fittedHeldOut: number,
): Table {
  return {
    title: `Mean of the headline metrics, ${cases.length} questions`,
    columns: ['weights', 'mean'],
    rows: [
      ['present', objective(cases, EVIDENCE_WEIGHTS).toFixed(4)],
      ['fitted', objective(cases, fitted).toFixed(4)],
      ['present, mean over the quarters', presentHeldOut.toFixed(4)],
      ['fitted without the measured quarter', fittedHeldOut.toFixed(4)],
    ],
  }
}
