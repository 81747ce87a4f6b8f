/**
 * Gathers candidates: by words, by meaning, and by the time that is asked about, each under a deadline. A leg that fails
 * is a missing list with a reason, not an error.
 */

import type { MemoryId } from '../domain/ids.ts'
import type { Scope } from '../domain/scope.ts'
import { isTurnId } from '../domain/search-document.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { CircuitBreaker, GuardedTask } from '../lib/circuit-breaker.ts'
import { AppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import { DAY_MS, type Instant } from '../lib/time.ts'
import { type TimedResult, withTimeout } from '../lib/timeout.ts'
import type { Embedder } from '../models/embedder.ts'
import type {
  DocumentFilter,
  NeighborRequest,
  SessionNeighbors,
  TextMatch,
} from '../storage/store.ts'
import type { VectorHit, VectorSpace } from '../storage/vector-index.ts'
import { extractQueryTerms } from '../text/search/terms.ts'
import type { Indexer } from './indexing/indexer.ts'
import { blendVectors } from './question/follow-up.ts'
import { canContainName, extractNames, removeNames } from './question/names.ts'
import { type Candidate, NO_EVIDENCE } from './ranking/candidate.ts'
import { isDominatedByOneText, RESERVED_DOCUMENTS } from './ranking/candidate-pool.ts'
import { SESSION_CONTEXT_REACH } from './ranking/evidence.ts'
import { isNamedSpeaker, type ParsedQuestion } from './ranking/question-match.ts'
import { createSimilarityScale, SUBJECTS_MAX } from './ranking/similarity-threshold.ts'
import type { RetrieverReport } from './recall-result.ts'
import type { RecallDependencies } from './types.ts'

/** What recall works with besides the ports: all that lasts longer than one question. */
export type RetrieverDependencies = {
  readonly indexer: Indexer | null
  readonly circuitBreakers: {
    readonly meaning: CircuitBreaker
    readonly rerank: CircuitBreaker
  }
}

/** One question, with everything that its stages need. */
export type RetrievalRequest = RetrieverDependencies & {
  readonly ports: RecallDependencies
  readonly scope: Scope
  readonly settings: Settings
  readonly where: DocumentFilter
  readonly text: string
  /** What was said before a follow-up question; null where the question speaks for itself. */
  readonly context: string | null
  readonly now: Instant
  readonly timeoutMs: number
}

/** Enough that fusion sees every memory that could still win; constant, see above. */
const KEYWORD_CANDIDATES = 200

/** Of a leg whose first hits are one text, repeated. */
const EXTENDED_CANDIDATES = 1_000

/** How many hits are looked at together with what stands around them. */
export const SESSION_CONTEXT_HITS_MAX = 100

/** So many of each leg are enough: what is further down in both is rarely among the best of them together. */
const BESIDES: NeighborRequest = { reach: SESSION_CONTEXT_REACH, hits: SESSION_CONTEXT_HITS_MAX }

/** How many memories of the time that is asked about take part, and how long such a time may be. */
const SPAN_MEMORIES = 50
const SPAN_MS_MAX = 63 * DAY_MS

/** A year and longer tells so little about when that its words tell more. */
const TELLING_SPAN_MS_MAX = 183 * DAY_MS

/** How long recall waits for memories that were just written to get their vectors. */
const SETTLE_MS = 1_000

/** The inverse document frequency of what stands in a tenth of all documents. */
const COMMON_NAME_RARITY = Math.log(10)

/** In fewer documents nothing is common. */
const COMMON_NAME_HITS = 20

/** Of the first hits by words, so many tell whether those speak whom the question names. */
const NAMED_HITS = 8

export type SkippedRetriever = { readonly kind: 'skipped'; readonly reason: string }

export type RetrieverResult<Result> = TimedResult<Result> | SkippedRetriever

export async function searchLexical(call: RetrievalRequest) {
  const { ports, scope, context, where, settings, timeoutMs: deadlineMs } = call
  if (settings['recall.strategy'] === 'semantic') return createSkipped('the strategy is semantic')
  const text = context === null ? call.text : `${call.text}\n${context}`
  const matchIn = (filter: DocumentFilter, limit: number) =>
    ports.store.searchText(scope, {
      ...{ text, limit, where: filter, neighborRequest: BESIDES },
      memoriesMin: RESERVED_DOCUMENTS,
    })
  return withTimeout(deadlineMs, async () => {
    const { found, limit } = await searchPastRepetitions(
      KEYWORD_CANDIDATES,
      (count) => matchIn(where, count),
      ({ hits }) => hits.map(({ score }) => score),
    )
    if (!hasTooFewFacts(found.hits, limit, where)) return found
    const facts = await matchIn(toFactsFilter(where), RESERVED_DOCUMENTS)
    return { ...found, hits: mergeMatches(found.hits, facts.hits) }
  })
}

/** Searches again, deeper, where a text that was said many times fills the list: equal texts have equal scores. */
async function searchPastRepetitions<Found>(
  limit: number,
  search: (limit: number) => Promise<Found>,
  scoresOf: (found: Found) => readonly number[],
): Promise<{ readonly found: Found; readonly limit: number }> {
  const found = await search(limit)
  const scores = scoresOf(found)
  if (scores.length < limit || !isDominatedByOneText(scores, (score) => score)) {
    return { found, limit }
  }
  const extended = Math.max(limit, EXTENDED_CANDIDATES)
  return { found: await search(extended), limit: extended }
}

/** Whether a full list of hits has few memories in it because turns took their places, and no others behind them. */
function hasTooFewFacts(
  hits: readonly { readonly id: MemoryId }[],
  limit: number,
  { types }: DocumentFilter,
): boolean {
  const areBothAsked = types?.includes('turn') === true && types.length > 1
  if (!areBothAsked || hits.length !== limit) return false
  return hits.filter(({ id }) => !isTurnId(id)).length < RESERVED_DOCUMENTS
}

function toFactsFilter({ types, ...where }: DocumentFilter): DocumentFilter {
  return types === undefined ? where : { ...where, types: types.filter((type) => type !== 'turn') }
}

/** Hits of the second list that the first has not, behind it: all of them are worse than its last one. */
function mergeMatches<Hit extends { readonly id: MemoryId }>(
  first: readonly Hit[],
  second: readonly Hit[],
): readonly Hit[] {
  const known = new Set(first.map(({ id }) => id))
  return [...first, ...second.filter(({ id }) => !known.has(id))]
}

export type VectorMatch = {
  readonly hits: readonly VectorHit[]
  readonly vector: Float32Array
  readonly space: VectorSpace
  readonly closeness: (similarity: number) => number
  /** Whether the model knows the script of a text; its vector says nothing otherwise. */
  readonly reads: (text: string) => boolean
}

/** `words`: what the other leg finds, which tells of names. */
export async function searchVectors(
  call: RetrievalRequest,
  words: Promise<RetrieverResult<TextMatch>>,
): Promise<RetrieverResult<VectorMatch>> {
  const {
    ports,
    indexer,
    circuitBreakers: guards,
    scope,
    text,
    settings,
    timeoutMs: deadlineMs,
  } = call
  const { vectors } = ports
  if (settings['recall.strategy'] === 'keyword') return createSkipped('the strategy is keyword')
  if (indexer === null || vectors === undefined) {
    const isModelMissing = ports.embedder === undefined
    return createSkipped(
      isModelMissing ? 'there is no embedding model' : 'the store keeps no vectors',
    )
  }
  if (!/[\p{L}\p{N}].*[\p{L}\p{N}].*[\p{L}\p{N}]/su.test(text)) {
    return createSkipped('there are too few letters in the question')
  }
  const look: GuardedTask<VectorMatch | SkippedRetriever> = async (
    signal,
    { awaitLoad: loads, awaitAnswer: asks },
  ) => {
    await yieldToEventLoop()
    await loads(() => indexer.load())
    const { space, embedder, model, calibration } = await indexer.open(scope)
    const reads = (text: string) => isReadable(text, model.languages)
    if (!reads(text)) {
      return createSkipped(`the model reads ${model.languages?.join(', ')} only`)
    }
    await indexer.settle(scope, Math.min(SETTLE_MS, deadlineMs / 2))
    const compared = await removeNamesFromQuestion(call, words)
    const vector = await asks(() => embedQuestion(compared, call.context, embedder, signal))
    const limit = settings['recall.vectorCandidates']
    const nearestIn = (where: DocumentFilter, most: number) =>
      vectors.search(space, scope, {
        ...{ vector, limit: most, where, besides: BESIDES },
        memoriesMin: RESERVED_DOCUMENTS,
      })
    const { found: nearest, limit: searched } = await searchPastRepetitions(
      limit,
      (count) => nearestIn(call.where, count),
      (hits) => hits.map(({ similarity }) => similarity),
    )
    const hits = hasTooFewFacts(nearest, searched, call.where)
      ? mergeMatches(nearest, await nearestIn(toFactsFilter(call.where), RESERVED_DOCUMENTS))
      : nearest
    // A full list stands for many; how many exactly makes no difference.
    const memories = hits.length < limit ? hits.length : SUBJECTS_MAX
    return { hits, vector, space, closeness: createSimilarityScale(memories, calibration), reads }
  }
  const looked = await guards.meaning.runGuarded(deadlineMs, look)
  return looked.kind === 'done' && 'kind' in looked.result
    ? looked.result
    : (looked as TimedResult<VectorMatch>) // the other case was just ruled out
}

/**
 * The question without the names of those who speak in the memories: who is meant is matched apart. Words bring what they
 * have said among the first hits. They are not waited for long; with its names the question is still a good one.
 */
async function removeNamesFromQuestion(
  { ports, scope, where, text, timeoutMs: deadlineMs }: RetrievalRequest,
  words: Promise<RetrieverResult<TextMatch>>,
): Promise<string> {
  if (!canContainName(text)) return text
  const told = await withTimeout(deadlineMs / 4, async () => {
    const leg = await words
    if (leg.kind !== 'done') return []
    const hits = leg.result.hits.slice(0, NAMED_HITS)
    const ids = hits.flatMap(({ id, speaker }) => (speaker === undefined ? [id] : []))
    const common = extractNames(text).filter((name) => isCommonName(name, leg.result))
    const known = [...common, ...hits.flatMap(({ speaker }) => speaker ?? [])]
    if (ids.length === 0) return known
    const { rows } = await ports.store.findDocuments(scope, {
      where: { ...where, ids },
      limit: ids.length,
    })
    return [...known, ...rows.flatMap(({ provenance }) => provenance.speaker ?? [])]
  })
  return told.kind === 'done' ? removeNames(text, told.result.filter(isNamedSpeaker)) : text
}

/**
 * A name that stands in every tenth document or more is that of somebody who takes part: who talks with them addresses them
 * by it, whatever it is about.
 */
function isCommonName(name: string, { terms, hits }: TextMatch): boolean {
  const own = new Set(extractQueryTerms(name))
  return terms.some(({ text, rarity }, term) => {
    if (!own.has(text) || rarity > COMMON_NAME_RARITY) return false
    return hits.filter(({ counts }) => (counts[term] ?? 0) > 0).length >= COMMON_NAME_HITS
  })
}

async function embedQuestion(
  text: string,
  context: string | null,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<Float32Array> {
  const texts = context === null ? [text] : [text, context]
  const [vector, before] = await embedder.embed(texts, { purpose: 'query', signal })
  if (vector === undefined) throw new AppError('unavailable', 'The question got no vector.')
  return before === undefined ? vector : blendVectors(vector, before)
}

/** A model for languages in Latin letters makes noise of other scripts; words do better alone there. */
function isReadable(text: string, languages: readonly string[] | undefined): boolean {
  // A hundred memories are looked at for each question, and nearly all are written in these letters alone.
  if (!BEYOND_ASCII.test(text)) return true
  if (languages === undefined || !languages.every((language) => LATIN.has(language))) return true
  const letters = text.match(/\p{L}/gu) ?? []
  const foreign = letters.filter((letter) => !/\p{Script=Latin}/u.test(letter))
  return foreign.length <= letters.length / 3
}

const BEYOND_ASCII = /[^\p{ASCII}]/u

const LATIN: ReadonlySet<string> = new Set(
  'en de fr es it pt nl sv da no nb nn fi is et lv lt pl cs sk sl hr hu ro tr id ms vi sw'.split(
    ' ',
  ),
)

export type TimeMatches = {
  readonly candidates: readonly Candidate[]
  /** Whether there is any memory of that time; otherwise another time may be meant. Not asked of spans that tell little. */
  readonly isKnown: boolean
}

/**
 * Memories from the time that is asked about, whatever they say: "what happened in May?" has no other words to be found
 * by. Of long spans, where that would be nearly everything, only whether there are any.
 */
export async function retrieveByTime(
  { ports, scope, where, timeoutMs: deadlineMs }: RetrievalRequest,
  span: ParsedQuestion['span'],
): Promise<TimeMatches> {
  if (span === null || span.until - span.from > TELLING_SPAN_MS_MAX) return NOTHING_THEN
  const isLong = span.until - span.from > SPAN_MS_MAX
  const found = await withTimeout(deadlineMs, () =>
    ports.store.findDocuments(scope, {
      where: { ...where, createdFrom: span.from, createdBefore: span.until },
      limit: isLong ? 1 : SPAN_MEMORIES,
    }),
  )
  if (found.kind === 'failed') return NOTHING_THEN
  const { rows } = found.result
  return {
    candidates: isLong ? [] : rows.map(({ id }) => createEmptyCandidate(id)),
    isKnown: rows.length > 0,
  }
}

const NOTHING_THEN: TimeMatches = { candidates: [], isKnown: false }

/** A candidate that no leg has found. */
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

/** What the legs told of what stands around their hits. */
export function collectNeighbors(
  keyword: RetrieverResult<TextMatch>,
  meaning: RetrieverResult<VectorMatch>,
): ReadonlyMap<MemoryId, SessionNeighbors | null> {
  const hits = [
    ...(keyword.kind === 'done' ? keyword.result.hits : []),
    ...(meaning.kind === 'done' ? meaning.result.hits : []),
  ]
  const told = new Map<MemoryId, SessionNeighbors | null>()
  for (const { id, neighbors } of hits) {
    if (neighbors !== undefined) told.set(id, neighbors)
  }
  return told
}

/** One leg answers for both. Where none did, an empty answer would say that there is nothing. */
export function assertAnyRetrieverAnswered(...legs: readonly RetrieverResult<unknown>[]): void {
  if (legs.some(({ kind }) => kind === 'done')) return
  for (const leg of legs) if (leg.kind === 'failed') throw leg.error
}

export function createSkipped(reason: string): SkippedRetriever {
  return { kind: 'skipped', reason }
}

export function buildRetrieverReport(leg: RetrieverResult<unknown>, hits: number): RetrieverReport {
  return leg.kind === 'done'
    ? { state: 'searched', hits, reason: null }
    : { state: leg.kind, hits: 0, reason: leg.reason }
}
