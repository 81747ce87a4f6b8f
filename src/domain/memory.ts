/**
 * The memory model. The lists of values are the single source for SQL checks, command line help and input parsing.
 */

import type { JsonObject } from '../lib/json.ts'
import type { Instant } from '../lib/time.ts'
import type { ChangeId, MemoryId, RevisionId, TombstoneId, TurnId } from './ids.ts'
import type { Place } from './scope.ts'

export const MEMORY_TYPES = ['factual', 'episodic', 'procedural', 'semantic'] as const

export type MemoryType = (typeof MEMORY_TYPES)[number]

/** `episode` is the summary of a conversation; `identity` says who the user is and is part of every context. The rest are facts. */
export const MEMORY_CATEGORIES = [
  'general',
  'preference',
  'fact',
  'event',
  'relationship',
  'decision',
  'entity',
  'pattern',
  'episode',
  'identity',
] as const

export type MemoryCategory = (typeof MEMORY_CATEGORIES)[number]

/** Sources from most to least trusted. `suspect` memories wait for review and are not recalled by default. */
export const TRUST_LEVELS = ['user', 'assistant', 'import', 'tool', 'suspect'] as const

export type Trust = (typeof TRUST_LEVELS)[number]

/** Whether memories of this source may be used without a review. */
export function isTrusted(trust: Trust): boolean {
  return trust !== 'suspect'
}

export function isLessTrusted(trust: Trust, other: Trust): boolean {
  return TRUST_LEVELS.indexOf(trust) > TRUST_LEVELS.indexOf(other)
}

export const TRUSTED_LEVELS: readonly Trust[] = TRUST_LEVELS.filter(isTrusted)

/** Only `active` memories are recalled. `forgotten` memories stay in the trash until they are erased. */
export const MEMORY_STATUSES = ['active', 'disabled', 'superseded', 'forgotten'] as const

export type MemoryStatus = (typeof MEMORY_STATUSES)[number]

/** Where a memory came from, precisely enough to show the evidence. */
export type Provenance = {
  /** What wrote it: `cli`, `library`, `patterns`, `import`, … */
  readonly source: string
  /** Who said it: a name, `user` or `assistant`; null when it does not matter. */
  readonly speaker: string | null
  readonly turns: readonly TurnId[]
  readonly extractor: string | null
  readonly extractorVersion: string | null
}

export type Memory = {
  readonly id: MemoryId
  /** The session is the one in which the memory was learned. */
  readonly place: Place
  /** Unique per owner and user among memories that are active or disabled. */
  readonly key: string | null
  readonly content: string
  readonly type: MemoryType
  readonly category: MemoryCategory
  /** 1 … 10, as rated when written. */
  readonly importance: number
  /** 0 … 1 before decay. The effective value is computed from it and the time since last use, never stored. */
  readonly salience: number
  readonly pinned: boolean
  readonly trust: Trust
  readonly status: MemoryStatus
  /** When the statement became true and stopped being true; null when unknown or still true. */
  readonly validFrom: Instant | null
  readonly validUntil: Instant | null
  readonly supersededBy: MemoryId | null
  /** A memory that contradicts this one, where rules could not decide which is right. */
  readonly conflictsWith: MemoryId | null
  readonly expiresAt: Instant | null
  readonly provenance: Provenance
  readonly entities: readonly string[]
  /** BCP 47 tag, or null when unknown. */
  readonly language: string | null
  readonly metadata: JsonObject
  /** How many independent sources stated it. */
  readonly sourceCount: number
  readonly useCount: number
  readonly lastUsedAt: Instant | null
  /** Incremented by every change except usage counts. Commits compare it. */
  readonly version: number
  /** The change that wrote this version. */
  readonly change: ChangeId
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** A replaced version of a memory. The revisions and the live row together are the whole history. */
export type Revision = {
  readonly id: RevisionId
  readonly memory: Memory
  readonly replacedAt: Instant
  readonly replacedBy: ChangeId
}

/** What remains of a forgotten memory: a hash that blocks it from being written again, see `tombstone.ts`. */
export type Tombstone = {
  readonly id: TombstoneId
  readonly place: Place
  readonly version: number
  readonly forgottenAt: Instant
}

/** Whether a memory is past its expiry or its validity. */
export function hasEnded(memory: Pick<Memory, 'expiresAt' | 'validUntil'>, now: Instant): boolean {
  return (
    (memory.expiresAt !== null && memory.expiresAt <= now) ||
    (memory.validUntil !== null && memory.validUntil <= now)
  )
}

/** The time that a memory is about: when it became true, else when it was written. */
export function getEventTime({
  validFrom,
  createdAt,
}: Pick<Memory, 'validFrom' | 'createdAt'>): Instant {
  return validFrom ?? createdAt
}

/** Whether the key of a memory is unavailable to others. */
export function isKeyHolder(memory: Pick<Memory, 'key' | 'status'>): boolean {
  return memory.key !== null && (memory.status === 'active' || memory.status === 'disabled')
}

/** `provenance.extractor` of facts found by patterns, and of facts distilled by a model. */
export const PATTERN_EXTRACTOR = 'patterns'
export const DISTILLATION_EXTRACTOR = 'distillation'

/** The key of the memory that holds the identity narrative of a user. */
export const NARRATIVE_KEY = 'identity:narrative'
