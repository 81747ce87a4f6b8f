/**
 * Recall: returns the few memories that answer a question, each with the trail of its ranking, or nothing.
 *
 *   1. question    names, speaker and time span of the question
 *   2. retrievers  keyword and vector search in parallel, each with a timeout; a failed one is reported, not thrown
 *   3. fusion      one ranking from all evidence, including neighboring turns
 *   4. match       boosts for the speaker and the time that the question names
 *   5. boosts      importance, salience, recency
 *   6. rerank      by a model that reads question and memory together, if configured
 *   7. diversity   memories that repeat better ones move down
 *   8. threshold   drops what is not similar enough
 *   9. currency    of facts about the same state, the newer one first
 *  10. budget      applies the limit and the token budget
 *
 * The number of candidates does not depend on the limit, so the first results are the same for every limit.
 */

import type { MemoryId } from '../domain/ids.ts'
import { QUERY_CHARACTERS_MAX, RECALL_MEMORIES_MAX } from '../domain/limits.ts'
import { type Memory, PATTERN_EXTRACTOR } from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import {
  copyDocument,
  isTurnDocument,
  isTurnId,
  type SearchDocument,
} from '../domain/search-document.ts'
import { resolveSettings, type Settings } from '../domain/settings/settings.ts'
import { AppError } from '../lib/errors.ts'
import { INSTANT_MAX, type Instant } from '../lib/time.ts'
import { withTimeout } from '../lib/timeout.ts'
import { innerProduct } from '../lib/vector-math.ts'
import { loadVersionsAsOf } from '../memory/memory-reader.ts'
import { parseLimit } from '../storage/access/page-request.ts'
import type { Page, SessionNeighbors } from '../storage/store.ts'
import { normalizeStatement } from '../text/fingerprint.ts'
import { estimateTokens } from '../text/tokens.ts'
import { detectWritingSystem } from '../text/writing-system.ts'
import { seeksAdvice } from './question/advice.ts'
import { containsAnyName, extractInnerNames } from './question/names.ts'
import { type ParsedQuestion, parseQuestion } from './question/question-analysis.ts'
import { expandSlotQuestion } from './question/slot-questions.ts'
import { discountContextTerms, markFrameTerms, removeTimeTerms } from './question/term-weights.ts'
import { hasSubject, type TimeSpan } from './question/time-expressions.ts'
import {
  addTrailStep,
  attachDocument,
  type Candidate,
  compareByScore,
  createEmptyCandidate,
  type LoadedCandidate,
  renderTrail,
  reviseCandidate,
} from './ranking/candidate.ts'
import { dropRepetitions, selectPool } from './ranking/candidate-pool.ts'
import { orderByCurrency } from './ranking/currency.ts'
import { diversifyCandidates } from './ranking/diversity.ts'
import {
  type EvidenceLimit,
  gatherEvidence,
  type LexicalHits,
  rankInitialHits,
  SESSION_CONTEXT_REACH,
  type SessionContext,
  weighApproximateEvidence,
} from './ranking/evidence.ts'
import {
  addFusionTrail,
  type FusionOptions,
  fuseAdaptive,
  fuseCandidates,
  type RetrieverHits,
} from './ranking/fusion.ts'
import { boostQuestionMatches } from './ranking/question-match.ts'
import { applyBoosts, type BoostOptions } from './ranking/score-boosts.ts'
import {
  CERTAIN_COVERAGE,
  filterByDistribution,
  filterBySimilarity,
  type ThresholdOptions,
} from './ranking/similarity-threshold.ts'
import { type BudgetedMemory, fitBudget } from './ranking/token-budget.ts'
import {
  buildContextText,
  buildDocumentFilter,
  findPastSpan,
  heldDuring,
  type RecallQuery,
  toMemoryFilterOnly,
} from './recall-query.ts'
import type { RecalledMemory, RecallResult, RetrieverReport } from './recall-result.ts'
import {
  assertAnyRetrieverAnswered,
  buildRetrieverReport,
  collectNeighbors,
  createSkipped,
  type RetrievalRequest,
  type RetrieverDependencies,
  retrieveByTime,
  SESSION_CONTEXT_HITS_MAX,
  searchLexical,
  searchVectors,
  type TimeMatches,
  type VectorMatch,
} from './retrievers.ts'
import type { RecallDependencies } from './types.ts'

