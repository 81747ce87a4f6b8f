/**
 * Gathers the evidence for each candidate from both retrievers and from the conversation around the hits.
 *
 * In a conversation the words of a question are rarely all in the turn that answers it: "I went there in May" follows
 * "Have you been to Oslo?". A candidate is therefore also scored by its context window, and the neighbors of a hit become
 * candidates themselves.
 */

import type { MemoryId } from '../../domain/ids.ts'
import { isTurnId } from '../../domain/search-document.ts'
import { scoreTermCounts } from '../../text/search/bm25.ts'
import { type Candidate, type Evidence, NO_EVIDENCE } from './candidate.ts'

type LexicalTerm = {
  readonly text: string
  readonly rarity: number
  /** Whether the term is part of how the question is asked, see `markFrameTerms`. */
  readonly isFrame?: boolean
}

/** The weights of the terms in the coverage of a question. */
export function getCoverageWeights(terms: readonly LexicalTerm[]): readonly number[] {
  return terms.map(({ rarity, isFrame }) => (isFrame === true ? 0 : rarity))
}

/** The hits of keyword search, see `TextMatch` of the store. */
export type LexicalHits = {
  readonly terms: readonly LexicalTerm[]
  readonly averageLength: number
  readonly hits: readonly LexicalHit[]
}

type LexicalHit = {
  readonly id: MemoryId
  readonly score: number
  readonly coverage: number
  readonly counts: readonly number[]
  readonly length: number
  readonly session: string | null
}

/** The hits of vector search, closest first. */
export type VectorHits = readonly { readonly id: MemoryId; readonly similarity: number }[]

/** The weights of the evidence of each retriever, from 0 to 1. */
export type EvidenceTrust = { readonly keyword: number; readonly vector: number }
const FULL_TRUST: EvidenceTrust = { keyword: 1, vector: 1 }

export type SessionContext = ReadonlyMap<
  MemoryId,
  {
    readonly session: string
    readonly before: readonly MemoryId[]
    readonly after: readonly MemoryId[]
  }
>

/** The number of turns on each side of a turn that form its context window. */
const WINDOW_REACH = 2
/** Neighbors to load on each side of a hit, so that the windows of its neighbors are complete, too. */
export const SESSION_CONTEXT_REACH = 2 * WINDOW_REACH
/** A text of this length gets half of its context score, because long texts need less context. */
const CONTEXT_HALF_TERMS = 100
/** The same for session scores: even a long turn is rarely all that was said about a subject. */
const SESSION_HALF_TERMS = 400
/** The share of the question's known terms from which on keyword search has its full weight. */
const FULL_TRUST_COVERAGE = 0.4
/** The discount of approximate vectors beside keywords that cover the question. */
const VECTOR_DISCOUNT_MAX = 0.8
/** The number of closest memories that represent a session. */
const SESSION_MEMORIES = 3

/** The hits of both retrievers by the sum of their scores, without context. */
export function rankInitialHits(
  keyword: LexicalHits | null,
  vector: VectorHits | null,
): readonly { readonly id: MemoryId; readonly score: number }[] {
  const vectorScores = computeVectorScores(vector)
  const lexicalScores = computeLexicalScores(keyword)
  const ranked: { readonly id: MemoryId; readonly score: number }[] = []
  for (const [id, score] of lexicalScores) {
    ranked.push({ id, score: score + (vectorScores.get(id) ?? 0) })
  }
  for (const [id, score] of vectorScores) {
    if (!lexicalScores.has(id)) ranked.push({ id, score })
  }
  return ranked.sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
}

/** Limits candidates to the best of each kind, facts and turns. */
export type EvidenceLimit = {
  readonly scoreOf: (evidence: Evidence) => number
  readonly count: number
}

/**
 * The hits and their neighbors with their evidence. Scores are still zero. With a limit, only the best candidates are
 * created: there may be a thousand, of which a tenth is ranked further.
 */
