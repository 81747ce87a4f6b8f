/** Diversity by maximal marginal relevance (MMR): memories that repeat better ones move down. */
import { listSearchTerms } from '../../domain/searchable-text.ts'
import { addTrailStep, type LoadedCandidate } from './candidate.ts'

/**
 * Reorders candidates so that each next one is relevant and unlike the ones before it. `lambda` 1 keeps the order. The
 * similarity is the Jaccard index of the terms, which works for every script.
 *
 * Candidates come best first, but on two scales when a reranker scored only some; no candidate counts more than one before
 * it.
 */
export function diversifyCandidates(
  candidates: readonly LoadedCandidate[],
  lambda: number,
): readonly LoadedCandidate[] {
  if (lambda >= 1 || candidates.length < 2) return candidates
  const relevances = normalizeScores(candidates)
  const remaining = candidates.map((candidate, position) => ({
    candidate,
    relevance: relevances[position] ?? 0,
    terms: new Set(listSearchTerms(candidate.memory)),
    /** The highest similarity to a selected candidate. */
    similarity: 0,
  }))
  const selected: LoadedCandidate[] = []
  while (remaining.length > 0) {
    const scores = remaining.map(
      ({ relevance, similarity }) => lambda * relevance - (1 - lambda) * similarity,
    )
    const position = scores.indexOf(Math.max(...scores))
    const [next] = remaining.splice(position, 1)
    if (next === undefined) break
    const percent = Math.round(next.similarity * 100)
    const note = next.similarity > 0 ? `${percent} % similar to one above` : 'new'
    // MMR changes the order only, not the score.
    selected.push(addTrailStep(next.candidate, 'diversity', next.candidate.score, note))
    for (const other of remaining) {
      other.similarity = Math.max(other.similarity, computeJaccard(other.terms, next.terms))
    }
  }
  return selected
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

function computeJaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  let common = 0
  for (const term of few) if (many.has(term)) common++
  return common / (a.size + b.size - common)
}
