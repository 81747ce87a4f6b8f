import type { Scope, SessionPlace } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import type { StoreDependencies } from './types.ts'

/** The session that a scope names; null when it has no turns. */
export async function findSessionByName(
  { store }: StoreDependencies,
  scope: Scope,
): Promise<SessionPlace | null> {
  const [session, other] = (await store.listSessions(scope, { limit: 2 })).rows
  if (session === undefined) return null
  if (other === undefined) return session.place
  const message = '`user` is required: several users have a session with this name.'
  throw new AppError('invalid_input', message, { field: 'user' })
}

/** The session that a scope names. Throws `not_found` when it has no turns, and `invalid_input` when it is ambiguous. */
export async function getSessionByName(
  ports: StoreDependencies,
  scope: Scope,
): Promise<SessionPlace> {
  const session = scope.session == null ? null : await findSessionByName(ports, scope)
  if (session !== null) return session
  throw new AppError('not_found', 'Session not found: it has no turns.')
}