export function gatherEvidence(
  keyword: LexicalHits | null,
  vector: VectorHits | null,
  context: SessionContext,
  trust: EvidenceTrust = FULL_TRUST,
  limit?: EvidenceLimit,
): readonly Candidate[] {
  const turnsById = collectTurns(keyword, vector, context)
  const turns = [...turnsById.values()]
  const windows = turns.map(getWindow)
  const around = scoreWindows(keyword, windows)
  const sessions = scoreSessions(keyword)
  const threads = computeSessionSimilarity(vector, turnsById)
  const averageLength = keyword?.averageLength ?? 0
  const evidenceOf = (index: number, evidence: MutableEvidence): MutableEvidence => {
    const turn = turns[index] as TurnNode // an index of the list
    const { hit } = turn
    const length = hit?.length ?? averageLength
    evidence.keyword = trust.keyword * turn.lexicalScore
    evidence.vector = trust.vector * turn.vectorScore
    evidence.context =
      trust.keyword * (around.scores[index] ?? 0) * computeBrevity(length, CONTEXT_HALF_TERMS)
    evidence.session =
      trust.keyword *
      (sessions.get(turn.session ?? hit) ?? 0) *
      computeBrevity(length, SESSION_HALF_TERMS)
    evidence.thread = trust.vector * (threads.get(turn.session ?? turn) ?? 0)
    evidence.reply = trust.vector * (turn.next?.vectorScore ?? 0)
    return evidence
  }
  const toCandidate = (index: number): Candidate => {
    const { id, hit, similarity } = turns[index] as TurnNode // an index of the list
    return {
      id,
      score: 0,
      evidence: evidenceOf(index, { ...NO_EVIDENCE }),
      coverage: hit?.coverage ?? 0,
      contextCoverage: around.coverages[index] ?? 0,
      similarity,
      contextSimilarity: getClosest(windows[index] ?? []),
      trail: [],
    }
  }
  return selectIndexes(turns, evidenceOf, limit).map(toCandidate)
}

type MutableEvidence = { -readonly [Kind in keyof Evidence]: Evidence[Kind] }

/** The indexes of the turns that become candidates, in order. */
function selectIndexes(
  turns: readonly TurnNode[],
  evidenceOf: (index: number, evidence: MutableEvidence) => Evidence,
  limit: EvidenceLimit | undefined,
): readonly number[] {
  const all = turns.map((_, index) => index)
  if (limit === undefined || turns.length <= limit.count) return all
  const evidence = { ...NO_EVIDENCE }
  const scores = Float64Array.from(turns, (_, index) => limit.scoreOf(evidenceOf(index, evidence)))
  const isTurn = turns.map(({ id }) => isTurnId(id))
  const leastOf = (kind: boolean) => {
    const own = scores.filter((_, index) => isTurn[index] === kind).sort()
    return own[own.length - limit.count] ?? Number.NEGATIVE_INFINITY
  }
  // Candidates with equal scores are all kept, because their ids decide.
  const [leastFact, leastTurn] = [leastOf(false), leastOf(true)]
  return all.filter((index) => (scores[index] ?? 0) >= (isTurn[index] ? leastTurn : leastFact))
}

/** Keyword scores relative to the best hit, discounted when even the best one covers little of the question. */
function computeLexicalScores(keyword: LexicalHits | null): ReadonlyMap<MemoryId, number> {
  const hits = keyword?.hits ?? []
  let [best, bestCoverage] = [0, 0]
  for (const { score, coverage } of hits) {
    if (score > best) best = score
    if (coverage > bestCoverage) bestCoverage = coverage
  }
  const trust = Math.min(1, bestCoverage / (FULL_TRUST_COVERAGE * computeKnownIdfShare(keyword)))
  const scores = new Map<MemoryId, number>()
  for (const { id, score } of hits) scores.set(id, best > 0 ? (trust * score) / best : 0)
  return scores
}

/**
 * For a model that only approximates the language of the question: the more of the question keyword search covers, the more
 * keywords count and the less vectors do.
 */
export function weighApproximateEvidence(keyword: LexicalHits | null): EvidenceTrust {
  const bestCoverage = Math.max(0, ...(keyword?.hits ?? []).map(({ coverage }) => coverage))
  const trust = Math.min(1, bestCoverage / FULL_TRUST_COVERAGE)
  return { keyword: trust ** 2, vector: 1 - VECTOR_DISCOUNT_MAX * trust }
}

/** The IDF share of the question's terms that occur in any hit. No memory can match the others. */
function computeKnownIdfShare(keyword: LexicalHits | null): number {
  const terms = keyword?.terms ?? []
  const sum = (some: typeof terms) => some.reduce((total, { rarity }) => total + rarity, 0)
  const knownIdf = sum(
    terms.filter((_, term) => keyword?.hits.some(({ counts }) => (counts[term] ?? 0) > 0)),
  )
  return knownIdf > 0 ? knownIdf / sum(terms) : 1
}

