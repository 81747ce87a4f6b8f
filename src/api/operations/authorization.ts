/**
 * Who may do what. The whole rule is here: a role covers kinds of access, and a key reaches its own owners only.
 * What lies outside of a key's reach is told as if it weren't there, so that nobody learns names by asking.
 */

import type { Role } from '../../domain/access.ts'
import type { ApiKeyId } from '../../domain/ids.ts'
import { SHARED_OWNER } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'

/**
 * `read`: looks at memories. `write`: adds, changes and bins single ones, which can all be undone. `curate`: removes
 * for good, clears, moves whole owners in and out, changes an owner's settings. `manage`: the system itself.
 */
export const ACCESS = ['read', 'write', 'curate', 'manage'] as const

export type Access = (typeof ACCESS)[number]

const ACCESS_BY_ROLE: Readonly<Record<Role, readonly Access[]>> = {
  reader: ['read'],
  agent: ['read', 'write'],
  user: ['read', 'write', 'curate'],
  superadmin: ['read', 'write', 'curate', 'manage'],
}

/** Who calls: a key, or, without one, whoever sits at this machine. */
export type Caller = {
  readonly key: ApiKeyId | null
  readonly role: Role
  /** The owner of requests that name none. */
  readonly home: string
  readonly actsFor: readonly string[]
  /** Of the home owner, where the caller is one person among several; null reaches what is nobody's in particular. */
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

/** Whether a caller may do this with the memories of an owner. Shared memory is read by all and kept by superadmins. */
export function canReachOwner(caller: Caller, owner: string, access: Access): boolean {
  if (caller.role === 'superadmin') return true
  if (owner === SHARED_OWNER) return access === 'read'
  return owner === caller.home || caller.actsFor.includes(owner)
}