/** Candidates that are loaded and ranked further. */
const POOL_SIZE = RECALL_MEMORIES_MAX

/** Further candidates that are loaded when most of the pool repeats itself. */
const REFILL_SIZE = 500

/** Results below this share of the best score are dropped. */
const TAIL_SCORE_SHARE = 0.2

/** The maximum of `gateway.contextTokensMax`. */
const TOKENS_MAX = 16_000

type RecallRequest = RetrievalRequest & {
  readonly query: RecallQuery
  readonly pastSpan: TimeSpan | null
}

export async function recall(
  deps: RecallDependencies,
  retrievers: RetrieverDependencies,
  scope: Scope,
  query: RecallQuery,
): Promise<RecallResult> {
  const settings = resolveSettings(deps.settings, toSettingOverrides(query))
  const limit = parseLimit(query.limit ?? settings['recall.limit'], RECALL_MEMORIES_MAX)
  if (typeof query.text !== 'string') {
    throw new AppError('invalid_input', '`text` must be a string.', { field: 'text' })
  }
  const now = query.asOf === undefined ? deps.clock.now() : parseAsOf(query.asOf)
  const tokensMax = getTokenBudget(query, settings)
  const strategy = settings['recall.strategy']
  const pastSpan = strategy === 'recent' || strategy === 'exact' ? null : findPastSpan(query, now)
  const context = buildContextText(query)
  const request: RecallRequest = {
    ...retrievers,
    deps,
    scope,
    query,
    settings,
    where: buildDocumentFilter(query, now, pastSpan, settings['recall.maxAgeDays']),
    pastSpan,
    text: query.text.slice(0, QUERY_CHARACTERS_MAX),
    context,
    expansion: context === null ? expandSlotQuestion(query.text) : null,
    now,
    timeoutMs: settings['recall.retrieverTimeoutMs'],
  }
  const { candidates, isLexicalFallback, ...report } =
    strategy === 'recent' || strategy === 'exact'
      ? { ...(await loadNewest(request, limit)), isLexicalFallback: false }
      : await retrieveCandidates(request)
  const selected = fitBudget(candidates, limit, tokensMax, deps.countTokens ?? estimateTokens)
  return {
    ...report,
    memories: selected.map(toRecalledMemory),
    strategy: isLexicalFallback ? 'keyword' : strategy,
    tokens: selected.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}

type RankedCandidates = Pick<
  RecallResult,
  'retrievers' | 'abstained' | 'topSimilarity' | 'timeExpression'
> & {
  readonly candidates: readonly LoadedCandidate[]
}

async function retrieveCandidates(
  request: RecallRequest,
): Promise<RankedCandidates & { readonly isLexicalFallback: boolean }> {
  const { settings, text, now, timeSlice } = request
  const question = parseQuestion(text, now)
  const lexicalSearch = searchLexical(request)
  const [onlyLexical, vector, timeMatches] = await Promise.all([
    lexicalSearch,
    searchVectors(request, lexicalSearch),
    retrieveByTime(request, question.span),
  ])
  // Without vectors, the strategy `semantic` falls back to keywords.
  const isLexicalFallback = settings['recall.strategy'] === 'semantic' && vector.kind !== 'done'
  const lexical = isLexicalFallback
    ? await searchLexical({ ...request, settings: { ...settings, 'recall.strategy': 'keyword' } })
    : onlyLexical
  assertAnyRetrieverAnswered(lexical, vector)
  if (timeSlice.isExpired) await timeSlice.yieldThread()
  const vectorMatch = vector.kind === 'done' ? vector.result : null
  const isApproximate = vectorMatch?.isApproximate === true
  const hits: RetrieverHits = {
    keyword:
      lexical.kind === 'done'
        ? adjustTermWeights(lexical.result, request, question, timeMatches)
        : null,
    vector: vectorMatch?.hits ?? null,
  }
  const context = await loadSessionContext(request, hits, collectNeighbors(lexical, vector))
  const options = toFusionOptions(settings)
  const trust = isApproximate ? weighApproximateEvidence(hits.keyword) : undefined
  const fuse = (limit?: EvidenceLimit) =>
    fuseCandidates(gatherEvidence(hits.keyword, hits.vector, context, trust, limit), hits, options)
  const best =
    options.fusion === 'adaptive' ? { scoreOf: fuseAdaptive, count: POOL_SIZE } : undefined
  const fused = fuse(best)
  if (timeSlice.isExpired) await timeSlice.yieldThread()
  const pool = await loadPool(request, { fused, fuse }, timeMatches.candidates, hits, vectorMatch)
  if (timeSlice.isExpired) await timeSlice.yieldThread()
  const matched = boostQuestionMatches(pool, question)
  const boosted = applyBoosts(matched, now, toBoostOptions(settings))
  const reranked = await rerank(request, boosted)
  const diverse = diversifyCandidates(reranked.candidates, settings['recall.mmrLambda'])
  const similar = filterBySimilarity(
    diverse,
    vectorMatch?.scale ?? null,
    isApproximate ? relaxThresholds(toThresholds(settings)) : toThresholds(settings),
    {
      isSaid,
      isFavored: createFavor(text),
      asksForCommonFact: request.expansion !== null,
      asksOnlyForTime: question.span !== null && !hasSubject(text, question.span),
      acceptsKeywords: isApproximate && detectWritingSystem(text) !== 'spaced',
    },
  )
  const related =
    request.query.isPersonal === undefined
      ? similar
      : filterByDistribution(similar, pool, vectorMatch?.scale ?? null, {
          isPersonal: request.query.isPersonal,
        })
  // The scores of a reranker have no zero from which a share could be measured.
  const keepsTail =
    reranked.report.state === 'searched' || settings['recall.minSimilarity'] === 0 || isApproximate
  const relevant = keepsTail ? related : dropTail(related, text)
  // What held at an earlier time comes first where a question names that time.
  const candidates = question.span === null ? orderByCurrency(relevant) : relevant
  const isExhaustive = request.query.includeBelowThreshold === true
  return {
    candidates: isExhaustive ? appendOthers(candidates, diverse) : candidates,
    isLexicalFallback,
    retrievers: {
      keyword: buildRetrieverReport(
        lexical,
        lexical.kind === 'done' ? lexical.result.hits.length : 0,
      ),
      vector: {
        ...buildRetrieverReport(vector, vectorMatch?.hits.length ?? 0),
        withoutVector: request.indexer?.countQueued(request.scope) ?? 0,
      },
      rerank: reranked.report,
    },
    abstained: candidates.length === 0 && pool.length > 0,
    topSimilarity: getTopSimilarity(pool, vectorMatch),
    timeExpression: question.span?.words ?? null,
  }
}

/** `first`, then the candidates of `all` that are not among them. */
function appendOthers(
  first: readonly LoadedCandidate[],
  all: readonly LoadedCandidate[],
): readonly LoadedCandidate[] {
  const ids = new Set(first.map(({ id }) => id))
  return [...first, ...all.filter(({ id }) => !ids.has(id))]
}

/** Context terms of a follow-up count less. Words of a relative time are dropped if memories of that time exist. */
function adjustTermWeights(
  hits: LexicalHits,
  { text, context, expansion }: RecallRequest,
  { span }: ParsedQuestion,
  { hasMemories }: TimeMatches,
): LexicalHits {
  const weighted =
    context === null && expansion === null
      ? hits
      : discountContextTerms(hits, text, { isExpanded: expansion !== null })
  const isResolved = span !== null && (span.isRelative || /(?:19|20)\d\d/.test(span.words))
  const timeless = isResolved && hasMemories ? removeTimeTerms(weighted, text, span) : weighted
  return markFrameTerms(timeless, text)
}

/** The neighbors of the best hits. Without them, hits are scored by their own text. */
async function loadSessionContext(
  { deps, scope, settings, timeoutMs }: RecallRequest,
  { keyword, vector }: RetrieverHits,
  known: ReadonlyMap<MemoryId, SessionNeighbors | null>,
): Promise<SessionContext> {
  if (settings['recall.fusion'] !== 'adaptive') return new Map()
  const ids = rankInitialHits(keyword, vector)
    .slice(0, SESSION_CONTEXT_HITS_MAX)
    .map(({ id }) => id)
  const context = new Map(
    ids.flatMap((id) => {
      const neighbors = known.get(id)
      return neighbors == null ? [] : [[id, neighbors] as const]
    }),
  )
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length === 0) return context
  const loaded = await withTimeout(timeoutMs, () =>
    deps.store.findNeighbors(scope, unknown, SESSION_CONTEXT_REACH),
  )
  return loaded.kind === 'done' ? new Map([...context, ...loaded.result]) : context
}

