/**
 * Lexical search: BM25 as defined in `text/search/bm25.ts`, computed by the database. Postings hold
 * everything that a score needs, so candidates are scored without reading their rows; rows are then
 * read in order of score, only until enough of them pass the filters.
 */
import type { MemoryId } from '../../../domain/ids.ts'
import { TEXT_HITS_MAX } from '../../../domain/limits.ts'
import type { Scope } from '../../../domain/scope.ts'
import { type DocumentKind, selectKinds } from '../../../domain/search-document.ts'
import { extractQueryTerms } from '../../../text/search/terms.ts'
import { EMPTY_TEXT_MATCH, type TextMatch, type TextQuery } from '../../store.ts'
import type { QueryFunction } from '../connection/postgres-driver.ts'
import { hashOwner, hashUser, type SqlIdentifiers } from '../schema/identifiers.ts'
import { NUMBER_CONDITION_BY_KIND, toKindSource } from '../store/document-kinds.ts'
import { decodeText, parseProvenance } from '../store/row-codec.ts'
import {
  createParameterBinder,
  isSelective,
  type ParameterBinder,
  toDocumentConditions,
  toScopeConditions,
} from '../store/sql-filters.ts'
import {
  appendNeighbors,
  NEIGHBOR_KEY_COLUMNS,
  type NeighborColumns,
  readNeighbors,
} from './session-neighbors.ts'

type HitColumns = NeighborColumns & {
  readonly score: number
  readonly coverage: number
  id: MemoryId
  /** Term frequencies in packs. Null where no term of a pack occurs. */
  counts: (string | null)[]
  length: number
  rarities: number[]
  average_length: number
  provenance: string
}

export async function matchText(
  query: QueryFunction,
  names: SqlIdentifiers,
  scope: Scope,
  { text, where, limit, neighborRequest: besides, memoriesMin = 0 }: TextQuery,
): Promise<TextMatch> {
  const terms = extractQueryTerms(text)
  const kinds = selectKinds(where.types)
  if (terms.length === 0 || kinds.length === 0) return EMPTY_TEXT_MATCH
  const binder = createParameterBinder()
  const found = searchStatement(names, binder, {
    ...{ scope, terms, where, limit, memoriesMin, kinds },
    columns:
      besides === undefined
        ? ['id', 'session_id AS session']
        : [...NEIGHBOR_KEY_COLUMNS, 'provenance'],
  })
  const sql =
    besides === undefined
      ? found
      : appendNeighbors(names, binder, besides, { statement: found, order: 'score DESC, id DESC' })
  const rows = await query<HitColumns>(sql, binder.values)
  const [first] = rows
  if (first === undefined) return EMPTY_TEXT_MATCH
  return {
    terms: terms.map((text, position) => ({ text, rarity: first.rarities[position] ?? 0 })),
    averageLength: first.average_length,
    hits: rows.map((row, place) => ({
      id: decodeText(row.id),
      score: row.score,
      coverage: row.coverage,
      counts: unpacked(row.counts, terms.length),
      length: row.length,
      session: decodeText(row.session),
      ...readNeighbors(row, place, besides),
      ...(place < (besides?.hits ?? 0) ? { speaker: parseProvenance(row.provenance).speaker } : {}),
    })),
  }
}

type LexicalQuery = Pick<TextQuery, 'where' | 'limit'> & {
  readonly scope: Scope
  readonly terms: readonly string[]
  readonly kinds: readonly DocumentKind[]
  /** The number of best memories appended to the hits when turns are searched as well. */
  readonly memoriesMin: number
  /** The columns that are read. */
  readonly columns: readonly string[]
}

