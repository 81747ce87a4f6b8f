/**
 * Decides what writing a memory does: create, update, reinforce, supersede, or keep a conflict. Pure: everything known is
 * in the context.
 *
 * A key is identity: a write with the key of a memory updates it. Without a key, wording decides, and only in clear cases
 * (see `contradiction/statements.ts`). A less trusted source overwrites nothing, and nothing is lost: replaced versions
 * stay in the history or become superseded memories.
 */

import type { ChangeId, MemoryId } from '../domain/ids.ts'
import {
  hasEnded,
  isLessTrusted,
  isTrusted,
  type Memory,
  type Tombstone,
} from '../domain/memory.ts'
import type { Place } from '../domain/scope.ts'
import type { Verdict } from '../domain/verdict.ts'
import { isJsonEqual } from '../lib/json.ts'
import type { Instant } from '../lib/time.ts'
import { normalizeStatement } from '../text/fingerprint.ts'
import { sharesTopic } from './contradiction/frames.ts'
import { endsState } from './contradiction/state-changes.ts'
import {
  type Comparison,
  type Contradiction,
  compareParsedStatements,
  computeWordOverlap,
  type ParsedStatement,
  parseStatement,
} from './contradiction/statements.ts'
import { type ContradictedMemory, canSupersede } from './contradiction/supersede-rule.ts'
import { type Draft, IMPORTANCE_DEFAULT, parseEdit, SALIENCE_DEFAULT } from './draft.ts'
import { hasAutoPin, inheritIdentity, isAutoPinned, isUserPinned, removeAutoPin } from './pins.ts'

export type WriteContext = {
  readonly draft: Draft
  readonly place: Place
  readonly now: Instant
  readonly change: ChangeId
  /** The id of the memory if one is created. */
  readonly id: MemoryId
  /** The memory that holds the draft's key. */
  readonly keyHolder: Memory | null
  /** Memories of the same owner and user with similar content, nearest first. */
  readonly similarMemories: readonly Memory[]
  /** Tombstones of the draft's content or key. */
  readonly tombstones: readonly Tombstone[]
  /** Whether the statement was made at an unknown earlier time, so that any tombstone may be younger. Default: false. */
  readonly isHistory?: boolean
  /** The memory that the draft disputes, by the word of its author. */
  readonly disputed?: Memory | null
  readonly reinforcementRate: number
  /** Memories close to the draft in vector space, where paraphrases are merged; else null. Default: null. */
  readonly paraphrases?: ReadonlySet<MemoryId> | null
  /** Verdicts of the adjudicator by the content that it compared, because a memory may be edited later. */
  readonly verdicts?: ReadonlyMap<string, Verdict>
}

/** A memory and its superseded version. */
export type Replacement = { readonly previous: Memory; readonly superseded: Memory }

export type WriteDecision =
  | { readonly kind: 'create'; readonly memory: Memory }
  | {
      readonly kind: 'update' | 'duplicate'
      readonly memory: Memory
      readonly previous: Memory
      /** The original statement, stored as superseded when only a verdict says that it is a duplicate: it may be wrong. */
      readonly absorbed?: Memory
    }
  | {
      readonly kind: 'supersede'
      readonly memory: Memory
      readonly previous: Memory
      readonly superseded: Memory
      readonly reason: Contradiction
      /** Further memories that the statement ends. */
      readonly others: readonly Replacement[]
    }
  | {
      /** Both memories are kept, because rules cannot tell which is right. */
      readonly kind: 'conflict'
      readonly memory: Memory
      readonly conflicting: Memory
      readonly reason: Contradiction | 'trust'
    }
  | { readonly kind: 'refused'; readonly reason: 'forgotten' }

type RestatementDecision = Extract<WriteDecision, { kind: 'update' | 'duplicate' }>

