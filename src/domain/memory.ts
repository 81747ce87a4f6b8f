/**
 * What a memory is.
 *
 * The lists are the single source of these words: SQL checks, command-line help and input parsing all read
 * them from here.
 */

import type { JsonObject } from '../lib/json.ts'
import type { Instant } from '../lib/time.ts'
import type { ChangeId, MemoryId, RevisionId, TombstoneId, TurnId } from './ids.ts'
import type { Place } from './scope.ts'

export const MEMORY_TYPES = ['factual', 'episodic', 'procedural', 'semantic'] as const

export type MemoryType = (typeof MEMORY_TYPES)[number]

/**
 * `episode` is the digest of a conversation, `identity` says who the person is and is always shown. All others are facts.
 */
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

/** Who said it, from most to least believed. `suspect` is kept for review and never used by itself. */
export const TRUST_LEVELS = ['user', 'assistant', 'import', 'tool', 'suspect'] as const

export type Trust = (typeof TRUST_LEVELS)[number]

/** Whether what comes from there may be used without a person's approval. */
export function isTrusted(trust: Trust): boolean {
  return trust !== 'suspect'
}

export const TRUSTED_LEVELS: readonly Trust[] = TRUST_LEVELS.filter(isTrusted)

/** Only `active` memories take part in recall. `forgotten` ones wait in the bin until they are erased. */
export const MEMORY_STATUSES = ['active', 'disabled', 'superseded', 'forgotten'] as const

export type MemoryStatus = (typeof MEMORY_STATUSES)[number]

/** Where a memory came from, exactly enough to show the evidence. */
export type Provenance = {
  /** What wrote it: `cli`, `library`, `patterns`, `import`, … */
  readonly source: string
  /** Who said it, as questions would name them: a person's name, `user`, `assistant`; null when it doesn't matter. */
  readonly speaker: string | null
  readonly turns: readonly TurnId[]
  readonly extractor: string | null
  readonly extractorVersion: string | null
}

export type Memory = {
  readonly id: MemoryId
  /** Also the session it was learned in, when there was one. */
  readonly place: Place
  /** Its name within owner and user. At most one memory that is not superseded or forgotten holds it. */
  readonly key: string | null
  readonly content: string
  readonly type: MemoryType
  readonly category: MemoryCategory
  /** 1 … 10, as judged when written. */
  readonly importance: number
  /** 0 … 1, before decay: the value in force is computed from this and the time since last use, never stored. */
  readonly salience: number
  readonly pinned: boolean
  readonly trust: Trust
  readonly status: MemoryStatus
  /** When the statement began and ceased to hold in the world; null when not known or not over. */
  readonly validFrom: Instant | null
  readonly validUntil: Instant | null
  readonly supersededBy: MemoryId | null
  /** A memory that says otherwise, where the rules could not tell which of the two is right. */
  readonly conflictsWith: MemoryId | null
  readonly expiresAt: Instant | null
  readonly provenance: Provenance
  readonly entities: readonly string[]
  /** BCP 47 tag, or null when not known. */
  readonly language: string | null
  readonly metadata: JsonObject
  /** How many independent times it was stated. */
  readonly sourceCount: number
  readonly useCount: number
  readonly lastUsedAt: Instant | null
  /** Rises by one with every change except use counting; a commit compares it. */
  readonly version: number
  /** The change that made this version. */
  readonly change: ChangeId
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/**
 * A version of a memory that was replaced: the row as it was, and when and by what it ended.
 * Together with the live row, these are the whole history.
 */
export type Revision = {
  readonly id: RevisionId
  readonly memory: Memory
  readonly replacedAt: Instant
  readonly replacedBy: ChangeId
}

/**
 * What is left of a forgotten memory: enough to keep work that was already under way from bringing it back,
 * and nothing that can be read. Its id is derived from what it blocks, see `core/forgetting.ts`.
 */
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

/** Whether a memory keeps its key from being given to another one. */
export function isKeyHolder(memory: Pick<Memory, 'key' | 'status'>): boolean {
  return memory.key !== null && (memory.status === 'active' || memory.status === 'disabled')
}

/** `provenance.extractor` of facts found by patterns, and of facts distilled by a model. */
export const PATTERN_EXTRACTOR = 'patterns'
export const DISTILLATION_EXTRACTOR = 'distillation'
