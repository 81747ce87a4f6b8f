/**
 * Recall: a question comes in; the few memories that answer it come out, with the reason for each, or nothing.
 *
 *   plan       what is asked, about whom, about when
 *   gather     words and meaning in parallel, each under a deadline; a leg that fails is a missing list, not an error
 *   fuse       one order from all evidence, that of neighbouring memories included
 *   match      who and when
 *   weigh      importance, salience, age
 *   rerank     by a model that reads question and memory together, where there is one
 *   diversify  repetitions move down
 *   floor      what is not near enough is left out
 *   fit        into the limit, and into a prompt
 *
 * How much is gathered never depends on how much was asked for, so the first results are the same for every limit.
 */

import { parseInstant, parseInteger } from '../domain/field-parsers.ts'
import type { MemoryId } from '../domain/ids.ts'
import { PAGE_ROWS_MAX, QUERY_CHARACTERS_MAX, RECALL_MEMORIES_MAX } from '../domain/limits.ts'
import { hasEnded, type Memory } from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import { isTurnId, type SearchDocument } from '../domain/search-document.ts'
import { resolveSettings, type Settings } from '../domain/settings/settings.ts'
import { AppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { Instant } from '../lib/time.ts'
import { withTimeout } from '../lib/timeout.ts'
import { innerProduct } from '../lib/vector-math.ts'
import { parseLimit } from '../storage/access/page-request.ts'
import type { Page } from '../storage/store.ts'
import { normalizeStatement } from '../text/fingerprint.ts'
import { estimateTokens } from '../text/tokens.ts'
import { seeksAdvice } from './question/advice.ts'
import { discountContextTerms } from './question/follow-up.ts'
import { containsAnyName, namesWithin } from './question/names.ts'
import { removeTimeTerms } from './question/time-terms.ts'
import {
  addTrailStep,
  attachDocument,
  type Candidate,
  compareByScore,
  type LoadedCandidate,
  renderTrail,
  reviseCandidate,
} from './ranking/candidate.ts'
import { selectPool, withoutRepetitions } from './ranking/candidate-pool.ts'
import { diversifyCandidates } from './ranking/diversity.ts'
import {
  gatherEvidence,
  type LexicalHits,
  rankInitialHits,
  SESSION_CONTEXT_REACH,
  type SessionContext,
} from './ranking/evidence.ts'
import {
  addFusionTrail,
  type FusionOptions,
  fuseCandidates,
  type RetrieverHits,
} from './ranking/fusion.ts'
import {
  boostQuestionMatches,
  type ParsedQuestion,
  parseQuestion,
} from './ranking/question-match.ts'
import { type BudgetedMemory, fitBudget } from './ranking/result-budget.ts'
import { applyBoosts, type BoostOptions } from './ranking/score-boosts.ts'
import {
  CERTAIN_COVERAGE,
  filterBySimilarity,
  type ThresholdOptions,
} from './ranking/similarity-threshold.ts'
import {
  buildContextText,
  buildDocumentFilter,
  type RecallQuery,
  toMemoryFilterOnly,
} from './recall-query.ts'
import type { RecalledMemory, RecallResult, RetrieverReport } from './recall-result.ts'
import {
  assertAnyRetrieverAnswered,
  buildRetrieverReport,
  collectNeighbors,
  createEmptyCandidate,
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

/** How many candidates are read and ranked by more than their place in the lists. */
const POOL = RECALL_MEMORIES_MAX

/** How many more are read where most of the first ones repeat each other: two extended legs at most. */
const REFILL = 500

/** Below this share of the best score, a memory is not part of the answer. */
const TAIL_SHARE = 0.2

type RecallRun = RetrievalRequest & { readonly query: RecallQuery }

export async function recall(
  ports: RecallDependencies,
  parts: RetrieverDependencies,
  scope: Scope,
  query: RecallQuery,
): Promise<RecallResult> {
  const settings = resolveSettings(ports.settings, toSettingOverrides(query))
  const limit = parseLimit(query.limit ?? settings['recall.limit'], RECALL_MEMORIES_MAX)
  if (typeof query.text !== 'string') {
    throw new AppError('invalid_input', 'What is looked for is text.', { field: 'text' })
  }
  const now = query.asOf === undefined ? ports.clock.now() : parseTime(query.asOf)
  const tokensMax = getTokenBudget(query, settings)
  const call: RecallRun = {
    ...parts,
    ports,
    scope,
    query,
    settings,
    where: buildDocumentFilter(query, now),
    text: query.text.slice(0, QUERY_CHARACTERS_MAX),
    context: buildContextText(query),
    now,
    timeoutMs: settings['recall.retrieverTimeoutMs'],
  }
  const found =
    settings['recall.strategy'] === 'recent' || settings['recall.strategy'] === 'exact'
      ? await loadNewest(call, limit)
      : await retrieveCandidates(call)
  const fitted = fitBudget(found.candidates, limit, tokensMax, ports.countTokens ?? estimateTokens)
  return {
    memories: fitted.map(toRecalled),
    strategy: settings['recall.strategy'],
    retrievers: found.retrievers,
    abstained: found.abstained,
    topSimilarity: found.topSimilarity,
    timeExpression: found.timeExpression,
    tokens: fitted.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}

type RetrievedCandidates = Pick<
  RecallResult,
  'retrievers' | 'abstained' | 'topSimilarity' | 'timeExpression'
> & {
  readonly candidates: readonly LoadedCandidate[]
}

async function retrieveCandidates(call: RecallRun): Promise<RetrievedCandidates> {
  const { settings, text, now } = call
  const asked = parseQuestion(text, now)
  const words = searchLexical(call)
  const [keyword, meaning, then] = await Promise.all([
    words,
    searchVectors(call, words),
    retrieveByTime(call, asked.span),
  ])
  assertAnyRetrieverAnswered(keyword, meaning)
  await yieldToEventLoop()
  const legs: RetrieverHits = {
    keyword: keyword.kind === 'done' ? runStrategy(keyword.result, call, asked, then) : null,
    vector: meaning.kind === 'done' ? meaning.result.hits : null,
  }
  const answer = meaning.kind === 'done' ? meaning.result : null
  const all = await fuseHits(call, legs, collectNeighbors(keyword, meaning))
  await yieldToEventLoop()
  const pool = await readPool(call, all, then.candidates, { legs, answer })
  await yieldToEventLoop()
  const ranked = applyBoosts(boostQuestionMatches(pool, asked), now, toBoostOptions(settings))
  const reranked = await rerank(call, ranked)
  const varied = diversifyCandidates(reranked.candidates, settings['recall.mmrLambda'])
  const above = filterBySimilarity(
    varied,
    answer?.closeness ?? null,
    toThresholds(settings),
    easedBy(text),
  )
  // A reranker's scores have no zero to measure a tail from.
  const keepsTail = reranked.report.state === 'searched' || settings['recall.minSimilarity'] === 0
  const near = keepsTail ? above : removeTail(above, text)
  return {
    candidates: near,
    retrievers: {
      keyword: buildRetrieverReport(
        keyword,
        keyword.kind === 'done' ? keyword.result.hits.length : 0,
      ),
      vector: {
        ...buildRetrieverReport(meaning, answer?.hits.length ?? 0),
        withoutVector: call.indexer?.waiting(call.scope) ?? 0,
      },
      rerank: reranked.report,
    },
    abstained: near.length === 0 && pool.length > 0,
    topSimilarity: getTopSimilarity(pool, answer),
    timeExpression: asked.span?.words ?? null,
  }
}

/** The best candidates as rows. Where most of them repeat each other, those behind them take the places that this frees. */
async function readPool(
  call: RecallRun,
  ranked: readonly Candidate[],
  ofThatTime: readonly Candidate[],
  answers: { readonly legs: RetrieverHits; readonly answer: VectorMatch | null },
): Promise<readonly LoadedCandidate[]> {
  const best = selectPool(ranked, POOL)
  const known = new Set(best.map(({ id }) => id))
  const others = ofThatTime.filter(({ id }) => !known.has(id))
  const read = await readCandidates(call, best, others, answers)
  const pool = withoutRepetitions(read)
  if (read.length - pool.length < POOL / 2) return pool
  const present = new Set(read.map(({ id }) => id))
  const left = ranked.filter(({ id }) => !known.has(id) && !present.has(id)).slice(0, REFILL)
  const more = await readCandidates(call, left, [], answers)
  return withoutRepetitions([...read, ...more]).slice(0, POOL + others.length)
}

async function readCandidates(
  call: RecallRun,
  best: readonly Candidate[],
  others: readonly Candidate[],
  { legs, answer }: { readonly legs: RetrieverHits; readonly answer: VectorMatch | null },
): Promise<readonly LoadedCandidate[]> {
  const candidates = [...addFusionTrail(best, legs, toFusionOptions(call.settings)), ...others]
  // At once, because each is a trip where the store is a server.
  const [rows, own] = await Promise.all([
    load(call, candidates),
    loadMissingVectors(call, candidates, answer),
  ])
  return compareVectors(call, filterReadable(rows, answer), answer, own)
}

/** Of a long turn, so much is looked through for names. */
const NAMED_CHARACTERS_MAX = 20_000

/** Advice takes what is loosely related; else a name tells more than its share of the question's words. */
function easedBy(question: string): (candidate: LoadedCandidate) => boolean {
  if (seeksAdvice(question)) return () => true
  const names = namesWithin(question)
  return ({ memory }) => containsAnyName(memory.content.slice(0, NAMED_CHARACTERS_MAX), names)
}

/** Without those that only a model brought here which can't read them. */
function filterReadable(
  candidates: readonly LoadedCandidate[],
  meaning: VectorMatch | null,
): readonly LoadedCandidate[] {
  if (meaning === null) return candidates
  return candidates.filter(
    ({ evidence, memory }) =>
      evidence.keyword > 0 || evidence.vector === 0 || meaning.reads(memory.content),
  )
}

/** A time that there are memories of is looked for as a time; a time like "last week" then no longer by its words. */
function runStrategy(
  leg: LexicalHits,
  { text, context }: RecallRun,
  { span }: ParsedQuestion,
  { isKnown }: TimeMatches,
): LexicalHits {
  const weighed = context === null ? leg : discountContextTerms(leg, text)
  return span?.isRelative && isKnown ? removeTimeTerms(weighed, text, span) : weighed
}

/** Of the nearest, on the scale of the floors. */
function getTopSimilarity(
  pool: readonly LoadedCandidate[],
  meaning: VectorMatch | null,
): number | null {
  const similarities = pool.flatMap(({ contextSimilarity }) => contextSimilarity ?? [])
  if (meaning === null || similarities.length === 0) return null
  return meaning.closeness(Math.max(...similarities))
}

/** What stands far below the best is not part of the answer, unless it holds the words of the question. */
function removeTail(
  candidates: readonly LoadedCandidate[],
  question: string,
): readonly LoadedCandidate[] {
  // The same question, asked before, is nearer than any answer, so neither facts nor other turns are measured by it.
  const folded = normalizeStatement(question)
  const answers = candidates.filter(({ memory }) => normalizeStatement(memory.content) !== folded)
  const bestOf = (areTurns: boolean) =>
    Math.max(0, ...answers.map(({ id, score }) => (isTurnId(id) === areTurns ? score : 0)))
  const [fact, turn] = [bestOf(false), bestOf(true)]
  return candidates.filter(({ id, score, coverage }) => {
    const best = isTurnId(id) ? turn : fact
    return score >= best * TAIL_SHARE || coverage >= CERTAIN_COVERAGE
  })
}

async function fuseHits(
  call: RecallRun,
  legs: RetrieverHits,
  told: ReturnType<typeof collectNeighbors>,
) {
  const options = toFusionOptions(call.settings)
  const candidates = gatherEvidence(
    legs.keyword,
    legs.vector,
    await loadSessionContext(call, legs, told),
  )
  return fuseCandidates(candidates, legs, options)
}

/** What stands around the best hits. Without it they are judged by what they say themselves. */
async function loadSessionContext(
  { ports, scope, settings, timeoutMs: deadlineMs }: RecallRun,
  { keyword, vector: meaning }: RetrieverHits,
  told: ReturnType<typeof collectNeighbors>,
): Promise<SessionContext> {
  if (settings['recall.fusion'] !== 'adaptive') return new Map()
  const ids = rankInitialHits(keyword, meaning)
    .slice(0, SESSION_CONTEXT_HITS_MAX)
    .map(({ id }) => id)
  const course = new Map(ids.flatMap((id) => filterNamedSpeakers(id, told.get(id))))
  const untold = ids.filter((id) => !told.has(id))
  if (untold.length === 0) return course
  const asked = await withTimeout(deadlineMs, () =>
    ports.store.findNeighbors(scope, untold, SESSION_CONTEXT_REACH),
  )
  return asked.kind === 'done' ? new Map([...course, ...asked.result]) : course
}

function filterNamedSpeakers<Value>(id: MemoryId, value: Value | null | undefined) {
  return value == null ? [] : [[id, value] as const]
}

/** The rows of the candidates, as they were at the time in question. What was forgotten since the match is left out. */
async function load(
  { ports, scope, query, where, now }: RecallRun,
  candidates: readonly Candidate[],
): Promise<readonly LoadedCandidate[]> {
  const ids = candidates.map(({ id }) => id)
  const { rows } = await ports.store.findDocuments(scope, {
    where: { ...where, ids },
    limit: ids.length,
  })
  const present = query.asOf === undefined ? rows : await loadAsOf(ports, scope, rows, now)
  const memories = new Map(present.map((memory) => [memory.id, memory]))
  return candidates.flatMap((candidate) => {
    const memory = memories.get(candidate.id)
    return memory === undefined ? [] : [attachDocument(candidate, memory)]
  })
}

/** The vectors of those that only their words have brought here. Null where they can't be had. */
async function loadMissingVectors(
  { ports: { vectors }, scope, timeoutMs: deadlineMs }: RecallRun,
  candidates: readonly Candidate[],
  meaning: VectorMatch | null,
): Promise<ReadonlyMap<MemoryId, Float32Array> | null> {
  const open = candidates.flatMap(({ id, similarity }) => (similarity === null ? [id] : []))
  if (meaning === null || vectors === undefined || open.length === 0) return null
  const told = await withTimeout(deadlineMs, () => vectors.vectorsOf(meaning.space, scope, open))
  return told.kind === 'done' ? told.result : null
}

/** Tells how near these are. One that has no vector is noted, so that it gets one, and is judged by its words. */
function compareVectors(
  { indexer }: RecallRun,
  pool: readonly LoadedCandidate[],
  meaning: VectorMatch | null,
  vectors: ReadonlyMap<MemoryId, Float32Array> | null,
): readonly LoadedCandidate[] {
  if (meaning === null || vectors === null) return pool
  const open = pool.filter(({ similarity }) => similarity === null)
  indexer?.missed(
    open.flatMap(({ id, memory }) => (vectors.has(id) ? [] : [memory])),
    meaning.space,
  )
  return pool.map((candidate) => {
    const own = candidate.similarity === null ? vectors.get(candidate.id) : undefined
    if (own === undefined) return candidate
    const similarity = innerProduct(meaning.vector, own)
    const contextSimilarity = Math.max(similarity, candidate.contextSimilarity ?? similarity)
    return reviseCandidate(candidate, { similarity, contextSimilarity })
  })
}

async function loadAsOf(
  { store }: RecallDependencies,
  scope: Scope,
  rows: readonly SearchDocument[],
  at: Instant,
): Promise<readonly SearchDocument[]> {
  const changed = rows.filter(({ updatedAt }) => updatedAt > at).map(({ id }) => id)
  const { rows: past } = await store.find('revision', scope, {
    where: { memories: changed, inForceAt: at },
    limit: PAGE_ROWS_MAX,
  })
  const then = new Map<MemoryId, SearchDocument>(past.map(({ memory }) => [memory.id, memory]))
  return rows
    .flatMap((row) => (row.updatedAt <= at ? [row] : (then.get(row.id) ?? [])))
    .filter((row) => row.status === 'active' && !hasEnded(row, at))
}

/** The best are read again; those the reranker is silent about keep their order behind them. */
async function rerank(
  { ports, circuitBreakers: guards, settings, text, timeoutMs: deadlineMs }: RecallRun,
  candidates: readonly LoadedCandidate[],
): Promise<{ readonly candidates: readonly LoadedCandidate[]; readonly report: RetrieverReport }> {
  const { reranker } = ports
  const top = candidates.slice(0, settings['recall.rerankCandidates'])
  if (reranker === undefined || reranker.unavailableReason !== undefined || top.length < 2) {
    const because =
      reranker === undefined
        ? 'there is no reranker'
        : (reranker.unavailableReason ?? 'there is nothing to rerank')
    return { candidates, report: buildRetrieverReport(createSkipped(because), 0) }
  }
  const texts = top.map(({ memory }) => memory.content)
  const read = await guards.rerank.run(deadlineMs, (signal) => reranker.rerank(text, texts, signal))
  if (read.kind === 'failed') return { candidates, report: buildRetrieverReport(read, 0) }
  const usable = read.result.filter(({ index, score }) => index in top && Number.isFinite(score))
  const judged = new Map(usable.map(({ index, score }) => [index, score]))
  const above = top.flatMap((candidate, index) => {
    const score = judged.get(index)
    return score === undefined ? [] : [addTrailStep(candidate, 'rerank', score, reranker.name)]
  })
  const below = candidates.filter((_, index) => !judged.has(index))
  return {
    candidates: [...above.sort(compareByScore), ...below],
    report: buildRetrieverReport(read, judged.size),
  }
}

/** Whatever the question: the newest first. */
async function loadNewest(call: RecallRun, limit: number): Promise<RetrievedCandidates> {
  const present: SearchDocument[] = []
  let after: string | null = null
  do {
    const page: Page<Memory> = await call.ports.store.find('memory', call.scope, {
      where: toMemoryFilterOnly(call.where),
      limit,
      order: 'newest',
      ...(after === null ? {} : { after }),
    })
    const { rows } = page
    const { asOf } = call.query
    // Of those that are there now, some may not have held then; the next ones take their place.
    present.push(
      ...(asOf === undefined ? rows : await loadAsOf(call.ports, call.scope, rows, call.now)),
    )
    after = page.next
  } while (present.length < limit && after !== null)
  const report = buildRetrieverReport(
    createSkipped(`the strategy is ${call.settings['recall.strategy']}`),
    0,
  )
  return {
    candidates: present.map((memory) => ({
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

function toSettingOverrides({ strategy, fusion, timeoutMs: deadlineMs }: RecallQuery) {
  return {
    ...(strategy === undefined ? {} : { 'recall.strategy': strategy }),
    ...(fusion === undefined ? {} : { 'recall.fusion': fusion }),
    ...(deadlineMs === undefined ? {} : { 'recall.retrieverTimeoutMs': deadlineMs }),
  }
}

function parseTime(time: Date | number): Instant {
  return parseInstant('asOf', time instanceof Date ? time.getTime() : time)
}

function getTokenBudget({ tokensMax, purpose }: RecallQuery, settings: Settings): number | null {
  if (tokensMax !== undefined) {
    return parseInteger('tokensMax', tokensMax, 0, 16_000)
  }
  return purpose === 'prompt' ? settings['gateway.contextTokensMax'] : null
}

function toRecalled({
  memory,
  score,
  coverage,
  evidence,
  tokens,
  trail,
}: BudgetedMemory): RecalledMemory {
  return { memory, score, coverage, evidence, tokens, trail: renderTrail(trail) }
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

function toThresholds(settings: Settings): ThresholdOptions {
  return {
    minTopSimilarity: settings['recall.minTopSimilarity'],
    minSimilarity: settings['recall.minSimilarity'],
  }
}
