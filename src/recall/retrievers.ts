/**
 * Gathers candidates: by words, by meaning, and by the time that is asked about, each under a deadline. A leg that fails
 * is a missing list with a reason, not an error.
 */
import { AppError } from '../domain/errors.ts'
import type { MemoryId } from '../domain/ids.ts'
import type { Scope } from '../domain/scope.ts'
import { isTurnId } from '../domain/search-document.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { EnginePorts } from '../engine/engine-dependencies.ts'
import { nextTurn } from '../lib/event-loop.ts'
import type { GuardedWork, LegGuard } from '../lib/probing-circuit-breaker.ts'
import type { Instant } from '../lib/time.ts'
import { type Timely, withinTime } from '../lib/timeout.ts'
import type { Embedder } from '../models/embedder.ts'
import type { Besides, DocumentFilter, Surroundings, TextMatch } from '../storage/store.ts'
import type { VectorHit, VectorSpace } from '../storage/vector-index.ts'
import { queryTerms } from '../text/search/terms.ts'
import type { Indexer } from './indexing/indexer.ts'
import { blendVectors } from './question/follow-up.ts'
import { mayName, namesIn, withoutNames } from './question/names.ts'
import { type Candidate, NO_EVIDENCE } from './ranking/candidate.ts'
import { isDominatedByOneText, RESERVED_DOCUMENTS } from './ranking/candidate-pool.ts'
import { COURSE_REACH } from './ranking/evidence.ts'
import { type Asked, isNamed } from './ranking/question-match.ts'
import { closenessAmong, SUBJECTS_MAX } from './ranking/similarity-threshold.ts'
import type { LegReport } from './recall-result.ts'

/** What recall works with besides the ports: all that lasts longer than one question. */
export type RecallParts = {
  readonly indexer: Indexer | null
  readonly guards: { readonly meaning: LegGuard; readonly rerank: LegGuard }
}

/** One question, with everything that its stages need. */
export type Question = RecallParts & {
  readonly ports: EnginePorts
  readonly scope: Scope
  readonly settings: Settings
  readonly where: DocumentFilter
  readonly text: string
  /** What was said before a follow-up question; null where the question speaks for itself. */
  readonly context: string | null
  readonly now: Instant
  readonly deadlineMs: number
}

/** Enough that fusion sees every memory that could still win; constant, see above. */
const KEYWORD_CANDIDATES = 200

/** Of a leg whose first hits are one text, repeated. */
const EXTENDED_CANDIDATES = 1_000

/** How many hits are looked at together with what stands around them. */
export const COURSE_MEMORIES = 100

/** So many of each leg are enough: what is further down in both is rarely among the best of them together. */
const BESIDES: Besides = { reach: COURSE_REACH, hits: COURSE_MEMORIES }

/** How many memories of the time that is asked about take part, and how long such a time may be. */
const SPAN_MEMORIES = 50
const SPAN_MS_MAX = 63 * 86_400_000

/** A year and longer tells so little about when that its words tell more. */
const TELLING_SPAN_MS_MAX = 183 * 86_400_000

/** How long recall waits for memories that were just written to get their vectors. */
const SETTLE_MS = 1_000

/** The inverse document frequency of what stands in a tenth of all documents. */
const COMMON_NAME_RARITY = Math.log(10)

/** In fewer documents nothing is common. */
const COMMON_NAME_HITS = 20

/** Of the first hits by words, so many tell whether those speak whom the question names. */
const NAMED_HITS = 8

export type Skipped = { readonly kind: 'skipped'; readonly because: string }

export type Leg<Result> = Timely<Result> | Skipped

