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

/** The SQL expression that decodes the output of `toText`. */
export function toStoredExpression(
  form: VectorFormat,
  column: VectorColumnName,
  text: string,
): string {
  if (form.kind === 'plain') return `decode(${text}, 'base64')`
  return `${text}::${form.extensionSchema}.${column === 'exact' ? 'vector' : form.quantizedType}`
}

/**
 * The SQL expression whose output `fromText` decodes. Bytes decode many times faster than decimal
 * text.
 */
export function toReadExpression(form: VectorFormat, vector: string): string {
  if (form.kind === 'plain') return `encode(${vector}, 'base64')`
  return `encode(${form.extensionSchema}.vector_send(${vector}::${form.extensionSchema}.vector), 'base64')`
}

/** Single precision survives the round trip through text unchanged. */
export function encodeVector({ kind }: VectorFormat, vector: Float32Array): string {
  if (kind === 'pgvector') return `[${vector.join(',')}]`
  const { buffer, byteOffset, byteLength } = vector.slice()
  return littleEndFirst(Buffer.from(buffer, byteOffset, byteLength)).toString('base64')
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