/**
 * Min-max normalization of similarities: those of a model lie in a narrow range that depends on the question.
 */
function computeVectorScores(vector: VectorHits | null): ReadonlyMap<MemoryId, number> {
  let [best, last] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const { similarity } of vector ?? []) {
    if (similarity > best) best = similarity
    if (similarity < last) last = similarity
  }
  const range = best - last
  const scores = new Map<MemoryId, number>()
  for (const { id, similarity } of vector ?? []) {
    scores.set(id, range > 0 ? (similarity - last) / range : 1)
  }
  return scores
}

/** A hit or a neighbor of a hit, linked to the adjacent turns. */
type TurnNode = {
  readonly id: MemoryId
  lexicalScore: number
  vectorScore: number
  similarity: number | null
  hit: LexicalHit | null
  session: string | null
  /** Whether its neighbors are known. */
  isLinked: boolean
  previous: TurnNode | null
  next: TurnNode | null
}

/** Hits first, in the order of the retrievers. */
function collectTurns(
  keyword: LexicalHits | null,
  vector: VectorHits | null,
  context: SessionContext,
): ReadonlyMap<MemoryId, TurnNode> {
  const turns = new Map<MemoryId, TurnNode>()
  const turnOf = (id: MemoryId): TurnNode => {
    const existing = turns.get(id)
    if (existing !== undefined) return existing
    const turn = createTurn(id)
    turns.set(id, turn)
    return turn
  }
  const lexicalScores = computeLexicalScores(keyword)
  for (const hit of keyword?.hits ?? []) {
    const turn = turnOf(hit.id)
    turn.hit = hit
    turn.lexicalScore = lexicalScores.get(hit.id) ?? 0
    turn.session = hit.session
  }
  const vectorScores = computeVectorScores(vector)
  for (const { id, similarity } of vector ?? []) {
    const turn = turnOf(id)
    turn.similarity = similarity
    turn.vectorScore = vectorScores.get(id) ?? 0
  }
  for (const [id, { session, before, after }] of context) {
    let previous: TurnNode | null = null
    for (const neighbor of [...before.toReversed(), id, ...after]) {
      const turn = turnOf(neighbor)
      if (!turn.isLinked) turn.session = session
      turn.isLinked = true
      if (previous !== null) {
        turn.previous = previous
        previous.next = turn
      }
      previous = turn
    }
  }
  return turns
}

/** Written out, because copying a template takes several times as long and there may be a thousand turns. */
function createTurn(id: MemoryId): TurnNode {
  return {
    id,
    lexicalScore: 0,
    vectorScore: 0,
    similarity: null,
    hit: null,
    session: null,
    isLinked: false,
    previous: null,
    next: null,
  }
}

/** The context window of a turn, in the order of the session. */
function getWindow(turn: TurnNode): readonly TurnNode[] {
  const window = [turn]
  let { previous, next } = turn
  for (let step = 0; step < WINDOW_REACH && previous !== null; step++) {
    window.push(previous)
    previous = previous.previous
  }
  window.reverse()
  for (let step = 0; step < WINDOW_REACH && next !== null; step++) {
    window.push(next)
    next = next.next
  }
  return window
}

function getClosest(window: readonly TurnNode[]): number | null {
  let most: number | null = null
  for (const { similarity } of window) {
    if (similarity !== null && (most === null || similarity > most)) most = similarity
  }
  return most
}

type WindowScores = {
  /** Relative to the best window. */
  readonly scores: Float64Array
  readonly coverages: Float64Array
}

/**
 * BM25 of each context window as one text, relative to the best window, and its coverage of the question. Plain loops,
 * because there may be a thousand windows.
 */
