/** Joins what the legs found into one order. */
import type { Fusion } from '../../domain/settings/recall-modes.ts'
import {
  type Candidate,
  compareByScore,
  type Evidence,
  type LazyStep,
  reviseCandidate,
} from './candidate.ts'
import type { LexicalHits, VectorHits } from './evidence.ts'

export type FusionOptions = {
  readonly fusion: Fusion
  /** Of reciprocal rank fusion: how little the first ranks stand out. */
  readonly rrfK: number
  /** Of the weighted sum: how much meaning counts against words. */
  readonly vectorWeight: number
}

/**
 * How much each kind of evidence counts. Chosen by hand near what a search over the development sets found, and rounded:
 * around these values the sets change by a few points at most. `npm run eval -- fit` looks for better ones, and tells
 * whether they hold on conversations that were held out.
 */
export const EVIDENCE_WEIGHTS: Evidence = {
  keyword: 0.45,
  vector: 0.33,
  context: 0.2,
  session: 0.12,
  thread: 0.1,
  reply: 0.1,
  speaker: 0.25,
  time: 0.3,
}

export type RetrieverHits = {
  /** Null when the leg was not asked or did not answer. */
  readonly keyword: LexicalHits | null
  readonly vector: VectorHits | null
}

/** The candidates, best first. */
export function fuseCandidates(
  candidates: readonly Candidate[],
  legs: RetrieverHits,
  options: FusionOptions,
): readonly Candidate[] {
  switch (options.fusion) {
    case 'adaptive':
      return scoreTopCandidates(candidates, ({ evidence }) => fuseAdaptive(evidence))
    case 'weighted':
      return scoreTopCandidates(
        candidates.filter(isHit),
        ({ evidence: { keyword, vector: meaning } }) =>
          (1 - options.vectorWeight) * keyword + options.vectorWeight * meaning,
      )
    case 'rrf': {
      const ranks = [legs.keyword?.hits ?? [], legs.vector ?? []].map(
        (hits) => new Map(hits.map(({ id }, position) => [id, position + 1])),
      )
      return scoreTopCandidates(candidates.filter(isHit), ({ id }) =>
        ranks.reduce((sum, rank) => {
          const position = rank.get(id)
          return position === undefined ? sum : sum + 1 / (options.rrfK + position)
        }, 0),
      )
    }
  }
}

/**
 * Writes the first steps of the trail: what each leg said, and what came of it. Apart from fusing, because only the
 * few that stay in the running need them.
 */
export function addFusionTrail(
  candidates: readonly Candidate[],
  legs: RetrieverHits,
  { fusion }: FusionOptions,
): readonly Candidate[] {
  const hits = new Map((legs.keyword?.hits ?? []).map((hit) => [hit.id, hit]))
  const terms = legs.keyword?.terms ?? []
  return candidates.map((candidate) => {
    const { id, similarity, score, evidence } = candidate
    const trail: LazyStep[] = []
    const hit = hits.get(id)
    if (hit !== undefined) {
      trail.push({
        stage: 'keyword',
        score: hit.score,
        note: () => describeMatchedTerms(hit, terms),
      })
    }
    if (similarity !== null) trail.push({ stage: 'vector', score: similarity })
    const note = fusion === 'adaptive' ? { note: () => describeContributions(evidence) } : {}
    trail.push({ stage: 'fusion', score, ...note })
    return reviseCandidate(candidate, { trail })
  })
}

function describeMatchedTerms(
  { counts }: LexicalHits['hits'][number],
  terms: LexicalHits['terms'],
): string {
  const found = terms.filter((_, position) => (counts[position] ?? 0) > 0)
  return `${found.length} of ${terms.length} words: ${found.map(({ text }) => text).join(', ')}`
}

/** The two classical ways know only hits: a neighbour that no leg found is not for them. */
function isHit({ coverage, similarity }: Candidate): boolean {
  return coverage > 0 || similarity !== null
}

function scoreTopCandidates(
  candidates: readonly Candidate[],
  scoreOf: (candidate: Candidate) => number,
): readonly Candidate[] {
  return candidates
    .map((candidate) => reviseCandidate(candidate, { score: scoreOf(candidate) }))
    .sort(compareByScore)
}

const KINDS = Object.keys(EVIDENCE_WEIGHTS) as (keyof Evidence)[] // the table's own keys

/** In the order of the table, because the order of a sum decides its last digit. */
function fuseAdaptive(evidence: Evidence): number {
  const weights = EVIDENCE_WEIGHTS
  return (
    weights.keyword * evidence.keyword +
    weights.vector * evidence.vector +
    weights.context * evidence.context +
    weights.session * evidence.session +
    weights.thread * evidence.thread +
    weights.reply * evidence.reply +
    weights.speaker * evidence.speaker +
    weights.time * evidence.time
  )
}

/** What the score was made of, most first. */
function describeContributions(evidence: Evidence): string {
  return KINDS.map((kind) => [kind, EVIDENCE_WEIGHTS[kind] * evidence[kind]] as const)
    .filter(([, part]) => part > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, part]) => `${kind} ${part.toFixed(2)}`)
    .join(', ')
}
