/**
 * What writing a memory does, decided in pure code from what is already known.
 *
 * A key is identity: a write with a known key updates what holds it. Without one, wording decides, and only in
 * clear cases (see `core/statements.ts`). Nothing is overwritten by something less trusted, and nothing is lost:
 * what is replaced stays in the history or becomes superseded.
 */

import type { ChangeId, MemoryId } from '../domain/ids.ts'
import { hasEnded, isTrusted, type Memory, type Tombstone, TRUST_LEVELS } from '../domain/memory.ts'
import type { Place } from '../domain/scope.ts'
import type { Verdict } from '../domain/verdict.ts'
import { isJsonEqual } from '../lib/json.ts'
import type { Instant } from '../lib/time.ts'
import { normalizeStatement } from '../text/fingerprint.ts'
import {
  type Comparison,
  type Contradiction,
  compareParsedStatements,
  computeWordOverlap,
  type ParsedStatement,
  parseStatement,
} from './contradiction/statements.ts'
import { type Draft, IMPORTANCE_DEFAULT, parseEdit, SALIENCE_DEFAULT } from './draft.ts'
import { hasAutoPin, inheritIdentity, isAutoPinned, isUserPinned, removeAutoPin } from './pins.ts'

export type WriteContext = {
  readonly draft: Draft
  readonly place: Place
  readonly now: Instant
  readonly change: ChangeId
  /** The id a new memory would get. */
  readonly id: MemoryId
  /** What holds the draft's key. */
  readonly sameKey: Memory | null
  /** Active memories of the same owner and user with similar words, nearest first. */
  readonly similarMemories: readonly Memory[]
  /** Tombstones that match the draft's content or key. */
  readonly tombstones: readonly Tombstone[]
  /** Whether it was said at an unknown earlier time, so that every tombstone may be younger; default: no. */
  readonly isHistory?: boolean
  readonly reinforcement: number
  /**
   * What someone else makes of statements that rules can't tell from this one, by their words: a verdict on what a
   * memory said says nothing about what it says since. See `core/truth/adjudicate.ts`.
   */
  readonly verdicts?: ReadonlyMap<string, Verdict>
}

export type WriteDecision =
  | { readonly kind: 'create'; readonly memory: Memory }
  | {
      readonly kind: 'update' | 'duplicate'
      readonly memory: Memory
      readonly previous: Memory
      /** The statement in its own words, where somebody else said that it is the same: they may be wrong. */
      readonly absorbed?: Memory
    }
  | {
      readonly kind: 'supersede'
      readonly memory: Memory
      readonly previous: Memory
      readonly superseded: Memory
      readonly because: Contradiction
    }
  | {
      /** Kept beside what it contradicts: rules can't tell which is right. */
      readonly kind: 'conflict'
      readonly memory: Memory
      readonly conflicting: Memory
      readonly because: Contradiction | 'trust'
    }
  | { readonly kind: 'refused'; readonly because: 'forgotten' }

type RestatementDecision = Extract<WriteDecision, { kind: 'update' | 'duplicate' }>

export function decideWrite(context: WriteContext): WriteDecision {
  const { draft, sameKey, tombstones, isHistory = false } = context
  const isBlocking = ({ forgottenAt }: Tombstone) =>
    // What is said right after the forgetting is new, even within the same millisecond.
    isHistory ||
    (draft.hasObservedAt ? forgottenAt >= draft.observedAt : forgottenAt > draft.observedAt)
  if (tombstones.some(isBlocking)) {
    return { kind: 'refused', because: 'forgotten' }
  }
  if (sameKey !== null) return decideSameKey(context, sameKey)
  // A key given by a caller names the memory's identity, so likeness to some other one must not swallow it.
  // A key that an extractor derived from the words is no such promise.
  const isNamed = draft.key !== null && draft.provenance.extractor === null
  if (draft.trust === 'suspect') {
    const echo = findEcho(context)
    return echo === undefined
      ? { kind: 'create', memory: createMemory(context) }
      : reinforceMemory(context, echo)
  }
  // What waits for a person is nothing that others could repeat or contradict.
  const neighbours = isNamed ? [] : context.similarMemories.filter(({ trust }) => isTrusted(trust))
  const said = parseStatement(draft.content)
  const compared = neighbours.map((neighbour) => {
    const known = parseStatement(neighbour.content)
    const byRules = compareParsedStatements(said, known)
    const verdict = context.verdicts?.get(neighbour.content)
    const isJudged = isUndecided(byRules)
    const comparison = isJudged ? toComparison(verdict) : byRules
    return { neighbour, known, verdict, isJudged, comparison }
  })
  const same = compared.find(({ comparison }) => comparison.kind === 'same')
  if (same !== undefined) {
    const restated = decideRestatement(context, same.neighbour)
    return same.isJudged
      ? { ...restated, absorbed: createAbsorbedMemory(context, same.neighbour) }
      : restated
  }
  for (const { neighbour, known, verdict, comparison } of compared) {
    if (comparison.kind !== 'contradicts') continue
    const { because } = comparison
    // That something has changed since can be said of what was before only.
    if (because === 'change' && !said.isChange && said.left.length === 0) continue
    const replaces =
      because === 'verdict' ? verdict === 'update' : canReplaceStatement(because, said, known)
    return decideContradiction(context, neighbour, because, replaces)
  }
  return { kind: 'create', memory: createMemory(context) }
}