function scoreWindows(
  keyword: LexicalHits | null,
  windows: readonly (readonly TurnNode[])[],
): WindowScores {
  const scores = new Float64Array(windows.length)
  const coverages = new Float64Array(windows.length)
  if (keyword === null) return { scores, coverages }
  const { averageLength } = keyword
  const idfs = keyword.terms.map(({ rarity }) => rarity)
  const weights = getCoverageWeights(keyword.terms)
  const totalWeight = weights.reduce((sum, weight) => sum + weight, 0)
  let best = 0
  for (const [index, window] of windows.entries()) {
    let hasHit = false
    let isSingle = true
    let length = 0
    for (const { hit, isLinked } of window) {
      if (hit !== null) hasHit = true
      if (isLinked) isSingle = false
      length += hit?.length ?? averageLength
    }
    if (!hasHit) continue
    const usual = averageLength * (isSingle ? 1 : 2 * WINDOW_REACH + 1)
    const counts = getTermCounts(window, idfs.length)
    const score = scoreTermCounts(counts, idfs, usual > 0 ? length / usual : 1)
    let matchedWeight = 0
    for (let term = 0; term < weights.length; term++) {
      if (counts[term]) matchedWeight += weights[term] ?? 0
    }
    best = Math.max(best, score)
    scores[index] = score
    coverages[index] = totalWeight > 0 ? matchedWeight / totalWeight : 0
  }
  for (let index = 0; index < scores.length; index++) {
    scores[index] = best > 0 ? (scores[index] ?? 0) / best : 0
  }
  return { scores, coverages }
}

/** The number of occurrences of each term in a window. */
function getTermCounts(window: readonly TurnNode[], terms: number): readonly number[] {
  const [first] = window
  if (window.length === 1 && first !== undefined && first.hit !== null) return first.hit.counts
  const counts: number[] = new Array(terms).fill(0)
  for (const { hit } of window) if (hit !== null) addTermCounts(counts, hit.counts)
  return counts
}

function addTermCounts(counts: number[], more: readonly number[]): void {
  for (let term = 0; term < counts.length; term++) {
    counts[term] = (counts[term] ?? 0) + (more[term] ?? 0)
  }
}

/**
 * BM25 of all hits of a session as one text, relative to the best session. A memory without a session is a session of its
 * own: facts and turns are ranked in one list, and a turn must not win merely because it has a session.
 */
function scoreSessions(
  keyword: LexicalHits | null,
): ReadonlyMap<string | LexicalHit | null, number> {
  const idfs = (keyword?.terms ?? []).map(({ rarity }) => rarity)
  const scores = new Map<string | LexicalHit, number>()
  const counts = new Map<string, number[]>()
  for (const hit of keyword?.hits ?? []) {
    if (hit.session === null) {
      scores.set(hit, scoreTermCounts(hit.counts, idfs, 1))
      continue
    }
    const known = counts.get(hit.session)
    if (known === undefined) counts.set(hit.session, [...hit.counts])
    else addTermCounts(known, hit.counts)
  }
  for (const [session, total] of counts) scores.set(session, scoreTermCounts(total, idfs, 1))
  return normalizeToBest(scores)
}

/** The mean vector score of the closest memories of a session, relative to the best session. */
function computeSessionSimilarity(
  vector: VectorHits | null,
  turns: ReadonlyMap<MemoryId, TurnNode>,
): ReadonlyMap<string | TurnNode, number> {
  const means = new Map<string | TurnNode, number>()
  const closest = new Map<string, number[]>()
  // Hits come closest first, so the first ones of a session are its closest.
  for (const { id } of vector ?? []) {
    const turn = turns.get(id)
    if (turn === undefined) continue
    // A memory without a session has its own score.
    if (turn.session === null) {
      means.set(turn, turn.vectorScore)
      continue
    }
    const known = closest.get(turn.session)
    if (known === undefined) closest.set(turn.session, [turn.vectorScore])
    else if (known.length < SESSION_MEMORIES) known.push(turn.vectorScore)
  }
  for (const [session, scores] of closest) {
    means.set(session, scores.reduce((sum, score) => sum + score, 0) / SESSION_MEMORIES)
  }
  return normalizeToBest(means)
}

function normalizeToBest<Key>(scores: Map<Key, number>): ReadonlyMap<Key, number> {
  let best = 0
  for (const score of scores.values()) best = Math.max(best, score)
  for (const [key, score] of scores) scores.set(key, best > 0 ? score / best : 0)
  return scores
}

/** 1 for the shortest text, 0.5 for a text of `halfTerms` terms. */
function computeBrevity(length: number, halfTerms: number): number {
  return 1 / (1 + (length / halfTerms) ** 2)
}
