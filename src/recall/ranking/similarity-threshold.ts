/**
 * When nothing fits, the answer is nothing.
 *
 * A list of nearest memories always has a first one, however far it is. Whether that is near enough can't be told from
 * the similarity alone: every model has its own band of them, and the best of many unrelated texts is closer than the
 * best of few. So a model is calibrated once with texts that have nothing to do with each other, and 1 is what the best
 * of as many unrelated memories as there are would reach by chance.
 */
import { isTurnId } from '../../domain/search-document.ts'
import { addTrailStep, type Candidate } from './candidate.ts'

/** The similarities that a model gives to questions and texts that are unrelated. */
export type SimilarityCalibration = {
  readonly mean: number
  readonly deviation: number
}

export type ThresholdOptions = {
  /** What the best must reach for there to be an answer. */
  readonly minTopSimilarity: number
  /** What each must reach to be part of it. */
  readonly minSimilarity: number
}

/** Whether a turn need not be nearer than a fact to be an answer. */
export type IsEased<C> = (candidate: C) => boolean

/** Words that say this much of the question are an answer, whatever a model thinks. */
export const CERTAIN_COVERAGE = 0.7
/**
 * People say a great deal that is a little like any question, while a fact was worth keeping: a turn must be so much nearer,
 * and hold more of the words. Chosen on the development sets of `npm run eval -- e2e`: of questions that the conversations
 * answer 98 to 99 % pass, of others about 5 %.
 */
const TURN_FLOOR_FACTOR = 1.6
const TURN_CERTAIN_COVERAGE = 0.9
/** Where there is no vector, the share of the question that must be found, there and around. */
const KEYWORD_ANSWER_COVERAGE = 0.1
const KEYWORD_MEMBER_COVERAGE = 0.05

/** How near a similarity is, see `closenessAmong`; null when there are no vectors. */
export type SimilarityScale = ((similarity: number) => number) | null

/**
 * Those that are near enough, or none when even the best is not. The more of the question's words a memory holds, the
 * less near it must be; one without a vector is judged by its words alone, and one from the very time that is asked about
 * is part of the answer anyhow.
 */
export function filterBySimilarity<C extends Candidate>(
  candidates: readonly C[],
  closeness: SimilarityScale,
  options: ThresholdOptions,
  isEased: IsEased<C> = () => false,
): readonly C[] {
  const reaches = (floor: number, coverageMin: number, turnFactor: number) => (candidate: C) => {
    const { id, coverage, contextCoverage, contextSimilarity, evidence } = candidate
    const certain = isTurnId(id) ? TURN_CERTAIN_COVERAGE : CERTAIN_COVERAGE
    if (floor === 0 || coverage >= certain || evidence.time === 1) return true
    const isDistant = turnFactor > 1 && isTurnId(id) && !isEased(candidate)
    const least = isDistant ? floor * turnFactor : floor
    return closeness === null || contextSimilarity === null
      ? contextCoverage >= coverageMin
      : closeness(contextSimilarity) >= least * (1 - (coverage / certain) ** 2)
  }
  const isAnswer = reaches(options.minTopSimilarity, KEYWORD_ANSWER_COVERAGE, TURN_FLOOR_FACTOR)
  if (!candidates.some(isAnswer)) return []
  return candidates
    .filter(reaches(options.minSimilarity, KEYWORD_MEMBER_COVERAGE, 1))
    .map((candidate) =>
      addTrailStep(candidate, 'threshold', candidate.score, () =>
        describeSimilarity(candidate, closeness),
      ),
    )
}

/** In words: how near it is, by what it was judged. */
function describeSimilarity(candidate: Candidate, closeness: SimilarityScale): string {
  const { contextCoverage, contextSimilarity } = candidate
  return closeness === null || contextSimilarity === null
    ? `${Math.round(contextCoverage * 100)} % of the words`
    : `closeness ${closeness(contextSimilarity).toFixed(2)}`
}

/** Beyond so many, more memories are more of the same subjects, and the best unrelated one gets no nearer. */
export const SUBJECTS_MAX = 100

/**
 * How far a similarity stands out among `memories` of them: 0 as any unrelated text, 1 as the best of so many of them.
 * The largest of n normal values is about √(2 ln n) deviations above their mean.
 */
export function createSimilarityScale(
  memories: number,
  { mean, deviation }: SimilarityCalibration,
): (similarity: number) => number {
  const reach =
    deviation * Math.sqrt(2 * Math.log(Math.min(Math.max(2, memories), SUBJECTS_MAX) + 1))
  return (similarity) => (similarity - mean) / reach
}
