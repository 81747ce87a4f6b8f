/** What ranking works on: candidates that collect evidence, and the steps that tell how each got its score. */
import type { MemoryId } from '../../domain/ids.ts'
import type { SearchDocument } from '../../domain/search-document.ts'

export const RANKING_STAGES = [
  'keyword',
  'vector',
  'fusion',
  'question-match',
  'boost',
  'rerank',
  'diversity',
  'threshold',
  'recent',
] as const
export type RankingStage = (typeof RANKING_STAGES)[number]

/** One stage's word on a candidate, in the order in which they spoke. */
export type TrailStep = {
  readonly stage: RankingStage
  /** What the score was after this stage; of a leg, the score that the leg gave. */
  readonly score: number
  /** Why, in words for a person. */
  readonly note?: string
}

/** A step whose words are made when they are told: of a hundred candidates, only a few are shown. */
export type LazyStep = Omit<TrailStep, 'note'> & { readonly note?: string | (() => string) }

export function renderTrail(trail: readonly LazyStep[]): readonly TrailStep[] {
  return trail.map(({ stage, score, note }) =>
    note === undefined
      ? { stage, score }
      : { stage, score, note: typeof note === 'string' ? note : note() },
  )
}

/** What speaks for a candidate, each from 0 to 1. Relative to the best candidate of the same question. */
export type Evidence = {
  /** Its own words. */
  readonly keyword: number
  /** Its own meaning. */
  readonly vector: number
  /** The words of what was said right before and after. */
  readonly context: number
  /** The words of the whole session. */
  readonly session: number
  /** How much of the session is close in meaning. */
  readonly thread: number
  /** The meaning of what was said next: an answer shows what its question was about. */
  readonly reply: number
  /** Whether the one who said it is asked about. */
  readonly speaker: number
  /** How near it is to the time that is asked about. */
  readonly time: number
}

export const NO_EVIDENCE: Evidence = {
  keyword: 0,
  vector: 0,
  context: 0,
  session: 0,
  thread: 0,
  reply: 0,
  speaker: 0,
  time: 0,
}

export type Candidate = {
  readonly id: MemoryId
  readonly score: number
  readonly evidence: Evidence
  /** 0 … 1 of the question's words, in the memory and in what stands around it. */
  readonly coverage: number
  readonly contextCoverage: number
  /** Inner product with the question, of the memory and the best of what stands around it; null when not known. */
  readonly similarity: number | null
  readonly contextSimilarity: number | null
  readonly trail: readonly LazyStep[]
}

export type LoadedCandidate = Candidate & { readonly memory: SearchDocument }

type CandidateChange = Partial<Omit<Candidate, 'id' | 'coverage' | 'contextCoverage'>>

/**
 * The candidate with other values. Each is named, so that all candidates are objects of one shape: spreading them took a
 * third of the time of a question.
 */
export function reviseCandidate<C extends Candidate | LoadedCandidate>(
  candidate: C,
  revision: CandidateChange,
): C {
  return {
    id: candidate.id,
    score: revision.score ?? candidate.score,
    evidence: revision.evidence ?? candidate.evidence,
    coverage: candidate.coverage,
    contextCoverage: candidate.contextCoverage,
    similarity: revision.similarity ?? candidate.similarity,
    contextSimilarity: revision.contextSimilarity ?? candidate.contextSimilarity,
    trail: revision.trail ?? candidate.trail,
    memory: 'memory' in candidate ? candidate.memory : undefined,
  } as Candidate as C // all that either has
}

export function attachDocument(candidate: Candidate, memory: SearchDocument): LoadedCandidate {
  return {
    id: candidate.id,
    score: candidate.score,
    evidence: candidate.evidence,
    coverage: candidate.coverage,
    contextCoverage: candidate.contextCoverage,
    similarity: candidate.similarity,
    contextSimilarity: candidate.contextSimilarity,
    trail: candidate.trail,
    memory,
  }
}

/** The candidate with a new score, and the step that gave it. */
export function addTrailStep<C extends Candidate>(
  candidate: C,
  stage: RankingStage,
  score: number,
  note?: LazyStep['note'],
): C {
  const step: LazyStep = note === undefined ? { stage, score } : { stage, score, note }
  return reviseCandidate(candidate, { score, trail: [...candidate.trail, step] })
}

/** Best first; equal ones newest first, so that the order never depends on chance. */
export function compareByScore(
  a: Pick<Candidate, 'id' | 'score'>,
  b: Pick<Candidate, 'id' | 'score'>,
): number {
  return b.score - a.score || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
}
