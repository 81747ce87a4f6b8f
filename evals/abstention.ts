/** Abstention: whether unanswerable questions get no results, and how often answerable ones lose theirs. */
import { type EvalQuery, hasGold } from './datasets.ts'
import { UNRELATED_QUESTIONS } from './unrelated.ts'

export type Abstention = {
  /** Questions about unrelated subjects that got results. */
  readonly unrelatedAnswered: number
  readonly unrelatedAsked: number
  /** Questions that the set marks as unanswerable. */
  readonly unanswerableAnswered: number
  readonly unanswerableAsked: number
  /** Questions with evidence that got no results. */
  readonly relatedUnanswered: number
  readonly relatedAsked: number
  /** The share of answerable questions among those of the set that got results; null when all are answerable. */
  readonly precision: number | null
}

const GROUPS_ASKED = 10

export async function measureAbstention(
  answers: (group: string, question: string) => Promise<boolean>,
  queries: readonly EvalQuery[],
): Promise<Abstention> {
  const groups = [...new Set(queries.map(({ group }) => group))].slice(0, GROUPS_ASKED)
  let unrelatedAnswered = 0
  for (const group of groups) {
    for (const text of UNRELATED_QUESTIONS) if (await answers(group, text)) unrelatedAnswered++
  }
  const answered = new Set<EvalQuery>()
  const own = queries.filter((query) => query.isUnanswerable || hasGold(query))
  for (const query of own) if (await answers(query.group, query.question)) answered.add(query)
  const unanswerable = own.filter(({ isUnanswerable }) => isUnanswerable)
  const related = own.filter(hasGold)
  const unanswerableAnswered = unanswerable.filter((query) => answered.has(query)).length
  return {
    unrelatedAnswered,
    unrelatedAsked: groups.length * UNRELATED_QUESTIONS.length,
    unanswerableAnswered,
    unanswerableAsked: unanswerable.length,
    relatedUnanswered: related.filter((query) => !answered.has(query)).length,
    relatedAsked: related.length,
    precision:
      unanswerable.length === 0 ? null : 1 - unanswerableAnswered / Math.max(1, answered.size),
  }
}

export function abstentionRows(
  abstention: Abstention,
): readonly (readonly [what: string, share: string])[] {
  const share = (part: number, whole: number) =>
    `${part} of ${whole} (${((100 * part) / Math.max(1, whole)).toFixed(1)} %)`
  const { unanswerableAnswered, unanswerableAsked, precision } = abstention
  return [
    [
      'unrelated questions answered',
      share(abstention.unrelatedAnswered, abstention.unrelatedAsked),
    ],
    [
      'questions with an answer that got none',
      share(abstention.relatedUnanswered, abstention.relatedAsked),
    ],
    ...(precision === null
      ? []
      : ([
          ['questions without an answer answered', share(unanswerableAnswered, unanswerableAsked)],
          ['answered questions that have an answer', `${(100 * precision).toFixed(1)} %`],
        ] as const)),
  ]
}
