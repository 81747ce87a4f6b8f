/**
 * Gathers what speaks for each candidate from the two legs and from the course of the sessions.
 *
 * In a conversation the words of a question are rarely all in the turn that answers it: "I went there in May" follows
 * "Have you been to Oslo?". So a candidate is judged by what stands around it as well, and what stands around a hit
 * becomes a candidate itself.
 */
import { scoreCounts } from '../bm25.ts'
import type { MemoryId } from '../ids.ts'
import { type Candidate, type Evidence, NO_EVIDENCE } from './candidate.ts'

/** What keyword search found; see `TextMatch` of the store. Null when it did not answer. */
export type KeywordLeg = {
  readonly terms: readonly { readonly text: string; readonly rarity: number }[]
  readonly averageLength: number
  readonly hits: readonly {
    readonly id: MemoryId
    readonly score: number
    readonly coverage: number
    readonly counts: readonly number[]
    readonly length: number
    readonly session: string | null
  }[]
}

/** What vector search found, closest first. */
export type MeaningLeg = readonly { readonly id: MemoryId; readonly similarity: number }[]

export type Course = ReadonlyMap<
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
export const COURSE_REACH = 2 * WINDOW_REACH
/** A text of this many terms gets half of what its surroundings speak for it: long texts speak for themselves. */
const BRIEF_TERMS = 100
/** From this share of the question on, keyword search is trusted fully. */
const TELLING_COVERAGE = 0.4
/** How many close memories of a session make its thread. */
const THREAD_MEMORIES = 3

