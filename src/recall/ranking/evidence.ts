/**
 * Gathers what speaks for each candidate from the two legs and from the course of the sessions.
 *
 * In a conversation the words of a question are rarely all in the turn that answers it: "I went there in May" follows
 * "Have you been to Oslo?". So a candidate is judged by what stands around it as well, and what stands around a hit
 * becomes a candidate itself.
 */

import type { MemoryId } from '../../domain/ids.ts'
import { scoreTermCounts } from '../../text/search/bm25.ts'
import type { Candidate } from './candidate.ts'

/** What keyword search found; see `TextMatch` of the store. Null when it did not answer. */
export type LexicalHits = {
  readonly terms: readonly { readonly text: string; readonly rarity: number }[]
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

/** What vector search found, closest first. */
export type VectorHits = readonly { readonly id: MemoryId; readonly similarity: number }[]

export type SessionContext = ReadonlyMap<
  MemoryId,
  {
    readonly session: string
    readonly before: readonly MemoryId[]
    readonly after: readonly MemoryId[]
  }
>

/** How far a turn's surroundings reach on each side. */
const WINDOW_REACH = 2
/** What must be asked of the store around a hit, so that the surroundings of its neighbours are known too. */
export const SESSION_CONTEXT_REACH = 2 * WINDOW_REACH
/** A text of this many terms gets half of what its surroundings speak for it: long texts speak for themselves. */
const BRIEF_TERMS = 100
/** The same for its session: even a long turn is rarely all that was said about a subject. */
const BRIEF_TERMS_IN_SESSION = 400
/** From this share of the question's known words on, keyword search is trusted fully. */
const TELLING_COVERAGE = 0.4
/** How many close memories of a session make its thread. */
const THREAD_MEMORIES = 3

/** The hits of both legs, each with how well it did there, best first. Without a look at their surroundings. */
export function rankInitialHits(
  keyword: LexicalHits | null,
  meaning: VectorHits | null,
): readonly { readonly id: MemoryId; readonly score: number }[] {
  const words = computeLexicalScores(keyword)
  const meanings = computeVectorScores(meaning)
  return [...new Set([...words.keys(), ...meanings.keys()])]
    .map((id) => ({ id, score: (words.get(id) ?? 0) + (meanings.get(id) ?? 0) }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
}

/** Every hit and every neighbour of a hit, with all that is known about it. Scores are still zero. */
export function gatherEvidence(
  keyword: LexicalHits | null,
  meaning: VectorHits | null,
  course: SessionContext,
): readonly Candidate[] {
  const turnsById = collectTurns(keyword, meaning, course)
  const turns = [...turnsById.values()]
  const windows = turns.map(getWindow)
  const around = scoreWindows(keyword, windows)
  const sessions = scoreSessions(keyword)
  const threads = computeSessionSimilarity(meaning, turnsById)
  const averageLength = keyword?.averageLength ?? 0
  return turns.map((turn, index) => {
    const { id, hit } = turn
    const length = hit?.length ?? averageLength
    const { score, coverage } = around[index] ?? NO_WORDS
    return {
      id,
      score: 0,
      evidence: {
        keyword: turn.words,
        vector: turn.meaning,
        context: score * computeBrevity(length, BRIEF_TERMS),
        session:
          (sessions.get(turn.session ?? hit) ?? 0) * computeBrevity(length, BRIEF_TERMS_IN_SESSION),
        thread: threads.get(turn.session ?? turn) ?? 0,
        reply: turn.next?.meaning ?? 0,
        speaker: 0,
        time: 0,
      },
      coverage: hit?.coverage ?? 0,
      contextCoverage: coverage,
      similarity: turn.similarity,
      contextSimilarity: getClosest(windows[index] ?? []),
      trail: [],
    }
  })
}

/** The best hit counts fully only if it holds much of the question: one that shares no more than an "I" tells little. */
function computeLexicalScores(keyword: LexicalHits | null): ReadonlyMap<MemoryId, number> {
  const hits = keyword?.hits ?? []
  const best = Math.max(0, ...hits.map(({ score }) => score))
  const covered = Math.max(0, ...hits.map(({ coverage }) => coverage))
  const trust = Math.min(1, covered / (TELLING_COVERAGE * computeKnownIdfShare(keyword)))
  return new Map(hits.map(({ id, score }) => [id, best > 0 ? (trust * score) / best : 0]))
}

/** Of what the question's words tell, how much is in words that were found at all. The others no memory can hold. */
function computeKnownIdfShare(keyword: LexicalHits | null): number {
  const terms = keyword?.terms ?? []
  const sum = (some: typeof terms) => some.reduce((total, { rarity }) => total + rarity, 0)
  const known = sum(
    terms.filter((_, term) => keyword?.hits.some(({ counts }) => (counts[term] ?? 0) > 0)),
  )
  return known > 0 ? known / sum(terms) : 1
}

/**
 * Similarities of one model lie in a narrow band whose place depends on the question. What counts is where a hit
 * stands between the last and the first of the list.
 */
function computeVectorScores(meaning: VectorHits | null): ReadonlyMap<MemoryId, number> {
  const similarities = (meaning ?? []).map(({ similarity }) => similarity)
  const last = Math.min(...similarities)
  const range = Math.max(...similarities) - last
  return new Map(
    (meaning ?? []).map(({ id, similarity }) => [id, range > 0 ? (similarity - last) / range : 1]),
  )
}

/** A memory that is a hit or stands near one, and who stands next to it. */
type TurnNode = {
  readonly id: MemoryId
  words: number
  meaning: number
  similarity: number | null
  hit: LexicalHit | null
  session: string | null
  /** Whether it stands in a session whose course is known. */
  isPlaced: boolean
  previous: TurnNode | null
  next: TurnNode | null
}

/** Those that a leg found first, in its order. */
function collectTurns(
  keyword: LexicalHits | null,
  meaning: VectorHits | null,
  course: SessionContext,
): ReadonlyMap<MemoryId, TurnNode> {
  const turns = new Map<MemoryId, TurnNode>()
  const turnOf = (id: MemoryId): TurnNode => {
    const known = turns.get(id)
    if (known !== undefined) return known
    const turn = createTurn(id)
    turns.set(id, turn)
    return turn
  }
  const words = computeLexicalScores(keyword)
  for (const hit of keyword?.hits ?? []) {
    const turn = turnOf(hit.id)
    turn.hit = hit
    turn.words = words.get(hit.id) ?? 0
    turn.session = hit.session
  }
  const meanings = computeVectorScores(meaning)
  for (const { id, similarity } of meaning ?? []) {
    const turn = turnOf(id)
    turn.similarity = similarity
    turn.meaning = meanings.get(id) ?? 0
  }
  for (const [id, { session, before, after }] of course) {
    let previous: TurnNode | null = null
    for (const neighbour of [...before.toReversed(), id, ...after]) {
      const turn = turnOf(neighbour)
      if (!turn.isPlaced) turn.session = session
      turn.isPlaced = true
      if (previous !== null) {
        turn.previous = previous
        previous.next = turn
      }
      previous = turn
    }
  }
  return turns
}

/** Written out: there may be a thousand of them, and copying a pattern takes several times as long. */
function createTurn(id: MemoryId): TurnNode {
  return {
    id,
    words: 0,
    meaning: 0,
    similarity: null,
    hit: null,
    session: null,
    isPlaced: false,
    previous: null,
    next: null,
  }
}

/** The turn among its neighbours, in the order of the session. */
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

type WindowScore = { readonly score: number; readonly coverage: number }
const NO_WORDS: WindowScore = { score: 0, coverage: 0 }

/**
 * BM25 of each window, as if it were one text, relative to the best, and the share of the question in it. Plain loops,
 * because there may be a thousand of them.
 */
function scoreWindows(
  keyword: LexicalHits | null,
  windows: readonly (readonly TurnNode[])[],
): readonly WindowScore[] {
  if (keyword === null) return []
  const { averageLength } = keyword
  const rarities = keyword.terms.map(({ rarity }) => rarity)
  const asked = rarities.reduce((sum, rarity) => sum + rarity, 0)
  let best = 0
  const words = windows.map((window): WindowScore => {
    if (!window.some(({ hit }) => hit !== null)) return NO_WORDS
    const isAlone = !window.some(({ isPlaced }) => isPlaced)
    const usual = averageLength * (isAlone ? 1 : 2 * WINDOW_REACH + 1)
    let length = 0
    for (const { hit } of window) length += hit?.length ?? averageLength
    const counts = getTermCounts(window, rarities.length)
    const score = scoreTermCounts(counts, rarities, usual > 0 ? length / usual : 1)
    const found = rarities.reduce((sum, rarity, term) => sum + (counts[term] ? rarity : 0), 0)
    best = Math.max(best, score)
    return { score, coverage: asked > 0 ? found / asked : 0 }
  })
  return words.map(({ score, coverage }) => ({ score: best > 0 ? score / best : 0, coverage }))
}

/** How often each term stands in a window. */
function getTermCounts(window: readonly TurnNode[], terms: number): readonly number[] {
  const [alone] = window
  if (window.length === 1 && alone !== undefined && alone.hit !== null) return alone.hit.counts
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
 * BM25 of all that was found in a session, as if it were one text; relative to the best session. What belongs to none is a
 * session of its own: facts and turns of conversations stand in one list, and a turn must not win merely because it has
 * surroundings.
 */
function scoreSessions(
  keyword: LexicalHits | null,
): ReadonlyMap<string | LexicalHit | null, number> {
  const rarities = (keyword?.terms ?? []).map(({ rarity }) => rarity)
  const scores = new Map<string | LexicalHit, number>()
  const counts = new Map<string, number[]>()
  for (const hit of keyword?.hits ?? []) {
    if (hit.session === null) {
      scores.set(hit, scoreTermCounts(hit.counts, rarities, 1))
      continue
    }
    const known = counts.get(hit.session)
    if (known === undefined) counts.set(hit.session, [...hit.counts])
    else addTermCounts(known, hit.counts)
  }
  for (const [session, found] of counts) scores.set(session, scoreTermCounts(found, rarities, 1))
  return normalizeToBest(scores)
}

/** The mean of the closest memories of a session; relative to the best session. */
function computeSessionSimilarity(
  meaning: VectorHits | null,
  turns: ReadonlyMap<MemoryId, TurnNode>,
): ReadonlyMap<string | TurnNode, number> {
  const means = new Map<string | TurnNode, number>()
  const closest = new Map<string, number[]>()
  // Hits come closest first, so the first of a session are its closest.
  for (const { id } of meaning ?? []) {
    const turn = turns.get(id)
    if (turn === undefined) continue
    // One that stands alone is as close as it is; a session is as close as several of it are.
    if (turn.session === null) {
      means.set(turn, turn.meaning)
      continue
    }
    const known = closest.get(turn.session)
    if (known === undefined) closest.set(turn.session, [turn.meaning])
    else if (known.length < THREAD_MEMORIES) known.push(turn.meaning)
  }
  for (const [session, some] of closest) {
    means.set(session, some.reduce((sum, score) => sum + score, 0) / THREAD_MEMORIES)
  }
  return normalizeToBest(means)
}

function normalizeToBest<Key>(scores: Map<Key, number>): ReadonlyMap<Key, number> {
  let best = 0
  for (const score of scores.values()) best = Math.max(best, score)
  for (const [key, score] of scores) scores.set(key, best > 0 ? score / best : 0)
  return scores
}

/** 1 for the shortest text, a half for one of `half` terms. */
function computeBrevity(length: number, half: number): number {
  return 1 / (1 + (length / half) ** 2)
}