type FusedCandidates = {
  /** At least the best of each kind. */
  readonly fused: readonly Candidate[]
  /** Fuses all candidates. */
  readonly fuse: () => readonly Candidate[]
}

/** Loads the best candidates. If most of them repeat each other, the next ones take the free places. */
async function loadPool(
  request: RecallRequest,
  { fused, fuse }: FusedCandidates,
  timeMatches: readonly Candidate[],
  hits: RetrieverHits,
  vectorMatch: VectorMatch | null,
): Promise<readonly LoadedCandidate[]> {
  const best = selectPool(fused, POOL_SIZE)
  const bestIds = new Set(best.map(({ id }) => id))
  const others = timeMatches.filter(({ id }) => !bestIds.has(id))
  const loaded = await loadCandidates(request, best, others, hits, vectorMatch)
  const pool = dropRepetitions(loaded)
  if (loaded.length - pool.length < POOL_SIZE / 2) return pool
  const loadedIds = new Set(loaded.map(({ id }) => id))
  const next = fuse()
    .filter(({ id }) => !bestIds.has(id) && !loadedIds.has(id))
    .slice(0, REFILL_SIZE)
  const refill = await loadCandidates(request, next, [], hits, vectorMatch)
  return dropRepetitions([...loaded, ...refill]).slice(0, POOL_SIZE + others.length)
}

