/** Vector spaces in the database: their numbers, columns and indexes. */

import type { OwnerId } from '../../../domain/ids.ts'
import type { DocumentKind } from '../../../domain/search-document.ts'
import { AppError } from '../../../lib/errors.ts'
import { quoteIdentifier } from '../../../lib/sql.ts'
import { toStorable } from '../../../text/storable-text.ts'
import type { VectorSpace } from '../../vector-index.ts'
import type {
  PostgresDatabase,
  QueryFunction,
  QueryResultRow,
  QueryRunner,
  SqlStatement,
} from '../connection/postgres-driver.ts'
import type { VisibleOwners } from '../connection/row-level-security.ts'
import { hashOwner, type SqlIdentifiers } from '../schema/identifiers.ts'
import { NUMBER_CONDITION_BY_KIND } from '../store/document-kinds.ts'
import {
  getIndexedDimensionsMax,
  type PgvectorFormat,
  selectIndexType,
  selectVectorColumn,
  type VectorColumnName,
  type VectorFormat,
} from './vector-format.ts'

/** The context of every vector call. */
export type VectorStorage<Form extends VectorFormat = VectorFormat> = {
  readonly database: PostgresDatabase
  /** Runs statements restricted to these owners. */
  readonly runnerFor: (owners: VisibleOwners) => QueryRunner
  /** The names of the vector tables, as the storage format names them. */
  readonly names: SqlIdentifiers
  readonly format: Form
}

export type StoredSpace = {
  readonly number: number
  readonly dimensions: number
  /** The column that holds the space's vectors. */
  readonly column: VectorColumnName
}

/** The owner and the document kind that an index covers. */
export type IndexTarget = { readonly owner: OwnerId; readonly kind: DocumentKind }

type SpaceColumns = { number: number; dimensions: number }

/** Null when the space has no vectors yet. `lock` prevents a drop until the transaction ends. */
export async function findSpace(
  query: QueryFunction,
  { names, format: form }: VectorStorage,
  space: VectorSpace,
  lock: '' | 'FOR KEY SHARE' = '',
): Promise<StoredSpace | null> {
  const [sql, values] = toFindSpaceStatement(names, space)
  return readSpace(form, space, await query(`${sql} ${lock}`, values))
}

export function toFindSpaceStatement(
  names: SqlIdentifiers,
  { signature }: VectorSpace,
): SqlStatement {
  const sql = `SELECT number, dimensions FROM ${names.embedding_space} WHERE signature = $1`
  return [sql, [toStorable(signature)]]
}

/** Parses the row of a space. */
export function readSpace(
  form: VectorFormat,
  space: VectorSpace,
  [row]: readonly QueryResultRow[],
): StoredSpace | null {
  return row === undefined ? null : toStoredSpace(form, space, row as SpaceColumns) // the row type of the statement
}

export function toStoredSpace(
  form: VectorFormat,
  space: VectorSpace,
  { number, dimensions }: SpaceColumns,
): StoredSpace {
  if (dimensions !== space.dimensions) {
    throw new AppError(
      'invalid_input',
      `The vectors of "${space.signature}" must have ${dimensions} dimensions; got ${space.dimensions}.`,
      { dimensions: space.dimensions, expected: dimensions },
    )
  }
  return { number, dimensions, column: selectVectorColumn(form, space.signature) }
}

export async function ensureSpace(
  query: QueryFunction,
  tables: VectorStorage,
  space: VectorSpace,
): Promise<StoredSpace> {
  while (true) {
    const known = await findSpace(query, tables, space, 'FOR KEY SHARE')
    if (known !== null) return known
    // Another process may create the space concurrently, or drop it before it is found: try again.
    await query(
      `INSERT INTO ${tables.names.embedding_space} (signature, dimensions) VALUES ($1, $2)
       ON CONFLICT (signature) DO NOTHING`,
      [toStorable(space.signature), space.dimensions],
    )
  }
}

/** The indexed expression, which a query must order by for the planner to use the index. */
export function toIndexedExpression(
  form: PgvectorFormat,
  storedSpace: StoredSpace,
  vector: string,
): string {
  return `(${vector}::${form.extensionSchema}.${selectIndexType(form)}(${storedSpace.dimensions}))`
}

/**
 * The prefix of index names, followed by the numbers of space and owner, the kind, and the format
 * version.
 */
export const INDEX_PREFIX = 'embedding_nearest_'

/** The suffix of index names from versions without half precision. */
export function getIndexSuffix({
  hasHalfPrecision: hasHalves,
}: Pick<PgvectorFormat, 'hasHalfPrecision'>): string {
  return hasHalves ? '' : '_full'
}

export function buildIndexName(
  form: Pick<PgvectorFormat, 'hasHalfPrecision'>,
  { number }: StoredSpace,
  { owner, kind }: IndexTarget,
): string {
  return `${INDEX_PREFIX}${number}_${toOwnerHashText(owner)}_${kind}${getIndexSuffix(form)}`
}

/**
 * The names of indexes over the same vectors that other versions of pgvector or Recollect created.
 */
export function listObsoleteIndexNames(
  form: Pick<PgvectorFormat, 'hasHalfPrecision'>,
  storedSpace: StoredSpace,
  subject: IndexTarget,
): readonly string[] {
  const others = [true, false].filter((hasHalves) => hasHalves !== form.hasHalfPrecision)
  const ofBothKinds = [true, false].map(
    (hasHalves) =>
      `${INDEX_PREFIX}${storedSpace.number}_${toOwnerHashText(subject.owner)}${getIndexSuffix({ hasHalfPrecision: hasHalves })}`,
  )
  return [
    ...others.map((hasHalves) =>
      buildIndexName({ hasHalfPrecision: hasHalves }, storedSpace, subject),
    ),
    ...ofBothKinds,
  ]
}

export function toOwnerHashText(owner: string): string {
  return BigInt.asUintN(64, BigInt(hashOwner(owner))).toString()
}

/**
 * Indexes are partial: one per owner, so that no search traverses the vectors of others, and one
 * per document kind, so that a search for memories never traverses turns.
 */
export function createIndexSql(
  { names, format: form }: VectorStorage<PgvectorFormat>,
  storedSpace: StoredSpace,
  subject: IndexTarget,
): string {
  return `CREATE INDEX CONCURRENTLY ${quoteIdentifier(buildIndexName(form, storedSpace, subject))}
    ON ${names.embedding} USING hnsw
      (${toIndexedExpression(form, storedSpace, storedSpace.column)} ${form.extensionSchema}.${selectIndexType(form)}_ip_ops)
    WHERE space = ${storedSpace.number} AND owner_hash = '${hashOwner(subject.owner)}'::bigint
      AND ${NUMBER_CONDITION_BY_KIND[subject.kind]}`
}

export function isIndexable(form: VectorFormat, { dimensions }: StoredSpace): boolean {
  return dimensions <= getIndexedDimensionsMax(form)
}
