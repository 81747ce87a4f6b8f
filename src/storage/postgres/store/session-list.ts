/** Lists sessions, derived from their turns. */
import type { OwnerId, SessionId, UserId } from '../../../domain/ids.ts'
import type { Scope } from '../../../domain/scope.ts'
import type { Instant } from '../../../lib/time.ts'
import { buildSessionPage, parseSessionCursor } from '../../page-cursor.ts'
import type { Page, SessionQuery, SessionSummary } from '../../store.ts'
import type { QueryFunction } from '../connection/postgres-driver.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'
import { decodeText } from './row-codec.ts'
import { createParameterBinder, toScopeConditions } from './sql-filters.ts'

type Columns = {
  readonly owner: OwnerId
  readonly user: UserId | null
  readonly session: SessionId
  readonly turns: number
  readonly first_said_at: Instant
  readonly last_said_at: Instant
  readonly last_id: string
}

export async function listSessions(
  query: QueryFunction,
  names: SqlIdentifiers,
  scope: Scope,
  asked: SessionQuery,
): Promise<Page<SessionSummary>> {
  const binder = createParameterBinder()
  const conditions = [...toScopeConditions(scope, binder), 'session_id IS NOT NULL']
  const after = parseSessionCursor(asked)
  const beyond =
    after === null
      ? ''
      : `HAVING (max(said_at), max(id)) < (${binder.bind(after.lastSaidAt)}, ${binder.bind(after.lastId)})`
  const rows = await query<Columns>(
    `SELECT owner_id AS owner, user_id AS "user", session_id AS session, count(*)::integer AS turns,
       min(said_at) AS first_said_at, max(said_at) AS last_said_at, max(id) AS last_id
     FROM ${names.turn} WHERE ${conditions.join(' AND ')} GROUP BY owner_id, user_id, session_id
     ${beyond} ORDER BY max(said_at) DESC, max(id) DESC LIMIT ${binder.bind(asked.limit + 1)}`,
    binder.values,
  )
  const found = rows.map(({ owner, user, session, turns, ...row }) => ({
    place: { owner: decodeText(owner), user: decodeText(user), session: decodeText(session) },
    turns,
    firstSaidAt: row.first_said_at,
    lastSaidAt: row.last_said_at,
    lastId: decodeText(row.last_id),
  }))
  return buildSessionPage(found, asked)
}
