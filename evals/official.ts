/**
 * LongMemEval as its authors define it: only user turns are indexed, and only questions with evidence in user turns count.
 * Unanswerable questions and those with evidence only from the assistant are skipped.
 */
import type { EvalSet } from './datasets.ts'

export function officialPart({ documents, queries }: EvalSet): EvalSet {
  const userDocuments = documents.filter(({ speaker }) => speaker === 'user')
  const ids = new Set(userDocuments.map(({ id }) => id))
  return {
    documents: userDocuments,
    queries: queries.flatMap((query) => {
      const gold = query.gold.filter((id) => ids.has(id))
      // Sessions count by their user turns, so they are those of the remaining evidence.
      return query.isUnanswerable || gold.length === 0 ? [] : [{ ...query, gold, goldSessions: [] }]
    }),
  }
}
