/**
 * Decides which of several near-duplicate memories state the same, and merges them.
 *
 * Similar wording only selects candidates. Two memories are merged when `compareStatements` finds them equal, or when one
 * contains all words of the other in order and the additional words neither negate nor restrict it. The more specific one
 * survives and takes over the metadata of the others.
 */

import type { MemoryId, TurnId } from '../../../domain/ids.ts'
import {
  ENTITIES_MAX,
  METADATA_CHARACTERS_MAX,
  PROVENANCE_TURNS_MAX,
} from '../../../domain/limits.ts'
import { hasEnded, type Memory, TRUST_LEVELS } from '../../../domain/memory.ts'
import type { Json, JsonObject } from '../../../lib/json.ts'
import type { Instant } from '../../../lib/time.ts'
import {
  announcesChange,
  compareStatements,
  computeWordOverlap,
  parseStatement,
} from '../../../memory/contradiction/statements.ts'
import { type ChangeStamp, stampMemory } from '../../../memory/memory-changes.ts'
import { isExemptFromDecay } from '../../../memory/salience-decay.ts'
import { normalizeStatement } from '../../../text/fingerprint.ts'
import { UNSPACED_SCRIPT } from '../../../text/search/cjk-terms.ts'

export type MergeDecision = {
  /** Both as they were before the merge. */
  readonly survivor: Memory
  readonly absorbed: readonly Memory[]
}

/** `isUndone`: whether a merge of the two was undone before. Null when nothing is merged. */
export function decideMerge(
  memories: readonly Memory[],
  now: Instant,
  isUndone: (a: Memory, b: Memory) => boolean,
): MergeDecision | null {
  const [first, ...others] = memories.filter((memory) => isMergeable(memory, now))
  if (first === undefined) return null
  const canAbsorb = (memory: Memory, to: Memory) =>
    canBeAbsorbed(memory, to) && !isUndone(memory, to)
  let survivor = first
  let absorbed: readonly Memory[] = []
  for (const other of others) {
    const [stays, goes] = orderByPrecedence(survivor, other)
    if (!canAbsorb(goes, stays)) continue
    // Memories that the previous survivor absorbed must be absorbable by the new one.
    absorbed = [...absorbed, goes].filter((each) => each === goes || canAbsorb(each, stays))
    survivor = stays
  }
  return absorbed.length === 0 ? null : { survivor, absorbed }
}

/** Pinned, identity, suspect and ended memories are not merged. */
export function isMergeable(memory: Memory, now: Instant): boolean {
  return (
    memory.status === 'active' &&
    !isExemptFromDecay(memory) &&
    memory.trust !== 'suspect' &&
    !hasEnded(memory, now)
  )
}

/** Orders by caller key, trust, length, salience and age; the first one survives. */
function orderByPrecedence(a: Memory, b: Memory): readonly [Memory, Memory] {
  const difference =
    Number(hasCallerKey(b)) - Number(hasCallerKey(a)) ||
    TRUST_LEVELS.indexOf(a.trust) - TRUST_LEVELS.indexOf(b.trust) ||
    extractWords(b.content).length - extractWords(a.content).length ||
    b.salience - a.salience ||
    a.createdAt - b.createdAt ||
    (a.id < b.id ? -1 : 1)
  return difference <= 0 ? [a, b] : [b, a]
}

/** Memories with a caller's key must stay retrievable by it. */
function hasCallerKey({ key, provenance }: Memory): boolean {
  return key !== null && provenance.extractor === null
}

/** The merge of a pair that a model found equal; checks everything but the wording. */
export function decidePairMerge(a: Memory, b: Memory, now: Instant): MergeDecision | null {
  if (!isMergeable(a, now) || !isMergeable(b, now)) return null
  const [survivor, goes] = orderByPrecedence(a, b)
  return isMergeCandidate(goes, survivor) ? { survivor, absorbed: [goes] } : null
}

function canBeAbsorbed(memory: Memory, to: Memory): boolean {
  return (
    isMergeCandidate(memory, to) &&
    isEntailedBy(memory.content, to.content) &&
    !LISTS.some((name) => hasOtherMeaning(readTextList(memory, name), readTextList(to, name)))
  )
}