function searchStatement(
  names: SqlIdentifiers,
  binder: ParameterBinder,
  search: LexicalQuery,
): string {
  const { scope, terms, where, kinds, columns, limit, memoriesMin } = search
  const { bind } = binder
  const visible = [
    ...toScopeConditions(scope, binder),
    ...toDocumentConditions(where, binder, kinds),
  ].join(' AND ')
  const posted = [`p.owner_hash = ${bind(hashOwner(scope.owner))}::bigint`, 'p.term = asked.term']
  const ours =
    scope.user === undefined ? [] : [`p.user_hash = ${bind(hashUser(scope.user))}::integer`]
  const [only] = kinds
  const ofKind =
    only !== undefined && kinds.length === 1 ? [`p.${NUMBER_CONDITION_BY_KIND[only]}`] : []
  const few = isSelective(scope, where)
    ? [
        `p.memory = ANY (ARRAY(SELECT number FROM ${toKindSource(names, kinds)} AS document WHERE ${visible}))`,
      ]
    : []
  const best = (condition: string, limit: number) => `
    SELECT r.*, score, ARRAY[${packs.map((pack) => `pack_${pack}::text`).join(', ')}] AS counts,
      length, (SELECT average_length FROM corpus),
      (SELECT json_agg(rarity ORDER BY position) FROM asked) AS rarities,
      LEAST(1, round(found / (SELECT sum(rarity) FROM asked) * 1e12) / 1e12) AS coverage
    FROM (SELECT * FROM scored WHERE ${condition} ORDER BY score DESC) AS best CROSS JOIN LATERAL (
      SELECT ${columns.join(', ')} FROM ${names.memory} WHERE number = best.number AND ${visible} LIMIT 1
    ) AS r
    ORDER BY score DESC, r.id DESC
    LIMIT ${bind(Math.max(0, Math.min(limit, TEXT_HITS_MAX)))}`
  const packs = Array.from({ length: Math.ceil(terms.length / PACK_TERMS) }, (_, pack) => pack)
  const isMixed = kinds.length > 1 && memoriesMin > 0
  // Rounding makes equal scores equal and full coverage exactly 1, whatever the order of summation.
  return `
    WITH corpus AS (
      SELECT documents, terms::float8 / documents AS average_length FROM ${names.corpus}
      WHERE owner_id = ${bind(scope.owner)} AND documents > 0 AND terms > 0
    ), asked AS MATERIALIZED (
      SELECT asked.term, position, ln(1 + (GREATEST(0, documents - holding) + 0.5) / (holding + 0.5)) AS rarity
      FROM corpus CROSS JOIN unnest(${bind(terms)}::text[]) WITH ORDINALITY AS asked(term, position)
      CROSS JOIN LATERAL (
        SELECT count(*)::float8 AS holding FROM ${names.posting} AS p WHERE ${posted.join(' AND ')}
      ) AS counted
    ), scored AS (
      SELECT p.memory AS number, sum(rarity) AS found, max(length) AS length,
        ${packs.map(packed).join(', ')}, round(sum(
          rarity * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / average_length))
        ) * 1e12) / 1e12 AS score
      FROM corpus CROSS JOIN asked CROSS JOIN LATERAL (
        SELECT memory, frequency, length::float8 FROM ${names.posting} AS p
        WHERE ${[...posted, ...ours, ...ofKind, ...few].join(' AND ')} OFFSET 0
      ) AS p
      GROUP BY p.memory
    )${
      isMixed
        ? `, hit AS MATERIALIZED (${best('true', limit)}),
    fact AS MATERIALIZED (${best('number > 0', memoriesMin)})
    SELECT * FROM hit
    UNION ALL SELECT * FROM fact WHERE id NOT IN (SELECT id FROM hit)`
        : best('true', limit)
    }`
}

/** Terms per packed number, and bits per term frequency. */
const PACK_TERMS = 3
const COUNT_BITS = 20
const COUNT_MAX = 2 ** COUNT_BITS - 1

/**
 * Packs the frequencies of several terms into one number: one object for each of thousands of rows
 * takes several times as long.
 */
function packed(pack: number): string {
  const first = pack * PACK_TERMS + 1
  return `bit_or(CASE WHEN asked.position BETWEEN ${first} AND ${first + PACK_TERMS - 1}
      THEN LEAST(frequency, ${COUNT_MAX})::bigint << ((asked.position - ${first}) * ${COUNT_BITS})::integer
    END) AS pack_${pack}`
}

function unpacked(packs: readonly (string | null)[], terms: number): readonly number[] {
  return Array.from({ length: terms }, (_, position) => {
    const pack = BigInt(packs[Math.floor(position / PACK_TERMS)] ?? 0)
    return Number((pack >> BigInt((position % PACK_TERMS) * COUNT_BITS)) & BigInt(COUNT_MAX))
  })
}
