/** Spaces as the database knows them: their numbers, where their vectors are, and their indexes. */

import type { QueryResultRow } from 'pg'
import type { OwnerId } from '../../../domain/ids.ts'
import type { DocumentKind } from '../../../domain/search-document.ts'
import { AppError } from '../../../lib/errors.ts'
import { quoteIdentifier } from '../../../lib/sql.ts'
import { toStorable } from '../../../text/storable-text.ts'
import type { VectorSpace } from '../../vector-index.ts'
import type {
  PostgresDatabase,
  QueryFunction,
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

/** What every call on vectors needs. */
export type VectorStorage<Form extends VectorFormat = VectorFormat> = {
  readonly database: PostgresDatabase
  /** Statements that see these owners alone. */
  readonly runnerFor: (owners: VisibleOwners) => QueryRunner
  /** The tables of vectors under their names are those of the form. */
  readonly names: SqlIdentifiers
  readonly format: Form
}

export type StoredSpace = {
  readonly number: number
  readonly dimensions: number
  /** The column that its vectors are in. */
  readonly column: VectorColumnName
}

/** Whose vectors an index is over, and of which documents. */
export type IndexTarget = { readonly owner: OwnerId; readonly kind: DocumentKind }

type SpaceColumns = { number: number; dimensions: number }

/** Null when nobody has put a vector there. `lock` keeps it from being dropped until the transaction ends. */
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

/** From what the statement gave. */
export function readSpace(
  form: VectorFormat,
  space: VectorSpace,
  [row]: readonly QueryResultRow[],
): StoredSpace | null {
  return row === undefined ? null : toStoredSpace(form, space, row as SpaceColumns) // as it was asked for
}

export function toStoredSpace(
  form: VectorFormat,
  space: VectorSpace,
  { number, dimensions }: SpaceColumns,
): StoredSpace {
  if (dimensions !== space.dimensions) {
    throw new AppError(
      'invalid_input',
      `The vectors of "${space.signature}" have ${dimensions} dimensions, not ${space.dimensions}.`,
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
    // Somebody else may be creating it as well, or drop it before it is found: then look again.
    await query(
      `INSERT INTO ${tables.names.embedding_space} (signature, dimensions) VALUES ($1, $2)
       ON CONFLICT (signature) DO NOTHING`,
      [toStorable(space.signature), space.dimensions],
    )
  }
}

/** What an index is made of, and what a query must be ordered by for the index to be of use. */
export function toIndexedExpression(
  form: PgvectorFormat,
  kept: StoredSpace,
  vector: string,
): string {
  return `(${vector}::${form.extensionSchema}.${selectIndexType(form)}(${kept.dimensions}))`
}

/** The name of an index begins with this, and goes on with the space's number, the owner's, the kind, and how it was made. */
export const INDEX_PREFIX = 'embedding_nearest_'

/** What the name of an index ends with that was made by a version without half precision. */
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

/** The names of indexes over the same vectors that another version of the extension, or of Recollect, has made. */
export function listObsoleteIndexNames(
  form: Pick<PgvectorFormat, 'hasHalfPrecision'>,
  kept: StoredSpace,
  subject: IndexTarget,
): readonly string[] {
  const others = [true, false].filter((hasHalves) => hasHalves !== form.hasHalfPrecision)
  const ofBothKinds = [true, false].map(
    (hasHalves) =>
      `${INDEX_PREFIX}${kept.number}_${toOwnerHashText(subject.owner)}${getIndexSuffix({ hasHalfPrecision: hasHalves })}`,
  )
  return [
    ...others.map((hasHalves) => buildIndexName({ hasHalfPrecision: hasHalves }, kept, subject)),
    ...ofBothKinds,
  ]
}

export function toOwnerHashText(owner: string): string {
  return BigInt.asUintN(64, BigInt(hashOwner(owner))).toString()
}

/**
 * An owner has indexes of its own or none, so that nobody's search goes through the vectors of others; and one for each
 * kind of document, so that a search for memories never goes through turns.
 */
export function createIndexSql(
  { names, format: form }: VectorStorage<PgvectorFormat>,
  kept: StoredSpace,
  subject: IndexTarget,
): string {
  return `CREATE INDEX CONCURRENTLY ${quoteIdentifier(buildIndexName(form, kept, subject))}
    ON ${names.embedding} USING hnsw
      (${toIndexedExpression(form, kept, kept.column)} ${form.extensionSchema}.${selectIndexType(form)}_ip_ops)
    WHERE space = ${kept.number} AND owner_hash = '${hashOwner(subject.owner)}'::bigint
      AND ${NUMBER_CONDITION_BY_KIND[subject.kind]}`
}

export function isIndexable(form: VectorFormat, { dimensions }: StoredSpace): boolean {
  return dimensions <= getIndexedDimensionsMax(form)
}
