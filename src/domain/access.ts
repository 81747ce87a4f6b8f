import type { Instant } from '../lib/time.ts'
import type { ApiKeyId, AuditId, OwnerId } from './ids.ts'

export const ROLES = ['superadmin', 'user', 'agent', 'reader'] as const

export type Role = (typeof ROLES)[number]

/** Whose words a key writes: those of a person, or those of a model. */
export const KEY_WRITERS = ['person', 'model'] as const

export type KeyWriter = (typeof KEY_WRITERS)[number]

/** The writer of keys that name none: agents are models. */
export function getDefaultWriter(role: Role): KeyWriter {
  return role === 'agent' ? 'model' : 'person'
}

/** Among the owners of a key: every owner, also those that do not exist yet. */
export const ANY_OWNER = '*'

/** An API key. Only the hash of its secret is stored. */
export type ApiKey = {
  readonly id: ApiKeyId
  readonly version: number
  /** A label chosen by whoever created the key. */
  readonly name: string
  readonly hash: string
  /** The owner of requests that name none. */
  readonly home: OwnerId
  /** Further owners that the key may access, or `ANY_OWNER`. A superadmin may access all. */
  readonly actsFor: readonly OwnerId[]
  readonly role: Role
  /** Whose words the key writes. What a model writes never replaces a person's statements. */
  readonly writesAs: KeyWriter
  /** The key that is created at the first start. */
  readonly isManagement: boolean
  readonly createdAt: Instant
  readonly expiresAt: Instant | null
  readonly lastUsedAt: Instant | null
}

/** An audit log entry. It holds ids, never text. */
export type AuditEntry = {
  readonly id: AuditId
  readonly at: Instant
  /** Null for local access without a key. */
  readonly actor: ApiKeyId | null
  readonly operation: string
  readonly owner: OwnerId
  /** The first targets only, when there are many. */
  readonly targets: readonly string[]
  readonly targetCount: number
}