export function decideWrite(context: WriteContext): WriteDecision {
  const { draft, keyHolder, verdicts, disputed = null } = context
  if (isForgotten(context)) return { kind: 'refused', reason: 'forgotten' }
  if (disputed !== null) return decideDispute(context, disputed)
  if (keyHolder !== null) return decideSameKey(context, keyHolder)
  if (draft.trust === 'suspect') {
    // An explicit key names an identity, which no other memory may absorb.
    const echo = hasExplicitKey(draft) ? undefined : findEcho(context)
    return echo === undefined
      ? { kind: 'create', memory: createMemory(context) }
      : reinforceMemory(context, echo)
  }
  const newer = parseStatement(draft.content)
  const comparisons = listComparable(context).map((memory) => {
    const older = parseStatement(memory.content)
    const byRules = compareParsedStatements(newer, older)
    const verdict = verdicts?.get(memory.content)
    const isAdjudicated = isUndecided(byRules)
    const comparison = isAdjudicated ? toComparison(verdict) : byRules
    return { memory, older, verdict, isAdjudicated, comparison }
  })
  const same = comparisons.find(({ comparison }) => comparison.kind === 'same')
  if (same !== undefined) {
    const restatement = decideRestatement(context, same.memory)
    return same.isAdjudicated
      ? { ...restatement, absorbed: createAbsorbedMemory(context, same.memory) }
      : restatement
  }
  const contradicted = comparisons.flatMap(({ memory, older, verdict, comparison }) => {
    const contradiction = findContradiction(newer, comparison, draft.content, memory.content)
    return contradiction === null ? [] : [{ memory, contradiction, older, newer, verdict }]
  })
  const [first] = contradicted
  if (first !== undefined) {
    const replaced = contradicted.filter((each) => canSupersede(draft, each))
    return decideContradiction(context, replaced[0] ?? first, replaced.slice(1))
  }
  const paraphrased = comparisons.find(
    ({ memory, older, isAdjudicated, verdict }) =>
      isAdjudicated && verdict !== 'unrelated' && isParaphrase(context, newer, memory, older),
  )
  return paraphrased === undefined
    ? { kind: 'create', memory: createMemory(context) }
    : decideParaphrase(context, paraphrased.memory)
}

/** Rules cannot compare the two, but vectors or words say that they are the same statement. */
function isParaphrase(
  { draft, paraphrases = null }: WriteContext,
  newer: ParsedStatement,
  memory: Memory,
  older: ParsedStatement,
): boolean {
  if (paraphrases === null || listNumbers(draft.content) !== listNumbers(memory.content))
    return false
  return paraphrases.has(memory.id) || isNearDuplicate(newer, older)
}

/** The share of words from which one statement only adds to the other. */
const NEAR_DUPLICATE_OVERLAP = 0.8

/** Whether one statement has all words of the other, in its order, and few more. */
function isNearDuplicate(a: ParsedStatement, b: ParsedStatement): boolean {
  if (computeWordOverlap(a, b) < NEAR_DUPLICATE_OVERLAP) return false
  const [short, long] = a.words.length < b.words.length ? [a.words, b.words] : [b.words, a.words]
  let at = 0
  for (const word of long) if (word === short[at]) at++
  return at === short.length
}

function listNumbers(text: string): string {
  return (text.match(/\d+/g) ?? []).join()
}

/** The newer wording, unless it says less or its author is less trusted. */
function decideParaphrase(context: WriteContext, memory: Memory): WriteDecision {
  const { draft } = context
  const isShorter = draft.content.length < memory.content.length
  const isNearer = isNearDuplicate(parseStatement(draft.content), parseStatement(memory.content))
  if (isLessTrusted(draft.trust, memory.trust) || (isNearer && isShorter)) {
    return reinforceMemory(context, memory)
  }
  return { kind: 'update', memory: updateMemory(context, memory), previous: memory }
}

function findContradiction(
  newer: ParsedStatement,
  comparison: Comparison,
  newContent: string,
  content: string,
): Contradiction | null {
  if (comparison.kind === 'same') return null
  if (comparison.kind === 'contradicts') {
    const announcesChange = newer.isChange || newer.abandoned.length > 0
    // Only the newer statement can announce that the older one no longer holds.
    if (comparison.reason !== 'change' || announcesChange) return comparison.reason
  }
  return endsState(newContent, content) ? 'change' : null
}

/** Whether a tombstone is younger than the statement. */
function isForgotten({ draft, tombstones, isHistory = false }: WriteContext): boolean {
  return tombstones.some(
    ({ forgottenAt }) =>
      isHistory ||
      // A statement made right after the forgetting is new, even within the same millisecond.
      (draft.hasObservedAt ? forgottenAt >= draft.observedAt : forgottenAt > draft.observedAt),
  )
}

/** Whether a caller chose the key. A key that an extractor derived from the wording names no identity. */
function hasExplicitKey({ key, provenance }: Draft): boolean {
  return key !== null && provenance.extractor === null
}

/**
 * The memories whose wording decides about the draft. An explicit key names an identity, so no similar memory may absorb
 * the draft; suspect memories await review and can be neither repeated nor contradicted.
 */
function listComparable({ draft, similarMemories }: WriteContext): readonly Memory[] {
  return hasExplicitKey(draft) ? [] : similarMemories.filter(({ trust }) => isTrusted(trust))
}

