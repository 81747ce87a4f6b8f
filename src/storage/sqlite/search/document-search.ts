/** Lexical search over documents, and their neighbors. */
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

export async function searchText(
  database: CachedDatabase,
  scope: Scope,
  query: TextQuery,
): Promise<TextMatch> {
  const limit = clampHitLimit(query.limit)
  const terms = extractQueryTerms(query.text)
  if (limit <= 0 || terms.length === 0) return EMPTY_TEXT_MATCH
  const cachedOwner = database.ownerCache.get(database.findOwnerNumber(scope))
  const { candidates, ...found } =
    cachedOwner === null
      ? await searchTerms(database, scope, {
          terms,
          limit,
          filters: toDocumentConditions(query.where),
          kinds: listKinds(query.where),
          columns: MEMORY_COLUMNS,
          isNarrow: typeof scope.session === 'string' || query.where.ids !== undefined,
        })
      : cachedOwner.search(scope, query.where, terms, { limit, memoriesMin: getMemoriesMin(query) })
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
  if (cachedOwner === null) return { ...found, hits }
  const missing = getMemoriesMin(query) - hits.filter(({ id }) => !isTurnId(id)).length
  const surplus = sorted.slice(limit).filter(({ id }) => !isTurnId(id))
  return { ...found, hits: [...hits, ...surplus.slice(0, Math.max(0, missing))] }
}

/** The memories that the result must hold; 0 where turns cannot crowd them out. */
function getMemoriesMin({ memoriesMin = 0, where }: TextQuery): number {
  return listKinds(where).length === DOCUMENT_KINDS.length ? memoriesMin : 0
}

/** The kinds of documents that a filter allows. */
function listKinds({ types }: DocumentFilter): readonly DocumentKind[] {
  if (types === undefined) return ['memory']
  return DOCUMENT_KINDS.filter((kind) =>
    types.some((type) => (type === 'turn') === (kind === 'turn')),
  )
}

/** The position of a turn in its session. An index of the schema holds this expression. */
const POSITION = (row: string) => `${row}.metadata ->> 'position'`

/** One statement per kind of documents. Each side is a short scan of the index by session. */
export function findNeighbors(
  database: CachedDatabase,
  scope: Scope,
  ids: readonly MemoryId[],
  reach: number,
): ReadonlyMap<MemoryId, SessionNeighbors> {
  const cachedOwner = database.ownerCache.get(database.findOwnerNumber(scope))
  if (cachedOwner !== null) return cachedOwner.findNeighbors(scope, ids, reach)
  const turnIds = ids.filter(isTurnId)
  const memoryIds = ids.filter((id) => !isTurnId(id))
  const rows = [
    ...selectNeighbors(
      database,
      scope,
      memoryIds,
      "<> 'turn'",
      ({ beyond, direction }) => ({
        condition: `other.id ${beyond} memory.id`,
        order: `other.id ${direction}`,
      }),
      reach,
    ),
    ...selectNeighbors(
      database,
      scope,
      turnIds,
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
        session: toSession(row.session) as SessionId, // not null, see the conditions
        before: JSON.parse(String(row.before)) as MemoryId[],
        after: JSON.parse(String(row.after)) as MemoryId[],
      },
    ]),
  )
}

type NeighborSide = { readonly beyond: '<' | '>'; readonly direction: 'ASC' | 'DESC' }

function selectNeighbors(
  database: CachedDatabase,
  scope: Scope,
  ids: readonly MemoryId[],
  typeCondition: string,
  orderAlong: (selectSide: NeighborSide) => { readonly condition: string; readonly order: string },
  reach: number,
): readonly SqlRow[] {
  if (ids.length === 0) return []
  const selectSide = (towards: NeighborSide) => {
    const { condition, order } = orderAlong(towards)
    return `(SELECT json_group_array(id) FROM (
       SELECT other.id FROM memory AS other
       WHERE other.place_number = memory.place_number AND other.session = memory.session
         AND other.type ${typeCondition} AND ${condition}
       ORDER BY ${order} LIMIT ${reach}))`
  }
  const where = joinConditions([
    ...toScopeConditions('memory', scope, database, []),
    { sql: `memory.session IS NOT NULL AND memory.type ${typeCondition}`, values: [] },
  ])
  return database.selectPacked(
    {
      columns: {
        id: 'memory.id',
        session: 'memory.session',
        before: selectSide({ beyond: '<', direction: 'DESC' }),
        after: selectSide({ beyond: '>', direction: 'ASC' }),
      },
      from: `FROM json_each(?) AS asked
        CROSS JOIN memory ON memory.id = asked.value
        WHERE ${where.sql}`,
    },
    [JSON.stringify(ids), ...where.values],
  )
}

function toSession(column: SqlRow[string] | undefined): SessionId | null {
  return column == null ? null : (fromStorable(String(column)) as SessionId) // as it was stored
}