async function loadCandidates(
  request: RecallRequest,
  best: readonly Candidate[],
  others: readonly Candidate[],
  hits: RetrieverHits,
  vectorMatch: VectorMatch | null,
): Promise<readonly LoadedCandidate[]> {
  const candidates = [...addFusionTrail(best, hits, toFusionOptions(request.settings)), ...others]
  // In parallel, because each is a round trip where the store is a server.
  const [loaded, similarities] = await Promise.all([
    loadDocuments(request, candidates),
    loadMissingSimilarities(request, candidates, vectorMatch),
  ])
  return addSimilarities(request, filterReadable(loaded, vectorMatch), vectorMatch, similarities)
}

/** Loads the documents, as of the requested time. Documents removed since the search are dropped. */
async function loadDocuments(
  { deps, scope, query, where, now, pastSpan }: RecallRequest,
  candidates: readonly Candidate[],
): Promise<readonly LoadedCandidate[]> {
  const ids = candidates.map(({ id }) => id)
  const { rows } = await deps.store.findDocuments(scope, {
    where: { ...where, ids },
    limit: ids.length,
  })
  const versions = query.asOf === undefined ? rows : await loadVersionsAsOf(deps, scope, rows, now)
  const documents = new Map(versions.map((document) => [document.id, document]))
  return candidates.flatMap((candidate) => {
    const document = documents.get(candidate.id)
    if (document === undefined || (pastSpan !== null && !heldDuring(document, pastSpan))) return []
    return [attachDocument(candidate, document)]
  })
}

/** The similarities of candidates that vector search did not return; null when unavailable. */
async function loadMissingSimilarities(
  { deps: { vectors }, scope, timeoutMs }: RecallRequest,
  candidates: readonly Candidate[],
  vectorMatch: VectorMatch | null,
): Promise<ReadonlyMap<MemoryId, number> | null> {
  const ids = candidates.flatMap(({ id, similarity }) => (similarity === null ? [id] : []))
  if (vectorMatch === null || vectors === undefined || ids.length === 0) return null
  const { space, vector } = vectorMatch
  const loaded = await withTimeout(timeoutMs, async () => {
    if (vectors.similaritiesOf !== undefined) {
      return vectors.similaritiesOf(space, scope, ids, vector)
    }
    const stored = await vectors.vectorsOf(space, scope, ids)
    return new Map([...stored].map(([id, other]) => [id, innerProduct(vector, other)]))
  })
  return loaded.kind === 'done' ? loaded.result : null
}

/** Drops candidates that only vector search returned although the model cannot read their script. */
function filterReadable(
  candidates: readonly LoadedCandidate[],
  vectorMatch: VectorMatch | null,
): readonly LoadedCandidate[] {
  if (vectorMatch === null) return candidates
  return candidates.filter(
    ({ evidence, memory }) =>
      evidence.keyword > 0 || evidence.vector === 0 || vectorMatch.isReadable(memory.content),
  )
}

