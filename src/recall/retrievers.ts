/**
 * The retrievers of recall: keyword search, vector search, and memories from the time that the question names. Each has a
 * timeout; a failed retriever yields a reason instead of hits.
 */

import type { MemoryId } from '../domain/ids.ts'
import type { Scope } from '../domain/scope.ts'
import { isTurnId } from '../domain/search-document.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { CircuitBreaker, GuardedTask } from '../lib/circuit-breaker.ts'
import { AppError } from '../lib/errors.ts'
import type { TimeSlice } from '../lib/event-loop.ts'
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
import { isEnglish } from '../text/language.ts'
import { extractQueryTerms } from '../text/search/terms.ts'
import type { Indexer } from './indexing/indexer.ts'
import { blendVectors } from './question/follow-up.ts'
import { canContainName, extractNames, removeNames } from './question/names.ts'
import { isNamedSpeaker, type ParsedQuestion } from './question/question-analysis.ts'
import { type Candidate, createEmptyCandidate } from './ranking/candidate.ts'
import { isDominatedByOneText, RESERVED_DOCUMENTS } from './ranking/candidate-pool.ts'
import { SESSION_CONTEXT_REACH } from './ranking/evidence.ts'
import { createSimilarityScale, SUBJECTS_MAX } from './ranking/similarity-threshold.ts'
import type { RetrieverReport } from './recall-result.ts'
import type { RecallDependencies } from './types.ts'

/** State that outlives a single recall. */
export type RetrieverDependencies = {
  readonly indexer: Indexer | null
  readonly circuitBreakers: {
    readonly vector: CircuitBreaker
    readonly rerank: CircuitBreaker
  }
  /** Of all recalls together: how long they have held the thread. */
  readonly timeSlice: TimeSlice
}

/** A question with everything that the retrievers need. */
export type RetrievalRequest = RetrieverDependencies & {
  readonly deps: RecallDependencies
  readonly scope: Scope
  readonly settings: Settings
  readonly where: DocumentFilter
  readonly text: string
  /** The messages before a follow-up question; null for other questions. */
  readonly context: string | null
  /** Words of likely answers for keyword search, see `expandSlotQuestion`; null for most questions. */
  readonly expansion: string | null
  readonly now: Instant
  readonly timeoutMs: number
}

/** Enough for fusion to see every memory that could still win. */
const LEXICAL_CANDIDATES = 200

/** The candidates of a list whose first hits repeat one text. */
const EXTENDED_CANDIDATES = 1_000

/** The number of hits whose neighbors are loaded. Hits further down rarely win in fusion. */
export const SESSION_CONTEXT_HITS_MAX = 100

const NEIGHBORS: NeighborRequest = { reach: SESSION_CONTEXT_REACH, hits: SESSION_CONTEXT_HITS_MAX }

/** How many memories of a time span become candidates, and how long such a span may be. */
const SPAN_MEMORIES_MAX = 50
const SPAN_MS_MAX = 63 * DAY_MS

/** The words of a longer span, such as a year, are more selective than the span. */
const SELECTIVE_SPAN_MS_MAX = 183 * DAY_MS

/** How long recall waits for the vectors of new memories. */
const SETTLE_TIMEOUT_MS = 1_000

/** The IDF of a term in a tenth of all documents. */
const COMMON_NAME_IDF_MAX = Math.log(10)

/** Names in fewer hits are not common. */
const COMMON_NAME_HITS_MIN = 20

/** The number of first hits whose speakers are compared with the names in the question. */
const SPEAKER_HITS = 8

type SkippedRetriever = { readonly kind: 'skipped'; readonly reason: string }

type RetrieverResult<Result> = TimedResult<Result> | SkippedRetriever

