/** Neighbors of documents within their sessions: memories around a memory, turns around a turn. */
import type { MemoryId, SessionId } from '../../../domain/ids.ts'
import type { Scope } from '../../../domain/scope.ts'
import type { DocumentKind } from '../../../domain/search-document.ts'
import type { NeighborRequest, SessionNeighbors } from '../../store.ts'
import type { QueryFunction } from '../connection/postgres-driver.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'
import { ROW_CONDITION_BY_KIND } from '../store/document-kinds.ts'
import { decodeText } from '../store/row-codec.ts'
import {
  createParameterBinder,
  type ParameterBinder,
  toScopeConditions,
} from '../store/sql-filters.ts'

type SurroundingColumns = {
  id: MemoryId
  session: SessionId
  before: MemoryId[]
  after: MemoryId[]
}

/** One statement for all ids: each side is a short walk along the session index. */
export async function findNeighbors(
  query: QueryFunction,
  names: SqlIdentifiers,
  scope: Scope,
  ids: readonly MemoryId[],
  reach: number,
): Promise<ReadonlyMap<MemoryId, SessionNeighbors>> {
  const binder = createParameterBinder()
  const { before, after } = toNeighborSides(names, binder.bind(reach))
  const visible = toScopeConditions(scope, binder).join(' AND ')
  const rows = await query<SurroundingColumns>(
    `SELECT id, session_id AS session, ${before} AS before, ${after} AS after
     FROM ${names.memory} AS asked
     WHERE id = ANY (${binder.bind(ids)}::text[]) AND session_id IS NOT NULL AND ${visible}`,
    binder.values,
  )
  return new Map(rows.map((row) => [decodeText(row.id), surroundings(row)]))
}

/** The neighbors of a row: none when it has no session or ranks beyond the requested number. */
export type NeighborColumns = {
  session: SessionId | null
  before: MemoryId[] | null
  after: MemoryId[] | null
}

/** The columns that a statement must select for `withBesides`. */
export const NEIGHBOR_KEY_COLUMNS = ['id', 'owner_id', 'user_id', 'session_id', 'type', 'position']

/**
 * The hits of a statement in order, with the neighbors of the first ones. The statement selects
 * `BESIDES_COLUMNS`, best first by the columns `order`. One round trip, because a second one would
 * cost more than the index walk.
 */
export function appendNeighbors(
  names: SqlIdentifiers,
  { bind }: ParameterBinder,
  { reach, hits }: NeighborRequest,
  { statement, order }: { readonly statement: string; readonly order: string },
): string {
  const { before, after } = toNeighborSides(names, bind(reach))
  const isTold = `asked.session_id IS NOT NULL AND place <= ${bind(hits)}`
  return `SELECT asked.*, asked.session_id AS session,
      CASE WHEN ${isTold} THEN ${before} END AS before, CASE WHEN ${isTold} THEN ${after} END AS after
    FROM (SELECT *, row_number() OVER (ORDER BY ${order}) AS place FROM (${statement}) AS hit) AS asked
    ORDER BY place`
}

/** Neighbors of the hit at this position, from 0; none beyond the requested number. */
export function readNeighbors(
  { session, before, after }: NeighborColumns,
  place: number,
  besides: NeighborRequest | undefined,
): { readonly neighbors?: SessionNeighbors | null } {
  if (besides === undefined || place >= besides.hits) return {}
  if (session === null || before === null || after === null) return { neighbors: null }
  return { neighbors: surroundings({ session, before, after }) }
}

/** The ids on each side of the row aliased `asked`, nearest first. */
function toNeighborSides(
  names: SqlIdentifiers,
  reach: string,
): { readonly before: string; readonly after: string } {
  const side = (kind: DocumentKind, beyond: '<' | '>', direction: 'ASC' | 'DESC') => {
    const course = COURSES[kind]
    const point = (row: string) => `(${course.map((column) => `${row}.${column}`).join(', ')})`
    const order = course.map((column) => `other.${column} ${direction}`).join(', ')
    return `ARRAY(SELECT other.id FROM ${names.memory} AS other
       WHERE other.owner_id = asked.owner_id AND other.session_id = asked.session_id
         AND other.user_id IS NOT DISTINCT FROM asked.user_id AND other.${ROW_CONDITION_BY_KIND[kind]}
         AND ${point('other')} ${beyond} ${point('asked')}
       ORDER BY ${order} LIMIT ${reach})`
  }
  const both = (beyond: '<' | '>', direction: 'ASC' | 'DESC') =>
    `CASE WHEN asked.${ROW_CONDITION_BY_KIND.turn} THEN ${side('turn', beyond, direction)}
       ELSE ${side('memory', beyond, direction)} END`
  return { before: both('<', 'DESC'), after: both('>', 'ASC') }
}

/** The session order of documents of one kind. */
const COURSES: Readonly<Record<DocumentKind, readonly string[]>> = {
  memory: ['id'],
  turn: ['position', 'id'],
}

function surroundings({
  session,
  before,
  after,
}: Omit<SurroundingColumns, 'id'>): SessionNeighbors {
  return {
    session: decodeText(session),
    before: before.map(decodeText),
    after: after.map(decodeText),
  }
}