/** The hits of both legs, each with how well it did there, best first. Without a look at their surroundings. */
export function firstLook(
  keyword: KeywordLeg | null,
  meaning: MeaningLeg | null,
): readonly { readonly id: MemoryId; readonly score: number }[] {
  const words = keywordScores(keyword)
  const meanings = meaningScores(meaning)
  return [...new Set([...words.keys(), ...meanings.keys()])]
    .map((id) => ({ id, score: (words.get(id) ?? 0) + (meanings.get(id) ?? 0) }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
}

/** Every hit and every neighbour of a hit, with all that is known about it. Scores are still zero. */
export function gatherEvidence(
  keyword: KeywordLeg | null,
  meaning: MeaningLeg | null,
  course: Course,
): readonly Candidate[] {
  const words = keywordScores(keyword)
  const meanings = meaningScores(meaning)
  const hits = new Map((keyword?.hits ?? []).map((hit) => [hit.id, hit]))
  const similarities = new Map((meaning ?? []).map((hit) => [hit.id, hit.similarity]))
  const links = linksOf(course)
  const ids = [...new Set([...words.keys(), ...meanings.keys(), ...links.keys()])]
  const around = surroundingWords(keyword, links, ids)
  const sessions = sessionWords(keyword)
  const sessionOf = (id: MemoryId) => links.get(id)?.session ?? hits.get(id)?.session ?? null
  const threads = sessionMeaning(meanings, sessionOf)
  const averageLength = keyword?.averageLength ?? 0
  return ids.map((id) => {
    const hit = hits.get(id)
    const link = links.get(id)
    const session = sessionName(id, sessionOf(id))
    const brevity = brevityOf(hit?.length ?? averageLength)
    const window = windowOf(links, id)
    const evidence: Evidence = {
      ...NO_EVIDENCE,
      keyword: words.get(id) ?? 0,
      meaning: meanings.get(id) ?? 0,
      context: (around.scores.get(id) ?? 0) * brevity,
      session: (sessions.get(session) ?? 0) * brevity,
      thread: threads.get(session) ?? 0,
      reply: link?.next === undefined ? 0 : (meanings.get(link.next) ?? 0),
    }
    const near = window.flatMap((other) => similarities.get(other) ?? [])
    return {
      id,
      score: 0,
      evidence,
      coverage: hit?.coverage ?? 0,
      contextCoverage: around.coverages.get(id) ?? hit?.coverage ?? 0,
      similarity: similarities.get(id) ?? null,
      contextSimilarity: near.length === 0 ? null : Math.max(...near),
      trail: [],
    }
  })
}

/** The best hit counts fully only if it holds much of the question: one that shares no more than an "I" tells little. */
function keywordScores(keyword: KeywordLeg | null): ReadonlyMap<MemoryId, number> {
  const hits = keyword?.hits ?? []
  const best = Math.max(0, ...hits.map(({ score }) => score))
  const covered = Math.max(0, ...hits.map(({ coverage }) => coverage))
  const trust = Math.min(1, covered / TELLING_COVERAGE)
  return new Map(hits.map(({ id, score }) => [id, best > 0 ? (trust * score) / best : 0]))
}

/**
 * Similarities of one model lie in a narrow band whose place depends on the question. What counts is where a hit
 * stands between the last and the first of the list.
 */
function meaningScores(meaning: MeaningLeg | null): ReadonlyMap<MemoryId, number> {
  const similarities = (meaning ?? []).map(({ similarity }) => similarity)
  const last = Math.min(...similarities)
  const range = Math.max(...similarities) - last
  return new Map(
    (meaning ?? []).map(({ id, similarity }) => [id, range > 0 ? (similarity - last) / range : 1]),
  )
}

type Link = { readonly session: string; previous?: MemoryId; next?: MemoryId }

/** Who stands next to whom, from the surroundings of all hits together. */
function linksOf(course: Course): ReadonlyMap<MemoryId, Link> {
  const links = new Map<MemoryId, Link>()
  for (const [id, { session, before, after }] of course) {
    const row = [...[...before].reverse(), id, ...after]
    row.forEach((current, position) => {
      const link = links.get(current) ?? { session }
      const previous = row[position - 1]
      const next = row[position + 1]
      if (previous !== undefined) link.previous = previous
      if (next !== undefined) link.next = next
      links.set(current, link)
    })
  }
  return links
}

function windowOf(links: ReadonlyMap<MemoryId, Link>, id: MemoryId): readonly MemoryId[] {
  const window = [id]
  let previous = links.get(id)?.previous
  let next = links.get(id)?.next
  for (let step = 0; step < WINDOW_REACH; step++) {
    if (previous !== undefined) window.unshift(previous)
    if (next !== undefined) window.push(next)
    previous = previous === undefined ? undefined : links.get(previous)?.previous
    next = next === undefined ? undefined : links.get(next)?.next
  }
  return window
}

/** BM25 of each candidate together with its surroundings, as if they were one text; relative to the best. */
function surroundingWords(
  keyword: KeywordLeg | null,
  links: ReadonlyMap<MemoryId, Link>,
  ids: readonly MemoryId[],
): {
  readonly scores: ReadonlyMap<MemoryId, number>
  readonly coverages: ReadonlyMap<MemoryId, number>
} {
  const scores = new Map<MemoryId, number>()
  const coverages = new Map<MemoryId, number>()
  if (keyword === null) return { scores, coverages }
  const hits = new Map(keyword.hits.map((hit) => [hit.id, hit]))
  const rarities = keyword.terms.map(({ rarity }) => rarity)
  const asked = rarities.reduce((sum, rarity) => sum + rarity, 0)
  for (const id of ids) {
    const isAlone = !links.has(id)
    const usual = keyword.averageLength * (isAlone ? 1 : 2 * WINDOW_REACH + 1)
    const counts = rarities.map(() => 0)
    let length = 0
    for (const member of windowOf(links, id)) {
      const hit = hits.get(member)
      length += hit?.length ?? keyword.averageLength
      hit?.counts.forEach((count, term) => {
        counts[term] = (counts[term] ?? 0) + count
      })
    }
    scores.set(id, scoreCounts(counts, rarities, usual > 0 ? length / usual : 1))
    const found = rarities.reduce((sum, rarity, term) => sum + (counts[term] ? rarity : 0), 0)
    coverages.set(id, asked > 0 ? found / asked : 0)
  }
  return { scores: relative(scores), coverages }
}

/** BM25 of all that was found in a session, as if it were one text; relative to the best session. */
function sessionWords(keyword: KeywordLeg | null): ReadonlyMap<string, number> {
  const counts = new Map<string, number[]>()
  const rarities = (keyword?.terms ?? []).map(({ rarity }) => rarity)
  for (const hit of keyword?.hits ?? []) {
    const session = sessionName(hit.id, hit.session)
    const known = counts.get(session) ?? rarities.map(() => 0)
    counts.set(
      session,
      known.map((count, term) => count + (hit.counts[term] ?? 0)),
    )
  }
  const scores = [...counts].map(
    ([session, found]) => [session, scoreCounts(found, rarities, 1)] as const,
  )
  return relative(new Map(scores))
}

/** The mean of the closest memories of a session; relative to the best session. */
function sessionMeaning(
  meanings: ReadonlyMap<MemoryId, number>,
  sessionOf: (id: MemoryId) => string | null,
): ReadonlyMap<string, number> {
  const closest = new Map<string, number[]>()
  // Hits come closest first, so the first of a session are its closest.
  for (const [id, score] of meanings) {
    const session = sessionOf(id)
    const name = sessionName(id, session)
    const known = closest.get(name) ?? []
    // One that stands alone is as close as it is; a session is as close as several of it are.
    const share = session === null ? THREAD_MEMORIES : 1
    if (known.length < THREAD_MEMORIES) known.push(score * share)
    closest.set(name, known)
  }
  const means = [...closest].map(
    ([session, some]) =>
      [session, some.reduce((sum, score) => sum + score, 0) / THREAD_MEMORIES] as const,
  )
  return relative(new Map(means))
}

/**
 * What belongs to no session is a session of its own: facts and turns of conversations stand in one list, and a turn
 * must not win merely because it has surroundings.
 */
function sessionName(id: MemoryId, session: string | null): string {
  return session ?? `\n${id}`
}

function relative<Key>(scores: ReadonlyMap<Key, number>): ReadonlyMap<Key, number> {
  const best = Math.max(0, ...scores.values())
  return new Map([...scores].map(([key, score]) => [key, best > 0 ? score / best : 0]))
}

function brevityOf(length: number): number {
  return 1 / (1 + (length / BRIEF_TERMS) ** 2)
}