export async function searchLexical(
  request: RetrievalRequest,
): Promise<RetrieverResult<TextMatch>> {
  const { deps, scope, context, where, settings, timeoutMs } = request
  if (settings['recall.strategy'] === 'semantic') return createSkipped('the strategy is semantic')
  const text = [request.text, context, request.expansion].filter((part) => part !== null).join('\n')
  const search = (filter: DocumentFilter, limit: number) =>
    deps.store.searchText(scope, {
      text,
      limit,
      where: filter,
      neighborRequest: NEIGHBORS,
      memoriesMin: RESERVED_DOCUMENTS,
    })
  return withTimeout(timeoutMs, async () => {
    const { result, limit } = await searchPastRepetitions(
      LEXICAL_CANDIDATES,
      (count) => search(where, count),
      ({ hits }) => hits.map(({ score }) => score),
    )
    if (!hasTooFewFacts(result.hits, limit, where)) return result
    const facts = await search(toFactFilter(where), RESERVED_DOCUMENTS)
    return { ...result, hits: appendNewHits(result.hits, facts.hits) }
  })
}

/** Searches again with a higher limit if one repeated text fills the list: equal texts have equal scores. */
async function searchPastRepetitions<Result>(
  limit: number,
  search: (limit: number) => Promise<Result>,
  getScores: (result: Result) => readonly number[],
): Promise<{ readonly result: Result; readonly limit: number }> {
  const result = await search(limit)
  const scores = getScores(result)
  if (scores.length < limit || !isDominatedByOneText(scores, (score) => score)) {
    return { result, limit }
  }
  const extended = Math.max(limit, EXTENDED_CANDIDATES)
  return { result: await search(extended), limit: extended }
}

/** Whether turns displaced facts from a full list, so that a search for facts alone may find more. */
function hasTooFewFacts(
  hits: readonly { readonly id: MemoryId }[],
  limit: number,
  { types }: DocumentFilter,
): boolean {
  const includesBoth = types?.includes('turn') === true && types.length > 1
  if (!includesBoth || hits.length !== limit) return false
  return hits.filter(({ id }) => !isTurnId(id)).length < RESERVED_DOCUMENTS
}

function toFactFilter({ types, ...where }: DocumentFilter): DocumentFilter {
  return types === undefined ? where : { ...where, types: types.filter((type) => type !== 'turn') }
}

/** Appends hits that are not in the list; all of them rank below its last hit. */
function appendNewHits<Hit extends { readonly id: MemoryId }>(
  hits: readonly Hit[],
  further: readonly Hit[],
): readonly Hit[] {
  const ids = new Set(hits.map(({ id }) => id))
  return [...hits, ...further.filter(({ id }) => !ids.has(id))]
}

export type VectorMatch = {
  readonly hits: readonly VectorHit[]
  /** The vector of the question. */
  readonly vector: Float32Array
  readonly space: VectorSpace
  /** Maps similarities to the calibrated scale. */
  readonly scale: (similarity: number) => number
  /** Whether the model knows the script of a text; otherwise its vector is noise. */
  readonly isReadable: (text: string) => boolean
  /** Whether the model only approximates the language of the question, so that keywords count for more. */
  readonly isApproximate: boolean
}

