/** Maximal marginal relevance: of memories that say the same, one is enough. */
import { listSearchTerms } from '../../domain/searchable-text.ts'
import { addTrailStep, type LoadedCandidate } from './candidate.ts'

/**
 * Reorders so that each next one is good and unlike those before it. `lambda` 1 keeps the order. Likeness is the
 * share of common terms, which every script has.
 *
 * Candidates come best first, but not all on one scale: behind those that a reranker judged stand those that it did
 * not. None counts for more than those before it.
 */
export function diversifyCandidates(
  candidates: readonly LoadedCandidate[],
  lambda: number,
): readonly LoadedCandidate[] {
  if (lambda >= 1 || candidates.length < 2) return candidates
  const relevances = normalizeScores(candidates)
  const left = candidates.map((candidate, position) => ({
    candidate,
    relevance: relevances[position] ?? 0,
    terms: new Set(listSearchTerms(candidate.memory)),
    /** How much it is like the one chosen so far that it is most like. */
    likeness: 0,
  }))
  const chosen: LoadedCandidate[] = []
  while (left.length > 0) {
    const worth = left.map(
      ({ relevance, likeness }) => lambda * relevance - (1 - lambda) * likeness,
    )
    const position = worth.indexOf(Math.max(...worth))
    const [next] = left.splice(position, 1)
    if (next === undefined) break
    const note = next.likeness > 0 ? `${Math.round(next.likeness * 100)} % like one above` : 'new'
    // The score keeps its meaning; only the order changes.
    chosen.push(addTrailStep(next.candidate, 'diversity', next.candidate.score, note))
    for (const other of left) {
      other.likeness = Math.max(other.likeness, computeSimilarity(other.terms, next.terms))
    }
  }
  return chosen
}

/** 1 for the first, 0 for the last. */
function normalizeScores(candidates: readonly LoadedCandidate[]): readonly number[] {
  let lowest = Number.POSITIVE_INFINITY
  const scores = candidates.map(({ score }) => {
    lowest = Math.min(lowest, score)
    return lowest
  })
  const best = scores[0] ?? 0
  return scores.map((score) => (best > lowest ? (score - lowest) / (best - lowest) : 1))
}

function computeSimilarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  let common = 0
  for (const term of few) if (many.has(term)) common++
  return common / (a.size + b.size - common)
}