function decideSameKey(context: WriteContext, holder: Memory): WriteDecision {
  const { draft, now } = context
  const isRestated = normalizeStatement(draft.content) === normalizeStatement(holder.content)
  if (isRestated && !isMoreDetailed(draft, holder) && !hasEnded(holder, now)) {
    return reinforceMemory(context, holder)
  }
  if (isLessTrusted(draft.trust, holder.trust) && !hasEnded(holder, now)) {
    return decideDispute(context, holder)
  }
  return { kind: 'update', memory: updateMemory(context, holder), previous: holder }
}

/** Both stay, because the author of the draft is less trusted than that of the memory. */
function decideDispute(context: WriteContext, conflicting: Memory): WriteDecision {
  const echo = findEcho(context)
  if (echo !== undefined) return reinforceMemory(context, echo)
  const memory = { ...createMemory(context), key: null, conflictsWith: conflicting.id }
  return { kind: 'conflict', memory, conflicting, reason: 'trust' }
}

/** Reinforces the memory, and adds further details of the draft. */
function decideRestatement(context: WriteContext, memory: Memory): RestatementDecision {
  // Reinforcing already takes the higher importance.
  const { importance = 0, ...rest } = context.draft.fields
  const draft = { ...context.draft, fields: isUserPinned(memory) ? removePin(rest) : rest }
  if (!isMoreDetailed(draft, memory) || isLessTrusted(draft.trust, memory.trust)) {
    return reinforceMemory(context, memory)
  }
  const updated: Memory = {
    ...updateMemory({ ...context, draft }, memory),
    content: memory.content,
    sourceCount: memory.sourceCount + 1,
    importance: Math.max(memory.importance, importance),
  }
  return { kind: 'update', memory: updated, previous: memory }
}

function decideContradiction(
  context: WriteContext,
  contradicted: ContradictedMemory,
  others: readonly ContradictedMemory[],
): WriteDecision {
  const { draft } = context
  const { memory: previous, contradiction: reason } = contradicted
  if (!canSupersede(draft, contradicted)) {
    const memory = { ...createMemory(context), conflictsWith: previous.id }
    return { kind: 'conflict', memory, conflicting: previous, reason }
  }
  const created = inheritIdentity(previous, createMemory(context))
  const memory = {
    ...created,
    // Lookups by key must find what holds now.
    key: created.key ?? previous.key,
    validFrom: created.validFrom ?? draft.observedAt,
  }
  const replace = (replaced: Memory): Replacement => ({
    previous: replaced,
    superseded: {
      ...replaced,
      status: 'superseded',
      supersededBy: memory.id,
      validUntil: maxInstant(replaced.validFrom, memory.validFrom),
      ...nextVersion(context, replaced),
    },
  })
  return {
    kind: 'supersede',
    memory,
    ...replace(previous),
    reason,
    others: others.map((other) => replace(other.memory)),
  }
}

/** An earlier copy of the same statement with the same trust: conflicts and suspect memories must not pile up. */
function findEcho({ draft, similarMemories }: WriteContext): Memory | undefined {
  const statement = parseStatement(draft.content)
  return similarMemories.find(
    ({ trust, content }) =>
      trust === draft.trust &&
      compareParsedStatements(statement, parseStatement(content)).kind === 'same',
  )
}

/** Whether rules cannot compare two statements. */
function isUndecided(comparison: Comparison): boolean {
  return comparison.kind === 'different' && comparison.isCertain !== true
}

function toComparison(verdict: Verdict | undefined): Comparison {
  switch (verdict) {
    case 'duplicate':
      return { kind: 'same' }
    case 'update':
    case 'conflict':
      return { kind: 'contradicts', reason: 'verdict' }
    default:
      return { kind: 'different' }
  }
}

/** The word overlap above which two statements may be about the same subject. */
const WORD_OVERLAP_MIN = 0.6

/**
 * The memory to ask the adjudicator about: rules would create a new memory, although this one shares most words with the
 * draft, is about the same, or is close to it in vector space. Suspect drafts are not adjudicated.
 */
export function findUndecidedMemory(
  context: WriteContext,
  decision: WriteDecision,
  close: ReadonlySet<MemoryId>,
): Memory | null {
  const { draft } = context
  if (decision.kind !== 'create' || draft.trust === 'suspect') return null
  // Two statements from one turn of the user were true together: there is nothing to ask.
  const comparable = listComparable(context).filter(({ provenance }) =>
    provenance.turns.every((turn) => !draft.provenance.turns.includes(turn)),
  )
  // Close memories come first, in their order.
  const nearest = [...close].flatMap((id) => comparable.find((memory) => memory.id === id) ?? [])
  const memory = [...nearest, ...comparable].find(({ id, content }) =>
    isAdjudicable(draft.content, content, close.has(id)),
  )
  return memory ?? null
}

