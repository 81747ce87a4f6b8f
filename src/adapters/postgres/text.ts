/**
 * Keyword search: BM25 as `core/bm25.ts` defines it, computed by the database.
 *
 * Postings hold all that a score needs, so every candidate is scored without reading its memory; memories are
 * then read in order of their scores, and only until enough of them pass the filters.
 */
import type { MemoryId, Scope, SessionId } from '../../core/ids.ts'
import { TEXT_HITS_MAX } from '../../core/limits.ts'
import { queryTerms } from '../../core/terms.ts'
import { type MemoryFilter, NO_MATCH, type TextMatch, type TextQuery } from '../../ports/store.ts'
import type { Query } from './driver.ts'
import { type Binder, CONDITIONS, createBinder, isNarrow, scopeConditions } from './filters.ts'
import { type Names, ownerHash, userHash } from './names.ts'
import { decoded } from './rows.ts'

type HitColumns = {
  id: MemoryId
  score: number
  coverage: number
  /** By the position of the term, from 1; a term that does not occur is missing. */
  counts: { [position: string]: number }
  length: number
  session: SessionId | null
  rarities: number[]
  average_length: number
}

export async function matchText(
  query: Query,
  names: Names,
  scope: Scope,
  { text, where, limit }: TextQuery,
): Promise<TextMatch> {
  const terms = queryTerms(text)
  if (terms.length === 0) return NO_MATCH
  const binder = createBinder()
  const sql = searchStatement(names, binder, { scope, terms, where, limit })
  const rows = await query<HitColumns>(sql, binder.values)
  const [first] = rows
  if (first === undefined) return NO_MATCH
  return {
    terms: terms.map((text, position) => ({ text, rarity: first.rarities[position] ?? 0 })),
    averageLength: first.average_length,
    hits: rows.map(({ id, score, coverage, counts, length, session }) => ({
      id: decoded(id),
      score,
      coverage,
      counts: terms.map((_, position) => counts[position + 1] ?? 0),
      length,
      session: decoded(session),
    })),
  }
}

type Search = {
  readonly scope: Scope
  readonly terms: readonly string[]
  readonly where: MemoryFilter
  readonly limit: number
}

function searchStatement(names: Names, binder: Binder, search: Search): string {
  const { scope, terms, where } = search
  const { bind } = binder
  const visible = [...scopeConditions(scope, binder), ...CONDITIONS.memory(where, binder)].join(
    ' AND ',
  )
  const posted = [`p.owner_hash = ${bind(ownerHash(scope.owner))}::bigint`, 'p.term = asked.term']
  const ours =
    scope.user === undefined ? [] : [`p.user_hash = ${bind(userHash(scope.user))}::integer`]
  const few = isNarrow(scope, where)
    ? [`p.memory = ANY (ARRAY(SELECT number FROM ${names.memory} WHERE ${visible}))`]
    : []
  // Rounding makes equal scores equal, and a whole coverage 1, in whatever order the parts were added up.
  return `
    WITH corpus AS (
      SELECT memories, terms::float8 / memories AS average_length FROM ${names.corpus}
      WHERE owner_id = ${bind(scope.owner)} AND memories > 0 AND terms > 0
    ), asked AS MATERIALIZED (
      SELECT asked.term, position, ln(1 + (GREATEST(0, memories - holding) + 0.5) / (holding + 0.5)) AS rarity
      FROM corpus CROSS JOIN unnest(${bind(terms)}::text[]) WITH ORDINALITY AS asked(term, position)
      CROSS JOIN LATERAL (
        SELECT count(*)::float8 AS holding FROM ${names.posting} AS p WHERE ${posted.join(' AND ')}
      ) AS counted
    ), scored AS (
      SELECT p.memory, sum(rarity) AS found, max(length) AS length,
        jsonb_object_agg(position, frequency) AS counts, round(sum(
          rarity * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / average_length))
        ) * 1e12) / 1e12 AS score
      FROM corpus CROSS JOIN asked CROSS JOIN LATERAL (
        SELECT memory, frequency, length::float8 FROM ${names.posting} AS p
        WHERE ${[...posted, ...ours, ...few].join(' AND ')} OFFSET 0
      ) AS p
      GROUP BY p.memory
    )
    SELECT m.id, m.session_id AS session, score, counts, length, (SELECT average_length FROM corpus),
      (SELECT json_agg(rarity ORDER BY position) FROM asked) AS rarities,
      LEAST(1, round(found / (SELECT sum(rarity) FROM asked) * 1e12) / 1e12) AS coverage
    FROM (SELECT * FROM scored ORDER BY score DESC) AS best CROSS JOIN LATERAL (
      SELECT id, session_id FROM ${names.memory} WHERE number = best.memory AND ${visible} LIMIT 1
    ) AS m
    ORDER BY score DESC, m.id DESC
    LIMIT ${bind(Math.max(0, Math.min(search.limit, TEXT_HITS_MAX)))}`
}
