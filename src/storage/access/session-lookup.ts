import type { Scope, SessionPlace } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import type { StoreDependencies } from './types.ts'

/** The same; null where nothing was said in one. */
export async function findSessionByName(
  { store }: StoreDependencies,
  scope: Scope,
): Promise<SessionPlace | null> {
  const [found, other] = (await store.listSessions(scope, { limit: 2 })).rows
  if (found === undefined) return null
  if (other === undefined) return found.place
  const message = 'Several users have a session of this name. Say whose is meant.'
  throw new AppError('invalid_input', message, { field: 'user' })
}

/** The one conversation that a scope names. Of several people's with the same name, it must be said whose is meant. */
export async function getSessionByName(
  ports: StoreDependencies,
  scope: Scope,
): Promise<SessionPlace> {
  const found = scope.session == null ? null : await findSessionByName(ports, scope)
  if (found !== null) return found
  throw new AppError('not_found', 'Nothing was said in such a session here.')
}
