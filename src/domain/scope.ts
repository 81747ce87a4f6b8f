/** Scopes and places: which owner, user and session a call or a row belongs to. */
import { compareText } from '../lib/compare.ts'
import { createInvalidInputError, parseBoundedText } from './field-parsers.ts'
import type { OwnerId, SessionId, UserId } from './ids.ts'
import * as limits from './limits.ts'

/** Owner names with this prefix are reserved. `SHARED_OWNER` is the only one that callers may name. */
const RESERVED_OWNER_PREFIX = '@'

/** Owns system rows: API keys, settings, the audit log. */
export const SYSTEM_OWNER = '@system' as OwnerId // a constant, so it skips parseOwnerName

/** Owns memories that every owner may read. */
export const SHARED_OWNER = '@shared' as OwnerId // a constant, so it skips parseOwnerName

/**
 * The rows that a call may touch. It narrows from left to right: `owner` alone covers all of the owner's users and
 * sessions, a name covers only that user or session, and `null` covers only rows that belong to no user or session.
 */
export type Scope = {
  readonly owner: OwnerId
  readonly user?: UserId | null
  readonly session?: SessionId | null
}

/** Where a row is stored: the narrowest scope, with every part given. */
export type Place = {
  readonly owner: OwnerId
  readonly user: UserId | null
  readonly session: SessionId | null
}

export type SessionPlace = Place & { readonly session: SessionId }

/** Whether a call with `scope` may see a row at `place`. Every store must agree with this function. */
export function isWithinScope(scope: Scope, place: Place): boolean {
  return (
    scope.owner === place.owner &&
    (scope.user === undefined || scope.user === place.user) &&
    (scope.session === undefined || scope.session === place.session)
  )
}

/** Orders places by owner, then user. Places without a user come first. */
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
  const [field] = Object.keys(unknown)
  // A misspelled `user` would mix the data of all users.
  if (field !== undefined) {
    throw createInvalidInputError(
      field,
      `A scope has no field "${field}"; its fields are \`owner\`, \`user\` and \`session\`.`,
    )
  }
  return {
    owner: parseOwnerName(owner) as OwnerId, // parsed names get their brand here
    ...(user === undefined
      ? {}
      : { user: user === null ? null : (parseName('user', user) as UserId) }),
    ...(session === undefined
      ? {}
      : { session: session === null ? null : (parseName('session', session) as SessionId) }),
  }
}

/** The place that a write with this scope goes to. */
export function toPlace(scope: Scope): Place {
  return { owner: scope.owner, user: scope.user ?? null, session: scope.session ?? null }
}

/** The rows of an owner and user in all sessions. */
export type UserScope = Pick<Place, 'owner' | 'user'>

export function toUserScope({ owner, user }: Place): UserScope {
  return { owner, user }
}

function parseOwnerName(value: unknown): string {
  const owner = parseName('owner', value)
  if (owner.startsWith(RESERVED_OWNER_PREFIX) && owner !== SHARED_OWNER) {
    throw createInvalidInputError(
      'owner',
      `\`owner\` must not begin with "${RESERVED_OWNER_PREFIX}", except ${SHARED_OWNER}.`,
    )
  }
  return owner
}

function parseName(field: string, value: unknown): string {
  const name = parseBoundedText(field, value, limits.NAME_CHARACTERS_MAX)
  if (name.trim() !== name) {
    throw createInvalidInputError(field, `\`${field}\` must not begin or end with a space.`)
  }
  if (/\p{Cc}|\p{Cs}/u.test(name)) {
    throw createInvalidInputError(field, `\`${field}\` must not contain control characters.`)
  }
  return name
}
