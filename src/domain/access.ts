import type { Instant } from '../lib/time.ts'
import type { ApiKeyId, AuditId, OwnerId } from './ids.ts'

export const ROLES = ['superadmin', 'user', 'agent', 'reader'] as const

export type Role = (typeof ROLES)[number]

/** A key that a program presents. Only its hash is kept. */
export type ApiKey = {
  readonly id: ApiKeyId
  readonly version: number
  /** What it is for, in the words of whoever made it. */
  readonly name: string
  readonly hash: string
  /** The owner that is meant when the caller names none. */
  readonly home: OwnerId
  /** Further owners that it reaches. A superadmin reaches all. */
  readonly actsFor: readonly OwnerId[]
  readonly role: Role
  /** The one that was made at the first start. */
  readonly isManagement: boolean
  readonly createdAt: Instant
  readonly expiresAt: Instant | null
  readonly lastUsedAt: Instant | null
}

/** Who did what to which rows. It holds ids, never text. */
export type AuditEntry = {
  readonly id: AuditId
  readonly at: Instant
  /** Null: whoever sits at the machine. */
  readonly actor: ApiKeyId | null
  readonly operation: string
  readonly owner: OwnerId
  /** The first of them, where there are very many. */
  readonly targets: readonly string[]
  readonly targetCount: number
}
