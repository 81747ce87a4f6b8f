/** Tables, floors and JSON of the end-to-end evaluation. */
import { percentile } from '../metrics.ts'
import { atLeast, atMost, type EvalReport, type Floor, type Table } from '../report.ts'
import { groupBy } from './conversations.ts'
import { explainTable } from './explanation.ts'
import { BUDGET, type Measurement, type QuestionOutcome } from './measure.ts'
import { ratio, type Share, scoreEvidence, scoreNewestFirst, scoreUnrelated } from './metrics.ts'
import { SMALL_TALK_KINDS, UNRELATED_KINDS } from './unrelated.ts'

type Measured = readonly (readonly [set: string, measurement: Measurement])[]

type Goal = Floor & { readonly goal: number; readonly isReached: boolean }

const UPDATE_CATEGORY = 'knowledge-update'
/** The unanswerable questions of LoCoMo. */
const ADVERSARIAL = '5'

/** At `BUDGET` tokens. */
const EVIDENCE_FLOORS: readonly {
  readonly set: string
  readonly metric: 'any' | 'all'
  readonly floor: number
  readonly goal: number
}[] = [
  { set: 'longmemeval-s', metric: 'any', floor: 0.9, goal: 0.97 },
  { set: 'longmemeval-s', metric: 'all', floor: 0.75, goal: 0.85 },
  { set: 'locomo', metric: 'any', floor: 0.8, goal: 0.88 },
  { set: 'locomo', metric: 'all', floor: 0.66, goal: 0.76 },
  { set: 'beam-100k', metric: 'any', floor: 0.62, goal: 0.72 },
]
const NEWEST_FIRST = { set: 'longmemeval-s', floor: 0.9, goal: 0.98 }
const UNRELATED = { ceiling: 0.2, goal: 0.05 }

export function toReport(measured: Measured, options: { readonly explain: boolean }): EvalReport {
  const goals = goalsOf(measured)
  const sets = Object.fromEntries(
    measured.map(([set, measurement]) => [set, setFigures(set, measurement)]),
  )
  const metrics = Object.fromEntries(goals.map(({ name, value }) => [name, value]))
  const floors = goals.map(({ name, value, floor, holds }) => ({ name, value, floor, holds }))
  return {
    eval: 'e2e',
    metrics,
    floors,
    json: { eval: 'e2e', metrics, floors, goals, sets },
    tables: [
      ...measured.flatMap(([set, measurement]) => [
        evidenceTable(set, measurement),
        otherTable(set, measurement),
      ]),
      goalTable(goals),
      ...(options.explain
        ? measured.map(([set, measurement]) => explainTable(set, measurement, isCounted(set)))
        : []),
    ],
  }
}

/** Answerable questions, which the floors are about. Others have their own rows. */
function isCounted(set: string): (outcome: QuestionOutcome) => boolean {
  return ({ query }) =>
    !query.isUnanswerable && !(set === 'locomo' && query.category === ADVERSARIAL)
}

function goalsOf(measured: Measured): readonly Goal[] {
  const at = new Map(
    measured.map(([set, { questions }]) => [
      set,
      questions.filter((outcome) => outcome.budget === BUDGET && isCounted(set)(outcome)),
    ]),
  )
  const evidence = EVIDENCE_FLOORS.flatMap(({ set, metric, floor, goal }): readonly Goal[] => {
    const outcomes = at.get(set) ?? []
    if (outcomes.length === 0) return []
    const value = scoreEvidence(outcomes)[metric]
    return [
      { ...atLeast(`${set} evidence ${metric}`, value, floor), goal, isReached: value >= goal },
    ]
  })
  const updates = (at.get(NEWEST_FIRST.set) ?? []).filter(isUpdate)
  const newest = scoreNewestFirst(updates)
  const { floor, goal } = NEWEST_FIRST
  const newestFirst: readonly Goal[] =
    newest.of === 0
      ? []
      : [
          {
            ...atLeast(`${NEWEST_FIRST.set} newest first`, ratio(newest), floor),
            goal,
            isReached: ratio(newest) >= goal,
          },
        ]
  const unrelated = measured.flatMap(([, measurement]) => measurement.unrelated)
  const answered = scoreUnrelated({ unrelated }, UNRELATED_KINDS)
  const abstention: readonly Goal[] =
    answered.of === 0
      ? []
      : [
          {
            ...atMost('unrelated questions with a block', ratio(answered), UNRELATED.ceiling),
            goal: UNRELATED.goal,
            isReached: ratio(answered) <= UNRELATED.goal,
          },
        ]
  return [...evidence, ...newestFirst, ...abstention]
}

function isUpdate({ query }: QuestionOutcome): boolean {
  return query.category === UPDATE_CATEGORY
}

type Row = { readonly name: string; readonly outcomes: readonly QuestionOutcome[] }

/** All answerable questions, then each category, then the unanswerable ones. */
function rowsOf(set: string, { questions }: Measurement): readonly Row[] {
  const counted = questions.filter(isCounted(set))
  const apart = questions.filter((outcome) => !isCounted(set)(outcome))
  const byCategory = (outcomes: readonly QuestionOutcome[], suffix: string) =>
    [...groupBy(outcomes, ({ query }) => query.category)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([category, some]) => ({ name: `${category}${suffix}`, outcomes: some }))
  return [
    { name: 'all', outcomes: counted },
    ...byCategory(counted, ''),
    ...byCategory(apart, ' (no answer)'),
  ]
}

