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

export type ThresholdRules<C> = {
  /** Whether a candidate was said rather than stored on purpose: turns, and clauses that patterns copied from them. */
  readonly isSaid?: (candidate: C) => boolean
  /** Whether a candidate is likelier to be relevant than its text shows, for example because it names who is asked about. */
  readonly isFavored?: (candidate: C) => boolean
  /** Whether the question has no subject but a time, so that whatever is from that time answers it. */
  readonly asksOnlyForTime?: boolean
  /** Whether the question asks for a common fact about the user, whose answers share few words with it. */
  readonly asksForCommonFact?: boolean
  /** Whether words alone are enough, because the model does not know the language. */
  readonly acceptsKeywords?: boolean
}

/** A candidate with this share of the question's terms passes, whatever its similarity. */
export const CERTAIN_COVERAGE = 0.7
const SAID_CERTAIN_COVERAGE = 0.9
/** Without vectors: the minimum share of the question's terms in the context window. */
const KEYWORD_TOP_COVERAGE = 0.05
const KEYWORD_COVERAGE = 0.03

/**
 * What was said in conversations is judged by similarity and words together. Each weight is in units of the calibrated
 * scale. Chosen on the development sets of `npm run eval -- e2e`: the minimum of large stores costs about one percent of the
 * answers, and less than five percent of the questions without an answer reach it.
 */
const COVERAGE_WEIGHT = 2
/** What words in the turns around a turn count. */
const NEIGHBOR_SHARE = 0.9
const FAVORED_WEIGHT = 0.4
const TIME_WEIGHT = 0.6
/** The minimum of a large store, as a multiple of that of a small one: much was said that is slightly similar to anything. */
const LARGE_STORE_FACTOR = 2.1
const LARGE_STORE_KEYWORD_FACTOR = 6
const SMALL_STORE_MAX = 35
const LARGE_STORE_MIN = 100

/** Maps similarities to the calibrated scale, see `createSimilarityScale`; null without vectors. */
type SimilarityScale = ((similarity: number) => number) | null

/**
 * The candidates above the threshold, or none when even the best is below it. The more of the question's terms a candidate
 * contains, the lower its threshold; without a vector, coverage alone decides.
 */
export function filterBySimilarity<C extends Candidate>(
  candidates: readonly C[],
  scale: SimilarityScale,
  { minTopSimilarity, minSimilarity }: ThresholdOptions,
  rules: ThresholdRules<C> = {},
): readonly C[] {
  const { isSaid = ({ id }) => isTurnId(id), isFavored = () => false } = rules
  const { asksOnlyForTime = false, asksForCommonFact = false, acceptsKeywords = false } = rules
  const largeness = asksForCommonFact ? 0 : computeLargeness(candidates.length)

  const passes = (min: number, coverageMin: number) => (candidate: C) => {
    const { id, coverage, contextCoverage, contextSimilarity, evidence } = candidate
    const certain = isTurnId(id) ? SAID_CERTAIN_COVERAGE : CERTAIN_COVERAGE
    if (min === 0 || coverage >= certain || evidence.time === 1) return true
    if (acceptsKeywords && contextCoverage >= coverageMin) return true
    return scale === null || contextSimilarity === null
      ? contextCoverage >= coverageMin
      : scale(contextSimilarity) >= min * (1 - (coverage / certain) ** 2)
  }
  const isRelevant = passes(minTopSimilarity, KEYWORD_TOP_COVERAGE)
  const answers = (candidate: C) => {
    const { coverage, contextCoverage, contextSimilarity, evidence } = candidate
    const isFromTime = evidence.time === 1
    if (!isSaid(candidate) || (isFromTime && asksOnlyForTime)) return isRelevant(candidate)
    const coverageMin = KEYWORD_TOP_COVERAGE * interpolate(LARGE_STORE_KEYWORD_FACTOR, largeness)
    if (minTopSimilarity === 0 || coverage >= SAID_CERTAIN_COVERAGE) return true
    if (acceptsKeywords && contextCoverage >= coverageMin) return true
    if (scale === null || contextSimilarity === null) return contextCoverage >= coverageMin
    const relevance =
      scale(contextSimilarity) +
      COVERAGE_WEIGHT * Math.max(coverage, NEIGHBOR_SHARE * contextCoverage) +
      (isFavored(candidate) ? FAVORED_WEIGHT : 0) +
      (isFromTime ? TIME_WEIGHT : 0)
    return relevance >= minTopSimilarity * interpolate(LARGE_STORE_FACTOR, largeness)
  }
  if (!candidates.some(answers)) return []
  return candidates
    .filter(passes(minSimilarity, KEYWORD_COVERAGE))
    .map((candidate) =>
      addTrailStep(candidate, 'threshold', candidate.score, () =>
        describeSimilarity(candidate, scale),
      ),
    )
}

/** 0 … 1, by the number of candidates. */
function computeLargeness(candidates: number): number {
  const share = Math.log(candidates / SMALL_STORE_MAX) / Math.log(LARGE_STORE_MIN / SMALL_STORE_MAX)
  return Math.min(1, Math.max(0, share))
}

function interpolate(max: number, share: number): number {
  return 1 + (max - 1) * share
}

/** Fewer candidates have no distribution. */
const DISTRIBUTION_MIN = 5
/** By how much an answer exceeds the median of the store, on the calibrated scale. */
const OUTLIER_EXCESS = 1.1
/** A candidate with this share of the question's terms is related, whatever its similarity. */
const RELATED_COVERAGE = 0.3
/** Once a candidate clearly answers, the share of its excess that further candidates need. */
const CLEAR_EXCESS = 1.5
const TAIL_EXCESS_SHARE = 0.3

/**
 * Filters the candidates of a small store by the store's own distribution. With more candidates, several memories answer
 * together, and the best of many is an outlier anyway. Some messages, such as requests for a joke, are
 * about equally similar to everything in a store, and the calibration cannot know this. For a message that is not about the
 * user, only outliers count. For any message, once an outlier answers, candidates near the median are dropped.
 */
export function filterByDistribution<C extends Candidate>(
  candidates: readonly C[],
  pool: readonly C[],
  scale: SimilarityScale,
  { isPersonal }: { readonly isPersonal: boolean },
): readonly C[] {
  const similarities = pool.flatMap((each) => getSimilarity(each) ?? [])
  if (scale === null || pool.length > SMALL_STORE_MAX) return candidates
  if (similarities.length < DISTRIBUTION_MIN) return candidates
  const median = scale(getMedian(similarities))
  const getExcess = (candidate: C) => {
    const similarity = getSimilarity(candidate)
    return similarity === null ? 0 : scale(similarity) - median
  }
  const isRelated = ({ coverage, evidence }: C) =>
    coverage >= RELATED_COVERAGE || evidence.time === 1
  const answers = isPersonal
    ? candidates
    : candidates.filter((each) => isRelated(each) || getExcess(each) >= OUTLIER_EXCESS)
  const best = Math.max(0, ...answers.map(getExcess))
  if (best < CLEAR_EXCESS) return answers
  return answers.filter((each) => isRelated(each) || getExcess(each) >= best * TAIL_EXCESS_SHARE)
}

function getSimilarity({ similarity, contextSimilarity }: Candidate): number | null {
  return similarity ?? contextSimilarity
}

function getMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
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
