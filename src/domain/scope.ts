/** Owners whose names begin with this are ours; callers may name only `SHARED_OWNER` among them. */

import { compareText } from '../lib/compare.ts'
import { createInvalidInputError, parseBoundedText } from './field-parsers.ts'
import type { OwnerId, SessionId, UserId } from './ids.ts'
import * as limits from './limits.ts'

export const RESERVED_OWNER_PREFIX = '@'

/** Where the system keeps what is its own: keys, settings, the audit log. */
export const SYSTEM_OWNER = '@system' as OwnerId // these two are where the names are made

/** Where memories live that belong to everybody. */
export const SHARED_OWNER = '@shared' as OwnerId

/**
 * Whose data a call is about. It narrows from left to right:
 * an owner alone covers all of its users and sessions, a name covers only that one, and `null` covers only what
 * belongs to none in particular. A place is thus the narrowest scope there is.
 */
export type Scope = {
  readonly owner: OwnerId
  readonly user?: UserId | null
  readonly session?: SessionId | null
}

/** Where a row lives: the same as a scope, with nothing left open. */
export type Place = {
  readonly owner: OwnerId
  readonly user: UserId | null
  readonly session: SessionId | null
}

/** Whether a row at `place` may be seen by a call with `scope`. Every store must agree with this function. */
export function isWithinScope(scope: Scope, place: Place): boolean {
  return (
    scope.owner === place.owner &&
    (scope.user === undefined || scope.user === place.user) &&
    (scope.session === undefined || scope.session === place.session)
  )
}

/** Orders places by owner, then user, those of no user first. */
export function comparePlaces(
  a: { readonly owner: string; readonly user: string | null },
  b: { readonly owner: string; readonly user: string | null },
): number {
  return compareText(a.owner, b.owner) || compareText(a.user ?? '', b.user ?? '')
}

export type ScopeInput = {
  readonly owner: string
  readonly user?: string | null
  readonly session?: string | null
}

export function parseScope(input: ScopeInput): Scope {
  const { owner, user, session, ...unknown } = input
  const [stray] = Object.keys(unknown)
  // A misspelt `user` would mix the data of all users.
  if (stray !== undefined) throw createInvalidInputError(stray, `A scope has no field "${stray}".`)
  return {
    owner: parseOwnerName(owner) as OwnerId, // each name is checked where it gets its brand
    ...(user === undefined
      ? {}
      : { user: user === null ? null : (parseName('user', user) as UserId) }),
    ...(session === undefined
      ? {}
      : { session: session === null ? null : (parseName('session', session) as SessionId) }),
  }
}

/** Where a write with this scope goes: what the scope leaves open belongs to nobody in particular. */
export function toPlace(scope: Scope): Place {
  return { owner: scope.owner, user: scope.user ?? null, session: scope.session ?? null }
}

/** The system's own rows, keys among them, lie under names that no caller may give. */
export function parseOwnerName(value: unknown): string {
  const owner = parseName('owner', value)
  if (owner.startsWith(RESERVED_OWNER_PREFIX) && owner !== SHARED_OWNER) {
    throw createInvalidInputError(
      'owner',
      `An owner's name must not begin with ${RESERVED_OWNER_PREFIX}, except ${SHARED_OWNER}.`,
    )
  }
  return owner
}

export function parseName(field: string, value: unknown): string {
  const text = parseBoundedText(field, value, limits.NAME_CHARACTERS_MAX)
  if (text.trim() !== text)
    throw createInvalidInputError(field, `${field} must not begin or end with a space.`)
  if (/\p{Cc}|\p{Cs}/u.test(text))
    throw createInvalidInputError(field, `${field} holds a control character.`)
  return text
}

export type SessionPlace = Place & { readonly session: SessionId }
