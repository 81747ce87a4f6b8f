/**
 * Authorization: a role grants kinds of access, and a key reaches its own owners only. Owners out
 * of reach look as if they did not exist.
 */

import { ANY_OWNER, type KeyWriter, type Role } from '../../domain/access.ts'
import type { ApiKeyId } from '../../domain/ids.ts'
import { SHARED_OWNER } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'

/**
 * `read`: read memories. `write`: add, edit and forget single memories, all undoable. `curate`:
 * erase, clear, export, import, change owner settings. `manage`: administer the system.
 */
export const ACCESS = ['read', 'write', 'curate', 'manage'] as const

export type Access = (typeof ACCESS)[number]

const ACCESS_BY_ROLE: Readonly<Record<Role, readonly Access[]>> = {
  reader: ['read'],
  agent: ['read', 'write'],
  user: ['read', 'write', 'curate'],
  superadmin: ['read', 'write', 'curate', 'manage'],
}

/** The caller: an API key or, without one, the local user. */
export type Caller = {
  readonly key: ApiKeyId | null
  readonly role: Role
  /** The owner of requests that name none. */
  readonly home: string
  readonly actsFor: readonly string[]
  /** Whose words the key writes; default: by its role, see `authorship.ts`. */
  readonly writesAs?: KeyWriter
  /** The user within the default owner, for single-user keys; null reaches rows without a user. */
  readonly user?: string | null
  readonly session?: string
}

export function hasAccess(caller: Caller, access: Access): boolean {
  return ACCESS_BY_ROLE[caller.role].includes(access)
}

export function assertAccess(caller: Caller, access: Access): void {
  if (hasAccess(caller, access)) return
  throw new AppError('forbidden', `The role ${caller.role} does not permit this operation.`, {
    role: caller.role,
    access,
  })
}

/**
 * Whether a caller may access an owner's memories. Shared memory is readable by all and writable by
 * superadmins.
 */
export function canReachOwner(caller: Caller, owner: string, access: Access): boolean {
  if (caller.role === 'superadmin') return true
  if (owner === SHARED_OWNER) return access === 'read'
  if (owner === caller.home || caller.actsFor.includes(owner)) return true
  // Names with an @ belong to the system.
  return caller.actsFor.includes(ANY_OWNER) && !owner.startsWith('@')
}
