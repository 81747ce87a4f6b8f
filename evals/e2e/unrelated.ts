/** Selects questions that the conversations of a set cannot answer. */
import { createHash } from 'node:crypto'
import type { EvalQuery } from '../datasets.ts'
import { SMALL_TALK, UNRELATED_QUESTIONS } from '../unrelated.ts'
import type { UnrelatedKind, UnrelatedQuestion } from './measure.ts'

const QUESTIONS_MAX = 20
/** Categories that any user's memories may help with: advice, wishes for the answer, and "what did I do so far". */
const BROAD_CATEGORIES: ReadonlyMap<string, readonly string[]> = new Map([
  ['locomo', ['3', '5']],
  ['longmemeval-s', ['single-session-preference']],
  [
    'beam-100k',
    [
      ...['abstention', 'event_ordering', 'instruction_following', 'preference_following'],
      'summarization',
    ],
  ],
])

/** The questions that are specific to a set. */
export function specificQuestions(set: string, queries: readonly EvalQuery[]): readonly string[] {
  const broad = BROAD_CATEGORIES.get(set) ?? []
  return queries
    .filter(({ category, isUnanswerable }) => !isUnanswerable && !broad.includes(category))
    .map(({ question }) => question)
}

export const UNRELATED_KINDS = [
  'general',
  'claims',
  'other sets',
] as const satisfies readonly UnrelatedKind[]
export const SMALL_TALK_KINDS = ['small talk'] as const satisfies readonly UnrelatedKind[]

/** Own questions, scientific claims, and questions about the conversations of other sets. */
export function pickUnrelated({
  claims,
  otherSets,
}: {
  readonly claims: readonly string[]
  readonly otherSets: readonly (readonly string[])[]
}): readonly UnrelatedQuestion[] {
  const each = Math.floor(QUESTIONS_MAX / Math.max(1, otherSets.length))
  const of = (kind: UnrelatedKind) => (text: string) => ({ kind, text })
  return [
    ...UNRELATED_QUESTIONS.map(of('general')),
    ...pick(claims, QUESTIONS_MAX).map(of('claims')),
    ...otherSets.flatMap((questions) => pick(questions, each)).map(of('other sets')),
    ...SMALL_TALK.map(of('small talk')),
  ]
}

/** A deterministic sample. */
function pick(texts: readonly string[], count: number): readonly string[] {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  return texts.toSorted((a, b) => (hash(a) < hash(b) ? -1 : 1)).slice(0, count)
}