/** `lexicalSearch` provides the speakers and names of the first hits. */
export async function searchVectors(
  request: RetrievalRequest,
  lexicalSearch: Promise<RetrieverResult<TextMatch>>,
): Promise<RetrieverResult<VectorMatch>> {
  const { deps, indexer, circuitBreakers, timeSlice, scope, text, context, where } = request
  const { settings, timeoutMs } = request
  const { vectors } = deps
  if (settings['recall.strategy'] === 'keyword') return createSkipped('the strategy is keyword')
  if (indexer === null || vectors === undefined) {
    return createSkipped(
      deps.embedder === undefined ? 'there is no embedding model' : 'the store keeps no vectors',
    )
  }
  if (!/[\p{L}\p{N}].*[\p{L}\p{N}].*[\p{L}\p{N}]/su.test(text)) {
    return createSkipped('there are too few letters in the question')
  }
  const task: GuardedTask<VectorMatch | SkippedRetriever> = async (signal, call) => {
    if (timeSlice.isExpired) await timeSlice.yieldThread()
    await call.awaitLoad(() => indexer.load())
    const { space, embedder, model, calibration } = await indexer.open(scope)
    const isReadable = (content: string) => canRead(content, model.languages)
    if (!isReadable(text)) {
      return createSkipped(`the model reads ${model.languages?.join(', ')} only`)
    }
    await indexer.settle(scope, Math.min(SETTLE_TIMEOUT_MS, timeoutMs / 2))
    const question = await removeSpeakerNames(request, lexicalSearch)
    const vector = await call.awaitAnswer(() => embedQuestion(question, context, embedder, signal))
    const candidates = settings['recall.vectorCandidates']
    const search = (filter: DocumentFilter, limit: number) =>
      vectors.search(space, scope, {
        vector,
        limit,
        where: filter,
        besides: NEIGHBORS,
        memoriesMin: RESERVED_DOCUMENTS,
      })
    const { result: nearest, limit } = await searchPastRepetitions(
      candidates,
      (count) => search(where, count),
      (hits) => hits.map(({ similarity }) => similarity),
    )
    const hits = hasTooFewFacts(nearest, limit, where)
      ? appendNewHits(nearest, await search(toFactFilter(where), RESERVED_DOCUMENTS))
      : nearest
    // A full list stands for many memories; their exact number makes no difference.
    const memories = hits.length < candidates ? hits.length : SUBJECTS_MAX
    const scale = createSimilarityScale(memories, calibration)
    const isApproximate = model.isApproximateBeyondEnglish === true && !isEnglish(text)
    return { hits, vector, space, scale, isReadable, isApproximate }
  }
  const response = await circuitBreakers.vector.runGuarded(timeoutMs, task)
  return response.kind === 'done' && 'kind' in response.result
    ? response.result
    : (response as TimedResult<VectorMatch>) // the result is no SkippedRetriever
}

/**
 * Removes the names of speakers from the question, because speakers are matched separately. Keyword search brings their
 * statements among its first hits. If it takes too long, the question keeps its names, which is good enough.
 */
async function removeSpeakerNames(
  { deps, scope, where, text, timeoutMs }: RetrievalRequest,
  lexicalSearch: Promise<RetrieverResult<TextMatch>>,
): Promise<string> {
  if (!canContainName(text)) return text
  const names = await withTimeout(timeoutMs / 4, async () => {
    const lexical = await lexicalSearch
    if (lexical.kind !== 'done') return []
    const hits = lexical.result.hits.slice(0, SPEAKER_HITS)
    const common = extractNames(text).filter((name) => isCommonName(name, lexical.result))
    const known = [...common, ...hits.flatMap(({ speaker }) => speaker ?? [])]
    const ids = hits.flatMap(({ id, speaker }) => (speaker === undefined ? [id] : []))
    if (ids.length === 0) return known
    const { rows } = await deps.store.findDocuments(scope, {
      where: { ...where, ids },
      limit: ids.length,
    })
    return [...known, ...rows.flatMap(({ provenance }) => provenance.speaker ?? [])]
  })
  return names.kind === 'done' ? removeNames(text, names.result.filter(isNamedSpeaker)) : text
}

/** Whether a name is in a tenth of the documents or more: that of a participant, whom others address by it. */
function isCommonName(name: string, { terms, hits }: TextMatch): boolean {
  const nameTerms = new Set(extractQueryTerms(name))
  return terms.some(({ text, rarity }, term) => {
    if (!nameTerms.has(text) || rarity > COMMON_NAME_IDF_MAX) return false
    return hits.filter(({ counts }) => (counts[term] ?? 0) > 0).length >= COMMON_NAME_HITS_MIN
  })
}

