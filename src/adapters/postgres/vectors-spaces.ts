/** Spaces as the database knows them: their numbers, how their vectors are written and read, and their indexes. */
import { AppError } from '../../core/errors.ts'
import { toStorable } from '../../core/storable-text.ts'
import { isKeptInBytes } from '../../core/vectors.ts'
import type { VectorSpace } from '../../ports/vector-index.ts'
import type { Database, Query } from './driver.ts'
import { type Names, ownerHash, quoted } from './names.ts'

/** What every call on vectors needs. */
export type VectorTables = {
  readonly database: Database
  readonly names: Names
  /** The quoted schema of pgvector: it need not be on anybody's search path. */
  readonly extension: string
}

export type KeptSpace = {
  readonly number: number
  readonly dimensions: number
  /** The column that its vectors are in. */
  readonly column: 'exact' | 'rounded'
}

/** What an index over vectors can hold, in the half precision that it is made with. */
const INDEXED_DIMENSIONS_MAX = 4_000

const COLUMN_TYPES = { exact: 'vector', rounded: 'halfvec' } as const

type SpaceColumns = { number: number; dimensions: number }

/** Null when nobody has put a vector there. `lock` keeps it from being dropped until the transaction ends. */
export async function findSpace(
  query: Query,
  names: Names,
  space: VectorSpace,
  lock: '' | 'FOR KEY SHARE' = '',
): Promise<KeptSpace | null> {
  const [row] = await query<SpaceColumns>(
    `SELECT number, dimensions FROM ${names.embedding_space} WHERE signature = $1 ${lock}`,
    [toStorable(space.signature)],
  )
  return row === undefined ? null : keptSpace(space, row)
}

export function keptSpace(space: VectorSpace, { number, dimensions }: SpaceColumns): KeptSpace {
  if (dimensions !== space.dimensions) {
    throw new AppError(
      'invalid_input',
      `The vectors of "${space.signature}" have ${dimensions} dimensions, not ${space.dimensions}.`,
      { dimensions: space.dimensions, expected: dimensions },
    )
  }
  return { number, dimensions, column: isKeptInBytes(space.signature) ? 'rounded' : 'exact' }
}

export async function ensureSpace(
  query: Query,
  names: Names,
  space: VectorSpace,
): Promise<KeptSpace> {
  while (true) {
    const known = await findSpace(query, names, space, 'FOR KEY SHARE')
    if (known !== null) return known
    // Somebody else may be creating it as well, or drop it before it is found: then look again.
    await query(
      `INSERT INTO ${names.embedding_space} (signature, dimensions) VALUES ($1, $2)
       ON CONFLICT (signature) DO NOTHING`,
      [toStorable(space.signature), space.dimensions],
    )
  }
}

/** The type that a vector of the space is written with. */
export function columnType({ extension }: VectorTables, { column }: KeptSpace): string {
  return `${extension}.${COLUMN_TYPES[column]}`
}

/**
 * The inner product of a stored vector with the one in the parameter. Rounding must neither make it leave its range
 * nor round the vector that is looked for, which is as exact as it was given.
 */
export function similarity({ extension }: VectorTables, vector: string, parameter: string): string {
  const product = `-(${vector}::${extension}.vector OPERATOR(${extension}.<#>) ${parameter}::${extension}.vector)`
  return `LEAST(1, GREATEST(-1, ${product}))`
}

/** What an index is made of, and what a query must be ordered by for the index to be of use. */
export function indexed({ extension }: VectorTables, kept: KeptSpace, vector: string): string {
  return `(${vector}::${extension}.halfvec(${kept.dimensions}))`
}

/** The name of an index begins with this, and goes on with the space's number and the owner's. */
export const INDEX_PREFIX = 'embedding_nearest_'

export function indexName({ number }: KeptSpace, owner: string): string {
  return `${INDEX_PREFIX}${number}_${ownerNumber(owner)}`
}

export function ownerNumber(owner: string): string {
  return BigInt.asUintN(64, BigInt(ownerHash(owner))).toString()
}

/** An owner has an index of its own or none, so that nobody's search goes through the vectors of others. */
export function indexStatement(tables: VectorTables, kept: KeptSpace, owner: string): string {
  const { names, extension } = tables
  return `CREATE INDEX CONCURRENTLY ${quoted(indexName(kept, owner))}
    ON ${names.embedding} USING hnsw
      (${indexed(tables, kept, kept.column)} ${extension}.halfvec_ip_ops)
    WHERE space = ${kept.number} AND owner_hash = '${ownerHash(owner)}'::bigint`
}

export function canBeIndexed({ dimensions }: KeptSpace): boolean {
  return dimensions <= INDEXED_DIMENSIONS_MAX
}
