/**
 * The similarity threshold: recall abstains when nothing is relevant.
 *
 * Nearest-neighbor search always returns a best hit. Raw similarity cannot tell whether it is relevant: every model has its
 * own range, and the best of many unrelated texts is closer than the best of few. Models are therefore calibrated with
 * unrelated texts, and on the calibrated scale 1 is what the best of as many unrelated memories reaches by chance.
 */
import { isTurnId } from '../../domain/search-document.ts'
import { addTrailStep, type Candidate } from './candidate.ts'

/** The distribution of a model's similarities between unrelated questions and texts. */
export type SimilarityCalibration = {
  readonly mean: number
  readonly deviation: number
}

export type ThresholdOptions = {
  /** The minimum for the best candidate; otherwise recall returns nothing. */
  readonly minTopSimilarity: number
  /** The minimum for every further candidate. */
  readonly minSimilarity: number
}

/** Whether the lower thresholds of facts apply to a turn. */
type IsRelaxed<C> = (candidate: C) => boolean

/** A candidate with this share of the question's terms passes, whatever its similarity. */
export const CERTAIN_COVERAGE = 0.7
/**
 * Conversations contain much that is slightly similar to any question, so turns need a higher similarity and coverage than
 * facts. Chosen on the development sets of `npm run eval -- e2e`: 98 to 99 % of answerable questions pass, and about 5 % of
 * the others.
 */
const TURN_THRESHOLD_FACTOR = 1.6
const TURN_CERTAIN_COVERAGE = 0.9
/** Without vectors: the minimum share of the question's terms in the context window. */
const KEYWORD_TOP_COVERAGE = 0.1
const KEYWORD_COVERAGE = 0.05

/** Maps similarities to the calibrated scale, see `createSimilarityScale`; null without vectors. */
type SimilarityScale = ((similarity: number) => number) | null

/**
 * The candidates above the threshold, or none when even the best is below it. The more of the question's terms a candidate
 * contains, the lower its threshold; without a vector, coverage alone decides. Candidates from the time that the question
 * names always pass.
 */
export function filterBySimilarity<C extends Candidate>(
  candidates: readonly C[],
  scale: SimilarityScale,
  options: ThresholdOptions,
  isRelaxed: IsRelaxed<C> = () => false,
): readonly C[] {
  const passes = (min: number, coverageMin: number, turnFactor: number) => (candidate: C) => {
    const { id, coverage, contextCoverage, contextSimilarity, evidence } = candidate
    const certain = isTurnId(id) ? TURN_CERTAIN_COVERAGE : CERTAIN_COVERAGE
    if (min === 0 || coverage >= certain || evidence.time === 1) return true
    const isStrict = turnFactor > 1 && isTurnId(id) && !isRelaxed(candidate)
    const threshold = isStrict ? min * turnFactor : min
    return scale === null || contextSimilarity === null
      ? contextCoverage >= coverageMin
      : scale(contextSimilarity) >= threshold * (1 - (coverage / certain) ** 2)
  }
  const isAnswer = passes(options.minTopSimilarity, KEYWORD_TOP_COVERAGE, TURN_THRESHOLD_FACTOR)
  if (!candidates.some(isAnswer)) return []
  return candidates
    .filter(passes(options.minSimilarity, KEYWORD_COVERAGE, 1))
    .map((candidate) =>
      addTrailStep(candidate, 'threshold', candidate.score, () =>
        describeSimilarity(candidate, scale),
      ),
    )
}

function describeSimilarity(candidate: Candidate, scale: SimilarityScale): string {
  const { contextCoverage, contextSimilarity } = candidate
  return scale === null || contextSimilarity === null
    ? `${Math.round(contextCoverage * 100)} % of the words`
    : `similarity ${scale(contextSimilarity).toFixed(2)}`
}

/** Further memories repeat the subjects of these, and the best unrelated one gets no closer. */
export const SUBJECTS_MAX = 100

/**
 * The calibrated scale for a number of memories: 0 is the similarity of any unrelated text, 1 that of the best of so many.
 * The largest of n normal values lies about √(2 ln n) deviations above their mean.
 */
export function createSimilarityScale(
  memories: number,
  { mean, deviation }: SimilarityCalibration,
): (similarity: number) => number {
  const range =
    deviation * Math.sqrt(2 * Math.log(Math.min(Math.max(2, memories), SUBJECTS_MAX) + 1))
  return (similarity) => (similarity - mean) / range
}