async function embedQuestion(
  text: string,
  context: string | null,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<Float32Array> {
  const texts = context === null ? [text] : [text, context]
  const [vector, contextVector] = await embedder.embed(texts, { purpose: 'query', signal })
  if (vector === undefined) {
    throw new AppError('unavailable', 'The embedding model returned no vector for the question.')
  }
  return contextVector === undefined ? vector : blendVectors(vector, contextVector)
}

/** Whether a model reads a text. Vectors of texts in other scripts than those of its languages are noise. */
function canRead(text: string, languages: readonly string[] | undefined): boolean {
  // A hundred memories are tested per question, and nearly all are ASCII.
  if (languages === undefined || !BEYOND_ASCII.test(text)) return true
  const scripts = languages.map(scriptOf)
  if (scripts.includes(null)) return true
  const letters = text.match(/\p{L}/gu) ?? []
  const foreign = letters.filter((letter) => !scripts.some((script) => script?.test(letter)))
  return foreign.length <= letters.length / 3
}

/** Null when unknown. */
function scriptOf(language: string): RegExp | null {
  return LATIN_LANGUAGES.has(language) ? LATIN_SCRIPT : (SCRIPTS.get(language) ?? null)
}

const LATIN_SCRIPT = /\p{Script=Latin}/u
const SCRIPTS: ReadonlyMap<string, RegExp> = new Map([
  ['ar', /\p{Script=Arabic}/u],
  ['ja', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u],
  ['ko', /\p{Script=Hangul}/u],
  ['ru', /\p{Script=Cyrillic}/u],
  ['th', /\p{Script=Thai}/u],
  ['zh', /\p{Script=Han}/u],
])

const BEYOND_ASCII = /[^\p{ASCII}]/u

const LATIN_LANGUAGES: ReadonlySet<string> = new Set(
  'en de fr es it pt nl sv da no nb nn fi is et lv lt pl cs sk sl hr hu ro tr id ms vi sw'.split(
    ' ',
  ),
)

export type TimeMatches = {
  readonly candidates: readonly Candidate[]
  /** Whether any memory is from that time. If not, another time may be meant. False for unselective spans. */
  readonly hasMemories: boolean
}

/**
 * Memories from the time that the question names, whatever they say: "what happened in May?" has no other words. Of long
 * spans, which would match nearly everything, only whether there are any.
 */
export async function retrieveByTime(
  { deps, scope, where, timeoutMs }: RetrievalRequest,
  span: ParsedQuestion['span'],
): Promise<TimeMatches> {
  if (span === null || span.until - span.from > SELECTIVE_SPAN_MS_MAX) return NO_TIME_MATCHES
  const isLong = span.until - span.from > SPAN_MS_MAX
  const page = await withTimeout(timeoutMs, () =>
    deps.store.findDocuments(scope, {
      where: { ...where, createdFrom: span.from, createdBefore: span.until },
      limit: isLong ? 1 : SPAN_MEMORIES_MAX,
    }),
  )
  if (page.kind === 'failed') return NO_TIME_MATCHES
  const { rows } = page.result
  return {
    candidates: isLong ? [] : rows.map(({ id }) => createEmptyCandidate(id)),
    hasMemories: rows.length > 0,
  }
}

const NO_TIME_MATCHES: TimeMatches = { candidates: [], hasMemories: false }

/** The neighbors that the retrievers returned with their hits. */
export function collectNeighbors(
  lexical: RetrieverResult<TextMatch>,
  vector: RetrieverResult<VectorMatch>,
): ReadonlyMap<MemoryId, SessionNeighbors | null> {
  const hits = [
    ...(lexical.kind === 'done' ? lexical.result.hits : []),
    ...(vector.kind === 'done' ? vector.result.hits : []),
  ]
  const neighborsOf = new Map<MemoryId, SessionNeighbors | null>()
  for (const { id, neighbors } of hits) {
    if (neighbors !== undefined) neighborsOf.set(id, neighbors)
  }
  return neighborsOf
}

/** Throws if no retriever answered: an empty result would claim that there are no memories. */
export function assertAnyRetrieverAnswered(...results: readonly RetrieverResult<unknown>[]): void {
  if (results.some(({ kind }) => kind === 'done')) return
  for (const result of results) if (result.kind === 'failed') throw result.error
}

export function createSkipped(reason: string): SkippedRetriever {
  return { kind: 'skipped', reason }
}

export function buildRetrieverReport(
  result: RetrieverResult<unknown>,
  hits: number,
): RetrieverReport {
  return result.kind === 'done'
    ? { state: 'searched', hits, reason: null }
    : { state: result.kind, hits: 0, reason: result.reason }
}