function decideSameKey(context: WriteContext, holder: Memory): WriteDecision {
  const { draft } = context
  const isSaidAgain = normalizeStatement(draft.content) === normalizeStatement(holder.content)
  if (isSaidAgain && !isMoreDetailed(draft, holder) && !hasEnded(holder, context.now)) {
    return reinforceMemory(context, holder)
  }
  if (isLessTrusted(draft, holder) && !hasEnded(holder, context.now)) {
    const echo = findEcho(context)
    if (echo !== undefined) return reinforceMemory(context, echo)
    const memory = { ...createMemory(context), key: null, conflictsWith: holder.id }
    return { kind: 'conflict', memory, conflicting: holder, because: 'trust' }
  }
  return { kind: 'update', memory: updateMemory(context, holder), previous: holder }
}

/** Said again: reinforced, and what the caller says beyond it is taken over. */
function decideRestatement(context: WriteContext, memory: Memory): RestatementDecision {
  // Reinforcing already takes the higher importance.
  const { importance = 0, ...rest } = context.draft.fields
  const given = isUserPinned(memory) ? removePin(rest) : rest
  const draft = { ...context.draft, fields: given }
  if (!isMoreDetailed(draft, memory) || isLessTrusted(draft, memory))
    return reinforceMemory(context, memory)
  const updated: Memory = {
    ...updateMemory({ ...context, draft }, memory),
    content: memory.content,
    sourceCount: memory.sourceCount + 1,
    importance: Math.max(memory.importance, importance),
  }
  return { kind: 'update', memory: updated, previous: memory }
}

/** What a person has pinned stays theirs, also when something else would pin it as well. */
function removePin(given: Draft['fields']): Draft['fields'] {
  if (!hasAutoPin(given.metadata)) return given
  const { pinned: _, metadata = {}, ...rest } = given
  return { ...rest, metadata: removeAutoPin(metadata) }
}

/** Kept out of recall, where it can be restored from. */
function createAbsorbedMemory(context: WriteContext, { id }: Memory): Memory {
  return { ...createMemory(context), key: null, status: 'superseded', supersededBy: id }
}

/** The same statement from the same kind of source: what is kept aside must not pile up. */
function findEcho({ draft, similarMemories: neighbours }: WriteContext): Memory | undefined {
  const said = parseStatement(draft.content)
  return neighbours.find(
    (neighbour) =>
      neighbour.trust === draft.trust &&
      compareParsedStatements(said, parseStatement(neighbour.content)).kind === 'same',
  )
}

/** Whether rules leave it to others what two statements are to each other. */
export function isUndecided(comparison: Comparison): boolean {
  return comparison.kind === 'different' && comparison.isCertain !== true
}

function toComparison(verdict: Verdict | undefined): Comparison {
  switch (verdict) {
    case 'duplicate':
      return { kind: 'same' }
    case 'update':
    case 'conflict':
      return { kind: 'contradicts', because: 'verdict' }
    default:
      return { kind: 'different' }
  }
}

/** So many of all words of two statements must be in both to ask whether they are about the same. */
const SHARED_WORDS_MIN = 0.6

/**
 * The neighbour that a verdict should be asked on: rules would keep the statement as a new one, although it shares most
 * words with this one or is close to it in meaning. Nothing is asked about what is not to be believed anyway.
 */
export function findUndecidedMemory(
  { draft, similarMemories: neighbours }: WriteContext,
  decision: WriteDecision,
  close: ReadonlySet<MemoryId>,
): Memory | null {
  const isNamed = draft.key !== null && draft.provenance.extractor === null
  if (decision.kind !== 'create' || draft.trust === 'suspect' || isNamed) return null
  const isAskedAbout = ({ id, content, trust }: Memory) =>
    isTrusted(trust) && isAdjudicable(draft.content, content, close.has(id))
  return neighbours.find(isAskedAbout) ?? null
}

/** Whether it is worth asking what two statements are to each other: rules can't tell, and they look like one matter. */
export function isAdjudicable(content: string, other: string, isClose: boolean): boolean {
  const [said, known] = [parseStatement(content), parseStatement(other)]
  if (!isUndecided(compareParsedStatements(said, known))) return false
  return isClose || computeWordOverlap(said, known) > SHARED_WORDS_MIN
}

/**
 * Whether a statement takes the place of one that it contradicts. A second value of a single-valued attribute does, and
 * so does what people take back about themselves. Of others and of numbers and dates both may be wrong, so that only a
 * word of change tells which one holds.
 */
function canReplaceStatement(
  because: Exclude<Contradiction, 'verdict'>,
  said: ParsedStatement,
  known: ParsedStatement,
): boolean {
  const isChange = said.isChange && !known.isChange
  switch (because) {
    case 'value':
    case 'change':
      return true
    case 'negation':
      return isChange || (said.isOwn && known.isOwn)
    case 'number':
    case 'date':
      return isChange
  }
}

