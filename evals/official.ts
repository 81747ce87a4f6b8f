/**
 * LongMemEval by the definition of its authors: only what the user said is indexed, and only questions count whose
 * evidence the user gave. Those that have no answer, or one that only the assistant gave, are skipped.
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
