/** Conversations, from the turns that there are of them. */
import type { Scope } from '../../../domain/scope.ts'
import {
  buildSessionPage,
  parseSessionCursor,
  type SessionListPosition,
} from '../../page-cursor.ts'
import type { Page, SessionQuery, SessionSummary } from '../../store.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import type { SqlRow } from '../connection/sqlite-driver.ts'
import { readPlace } from './row-codec.ts'
import { joinConditions, toScopeConditions } from './sql-filters.ts'

export function listSessions(
  session: SqliteDatabase,
  scope: Scope,
  query: SessionQuery,
): Page<SessionSummary> {
  const after = parseSessionCursor(query)
  const { sql, values } = joinConditions([
    ...toScopeConditions('turn', scope, session, []),
    { sql: 'turn.session IS NOT NULL', values: [] },
  ])
  const beyond = after === null ? '' : 'HAVING (max(turn.said_at), max(turn.id)) < (?, ?)'
  const rows = session.all(
    `SELECT place.owner, place.user, turn.session, count(*) AS turns, min(turn.said_at) AS first_said_at,
       max(turn.said_at) AS last_said_at, max(turn.id) AS last_id
     FROM turn JOIN place ON place.number = turn.place_number
     WHERE ${sql} GROUP BY turn.place_number, turn.session ${beyond}
     ORDER BY last_said_at DESC, last_id DESC LIMIT ?`,
    [...values, ...(after === null ? [] : [after.lastSaidAt, after.lastId]), query.limit + 1],
  )
  return buildSessionPage(rows.map(toSession), query)
}

function toSession(row: SqlRow): SessionListPosition {
  const columns = {
    place: readPlace(row),
    turns: row.turns,
    firstSaidAt: row.first_said_at,
    lastSaidAt: row.last_said_at,
    lastId: row.last_id,
  }
  return columns as unknown as SessionListPosition // as the statement names its columns
}
