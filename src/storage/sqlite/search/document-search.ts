/** Keyword search among documents, that is memories and turns, and their neighbours. */
import type { MemoryId, SessionId } from '../../../domain/ids.ts'
import type { Scope } from '../../../domain/scope.ts'
import { DOCUMENT_KINDS, type DocumentKind, isTurnId } from '../../../domain/search-document.ts'
import { extractQueryTerms } from '../../../text/search/terms.ts'
import { fromStorable } from '../../../text/storable-text.ts'
import {
  type DocumentFilter,
  EMPTY_TEXT_MATCH,
  type SessionNeighbors,
  type TextMatch,
  type TextQuery,
} from '../../store.ts'
import type { CachedDatabase } from '../cache/cached-database.ts'
import type { SqlRow } from '../connection/sqlite-driver.ts'
import { joinConditions, toDocumentConditions, toScopeConditions } from '../store/sql-filters.ts'
import { clampHitLimit, searchTerms } from './lexical-search.ts'

const MEMORY_COLUMNS = { id: 'memory.id', session: 'memory.session' }

export async function matchText(
  database: CachedDatabase,
  scope: Scope,
  query: TextQuery,
): Promise<TextMatch> {
  const limit = clampHitLimit(query.limit)
  const terms = extractQueryTerms(query.text)
  if (limit <= 0 || terms.length === 0) return EMPTY_TEXT_MATCH
  const resident = database.ownerCache.get(database.findOwnerNumber(scope))
  const { candidates, ...found } =
    resident === null
      ? await searchTerms(database, scope, {
          terms,
          limit,
          filters: toDocumentConditions(query.where),
          kinds: kindsOf(query.where),
          columns: MEMORY_COLUMNS,
          isNarrow: typeof scope.session === 'string' || query.where.ids !== undefined,
        })
      : resident.search(scope, query.where, terms, { limit, memoriesMin: memoriesMinOf(query) })
  if (candidates.length === 0) return EMPTY_TEXT_MATCH
  const sorted = candidates
    .map(({ row, score, coverage, counts, length }) => ({
      id: String(row.id) as MemoryId, // the column holds nothing else
      score,
      coverage,
      counts,
      length,
      session: toSession(row.session),
    }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
  const hits = sorted.slice(0, limit)
  if (resident === null) return { ...found, hits }
  const missing = memoriesMinOf(query) - hits.filter(({ id }) => !isTurnId(id)).length
  const behind = sorted.slice(limit).filter(({ id }) => !isTurnId(id))
  return { ...found, hits: [...hits, ...behind.slice(0, Math.max(0, missing))] }
}

/** How many memories are to be among the hits or behind them; 0 where no turns can crowd them out. */
function memoriesMinOf({ memoriesMin = 0, where }: TextQuery): number {
  return kindsOf(where).length === DOCUMENT_KINDS.length ? memoriesMin : 0
}

/** The kinds of documents that a filter lets pass. */
function kindsOf({ types }: DocumentFilter): readonly DocumentKind[] {
  if (types === undefined) return ['memory']
  return DOCUMENT_KINDS.filter((kind) =>
    types.some((type) => (type === 'turn') === (kind === 'turn')),
  )
}

/** Where a turn stands in its session; an index of the schema holds this expression. */
const POSITION = (row: string) => `${row}.metadata ->> 'position'`

/** A statement for each kind: each side is a short walk along an index of the session. */
export function findNeighbors(
  database: CachedDatabase,
  scope: Scope,
  ids: readonly MemoryId[],
  reach: number,
): ReadonlyMap<MemoryId, SessionNeighbors> {
  const resident = database.ownerCache.get(database.findOwnerNumber(scope))
  if (resident !== null) return resident.findNeighbors(scope, ids, reach)
  const ofTurns = ids.filter(isTurnId)
  const ofMemories = ids.filter((id) => !isTurnId(id))
  const rows = [
    ...neighbours(
      database,
      scope,
      ofMemories,
      "<> 'turn'",
      ({ beyond, direction }) => ({
        condition: `other.id ${beyond} memory.id`,
        order: `other.id ${direction}`,
      }),
      reach,
    ),
    ...neighbours(
      database,
      scope,
      ofTurns,
      "= 'turn'",
      ({ beyond, direction }) => ({
        condition: `(${POSITION('other')}, other.id) ${beyond} (${POSITION('memory')}, memory.id)`,
        order: `${POSITION('other')} ${direction}, other.id ${direction}`,
      }),
      reach,
    ),
  ]
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

type NeighborSide = { readonly beyond: '<' | '>'; readonly direction: 'ASC' | 'DESC' }

function neighbours(
  database: CachedDatabase,
  scope: Scope,
  ids: readonly MemoryId[],
  isOfKind: string,
  along: (side: NeighborSide) => { readonly condition: string; readonly order: string },
  reach: number,
): readonly SqlRow[] {
  if (ids.length === 0) return []
  const side = (towards: NeighborSide) => {
    const { condition, order } = along(towards)
    return `(SELECT json_group_array(id) FROM (
       SELECT other.id FROM memory AS other
       WHERE other.place_number = memory.place_number AND other.session = memory.session
         AND other.type ${isOfKind} AND ${condition}
       ORDER BY ${order} LIMIT ${reach}))`
  }
  const where = joinConditions([
    ...toScopeConditions('memory', scope, database, []),
    { sql: `memory.session IS NOT NULL AND memory.type ${isOfKind}`, values: [] },
  ])
  return database.selectPacked(
    {
      columns: {
        id: 'memory.id',
        session: 'memory.session',
        before: side({ beyond: '<', direction: 'DESC' }),
        after: side({ beyond: '>', direction: 'ASC' }),
      },
      from: `FROM json_each(?) AS asked
        CROSS JOIN memory ON memory.id = asked.value
        WHERE ${where.sql}`,
    },
    [JSON.stringify(ids), ...where.values],
  )
}

function toSession(column: SqlRow[string] | undefined): SessionId | null {
  return column == null ? null : (fromStorable(String(column)) as SessionId) // as it was given
}
