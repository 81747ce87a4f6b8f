/**
 * What writing a memory does, decided in pure code from what is already known.
 *
 * A key is identity: a write with a known key updates what holds it. Without one, wording decides, and only in
 * clear cases (see `core/statements.ts`). Nothing is overwritten by something less trusted, and nothing is lost:
 * what is replaced stays in the history or becomes superseded.
 */
import { type Draft, IMPORTANCE_DEFAULT, parseEdit, SALIENCE_DEFAULT } from './draft.ts'
import { foldStatement } from './fingerprint.ts'
import type { ChangeId, Instant, MemoryId, Place } from './ids.ts'
import { hasEnded, type Memory, type Tombstone, TRUST_LEVELS } from './memory.ts'
import { announcesChange, type Contradiction, compareStatements } from './statements.ts'

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
  readonly neighbours: readonly Memory[]
  /** Tombstones that match the draft's content or key. */
  readonly tombstones: readonly Tombstone[]
  readonly reinforcement: number
}

export type WriteDecision =
  | { readonly kind: 'create'; readonly memory: Memory }
  | { readonly kind: 'update'; readonly memory: Memory; readonly previous: Memory }
  | { readonly kind: 'duplicate'; readonly memory: Memory; readonly previous: Memory }
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

export function decideWrite(context: WriteContext): WriteDecision {
  const { draft, sameKey, tombstones } = context
  const isBlocking = ({ forgottenAt }: Tombstone) =>
    // What is said right after the forgetting is new, even within the same millisecond.
    draft.isDated ? forgottenAt >= draft.observedAt : forgottenAt > draft.observedAt
  if (tombstones.some(isBlocking)) {
    return { kind: 'refused', because: 'forgotten' }
  }
  if (sameKey !== null) return decideSameKey(context, sameKey)
  // A key given by a caller names the memory's identity, so likeness to some other one must not swallow it.
  // A key that an extractor derived from the words is no such promise.
  const isNamed = draft.key !== null && draft.provenance.extractor === null
  if (draft.trust === 'suspect') {
    const echo = echoOf(context)
    return echo === undefined
      ? { kind: 'create', memory: createMemory(context) }
      : reinforce(context, echo)
  }
  const neighbours = isNamed ? [] : context.neighbours
  const compared = neighbours.map((neighbour) => ({
    neighbour,
    comparison: compareStatements(draft.content, neighbour.content),
  }))
  const same = compared.find(({ comparison }) => comparison.kind === 'same')?.neighbour
  if (same !== undefined) return restate(context, same)
  for (const { neighbour, comparison } of compared) {
    if (comparison.kind === 'contradicts') {
      return decideContradiction(context, neighbour, comparison.because)
    }
  }
  return { kind: 'create', memory: createMemory(context) }
}

function decideSameKey(context: WriteContext, holder: Memory): WriteDecision {
  const { draft } = context
  const isSaidAgain = foldStatement(draft.content) === foldStatement(holder.content)
  if (isSaidAgain && !saysMore(draft, holder) && !hasEnded(holder, context.now)) {
    return reinforce(context, holder)
  }
  if (isLessTrusted(draft, holder) && !hasEnded(holder, context.now)) {
    const echo = echoOf(context)
    if (echo !== undefined) return reinforce(context, echo)
    const memory = { ...createMemory(context), key: null, conflictsWith: holder.id }
    return { kind: 'conflict', memory, conflicting: holder, because: 'trust' }
  }
  return { kind: 'update', memory: updateMemory(context, holder), previous: holder }
}

/** Said again: reinforced, and what the caller says beyond it is taken over. */
function restate(context: WriteContext, memory: Memory): WriteDecision {
  // Reinforcing already takes the higher importance.
  const { importance = 0, ...given } = context.draft.given
  const draft = { ...context.draft, given }
  if (!saysMore(draft, memory) || isLessTrusted(draft, memory)) return reinforce(context, memory)
  const updated: Memory = {
    ...updateMemory({ ...context, draft }, memory),
    content: memory.content,
    sourceCount: memory.sourceCount + 1,
    importance: Math.max(memory.importance, importance),
  }
  return { kind: 'update', memory: updated, previous: memory }
}

/** The same statement from the same kind of source: what is kept aside must not pile up. */
function echoOf({ draft, neighbours }: WriteContext): Memory | undefined {
  return neighbours.find(
    (neighbour) =>
      neighbour.trust === draft.trust &&
      compareStatements(draft.content, neighbour.content).kind === 'same',
  )
}

function decideContradiction(
  context: WriteContext,
  neighbour: Memory,
  because: Contradiction,
): WriteDecision {
  const { draft } = context
  // Two numbers or dates are often two events; only the speaker can say that one replaces the other.
  const isReplacement =
    because === 'value' ||
    because === 'negation' ||
    (because === 'number' && announcesChange(draft.content) && !announcesChange(neighbour.content))
  const isOlder = draft.observedAt < (neighbour.validFrom ?? neighbour.createdAt)
  if (!isReplacement || isOlder || neighbour.pinned || isLessTrusted(draft, neighbour)) {
    const memory = { ...createMemory(context), conflictsWith: neighbour.id }
    return { kind: 'conflict', memory, conflicting: neighbour, because }
  }
  const created = createMemory(context)
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
    validUntil: later(neighbour.validFrom, memory.validFrom),
    ...nextVersion(context, neighbour),
  }
  return { kind: 'supersede', memory, previous: neighbour, superseded, because }
}

function createMemory({ draft, place, id, now, change }: WriteContext): Memory {
  const { given } = draft
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
    validFrom: given.validFrom ?? (draft.isDated ? draft.observedAt : null),
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
  const metadata = { ...holder.metadata, ...draft.given.metadata }
  const { validFrom, validUntil } = { ...holder, ...revived, ...draft.given }
  // Each was within its limits, but both together may not be.
  parseEdit({ metadata, validFrom, validUntil })
  return {
    ...holder,
    ...revived,
    ...draft.given,
    content: draft.content,
    key: holder.key,
    trust: draft.trust,
    metadata,
    provenance: draft.provenance,
    ...nextVersion(context, holder),
  }
}

function later(a: Instant | null, b: Instant): Instant {
  return a !== null && a > b ? a : b
}

/** Said again: more certain and more alive, but still one memory. A disabled one stays disabled. */
function reinforce(context: WriteContext, memory: Memory): WriteDecision {
  const importance = Math.max(memory.importance, context.draft.given.importance ?? 0)
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
function saysMore(draft: Draft, holder: Memory): boolean {
  const { content: _, key: __, trust: ___, metadata, ...fields } = draft.given
  const known: { readonly [field: string]: unknown } = { ...holder }
  return (
    Object.entries(fields).some(([field, value]) => !sameJson(known[field], value)) ||
    Object.entries(metadata ?? {}).some(([name, value]) => !sameJson(holder.metadata[name], value))
  )
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function isLessTrusted(draft: Draft, memory: Memory): boolean {
  return TRUST_LEVELS.indexOf(draft.trust) > TRUST_LEVELS.indexOf(memory.trust)
}
