/** Spaces as the database knows them: their numbers, where their vectors are, and their indexes. */

import type { QueryResultRow } from 'pg'
import { AppError } from '../../../domain/errors.ts'
import type { OwnerId } from '../../../domain/ids.ts'
import type { DocumentKind } from '../../../domain/search-document.ts'
import { quoted } from '../../../lib/sql.ts'
import { toStorable } from '../../../text/storable-text.ts'
import type { VectorSpace } from '../../vector-index.ts'
import type { Database, Query, Runner, Statement } from '../connection/postgres-driver.ts'
import type { Owners } from '../connection/row-level-security.ts'
import { type Names, ownerHash } from '../schema/identifiers.ts'
import { NUMBER_OF_KIND } from '../store/document-kinds.ts'
import {
  columnFor,
  indexedDimensionsMax,
  indexType,
  type Pgvector,
  type VectorColumn,
  type VectorForm,
} from './vector-format.ts'

/** What every call on vectors needs. */
export type VectorTables<Form extends VectorForm = VectorForm> = {
  readonly database: Database
  /** Statements that see these owners alone. */
  readonly of: (owners: Owners) => Runner
  /** The tables of vectors under their names are those of the form. */
  readonly names: Names
  readonly form: Form
}

export type KeptSpace = {
  readonly number: number
  readonly dimensions: number
  /** The column that its vectors are in. */
  readonly column: VectorColumn
}

/** Whose vectors an index is over, and of which documents. */
export type IndexSubject = { readonly owner: OwnerId; readonly kind: DocumentKind }

type SpaceColumns = { number: number; dimensions: number }

/** Null when nobody has put a vector there. `lock` keeps it from being dropped until the transaction ends. */
export async function findSpace(
  query: Query,
  { names, form }: VectorTables,
  space: VectorSpace,
  lock: '' | 'FOR KEY SHARE' = '',
): Promise<KeptSpace | null> {
  const [sql, values] = spaceStatement(names, space)
  return spaceFrom(form, space, await query(`${sql} ${lock}`, values))
}

export function spaceStatement(names: Names, { signature }: VectorSpace): Statement {
  const sql = `SELECT number, dimensions FROM ${names.embedding_space} WHERE signature = $1`
  return [sql, [toStorable(signature)]]
}

/** From what the statement gave. */
export function spaceFrom(
  form: VectorForm,
  space: VectorSpace,
  [row]: readonly QueryResultRow[],
): KeptSpace | null {
  return row === undefined ? null : keptSpace(form, space, row as SpaceColumns) // as it was asked for
}

export function keptSpace(
  form: VectorForm,
  space: VectorSpace,
  { number, dimensions }: SpaceColumns,
): KeptSpace {
  if (dimensions !== space.dimensions) {
    throw new AppError(
      'invalid_input',
      `The vectors of "${space.signature}" have ${dimensions} dimensions, not ${space.dimensions}.`,
      { dimensions: space.dimensions, expected: dimensions },
    )
  }
  return { number, dimensions, column: columnFor(form, space.signature) }
}

export async function ensureSpace(
  query: Query,
  tables: VectorTables,
  space: VectorSpace,
): Promise<KeptSpace> {
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
export function indexed(form: Pgvector, kept: KeptSpace, vector: string): string {
  return `(${vector}::${form.extension}.${indexType(form)}(${kept.dimensions}))`
}

/** The name of an index begins with this, and goes on with the space's number, the owner's, the kind, and how it was made. */
export const INDEX_PREFIX = 'embedding_nearest_'

/** What the name of an index ends with that was made by a version without half precision. */
export function indexSuffix({ hasHalves }: Pick<Pgvector, 'hasHalves'>): string {
  return hasHalves ? '' : '_full'
}

export function indexName(
  form: Pick<Pgvector, 'hasHalves'>,
  { number }: KeptSpace,
  { owner, kind }: IndexSubject,
): string {
  return `${INDEX_PREFIX}${number}_${ownerNumber(owner)}_${kind}${indexSuffix(form)}`
}

/** The names of indexes over the same vectors that another version of the extension, or of Recollect, has made. */
export function formerIndexNames(
  form: Pick<Pgvector, 'hasHalves'>,
  kept: KeptSpace,
  subject: IndexSubject,
): readonly string[] {
  const others = [true, false].filter((hasHalves) => hasHalves !== form.hasHalves)
  const ofBothKinds = [true, false].map(
    (hasHalves) =>
      `${INDEX_PREFIX}${kept.number}_${ownerNumber(subject.owner)}${indexSuffix({ hasHalves })}`,
  )
  return [...others.map((hasHalves) => indexName({ hasHalves }, kept, subject)), ...ofBothKinds]
}

export function ownerNumber(owner: string): string {
  return BigInt.asUintN(64, BigInt(ownerHash(owner))).toString()
}

/**
 * An owner has indexes of its own or none, so that nobody's search goes through the vectors of others; and one for each
 * kind of document, so that a search for memories never goes through turns.
 */
export function indexStatement(
  { names, form }: VectorTables<Pgvector>,
  kept: KeptSpace,
  subject: IndexSubject,
): string {
  return `CREATE INDEX CONCURRENTLY ${quoted(indexName(form, kept, subject))}
    ON ${names.embedding} USING hnsw
      (${indexed(form, kept, kept.column)} ${form.extension}.${indexType(form)}_ip_ops)
    WHERE space = ${kept.number} AND owner_hash = '${ownerHash(subject.owner)}'::bigint
      AND ${NUMBER_OF_KIND[subject.kind]}`
}

export function canBeIndexed(form: VectorForm, { dimensions }: KeptSpace): boolean {
  return dimensions <= indexedDimensionsMax(form)
}
