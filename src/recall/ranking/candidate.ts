/** Candidates with their evidence, and the trail of steps that explains their scores. */
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

/** What a stage did to the score of a candidate. */
export type TrailStep = {
  readonly stage: RankingStage
  /** The score after this stage; for a retriever, its own score. */
  readonly score: number
  /** The explanation, for people. */
  readonly note?: string
}

/** A step whose note is rendered on demand, because few of the candidates are returned. */
export type LazyStep = Omit<TrailStep, 'note'> & { readonly note?: string | (() => string) }

export function renderTrail(trail: readonly LazyStep[]): readonly TrailStep[] {
  return trail.map(({ stage, score, note }) =>
    note === undefined
      ? { stage, score }
      : { stage, score, note: typeof note === 'string' ? note : note() },
  )
}

/** The evidence for a candidate, each kind 0 … 1, relative to the best candidate of the question. */
export type Evidence = {
  /** Keyword score. */
  readonly keyword: number
  /** Vector score. */
  readonly vector: number
  /** Keyword score of the adjacent turns. */
  readonly context: number
  /** Keyword score of the session. */
  readonly session: number
  /** Vector score of the session: the mean of its closest memories. */
  readonly thread: number
  /** Vector score of the next turn: an answer reveals the subject of its question. */
  readonly reply: number
  /** Whether the question names the speaker. */
  readonly speaker: number
  /** Proximity to the time that the question names. */
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
  /** 0 … 1: the share of the question's terms in the memory, and in its context window. */
  readonly coverage: number
  readonly contextCoverage: number
  /** Inner product with the question: of the memory, and the best of its context window; null when unknown. */
  readonly similarity: number | null
  readonly contextSimilarity: number | null
  readonly trail: readonly LazyStep[]
}

/** A candidate that no retriever returned. */
export function createEmptyCandidate(id: MemoryId): Candidate {
  return {
    id,
    score: 0,
    evidence: NO_EVIDENCE,
    coverage: 0,
    contextCoverage: 0,
    similarity: null,
    contextSimilarity: null,
    trail: [],
  }
}

export type LoadedCandidate = Candidate & { readonly memory: SearchDocument }

type CandidateChange = Partial<Omit<Candidate, 'id' | 'coverage' | 'contextCoverage'>>

/** Copies a candidate with changes. Fields are listed one by one, because spreading took a third of the time of a recall. */
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
  } as Candidate as C // all fields of both types
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

/** Sets a new score and records the step that gave it. */
export function addTrailStep<C extends Candidate>(
  candidate: C,
  stage: RankingStage,
  score: number,
  note?: LazyStep['note'],
): C {
  const step: LazyStep = note === undefined ? { stage, score } : { stage, score, note }
  return reviseCandidate(candidate, { score, trail: [...candidate.trail, step] })
}

/** Best first; of equal scores the newest, so that the order is deterministic. */
export function compareByScore(
  a: Pick<Candidate, 'id' | 'score'>,
  b: Pick<Candidate, 'id' | 'score'>,
): number {
  return b.score - a.score || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
}
