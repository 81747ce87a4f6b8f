/**
 * Selects the fused candidates that are loaded and ranked further.
 *
 * People repeat questions and say "continue" a hundred times, so turns with equal text could fill the pool and displace the
 * answer. Facts and turns therefore have reserved places, and equal texts count a few times at most.
 */

import { isTurnId, type SearchDocument } from '../../domain/search-document.ts'
import { computeFingerprint } from '../../text/fingerprint.ts'
import { type Candidate, compareByScore } from './candidate.ts'

/** Places reserved for facts and for turns in every list of candidates. */
export const RESERVED_DOCUMENTS = 20
/** How many turns with equal text and speaker are kept, newest first. */
const REPETITIONS_MAX = 3
/** The share of a list that one text must fill for the list to be extended. */
const DOMINANT_SHARE = 0.5

/** The best of a ranked list, with reserved places for each kind. */
export function selectPool(ranked: readonly Candidate[], size: number): readonly Candidate[] {
  const facts = ranked.filter(({ id }) => !isTurnId(id))
  const turns = ranked.filter(({ id }) => isTurnId(id))
  const factsAmongBest = ranked.slice(0, size).filter(({ id }) => !isTurnId(id)).length
  const factsMin = Math.min(RESERVED_DOCUMENTS, facts.length)
  const factsMax = size - Math.min(RESERVED_DOCUMENTS, turns.length)
  const share = Math.min(Math.max(factsAmongBest, factsMin), factsMax)
  return [...facts.slice(0, share), ...turns.slice(0, size - share)].sort(compareByScore)
}

/** Drops all but the newest turns of each text. */
export function dropRepetitions<Row extends { readonly memory: SearchDocument }>(
  rows: readonly Row[],
): readonly Row[] {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const { id, provenance } = row.memory
    const key = isTurnId(id) ? `${provenance.speaker ?? ''}:${getFingerprint(row.memory)}` : id
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  const kept = new Set<Row>()
  for (const group of groups.values()) {
    const newest = group.length <= REPETITIONS_MAX ? group : sortNewestFirst(group)
    for (const row of newest.slice(0, REPETITIONS_MAX)) kept.add(row)
  }
  return rows.filter((row) => kept.has(row))
}

/** Stores share documents between queries, which then need not compute them again. */
const fingerprints = new WeakMap<SearchDocument, string>()

function getFingerprint(document: SearchDocument): string {
  const known = fingerprints.get(document)
  if (known !== undefined) return known
  const fingerprint = computeFingerprint(document.content)
  fingerprints.set(document, fingerprint)
  return fingerprint
}

function sortNewestFirst<Row extends { readonly memory: SearchDocument }>(
  rows: readonly Row[],
): readonly Row[] {
  return [...rows].sort((a, b) => b.memory.createdAt - a.memory.createdAt)
}

/** Whether most hits of a list have one score, as equal texts do. */
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