function decideContradiction(
  context: WriteContext,
  neighbour: Memory,
  because: Contradiction,
  isReplacement: boolean,
): WriteDecision {
  const { draft } = context
  const isOlder = draft.observedAt < (neighbour.validFrom ?? neighbour.createdAt)
  if (!isReplacement || isOlder || isUserPinned(neighbour) || isLessTrusted(draft, neighbour)) {
    const memory = { ...createMemory(context), conflictsWith: neighbour.id }
    return { kind: 'conflict', memory, conflicting: neighbour, because }
  }
  const created = inheritIdentity(neighbour, createMemory(context))
  const memory = {
    ...created,
    // Whoever looks the key up wants what holds now.
    key: created.key ?? neighbour.key,
    validFrom: created.validFrom ?? draft.observedAt,
  }
  const superseded: Memory = {
    ...neighbour,
    status: 'superseded',
    supersededBy: memory.id,
    validUntil: maxInstant(neighbour.validFrom, memory.validFrom),
    ...nextVersion(context, neighbour),
  }
  return { kind: 'supersede', memory, previous: neighbour, superseded, because }
}

function createMemory({ draft, place, id, now, change }: WriteContext): Memory {
  const { fields: given } = draft
  return {
    id,
    place,
    key: draft.key,
    content: draft.content,
    type: given.type ?? 'factual',
    category: given.category ?? 'general',
    importance: given.importance ?? IMPORTANCE_DEFAULT,
    salience: given.salience ?? SALIENCE_DEFAULT,
    pinned: given.pinned ?? false,
    trust: draft.trust,
    status: 'active',
    // A statement with a date of its own is compared by it, not by when it came in.
    validFrom: given.validFrom ?? (draft.hasObservedAt ? draft.observedAt : null),
    validUntil: given.validUntil ?? null,
    supersededBy: null,
    conflictsWith: null,
    expiresAt: given.expiresAt ?? null,
    provenance: draft.provenance,
    entities: given.entities ?? [],
    language: given.language ?? null,
    metadata: given.metadata ?? {},
    sourceCount: 1,
    useCount: 0,
    lastUsedAt: null,
    version: 1,
    change,
    createdAt: now,
    updatedAt: now,
  }
}

function updateMemory(context: WriteContext, holder: Memory): Memory {
  const { draft, now } = context
  // What had run out and is said again holds again, unless the caller says until when.
  const revived = hasEnded(holder, now) ? { expiresAt: null, validUntil: null } : {}
  const known = isNewlyPinned(draft, holder) ? removeAutoPin(holder.metadata) : holder.metadata
  const metadata = { ...known, ...draft.fields.metadata }
  const { validFrom, validUntil } = { ...holder, ...revived, ...draft.fields }
  // Each was within its limits, but both together may not be.
  parseEdit({ metadata, validFrom, validUntil })
  return {
    ...holder,
    ...revived,
    ...draft.fields,
    content: draft.content,
    key: holder.key,
    trust: draft.trust,
    metadata,
    provenance: draft.provenance,
    ...nextVersion(context, holder),
  }
}

function maxInstant(a: Instant | null, b: Instant): Instant {
  return a !== null && a > b ? a : b
}

/** Said again: more certain and more alive, but still one memory. A disabled one stays disabled. */
function reinforceMemory(context: WriteContext, memory: Memory): RestatementDecision {
  const importance = Math.max(memory.importance, context.draft.fields.importance ?? 0)
  const reinforced: Memory = {
    ...memory,
    sourceCount: memory.sourceCount + 1,
    salience: memory.salience + (1 - memory.salience) * context.reinforcement,
    importance,
    ...nextVersion(context, memory),
  }
  return { kind: 'duplicate', memory: reinforced, previous: memory }
}

function nextVersion(context: WriteContext, memory: Memory) {
  return { version: memory.version + 1, change: context.change, updatedAt: context.now }
}

/** Whether the draft says something about the memory, beyond its content, that it doesn't say yet. */
function isMoreDetailed(draft: Draft, holder: Memory): boolean {
  const { content: _, key: __, trust: ___, metadata, ...fields } = draft.fields
  const known: { readonly [field: string]: unknown } = { ...holder }
  return (
    isNewlyPinned(draft, holder) ||
    Object.entries(fields).some(([field, value]) => !isJsonEqual(known[field], value)) ||
    Object.entries(metadata ?? {}).some(
      ([name, value]) => !isJsonEqual(holder.metadata[name], value),
    )
  )
}

/** Whether a person pins what was pinned by what learned it. */
function isNewlyPinned({ fields: given }: Draft, holder: Memory): boolean {
  return given.pinned === true && !hasAutoPin(given.metadata) && isAutoPinned(holder)
}

function isLessTrusted(draft: Draft, memory: Memory): boolean {
  return TRUST_LEVELS.indexOf(draft.trust) > TRUST_LEVELS.indexOf(memory.trust)
}
