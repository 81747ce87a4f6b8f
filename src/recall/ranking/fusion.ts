/**
 * Fusion: combines the hits of keyword and vector search into one ranking.
 *
 * - `adaptive`: the weighted sum of all evidence, including the conversation around a hit (see `evidence.ts`).
 * - `rrf`: reciprocal rank fusion, the sum of 1 / (k + rank) over both rankings (Cormack, Clarke and Büttcher, 2009).
 * - `weighted`: the weighted sum of the normalized scores.
 */
import type { MemoryId } from '../../domain/ids.ts'
import type { Fusion } from '../../domain/settings/setting-choices.ts'
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
  /** The constant k of reciprocal rank fusion. */
  readonly rrfK: number
  /** The weight of vector scores in the weighted sum; keyword scores have the rest. */
  readonly vectorWeight: number
}

/**
 * The weights of the evidence. Rounded from a search over the development sets; near these values results change by a few
 * points at most. `npm run eval -- fit` searches for better ones and checks them on held-out conversations.
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
  /** Null when the retriever was skipped or failed. */
  readonly keyword: LexicalHits | null
  readonly vector: VectorHits | null
}

/** Scores the candidates, best first. */
export function fuseCandidates(
  candidates: readonly Candidate[],
  hits: RetrieverHits,
  options: FusionOptions,
): readonly Candidate[] {
  switch (options.fusion) {
    case 'adaptive':
      return scoreCandidates(candidates, ({ evidence }) => fuseAdaptive(evidence))
    case 'weighted':
      return scoreCandidates(
        candidates.filter(isHit),
        ({ evidence: { keyword, vector } }) =>
          (1 - options.vectorWeight) * keyword + options.vectorWeight * vector,
      )
    case 'rrf': {
      const rankings = [hits.keyword?.hits ?? [], hits.vector ?? []].map(rankHits)
      return scoreCandidates(candidates.filter(isHit), ({ id }) =>
        computeReciprocalRank(id, rankings, options.rrfK),
      )
    }
  }
}

type Ranking = ReadonlyMap<MemoryId, number>

function rankHits(hits: readonly { readonly id: MemoryId }[]): Ranking {
  return new Map(hits.map(({ id }, position) => [id, position + 1]))
}

function computeReciprocalRank(id: MemoryId, rankings: readonly Ranking[], k: number): number {
  return rankings.reduce((sum, ranking) => {
    const rank = ranking.get(id)
    return rank === undefined ? sum : sum + 1 / (k + rank)
  }, 0)
}

/** Adds the first trail steps: the scores of the retrievers and of fusion. Only candidates in the pool need them. */
export function addFusionTrail(
  candidates: readonly Candidate[],
  hits: RetrieverHits,
  { fusion }: FusionOptions,
): readonly Candidate[] {
  const lexicalHits = new Map((hits.keyword?.hits ?? []).map((hit) => [hit.id, hit]))
  const terms = hits.keyword?.terms ?? []
  return candidates.map((candidate) => {
    const { id, similarity, score, evidence } = candidate
    const trail: LazyStep[] = []
    const hit = lexicalHits.get(id)
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
  const matched = terms.filter((_, position) => (counts[position] ?? 0) > 0)
  return `${matched.length} of ${terms.length} words: ${matched.map(({ text }) => text).join(', ')}`
}

/** Whether a retriever returned the candidate. RRF and weighted sums cannot score mere neighbors of hits. */
function isHit({ coverage, similarity }: Candidate): boolean {
  return coverage > 0 || similarity !== null
}

function scoreCandidates(
  candidates: readonly Candidate[],
  scoreOf: (candidate: Candidate) => number,
): readonly Candidate[] {
  return candidates
    .map((candidate) => reviseCandidate(candidate, { score: scoreOf(candidate) }))
    .sort(compareByScore)
}

const KINDS = Object.keys(EVIDENCE_WEIGHTS) as (keyof Evidence)[] // the table's own keys

/** Written out in the order of the table, because the order of a sum determines its rounding. */
export function fuseAdaptive(evidence: Evidence): number {
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

/** The parts of an adaptive score, largest first. */
function describeContributions(evidence: Evidence): string {
  return KINDS.map((kind) => [kind, EVIDENCE_WEIGHTS[kind] * evidence[kind]] as const)
    .filter(([, part]) => part > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, part]) => `${kind} ${part.toFixed(2)}`)
    .join(', ')
}
