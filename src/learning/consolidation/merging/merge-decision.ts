/**
 * Which of several memories with nearly the same words are one memory said twice, and what becomes of them.
 *
 * Likeness only brings them here. They are one when the rules of `core/statements.ts` say so, or when one says the other
 * word for word and a little more, and the little more neither denies nor narrows it. The one that says more stays, with
 * what the others hold beside their words.
 */

import type { ChangeId, MemoryId, TurnId } from '../../../domain/ids.ts'
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
import { isExemptFromDecay } from '../../../memory/salience-decay.ts'
import { normalizeStatement } from '../../../text/fingerprint.ts'
import { UNSPACED_SCRIPT } from '../../../text/search/cjk-terms.ts'

export type MergeDecision = {
  /** As they are before. */
  readonly survivor: Memory
  readonly absorbed: readonly Memory[]
}

export type ChangeStamp = { readonly change: ChangeId; readonly now: Instant }

/** `isTakenBack` says of two that they were one before and somebody undid it. Null when all of them stay. */
export function decideMerge(
  memories: readonly Memory[],
  now: Instant,
  isTakenBack: (a: Memory, b: Memory) => boolean,
): MergeDecision | null {
  const [first, ...others] = memories.filter((memory) => isMergeable(memory, now))
  if (first === undefined) return null
  const giveWay = (memory: Memory, to: Memory) =>
    canBeAbsorbed(memory, to) && !isTakenBack(memory, to)
  let survivor = first
  let absorbed: readonly Memory[] = []
  for (const other of others) {
    const [stays, goes] = orderByPrecedence(survivor, other)
    if (!giveWay(goes, stays)) continue
    // What gave way to the former survivor has to give way to the new one as well, or it stays.
    absorbed = [...absorbed, goes].filter((each) => each === goes || giveWay(each, stays))
    survivor = stays
  }
  return absorbed.length === 0 ? null : { survivor, absorbed }
}

/** What is pinned, says who somebody is, waits for approval or is over is left alone. */
export function isMergeable(memory: Memory, now: Instant): boolean {
  return (
    memory.status === 'active' &&
    !isExemptFromDecay(memory) &&
    memory.trust !== 'suspect' &&
    !hasEnded(memory, now)
  )
}

/** The better one first: named by a caller, better trusted, saying more, more salient, older. */
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

/** A key that a caller gave is a promise that the memory is found by it. */
function hasCallerKey({ key, provenance }: Memory): boolean {
  return key !== null && provenance.extractor === null
}

/** The merge of two that somebody else says are the same, where nothing but their words could keep them apart. */
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

/** What a digest says beside its summary, and another one may say otherwise. */
const LISTS = ['decisions', 'actionItems'] as const

/** Whether a line of one speaks of what a line of the other speaks of, and doesn't say the same. */
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

/** Whether two are of one person, speaker and time, so that what they say decides. */
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

/** The same event on two days is two events; two digests with the same words are one. */
function isDistinctEvent(a: Memory, b: Memory): boolean {
  if (a.category === 'episode') return false
  const isEvent = [a, b].some(({ category, type }) => category === 'event' || type === 'episodic')
  return a.validUntil !== b.validUntil || (isEvent && a.validFrom !== b.validFrom)
}

/** Whether `whole` says all that `statement` says, and nothing against it. */
export function isEntailedBy(statement: string, whole: string): boolean {
  if (normalizeStatement(statement) === normalizeStatement(whole)) return true
  const comparison = compareStatements(statement, whole)
  if (comparison.kind === 'same') return true
  if (comparison.kind === 'contradicts') return false
  // Nobody can tell by rules what one more letter, mark or condition does in these.
  if (
    [statement, whole].some(
      (text) => UNSPACED_SCRIPT.test(text) || CODE.test(text) || ASKED.test(text),
    )
  )
    return false
  const extra = findInsertedWords(extractWords(statement), extractWords(whole))
  return (
    extra !== null &&
    !extra.some((word) => TURNS.has(word) || /\p{N}/u.test(word)) &&
    announcesChange(statement) === announcesChange(whole)
  )
}

const CODE = /[<>{}=\\|&$%*~^`[\]_/]/
const ASKED = /[?？]/

/** In lower case, without the marks around them. */
function extractWords(text: string): readonly string[] {
  return normalizeStatement(text)
    .replace(/[’‘]/g, "'")
    .split(' ')
    .map((word) => word.replace(/^["'“”«»„(]+|["'“”«»).,;:!…]+$/gu, ''))
    .filter((word) => word !== '')
}

/** What `whole` has between the words of `part`; null unless it has all of those, in their order. */
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

/** Words that deny a statement, narrow it, put it into the past or into doubt, or name another time. */
const TURNS: ReadonlySet<string> = new Set(
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

/** The survivor with what the others add to it. Its own words stay as they are. */
export function buildSurvivor(
  { survivor, absorbed }: MergeDecision,
  { change, now }: ChangeStamp,
): Memory {
  const all = [survivor, ...absorbed]
  const turns = new Set(all.flatMap(({ provenance }): readonly TurnId[] => provenance.turns))
  return {
    ...survivor,
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
    version: survivor.version + 1,
    change,
    updatedAt: now,
  }
}

export function buildAbsorbed(
  memory: Memory,
  survivor: MemoryId,
  { change, now }: ChangeStamp,
): Memory {
  return {
    ...memory,
    status: 'superseded',
    supersededBy: survivor,
    version: memory.version + 1,
    change,
    updatedAt: now,
  }
}

/** Lists with what any of them holds; of everything else the survivor's, then the first that is there. */
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
