/** What stands around memories in their sessions. */
import type { MemoryId, Scope, SessionId } from '../../core/ids.ts'
import type { Surroundings } from '../../ports/store.ts'
import type { Query } from './driver.ts'
import { createBinder, scopeConditions } from './filters.ts'
import type { Names } from './names.ts'
import { decoded } from './rows.ts'

type Columns = { id: MemoryId; session: SessionId; before: MemoryId[]; after: MemoryId[] }

/** One statement for all ids: each side is a short walk along the index of the session. */
export async function around(
  query: Query,
  names: Names,
  scope: Scope,
  ids: readonly MemoryId[],
  reach: number,
): Promise<ReadonlyMap<MemoryId, Surroundings>> {
  const binder = createBinder()
  const side = (beyond: '<' | '>', direction: 'ASC' | 'DESC') =>
    `ARRAY(SELECT other.id FROM ${names.memory} AS other
       WHERE other.owner_id = asked.owner_id AND other.session_id = asked.session_id
         AND other.user_id IS NOT DISTINCT FROM asked.user_id AND other.id ${beyond} asked.id
       ORDER BY other.id ${direction} LIMIT ${binder.bind(reach)})`
  const visible = scopeConditions(scope, binder).join(' AND ')
  const rows = await query<Columns>(
    `SELECT id, session_id AS session, ${side('<', 'DESC')} AS before, ${side('>', 'ASC')} AS after
     FROM ${names.memory} AS asked
     WHERE id = ANY (${binder.bind(ids)}::text[]) AND session_id IS NOT NULL AND ${visible}`,
    binder.values,
  )
  return new Map(
    rows.map(({ id, session, before, after }) => [
      decoded(id),
      { session: decoded(session), before: before.map(decoded), after: after.map(decoded) },
    ]),
  )
}
