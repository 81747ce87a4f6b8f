import type { ApiKeyId, AuditId, Instant, OwnerId, Place } from './ids.ts'

export const ROLES = ['superadmin', 'user', 'agent', 'reader'] as const
export type Role = (typeof ROLES)[number]

/** A key that a program presents. Only its hash is kept. */
export type ApiKey = {
  readonly id: ApiKeyId
  readonly version: number
  readonly hash: string
  readonly home: OwnerId
  readonly actsFor: readonly OwnerId[]
  readonly role: Role
  readonly expiresAt: Instant | null
  readonly lastUsedAt: Instant | null
}

/** Who did what to which row. It holds ids, never text. */
export type AuditEntry = {
  readonly id: AuditId
  readonly place: Place
  readonly version: number
  readonly at: Instant
  readonly actor: ApiKeyId | null
  readonly operation: string
  readonly target: string
}
