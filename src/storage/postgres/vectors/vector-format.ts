/**
 * The storage formats of vectors: pgvector columns, or plain bytes without the extension.
 * Everything that depends on the format is here: encoding, decoding, and the capabilities of a
 * server version.
 */
import { endianness } from 'node:os'
import { isByteSpace } from '../../../domain/embedding-text.ts'

export type PgvectorFormat = {
  readonly kind: 'pgvector'
  /** The quoted schema of the extension: it need not be on the search path. */
  readonly extensionSchema: string
  readonly version: string
  /** Whether the extension supports half-precision vectors. */
  readonly hasHalfPrecision: boolean
  /** Whether index scans continue until enough hits pass the filters. */
  readonly hasIterativeScan: boolean
  readonly quantizedType: 'halfvec' | 'vector'
}

export type BytesFormat = {
  readonly kind: 'plain'
  /** Why pgvector is unavailable. */
  readonly reason: string
}

export type VectorFormat = PgvectorFormat | BytesFormat

export const BYTES_FORMAT = { kind: 'plain' } as const

/** The column that holds the vector. */
export type VectorColumnName = 'exact' | 'rounded'

/** The most dimensions that pgvector stores, and that its indexes support. */
const DIMENSIONS_MAX = 16_000
const INDEXED_MAX = 2_000
const INDEXED_HALVES_MAX = 4_000

export function selectVectorColumn(form: VectorFormat, signature: string): VectorColumnName {
  return form.kind === 'pgvector' && isByteSpace(signature) ? 'rounded' : 'exact'
}

export function getDimensionsMax(form: VectorFormat): number {
  return form.kind === 'pgvector' ? DIMENSIONS_MAX : Number.POSITIVE_INFINITY
}

/** The SQL expression of a vector in the parameter that `encodeVectors` gives. `position` counts from 1. */
export function toStoredExpression(
  form: VectorFormat,
  column: VectorColumnName,
  { parameter, position, dimensions }: VectorParameter,
): string {
  if (form.kind === 'plain') return `decode((${parameter}::text[])[${position}], 'base64')`
  const type = column === 'exact' ? 'vector' : form.quantizedType
  const first = `(${position} - 1) * ${dimensions} + 1`
  return `(${parameter}::real[])[${first}:${position} * ${dimensions}]::${form.extensionSchema}.${type}`
}

type VectorParameter = {
  readonly parameter: string
  readonly position: string
  readonly dimensions: number
}

/**
 * The SQL expression whose output `fromText` decodes. Bytes decode many times faster than decimal
 * text.
 */
export function toReadExpression(form: VectorFormat, vector: string): string {
  if (form.kind === 'plain') return `encode(${vector}, 'base64')`
  return `encode(${form.extensionSchema}.vector_send(${vector}::${form.extensionSchema}.vector), 'base64')`
}

/** A question's vector. Single precision survives the round trip through text unchanged. */
export function encodeVector({ kind }: VectorFormat, vector: Float32Array): string {
  return kind === 'pgvector' ? `[${vector.join(',')}]` : encodeBytes(vector)
}

function encodeBytes(vector: Float32Array): string {
  const { buffer, byteOffset, byteLength } = vector.slice()
  return littleEndFirst(Buffer.from(buffer, byteOffset, byteLength)).toString('base64')
}

/** Vectors to store, all of the same dimensions. Binary, because decimal text takes longer to parse than to store. */
export function encodeVectors(
  { kind }: VectorFormat,
  vectors: readonly Float32Array[],
): Buffer | readonly string[] {
  return kind === 'pgvector' ? encodeRealArray(vectors) : vectors.map(encodeBytes)
}

/** PostgreSQL's type number of `real`. */
const REAL_OID = 700
const ARRAY_HEADER_BYTES = 20
const REAL_BYTES = 4

/**
 * PostgreSQL's binary format of a one-dimensional `real[]`: the number of dimensions, whether there are nulls, the type
 * of the elements, the length, the first index; then the size and the bytes of each element, all big-endian.
 */
function encodeRealArray(vectors: readonly Float32Array[]): Buffer {
  const length = vectors.reduce((sum, vector) => sum + vector.length, 0)
  const bytes = Buffer.allocUnsafe(ARRAY_HEADER_BYTES + length * 2 * REAL_BYTES)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const [index, field] of [1, 0, REAL_OID, length, 1].entries())
    view.setInt32(index * 4, field)
  let at = ARRAY_HEADER_BYTES
  for (const vector of vectors) {
    for (const number of vector) {
      view.setInt32(at, REAL_BYTES)
      view.setFloat32(at + REAL_BYTES, number)
      at += 2 * REAL_BYTES
    }
  }
  return bytes
}

export function decodeVector({ kind }: VectorFormat, text: string): Float32Array {
  // Copied, because a typed array must begin at an aligned offset.
  const given = Uint8Array.from(Buffer.from(text, 'base64'))
  if (kind === 'plain') return floatsIn(littleEndFirst(Buffer.from(given.buffer)))
  const numbers = Buffer.from(given.buffer.slice(SENT_HEADER_BYTES))
  return floatsIn(littleEndFirst(numbers.swap32()))
}

/**
 * pgvector's binary format: the number of dimensions, a reserved field, then big-endian floats.
 */
const SENT_HEADER_BYTES = 4

function floatsIn({ buffer }: Buffer): Float32Array {
  return new Float32Array(buffer)
}

/** Converts between little-endian and the byte order of this machine. */
function littleEndFirst(bytes: Buffer): Buffer {
  return endianness() === 'LE' ? bytes : bytes.swap32()
}

/**
 * The inner product of a stored vector and the parameter. Rounding must neither exceed the range of
 * half precision nor affect the query vector, which stays in single precision.
 */
export function toSimilarityExpression(
  { extensionSchema: extension }: PgvectorFormat,
  vector: string,
  parameter: string,
): string {
  const product = `-(${vector}::${extension}.vector OPERATOR(${extension}.<#>) ${parameter}::${extension}.vector)`
  return `LEAST(1, GREATEST(-1, ${product}))`
}

/** The operator class for indexes. */
export function selectIndexType({
  hasHalfPrecision: hasHalves,
}: PgvectorFormat): 'halfvec' | 'vector' {
  return hasHalves ? 'halfvec' : 'vector'
}

export function getIndexedDimensionsMax(form: VectorFormat): number {
  if (form.kind === 'plain') return 0
  return form.hasHalfPrecision ? INDEXED_HALVES_MAX : INDEXED_MAX
}