/** Whether rules cannot compare two statements that are likely about the same subject. */
export function isAdjudicable(content: string, other: string, isClose: boolean): boolean {
  const [one, two] = [parseStatement(content), parseStatement(other)]
  if (!isUndecided(compareParsedStatements(one, two))) return false
  return (
    isClose ||
    computeWordOverlap(one, two) > WORD_OVERLAP_MIN ||
    sharesTopic(one.plain, two.plain, one.isChange || one.abandoned.length > 0)
  )
}

function createMemory({ draft, place, id, now, change }: WriteContext): Memory {
  const { fields } = draft
  return {
    id,
    place,
    key: draft.key,
    content: draft.content,
    type: fields.type ?? 'factual',
    category: fields.category ?? 'general',
    importance: fields.importance ?? IMPORTANCE_DEFAULT,
    salience: fields.salience ?? SALIENCE_DEFAULT,
    pinned: fields.pinned ?? false,
    trust: draft.trust,
    status: 'active',
    // A statement with its own date is compared by it, not by when it was written.
    validFrom: fields.validFrom ?? (draft.hasObservedAt ? draft.observedAt : null),
    validUntil: fields.validUntil ?? null,
    supersededBy: null,
    conflictsWith: null,
    expiresAt: fields.expiresAt ?? null,
    provenance: draft.provenance,
    entities: fields.entities ?? [],
    language: fields.language ?? null,
    metadata: fields.metadata ?? {},
    sourceCount: 1,
    useCount: 0,
    lastUsedAt: null,
    version: 1,
    change,
    createdAt: now,
    updatedAt: now,
  }
}

/** A superseded copy of the draft: it is not recalled, and can be restored. */
function createAbsorbedMemory(context: WriteContext, { id }: Memory): Memory {
  return { ...createMemory(context), key: null, status: 'superseded', supersededBy: id }
}

function updateMemory(context: WriteContext, memory: Memory): Memory {
  const { draft, now } = context
  // A restatement revives an ended memory, unless the caller sets a new end.
  const revived = hasEnded(memory, now) ? { expiresAt: null, validUntil: null } : {}
  const known = isNewlyPinned(draft, memory) ? removeAutoPin(memory.metadata) : memory.metadata
  const metadata = { ...known, ...draft.fields.metadata }
  const { validFrom, validUntil } = { ...memory, ...revived, ...draft.fields }
  // Each part was within its limits, but the combination may not be.
  parseEdit({ metadata, validFrom, validUntil })
  return {
    ...memory,
    ...revived,
    ...draft.fields,
    content: draft.content,
    key: memory.key,
    place: { ...memory.place, session: context.place.session ?? memory.place.session },
    trust: draft.trust,
    metadata,
    provenance: draft.provenance,
    ...nextVersion(context, memory),
  }
}

/** Raises source count, salience and importance. A disabled memory stays disabled. */
function reinforceMemory(context: WriteContext, memory: Memory): RestatementDecision {
  const importance = Math.max(memory.importance, context.draft.fields.importance ?? 0)
  const reinforced: Memory = {
    ...memory,
    sourceCount: memory.sourceCount + 1,
    salience: memory.salience + (1 - memory.salience) * context.reinforcementRate,
    importance,
    ...nextVersion(context, memory),
  }
  return { kind: 'duplicate', memory: reinforced, previous: memory }
}

function nextVersion({ change, now }: WriteContext, { version }: Memory) {
  return { version: version + 1, change, updatedAt: now }
}

function maxInstant(a: Instant | null, b: Instant): Instant {
  return a !== null && a > b ? a : b
}

/** Whether the draft has fields, beyond its content, that the memory lacks. */
function isMoreDetailed(draft: Draft, memory: Memory): boolean {
  const { content: _, key: __, trust: ___, metadata, ...fields } = draft.fields
  const known: { readonly [field: string]: unknown } = { ...memory }
  return (
    isNewlyPinned(draft, memory) ||
    Object.entries(fields).some(([field, value]) => !isJsonEqual(known[field], value)) ||
    Object.entries(metadata ?? {}).some(
      ([name, value]) => !isJsonEqual(memory.metadata[name], value),
    )
  )
}

/** Whether a person pins a memory that was pinned automatically. */
function isNewlyPinned({ fields }: Draft, memory: Memory): boolean {
  return fields.pinned === true && !hasAutoPin(fields.metadata) && isAutoPinned(memory)
}

/** Drops an automatic pin: it must not take over the pin of a person. */
function removePin(fields: Draft['fields']): Draft['fields'] {
  if (!hasAutoPin(fields.metadata)) return fields
  const { pinned: _, metadata = {}, ...rest } = fields
  return { ...rest, metadata: removeAutoPin(metadata) }
}