function budgetsOf({ questions }: Measurement): readonly number[] {
  return [...new Set(questions.map(({ budget }) => budget))].sort((a, b) => a - b)
}

function evidenceTable(set: string, measurement: Measurement): Table {
  const budgets = budgetsOf(measurement)
  const main = mainBudget(budgets)
  const cells = ({ outcomes }: Row) => {
    const at = (budget: number) =>
      scoreEvidence(outcomes.filter((outcome) => outcome.budget === budget))
    const { ownAny, ownAll, memoryOnly } = at(main)
    return [
      ...budgets.flatMap((budget) => {
        const { any, all, tokens } = at(budget)
        return [any.toFixed(3), all.toFixed(3), Math.round(tokens)]
      }),
      ...[ownAny.toFixed(3), ownAll.toFixed(3), memoryOnly],
    ]
  }
  return {
    title: `${set}: evidence in the block, by tokens`,
    columns: [
      ...['category', 'questions'],
      ...budgets.flatMap((budget) => [`any@${budget}`, `all@${budget}`, 'tokens used']),
      ...[`own any@${main}`, `own all@${main}`, `only memory@${main}`],
    ],
    rows: rowsOf(set, measurement)
      .filter((row) => questionsIn(row) > 0)
      .map((row) => [row.name, questionsIn(row), ...cells(row)]),
  }
}

function mainBudget(budgets: readonly number[]): number {
  return budgets.includes(BUDGET) ? BUDGET : (budgets[0] ?? BUDGET)
}

function questionsIn({ outcomes }: Row): number {
  return new Set(outcomes.filter(({ evidence }) => evidence.length > 0).map(({ query }) => query))
    .size
}

function otherTable(set: string, measurement: Measurement): Table {
  const { newestFirst, unrelated, smallTalk, unanswerable, kinds, about } = setFigures(
    set,
    measurement,
  )
  return {
    title: `${set}: order, abstention and time`,
    columns: ['', ''],
    rows: [
      ...Object.entries(newestFirst).map(([budget, share]) => [
        `newest first at ${budget}`,
        shown(share),
      ]),
      ['unrelated questions with a block', shown(unrelated)],
      ...Object.entries(kinds).map(([kind, share]) => [`  ${kind}`, shown(share)]),
      ['small talk and tasks with a block', shown(smallTalk)],
      ['questions without an answer, with a block', shown(unanswerable)],
      ['groups, turns', `${about.groups}, ${about.turns}`],
      ['writing and indexing', `${(about.writeMs / 1_000).toFixed(1)} s`],
      ['asking', `${(about.askMs / 1_000).toFixed(1)} s`],
      ['preparing a prompt, median and 95 %', `${about.prepareMs.p50} / ${about.prepareMs.p95} ms`],
      ['questions with a failed part of recall', about.degraded],
    ],
  }
}

function shown(share: Share): string {
  return `${share.count} of ${share.of} (${(100 * ratio(share)).toFixed(1)} %)`
}

/** The results of one set for `--json`. */
function setFigures(set: string, measurement: Measurement) {
  const { questions, unrelated, groups, turns, writeMs, askMs } = measurement
  const budgets = budgetsOf(measurement)
  const at = (outcomes: readonly QuestionOutcome[], budget: number) =>
    outcomes.filter((outcome) => outcome.budget === budget)
  const updates = questions.filter(isCounted(set)).filter(isUpdate)
  const main = mainBudget(budgets)
  const unanswerable = at(questions, main).filter(({ query }) => query.isUnanswerable)
  const contexts = [...questions, ...unrelated].map(({ context }) => context)
  const times = contexts.map(({ prepareMs }) => prepareMs)
  const rounded = (share: number) => Math.round(percentile(times, share) * 10) / 10
  return {
    categories: Object.fromEntries(
      rowsOf(set, measurement).map(({ name, outcomes }) => [
        name,
        Object.fromEntries(budgets.map((budget) => [budget, scoreEvidence(at(outcomes, budget))])),
      ]),
    ),
    newestFirst: Object.fromEntries(
      (updates.length === 0 ? [] : budgets).map((budget) => [
        budget,
        scoreNewestFirst(at(updates, budget)),
      ]),
    ),
    unrelated: scoreUnrelated(measurement, UNRELATED_KINDS),
    kinds: Object.fromEntries(
      UNRELATED_KINDS.map((kind) => [kind, scoreUnrelated(measurement, [kind])]),
    ),
    smallTalk: scoreUnrelated(measurement, SMALL_TALK_KINDS),
    unanswerable: {
      count: unanswerable.filter(({ context }) => context.items > 0).length,
      of: unanswerable.length,
    },
    about: {
      groups,
      turns,
      writeMs: Math.round(writeMs),
      askMs: Math.round(askMs),
      prepareMs: { p50: rounded(0.5), p95: rounded(0.95) },
      degraded: contexts.filter(({ degraded }) => degraded.length > 0).length,
    },
  }
}

function goalTable(goals: readonly Goal[]): Table {
  return {
    title: `Floors and goals at ${BUDGET} tokens`,
    columns: ['', 'measured', 'floor', 'goal', 'reached'],
    rows: goals.map(({ name, value, floor, holds, goal, isReached }) => [
      name,
      value.toFixed(3),
      floor,
      goal,
      isReached ? 'goal' : holds ? 'floor' : 'nothing',
    ]),
  }
}