export async function keywordLeg(call: Question) {
  const { ports, scope, context, where, settings, deadlineMs } = call
  if (settings.strategy === 'semantic') return skipped('the strategy is semantic')
  const text = context === null ? call.text : `${call.text}\n${context}`
  const matchIn = (filter: DocumentFilter, limit: number) =>
    ports.store.matchText(scope, {
      ...{ text, limit, where: filter, besides: BESIDES },
      memoriesMin: RESERVED_DOCUMENTS,
    })
  return withinTime(deadlineMs, async () => {
    const { found, limit } = await searchPastRepetitions(
      KEYWORD_CANDIDATES,
      (count) => matchIn(where, count),
      ({ hits }) => hits.map(({ score }) => score),
    )
    if (!areFactsCrowdedOut(found.hits, limit, where)) return found
    const facts = await matchIn(factsIn(where), RESERVED_DOCUMENTS)
    return { ...found, hits: joined(found.hits, facts.hits) }
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
function areFactsCrowdedOut(
  hits: readonly { readonly id: MemoryId }[],
  limit: number,
  { types }: DocumentFilter,
): boolean {
  const areBothAsked = types?.includes('turn') === true && types.length > 1
  if (!areBothAsked || hits.length !== limit) return false
  return hits.filter(({ id }) => !isTurnId(id)).length < RESERVED_DOCUMENTS
}

function factsIn({ types, ...where }: DocumentFilter): DocumentFilter {
  return types === undefined ? where : { ...where, types: types.filter((type) => type !== 'turn') }
}

/** Hits of the second list that the first has not, behind it: all of them are worse than its last one. */
function joined<Hit extends { readonly id: MemoryId }>(
  first: readonly Hit[],
  second: readonly Hit[],
): readonly Hit[] {
  const known = new Set(first.map(({ id }) => id))
  return [...first, ...second.filter(({ id }) => !known.has(id))]
}

export type Meaning = {
  readonly hits: readonly VectorHit[]
  readonly vector: Float32Array
  readonly space: VectorSpace
  readonly closeness: (similarity: number) => number
  /** Whether the model knows the script of a text; its vector says nothing otherwise. */
  readonly reads: (text: string) => boolean
}

/** `words`: what the other leg finds, which tells of names. */
export async function meaningLeg(
  call: Question,
  words: Promise<Leg<TextMatch>>,
): Promise<Leg<Meaning>> {
  const { ports, indexer, guards, scope, text, settings, deadlineMs } = call
  const { vectors } = ports
  if (settings.strategy === 'keyword') return skipped('the strategy is keyword')
  if (indexer === null || vectors === undefined) {
    const isModelMissing = ports.embedder === undefined
    return skipped(isModelMissing ? 'there is no embedding model' : 'the store keeps no vectors')
  }
  if (!/[\p{L}\p{N}].*[\p{L}\p{N}].*[\p{L}\p{N}]/su.test(text)) {
    return skipped('there are too few letters in the question')
  }
  const look: GuardedWork<Meaning | Skipped> = async (signal, { loads, asks }) => {
    await nextTurn()
    await loads(() => indexer.load())
    const { space, embedder, model, calibration } = await indexer.open(scope)
    const reads = (text: string) => isReadable(text, model.languages)
    if (!reads(text)) {
      return skipped(`the model reads ${model.languages?.join(', ')} only`)
    }
    await indexer.settle(scope, Math.min(SETTLE_MS, deadlineMs / 2))
    const compared = await nameless(call, words)
    const vector = await asks(() => vectorOf(compared, call.context, embedder, signal))
    const limit = settings.vectorCandidates
    const nearestIn = (where: DocumentFilter, most: number) =>
      vectors.nearest(space, scope, {
        ...{ vector, limit: most, where, besides: BESIDES },
        memoriesMin: RESERVED_DOCUMENTS,
      })
    const { found: nearest, limit: searched } = await searchPastRepetitions(
      limit,
      (count) => nearestIn(call.where, count),
      (hits) => hits.map(({ similarity }) => similarity),
    )
    const hits = areFactsCrowdedOut(nearest, searched, call.where)
      ? joined(nearest, await nearestIn(factsIn(call.where), RESERVED_DOCUMENTS))
      : nearest
    // A full list stands for many; how many exactly makes no difference.
    const memories = hits.length < limit ? hits.length : SUBJECTS_MAX
    return { hits, vector, space, closeness: closenessAmong(memories, calibration), reads }
  }
  const looked = await guards.meaning.within(deadlineMs, look)
  return looked.kind === 'done' && 'kind' in looked.result
    ? looked.result
    : (looked as Timely<Meaning>) // the other case was just ruled out
}

/**
 * The question without the names of those who speak in the memories: who is meant is matched apart. Words bring what they
 * have said among the first hits. They are not waited for long; with its names the question is still a good one.
 */
async function nameless(
  { ports, scope, where, text, deadlineMs }: Question,
  words: Promise<Leg<TextMatch>>,
): Promise<string> {
  if (!mayName(text)) return text
  const told = await withinTime(deadlineMs / 4, async () => {
    const leg = await words
    if (leg.kind !== 'done') return []
    const hits = leg.result.hits.slice(0, NAMED_HITS)
    const ids = hits.flatMap(({ id, speaker }) => (speaker === undefined ? [id] : []))
    const common = namesIn(text).filter((name) => isCommon(name, leg.result))
    const known = [...common, ...hits.flatMap(({ speaker }) => speaker ?? [])]
    if (ids.length === 0) return known
    const { rows } = await ports.store.findDocuments(scope, {
      where: { ...where, ids },
      limit: ids.length,
    })
    return [...known, ...rows.flatMap(({ provenance }) => provenance.speaker ?? [])]
  })
  return told.kind === 'done' ? withoutNames(text, told.result.filter(isNamed)) : text
}

/**
 * A name that stands in every tenth document or more is that of somebody who takes part: who talks with them addresses them
 * by it, whatever it is about.
 */
function isCommon(name: string, { terms, hits }: TextMatch): boolean {
  const own = new Set(queryTerms(name))
  return terms.some(({ text, rarity }, term) => {
    if (!own.has(text) || rarity > COMMON_NAME_RARITY) return false
    return hits.filter(({ counts }) => (counts[term] ?? 0) > 0).length >= COMMON_NAME_HITS
  })
}

async function vectorOf(
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

export type FromThatTime = {
  readonly candidates: readonly Candidate[]
  /** Whether there is any memory of that time; otherwise another time may be meant. Not asked of spans that tell little. */
  readonly isKnown: boolean
}

/**
 * Memories from the time that is asked about, whatever they say: "what happened in May?" has no other words to be found
 * by. Of long spans, where that would be nearly everything, only whether there are any.
 */
export async function fromThatTime(
  { ports, scope, where, deadlineMs }: Question,
  span: Asked['span'],
): Promise<FromThatTime> {
  if (span === null || span.until - span.from > TELLING_SPAN_MS_MAX) return NOTHING_THEN
  const isLong = span.until - span.from > SPAN_MS_MAX
  const found = await withinTime(deadlineMs, () =>
    ports.store.findDocuments(scope, {
      where: { ...where, createdFrom: span.from, createdBefore: span.until },
      limit: isLong ? 1 : SPAN_MEMORIES,
    }),
  )
  if (found.kind === 'failed') return NOTHING_THEN
  const { rows } = found.result
  return {
    candidates: isLong ? [] : rows.map(({ id }) => unfound(id)),
    isKnown: rows.length > 0,
  }
}

const NOTHING_THEN: FromThatTime = { candidates: [], isKnown: false }

/** A candidate that no leg has found. */
export function unfound(id: MemoryId): Candidate {
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
export function toldBesides(
  keyword: Leg<TextMatch>,
  meaning: Leg<Meaning>,
): ReadonlyMap<MemoryId, Surroundings | null> {
  const hits = [
    ...(keyword.kind === 'done' ? keyword.result.hits : []),
    ...(meaning.kind === 'done' ? meaning.result.hits : []),
  ]
  const told = new Map<MemoryId, Surroundings | null>()
  for (const { id, surroundings } of hits) {
    if (surroundings !== undefined) told.set(id, surroundings)
  }
  return told
}

/** One leg answers for both. Where none did, an empty answer would say that there is nothing. */
export function refuseSilence(...legs: readonly Leg<unknown>[]): void {
  if (legs.some(({ kind }) => kind === 'done')) return
  for (const leg of legs) if (leg.kind === 'failed') throw leg.error
}

export function skipped(because: string): Skipped {
  return { kind: 'skipped', because }
}

export function reportOf(leg: Leg<unknown>, hits: number): LegReport {
  return leg.kind === 'done'
    ? { state: 'searched', hits, because: null }
    : { state: leg.kind, hits: 0, because: leg.because }
}