/** Lists of an episode that may contradict those of another one. */
const LISTS = ['decisions', 'actionItems'] as const

/** Whether two lines share a topic without stating the same. */
function hasOtherMeaning(lines: readonly string[], others: readonly string[]): boolean {
  return lines.some((line) => others.some((other) => isContradicting(line, other)))
}

function isContradicting(line: string, other: string): boolean {
  if (isEntailedBy(line, other) || isEntailedBy(other, line)) return false
  return computeWordOverlap(parseStatement(line), parseStatement(other)) > 0
}

function readTextList({ metadata }: Memory, name: string): readonly string[] {
  const lines = metadata[name]
  return Array.isArray(lines) ? lines.filter((line) => typeof line === 'string') : []
}

/** Whether both belong to one user, speaker and time, so that only their wording decides. */
function isMergeCandidate(memory: Memory, to: Memory): boolean {
  return (
    !hasCallerKey(memory) &&
    memory.place.owner === to.place.owner &&
    memory.place.user === to.place.user &&
    (memory.category === 'episode') === (to.category === 'episode') &&
    memory.provenance.speaker === to.provenance.speaker &&
    memory.conflictsWith !== to.id &&
    to.conflictsWith !== memory.id &&
    !isDistinctEvent(memory, to)
  )
}

/** The same event on two days is two events; episodes with the same words are one. */
function isDistinctEvent(a: Memory, b: Memory): boolean {
  if (a.category === 'episode') return false
  const isEvent = [a, b].some(({ category, type }) => category === 'event' || type === 'episodic')
  return a.validUntil !== b.validUntil || (isEvent && a.validFrom !== b.validFrom)
}

/** Whether `whole` states all of `statement` and nothing that contradicts it. */
export function isEntailedBy(statement: string, whole: string): boolean {
  if (normalizeStatement(statement) === normalizeStatement(whole)) return true
  const comparison = compareStatements(statement, whole)
  if (comparison.kind === 'same') return true
  if (comparison.kind === 'contradicts') return false
  // Rules cannot judge additional words in unspaced scripts, code and questions.
  if (
    [statement, whole].some(
      (text) => UNSPACED_SCRIPT.test(text) || CODE.test(text) || QUESTION.test(text),
    )
  )
    return false
  const extra = findInsertedWords(extractWords(statement), extractWords(whole))
  return (
    extra !== null &&
    !extra.some((word) => RESTRICTIVE_WORDS.has(word) || /\p{N}/u.test(word)) &&
    announcesChange(statement) === announcesChange(whole)
  )
}

