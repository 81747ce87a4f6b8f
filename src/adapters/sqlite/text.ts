/** Keyword search among memories and among turns, and what stands around memories. */
import type { MemoryId, Scope, SessionId, TurnId } from '../../core/ids.ts'
import { fromStorable } from '../../core/storable-text.ts'
import { queryTerms } from '../../core/terms.ts'
import {
  NO_MATCH,
  type Surroundings,
  type TextMatch,
  type TextQuery,
  type TurnMatch,
  type TurnQuery,
} from '../../ports/store.ts'
import type { SqlRow } from './driver.ts'
import { conjunction, memoryConditions, turnConditions, within } from './filters.ts'
import type { SqliteSession } from './session.ts'
import { type Candidate, hitsOf, MEMORY_INDEX, search, TURN_INDEX } from './text-search.ts'

const MEMORY_COLUMNS = { id: 'memory.id', session: 'memory.session' }

export async function matchText(
  session: SqliteSession,
  scope: Scope,
  query: TextQuery,
): Promise<TextMatch> {
  const limit = hitsOf(query.limit)
  const terms = queryTerms(query.text)
  if (limit <= 0 || terms.length === 0) return NO_MATCH
  const resident = session.resident.of(session.ownerNumber(scope))
  const { candidates, ...found } =
    resident === null
      ? await search(session, MEMORY_INDEX, scope, {
          terms,
          limit,
          filters: memoryConditions(query.where),
          columns: MEMORY_COLUMNS,
          isNarrow: false,
        })
      : resident.search(scope, query.where, terms, limit)
  if (candidates.length === 0) return NO_MATCH
  const hits = candidates
    .map(({ row, score, coverage, counts, length }) => ({
      id: String(row.id) as MemoryId, // the column holds nothing else
      score,
      coverage,
      counts,
      length,
      session: toSession(row.session),
    }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
    .slice(0, limit)
  return { ...found, hits }
}

const TURN_COLUMNS = { id: 'turn.id', said_at: 'turn.said_at', position: 'turn.position' }

export async function matchTurns(
  session: SqliteSession,
  scope: Scope,
  query: TurnQuery,
): Promise<TurnMatch> {
  const limit = hitsOf(query.limit)
  const { candidates } = await search(session, TURN_INDEX, scope, {
    terms: queryTerms(query.text),
    limit,
    filters: turnConditions(query.where),
    columns: TURN_COLUMNS,
    isNarrow: typeof scope.session === 'string' || query.where.ids !== undefined,
  })
  const hits = [...candidates]
    .sort((a, b) => b.score - a.score || byLastSaid(a, b))
    .slice(0, limit)
    .map(({ row, score, coverage }) => ({
      id: String(row.id) as TurnId, // the column holds nothing else
      score,
      coverage,
    }))
  return { hits }
}

function byLastSaid({ row: a }: Candidate, { row: b }: Candidate): number {
  const later = Number(b.said_at) - Number(a.said_at) || Number(b.position) - Number(a.position)
  return later || (String(a.id) < String(b.id) ? 1 : -1)
}

/** One statement for all ids: each side is a short walk along the index of the session. */
export function around(
  session: SqliteSession,
  scope: Scope,
  ids: readonly MemoryId[],
  reach: number,
): ReadonlyMap<MemoryId, Surroundings> {
  const resident = session.resident.of(session.ownerNumber(scope))
  if (resident !== null) return resident.around(scope, ids, reach)
  const side = (beyond: '<' | '>', direction: 'ASC' | 'DESC') =>
    `(SELECT json_group_array(id) FROM (
       SELECT other.id FROM memory AS other
       WHERE other.place_number = memory.place_number AND other.session = memory.session
         AND other.id ${beyond} memory.id
       ORDER BY other.id ${direction} LIMIT ${reach}))`
  const where = conjunction([
    ...within('memory', scope, session, []),
    { sql: 'memory.session IS NOT NULL', values: [] },
  ])
  const rows = session.packed(
    {
      columns: {
        id: 'memory.id',
        session: 'memory.session',
        before: side('<', 'DESC'),
        after: side('>', 'ASC'),
      },
      from: `FROM json_each(?) AS asked
        CROSS JOIN memory ON memory.id = asked.value
        WHERE ${where.sql}`,
    },
    [JSON.stringify(ids), ...where.values],
  )
  return new Map(
    rows.map((row) => [
      String(row.id) as MemoryId, // these columns hold nothing else
      {
        session: toSession(row.session) as SessionId, // not null, by the condition
        before: JSON.parse(String(row.before)) as MemoryId[],
        after: JSON.parse(String(row.after)) as MemoryId[],
      },
    ]),
  )
}

function toSession(column: SqlRow[string] | undefined): SessionId | null {
  return column == null ? null : (fromStorable(String(column)) as SessionId) // as it was given
}
