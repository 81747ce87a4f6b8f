import type { Instant } from '../lib/time.ts'
import type { ApiKeyId, AuditId, OwnerId } from './ids.ts'

export const ROLES = ['superadmin', 'user', 'agent', 'reader'] as const

export type Role = (typeof ROLES)[number]

/** An API key. Only the hash of its secret is stored. */
export type ApiKey = {
  readonly id: ApiKeyId
  readonly version: number
  /** A label chosen by whoever created the key. */
  readonly name: string
  readonly hash: string
  /** The owner of requests that name none. */
  readonly home: OwnerId
  /** Further owners that the key may access. A superadmin may access all. */
  readonly actsFor: readonly OwnerId[]
  readonly role: Role
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