const CODE = /[<>{}=\\|&$%*~^`[\]_/]/
const QUESTION = /[?？]/

/** Normalized words without surrounding punctuation. */
function extractWords(text: string): readonly string[] {
  return normalizeStatement(text)
    .replace(/[’‘]/g, "'")
    .split(' ')
    .map((word) => word.replace(/^["'“”«»„(]+|["'“”«»).,;:!…]+$/gu, ''))
    .filter((word) => word !== '')
}

/** The words of `whole` that `part` lacks; null unless `whole` contains all words of `part` in order. */
function findInsertedWords(
  part: readonly string[],
  whole: readonly string[],
): readonly string[] | null {
  let at = 0
  const extra = whole.filter((word) => {
    if (word !== part[at]) return true
    at++
    return false
  })
  return at === part.length ? extra : null
}

/** Words that negate or restrict a statement, move it in time or put it in doubt. */
const RESTRICTIVE_WORDS: ReadonlySet<string> = new Set(
  [
    "not no never none nothing nobody neither nor without except unless but if when until only hardly barely isn't",
    "aren't wasn't weren't don't doesn't didn't can't cannot won't wouldn't shouldn't couldn't hasn't haven't hadn't",
    'maybe perhaps might may could would should almost nearly former formerly previously ex used once stopped quit',
    'wants want wanted plans planned hopes hoped tried refuses refused fails failed less fewer more instead than or',
    'every some few most half both either second third last next yesterday today tomorrow ago later before after since',
    'monday tuesday wednesday thursday friday saturday sunday january february march april june july august september',
    'october november december morning afternoon evening night weekly daily monthly yearly',
    'nicht kein keine keinen keiner keinem nie niemals ohne außer nur kaum wenn falls bis vielleicht früher ehemals',
    'ehemalige ehemaliger fast oder sondern aber statt mehr weniger gestern heute morgen montag dienstag mittwoch',
    'donnerstag freitag samstag sonntag',
    'nunca jamás sin excepto salvo solo sólo apenas si cuando hasta quizá quizás tal antes casi o pero más menos ayer',
    'hoy mañana lunes martes miércoles jueves viernes sábado domingo',
    "ne n'est pas jamais sans sauf seulement quand jusque jusqu'à peut-être ancien ancienne presque ou mais plus moins",
    "hier aujourd'hui demain lundi mardi mercredi jeudi vendredi samedi dimanche",
    'não sem exceto só somente quase talvez antigo antiga quando até ou mas mais ontem hoje amanhã segunda-feira',
    'terça-feira quarta-feira quinta-feira sexta-feira',
  ].flatMap((words) => words.split(' ')),
)

/** The survivor with the counts, sources and metadata of all. Its content is unchanged. */
export function buildSurvivor({ survivor, absorbed }: MergeDecision, stamp: ChangeStamp): Memory {
  const all = [survivor, ...absorbed]
  const turns = new Set(all.flatMap(({ provenance }): readonly TurnId[] => provenance.turns))
  return {
    ...stampMemory(survivor, stamp),
    sourceCount: sumCounts(all.map(({ sourceCount }) => sourceCount)),
    useCount: sumCounts(all.map(({ useCount }) => useCount)),
    salience: Math.max(...all.map(({ salience }) => salience)),
    importance: Math.max(...all.map(({ importance }) => importance)),
    // A fact that was learned twice holds since it was first learned.
    validFrom: survivor.validFrom === null ? null : minInstant(all.map((each) => each.validFrom)),
    lastUsedAt: maxInstant(all.map(({ lastUsedAt }) => lastUsedAt)),
    entities: [...new Set(all.flatMap(({ entities }) => entities))].slice(0, ENTITIES_MAX),
    provenance: { ...survivor.provenance, turns: [...turns].slice(0, PROVENANCE_TURNS_MAX) },
    metadata: mergeMetadata(all),
    conflictsWith: all.find(({ conflictsWith }) => conflictsWith !== null)?.conflictsWith ?? null,
  }
}

export function buildAbsorbed(memory: Memory, survivor: MemoryId, stamp: ChangeStamp): Memory {
  return { ...stampMemory(memory, stamp), status: 'superseded', supersededBy: survivor }
}

/** Concatenates lists; of other fields, the survivor's value wins. */
function mergeMetadata(all: readonly Memory[]): JsonObject {
  const own = all[0]?.metadata ?? {}
  const joined: { [name: string]: Json } = {}
  for (const { metadata } of all) {
    for (const [name, value] of Object.entries(metadata)) {
      const known = joined[name]
      if (known === undefined) joined[name] = value
      else if (Array.isArray(known) && Array.isArray(value)) joined[name] = mergeLists(known, value)
    }
  }
  return JSON.stringify(joined).length <= METADATA_CHARACTERS_MAX ? joined : own
}

function mergeLists(known: readonly Json[], more: readonly Json[]): readonly Json[] {
  const texts = new Set(known.map((each) => JSON.stringify(each)))
  return [...known, ...more.filter((each) => !texts.has(JSON.stringify(each)))]
}

function sumCounts(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function minInstant(instants: readonly (Instant | null)[]): Instant | null {
  return instants.reduce((early, at) =>
    at !== null && (early === null || at < early) ? at : early,
  )
}

function maxInstant(instants: readonly (Instant | null)[]): Instant | null {
  return instants.reduce((late, at) => (at !== null && (late === null || at > late) ? at : late))
}
