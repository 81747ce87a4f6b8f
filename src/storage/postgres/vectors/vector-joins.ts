/**
 * Documents together with their vectors, in the two ways that stay fast when PostgreSQL misjudges how many there are.
 *
 * It counts tables now and then, and until it has, it takes thousands of fresh rows for one. Left to itself it then
 * goes through all documents of an owner again for each vector, and a search takes minutes.
 */
import type { Scope } from '../../../domain/scope.ts'
import type { DocumentKind } from '../../../domain/search-document.ts'
import { hashOwner, hashUser } from '../schema/identifiers.ts'
import { NUMBER_CONDITION_BY_KIND, toKindSource } from '../store/document-kinds.ts'
import type { ParameterBinder } from '../store/sql-filters.ts'
import type { StoredSpace, VectorStorage } from './vector-spaces.ts'

/**
 * For few documents: each is looked up in turn. Only one index fits, so there is nothing to misjudge. `space` is the
 * parameter of its number, or a statement that finds it.
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

/** For many: both are read once. To be read with `JOINING`. */
export function toHashJoin({ names }: VectorStorage): string {
  return `${names.embedding} AS e JOIN ${names.memory} AS m ON m.number = e.memory`
}

/** The vectors of one kind that a scope may hold. Whose they are is decided by the names on the documents. */
export function toVectorConditions(
  kept: StoredSpace,
  scope: Scope,
  kind: DocumentKind,
  { bind }: ParameterBinder,
): readonly string[] {
  const held = [
    `e.owner_hash = ${bind(hashOwner(scope.owner))}::bigint`,
    `e.space = ${bind(kept.number)}`,
    `e.${NUMBER_CONDITION_BY_KIND[kind]}`,
  ]
  if (scope.user === undefined) return held
  return [...held, `e.user_hash = ${bind(hashUser(scope.user))}::integer`]
}

/** Compiling a search first would take longer than it does. */
export const JIT_OFF = 'jit = off'

export const HASH_JOIN_SETTINGS: readonly string[] = [JIT_OFF, 'enable_nestloop = off']