/** Adds the similarities. Documents without a vector are reported to the indexer. */
function addSimilarities(
  { indexer }: RecallRequest,
  candidates: readonly LoadedCandidate[],
  vectorMatch: VectorMatch | null,
  similarities: ReadonlyMap<MemoryId, number> | null,
): readonly LoadedCandidate[] {
  if (vectorMatch === null || similarities === null) return candidates
  const withoutVector = candidates.filter(
    ({ id, similarity }) => similarity === null && !similarities.has(id),
  )
  indexer?.enqueueMissing(
    withoutVector.map(({ memory }) => memory),
    vectorMatch.space,
  )
  return candidates.map((candidate) => {
    const similarity = candidate.similarity === null ? similarities.get(candidate.id) : undefined
    if (similarity === undefined) return candidate
    const contextSimilarity = Math.max(similarity, candidate.contextSimilarity ?? similarity)
    return reviseCandidate(candidate, { similarity, contextSimilarity })
  })
}

/** Reranks the best candidates. Those that the reranker does not score keep their order behind the others. */
async function rerank(
  { deps, circuitBreakers, settings, text, timeoutMs }: RecallRequest,
  candidates: readonly LoadedCandidate[],
): Promise<{ readonly candidates: readonly LoadedCandidate[]; readonly report: RetrieverReport }> {
  const { reranker } = deps
  const top = candidates.slice(0, settings['recall.rerankCandidates'])
  if (reranker === undefined || reranker.unavailableReason !== undefined || top.length < 2) {
    const reason =
      reranker === undefined
        ? 'there is no reranker'
        : (reranker.unavailableReason ?? 'there is nothing to rerank')
    return { candidates, report: buildRetrieverReport(createSkipped(reason), 0) }
  }
  const texts = top.map(({ memory }) => memory.content)
  const response = await circuitBreakers.rerank.run(timeoutMs, (signal) =>
    reranker.rerank(text, texts, signal),
  )
  if (response.kind === 'failed') return { candidates, report: buildRetrieverReport(response, 0) }
  const valid = response.result.filter(({ index, score }) => index in top && Number.isFinite(score))
  const scores = new Map(valid.map(({ index, score }) => [index, score]))
  const scored = top.flatMap((candidate, index) => {
    const score = scores.get(index)
    return score === undefined ? [] : [addTrailStep(candidate, 'rerank', score, reranker.name)]
  })
  const unscored = candidates.filter((_, index) => !scores.has(index))
  return {
    candidates: [...scored.sort(compareByScore), ...unscored],
    report: buildRetrieverReport(response, scores.size),
  }
}

/** Names are searched in this part of a long turn. */
const NAMED_CHARACTERS_MAX = 20_000

/** Favors everything for advice, to which much is relevant, and otherwise texts with a name from the question. */
function createFavor(question: string): (candidate: LoadedCandidate) => boolean {
  if (seeksAdvice(question)) return () => true
  const names = extractInnerNames(question)
  return ({ memory }) => containsAnyName(memory.content.slice(0, NAMED_CHARACTERS_MAX), names)
}

function isSaid({ memory }: LoadedCandidate): boolean {
  return isTurnDocument(memory) || memory.provenance.extractor === PATTERN_EXTRACTOR
}

/** Drops results far below the best one, unless they contain the words of the question. */
function dropTail(
  candidates: readonly LoadedCandidate[],
  question: string,
): readonly LoadedCandidate[] {
  // An earlier copy of the question scores above any answer, so it must not set the scale.
  const normalized = normalizeStatement(question)
  let [bestFact, bestTurn] = [0, 0]
  for (const { id, score, memory } of candidates) {
    const isTurn = isTurnId(id)
    if (score <= (isTurn ? bestTurn : bestFact)) continue
    if (normalizeStatement(memory.content) === normalized) continue
    if (isTurn) bestTurn = score
    else bestFact = score
  }
  return candidates.filter(({ id, score, coverage }) => {
    const best = isTurnId(id) ? bestTurn : bestFact
    return score >= best * TAIL_SCORE_SHARE || coverage >= CERTAIN_COVERAGE
  })
}

