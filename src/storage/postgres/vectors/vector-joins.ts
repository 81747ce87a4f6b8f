/**
 * Two joins of documents and vectors that stay fast when the planner misestimates row counts. Until
 * a table is analyzed, PostgreSQL may estimate one row where there are thousands. It then chooses a
 * nested loop over all documents of an owner per vector, and a search takes minutes.
 */
import type { Scope } from '../../../domain/scope.ts'
import type { DocumentKind } from '../../../domain/search-document.ts'
import { hashOwner, hashUser } from '../schema/identifiers.ts'
import { NUMBER_CONDITION_BY_KIND, toKindSource } from '../store/document-kinds.ts'
import type { ParameterBinder } from '../store/sql-filters.ts'
import type { StoredSpace, VectorStorage } from './vector-spaces.ts'

/**
 * For few documents: an index lookup for each. Only one index fits, so there is nothing to
 * misestimate. `space` is the parameter with the space's number, or a subquery that finds it.
 */
export function toLateralJoin(
  { names }: VectorStorage,
  kinds: readonly DocumentKind[],
  space: string,
): string {
  return `${toKindSource(names, kinds)} AS m CROSS JOIN LATERAL (
    SELECT * FROM ${names.embedding} WHERE memory = m.number AND space = ${space} LIMIT 1
  ) AS e`
}

/** For many documents: one hash join. Requires the settings in `JOINING`. */
export function toHashJoin({ names }: VectorStorage): string {
  return `${names.embedding} AS e JOIN ${names.memory} AS m ON m.number = e.memory`
}

/** The vectors of one kind that a scope may contain. The names on the documents decide access. */
export function toVectorConditions(
  storedSpace: StoredSpace,
  scope: Scope,
  kind: DocumentKind,
  { bind }: ParameterBinder,
): readonly string[] {
  const held = [
    `e.owner_hash = ${bind(hashOwner(scope.owner))}::bigint`,
    `e.space = ${bind(storedSpace.number)}`,
    `e.${NUMBER_CONDITION_BY_KIND[kind]}`,
  ]
  if (scope.user === undefined) return held
  return [...held, `e.user_hash = ${bind(hashUser(scope.user))}::integer`]
}

/** JIT compilation takes longer than the search itself. */
export const JIT_OFF = 'jit = off'

export const HASH_JOIN_SETTINGS: readonly string[] = [JIT_OFF, 'enable_nestloop = off']
