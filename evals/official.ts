/**
 * LongMemEval as its authors define it: only user turns are indexed, and only questions with evidence in user turns count.
 * Unanswerable questions and those with evidence of the assistant alone are skipped.
 */
import type { EvalSet } from './datasets.ts'

export function officialPart({ documents, queries }: EvalSet): EvalSet {
  const said = documents.filter(({ speaker }) => speaker === 'user')
  const ids = new Set(said.map(({ id }) => id))
  return {
    documents: said,
    queries: queries.flatMap((query) => {
      const gold = query.gold.filter((id) => ids.has(id))
      // Sessions count by what the user said in them, so they are those of the evidence that is left.
      return query.isUnanswerable || gold.length === 0 ? [] : [{ ...query, gold, goldSessions: [] }]
    }),
  }
}