/** The similarity of the closest candidate on the calibrated scale. */
function getTopSimilarity(
  pool: readonly LoadedCandidate[],
  vectorMatch: VectorMatch | null,
): number | null {
  const similarities = pool.flatMap(({ contextSimilarity }) => contextSimilarity ?? [])
  if (vectorMatch === null || similarities.length === 0) return null
  return vectorMatch.scale(Math.max(...similarities))
}

/** The strategies `recent` and `exact`: the newest memories, whatever the question. */
async function loadNewest(request: RecallRequest, limit: number): Promise<RankedCandidates> {
  const { deps, scope, query, settings, where, now } = request
  const newest: SearchDocument[] = []
  let after: string | null = null
  do {
    const page: Page<Memory> = await deps.store.find('memory', scope, {
      where: toMemoryFilterOnly(where),
      limit,
      order: 'newest',
      ...(after === null ? {} : { after }),
    })
    // Memories that did not exist at the requested time make room for the next page.
    newest.push(
      ...(query.asOf === undefined
        ? page.rows
        : await loadVersionsAsOf(deps, scope, page.rows, now)),
    )
    after = page.next
  } while (newest.length < limit && after !== null)
  const skipped = createSkipped(`the strategy is ${settings['recall.strategy']}`)
  const report = buildRetrieverReport(skipped, 0)
  return {
    candidates: newest.map((memory) => ({
      ...createEmptyCandidate(memory.id),
      memory,
      trail: [{ stage: 'recent', score: 0 }],
    })),
    retrievers: { keyword: report, vector: report, rerank: report },
    abstained: false,
    topSimilarity: null,
    timeExpression: null,
  }
}

function toSettingOverrides({ strategy, fusion, timeoutMs }: RecallQuery) {
  return {
    ...(strategy === undefined ? {} : { 'recall.strategy': strategy }),
    ...(fusion === undefined ? {} : { 'recall.fusion': fusion }),
    ...(timeoutMs === undefined ? {} : { 'recall.retrieverTimeoutMs': timeoutMs }),
  }
}

function parseAsOf(asOf: Date | number): Instant {
  const ms = asOf instanceof Date ? asOf.getTime() : asOf
  if (Number.isInteger(ms) && Math.abs(ms) <= INSTANT_MAX) return ms as Instant // checked
  throw new AppError('invalid_input', '`asOf` must be a date or epoch milliseconds.', {
    field: 'asOf',
  })
}

function getTokenBudget({ tokensMax, purpose }: RecallQuery, settings: Settings): number | null {
  if (tokensMax === undefined) {
    return purpose === 'prompt' ? settings['gateway.contextTokensMax'] : null
  }
  if (Number.isInteger(tokensMax) && tokensMax >= 0 && tokensMax <= TOKENS_MAX) return tokensMax
  throw new AppError(
    'invalid_input',
    `\`tokensMax\` must be an integer from 0 to ${TOKENS_MAX}; got ${tokensMax}.`,
    { field: 'tokensMax' },
  )
}

function toRecalledMemory({
  memory,
  score,
  coverage,
  evidence,
  tokens,
  trail,
}: BudgetedMemory): RecalledMemory {
  const copy = copyDocument(memory)
  return { memory: copy, score, coverage, evidence, tokens, trail: renderTrail(trail) }
}

function toFusionOptions(settings: Settings): FusionOptions {
  return {
    fusion: settings['recall.fusion'],
    rrfK: settings['recall.rrfK'],
    vectorWeight: settings['recall.vectorWeight'],
  }
}

function toBoostOptions(settings: Settings): BoostOptions {
  return {
    halfLifeDays: settings['recall.halfLifeDays'],
    recencyWeight: settings['recall.recencyWeight'],
    importanceWeight: settings['recall.importanceWeight'],
  }
}

/** Similarities of an approximate model spread wider: answers are less often above the best unrelated text. */
function relaxThresholds({ minTopSimilarity, minSimilarity }: ThresholdOptions): ThresholdOptions {
  return {
    minTopSimilarity: minTopSimilarity * APPROXIMATE_THRESHOLD_FACTOR,
    minSimilarity: minSimilarity * APPROXIMATE_THRESHOLD_FACTOR,
  }
}

const APPROXIMATE_THRESHOLD_FACTOR = 0.6

function toThresholds(settings: Settings): ThresholdOptions {
  return {
    minTopSimilarity: settings['recall.minTopSimilarity'],
    minSimilarity: settings['recall.minSimilarity'],
  }
}
