/**
 * Which of the fused candidates are read and ranked by more than their place in the lists.
 *
 * People ask the same question again and say "continue" a hundred times, so turns of the same words would fill the pool and
 * keep out the fact or the turn that answers. Each kind of document has reserved places, and a text counts a few times at most.
 */

import { isTurnId, type SearchDocument } from '../../domain/search-document.ts'
import { computeFingerprint } from '../../text/fingerprint.ts'
import { type Candidate, compareByScore } from './candidate.ts'

/** Places that facts and turns each have in any list of candidates, however many of the other kind are nearer. */
export const RESERVED_DOCUMENTS = 20
/** The newest of the turns with the same words and speaker. */
const REPETITIONS_MAX = 3
/** One text fills this share of a list before the list is extended. */
const DOMINANT_SHARE = 0.5

/** The best of a ranked list, with the reserved places of each kind. */
export function selectPool(ranked: readonly Candidate[], size: number): readonly Candidate[] {
  const facts = ranked.filter(({ id }) => !isTurnId(id))
  const turns = ranked.filter(({ id }) => isTurnId(id))
  const factsAmongBest = ranked.slice(0, size).filter(({ id }) => !isTurnId(id)).length
  const factsMin = Math.min(RESERVED_DOCUMENTS, facts.length)
  const factsMax = size - Math.min(RESERVED_DOCUMENTS, turns.length)
  const share = Math.min(Math.max(factsAmongBest, factsMin), factsMax)
  return [...facts.slice(0, share), ...turns.slice(0, size - share)].sort(compareByScore)
}

/** Without all but the newest of turns that say the same. */
export function withoutRepetitions<Row extends { readonly memory: SearchDocument }>(
  rows: readonly Row[],
): readonly Row[] {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const { id, content, provenance } = row.memory
    const key = isTurnId(id) ? `${provenance.speaker ?? ''}:${computeFingerprint(content)}` : id
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  const kept = new Set<Row>()
  for (const group of groups.values()) {
    const newest = group.length <= REPETITIONS_MAX ? group : newestFirst(group)
    for (const row of newest.slice(0, REPETITIONS_MAX)) kept.add(row)
  }
  return rows.filter((row) => kept.has(row))
}

function newestFirst<Row extends { readonly memory: SearchDocument }>(
  rows: readonly Row[],
): readonly Row[] {
  return [...rows].sort((a, b) => b.memory.createdAt - a.memory.createdAt)
}

/** Whether most hits of a list look like one text: equal texts score equally. */
export function isDominatedByOneText<Hit>(
  hits: readonly Hit[],
  scoreOf: (hit: Hit) => string | number,
): boolean {
  const counts = new Map<string | number, number>()
  for (const hit of hits) {
    const score = scoreOf(hit)
    counts.set(score, (counts.get(score) ?? 0) + 1)
  }
  return Math.max(0, ...counts.values()) > hits.length * DOMINANT_SHARE
}
