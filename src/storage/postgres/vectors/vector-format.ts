/**
 * How vectors stand in the database: as pgvector keeps them, or as plain bytes where it is missing. Everything that
 * depends on it is here: how they are written, read, and what a server of some version can do with them.
 */
import { endianness } from 'node:os'
import { isByteSpace } from '../../../domain/embedding-text.ts'

export type PgvectorFormat = {
  readonly kind: 'pgvector'
  /** The quoted schema of the extension: it need not be on anybody's search path. */
  readonly extensionSchema: string
  readonly version: string
  /** Whether it knows vectors of half precision. */
  readonly hasHalfPrecision: boolean
  /** Whether a search in an index goes on until enough has passed the filters. */
  readonly hasIterativeScan: boolean
  readonly quantizedType: 'halfvec' | 'vector'
}

export type BytesFormat = {
  readonly kind: 'plain'
  /** Why there is no pgvector. */
  readonly reason: string
}

export type VectorFormat = PgvectorFormat | BytesFormat

export const BYTES_FORMAT = { kind: 'plain' } as const

/** The column that a vector is in. */
export type VectorColumnName = 'exact' | 'rounded'

/** What pgvector can hold, and what an index over its vectors can. */
const DIMENSIONS_MAX = 16_000
const INDEXED_MAX = 2_000
const INDEXED_HALVES_MAX = 4_000

export function selectVectorColumn(form: VectorFormat, signature: string): VectorColumnName {
  return form.kind === 'pgvector' && isByteSpace(signature) ? 'rounded' : 'exact'
}

export function getDimensionsMax(form: VectorFormat): number {
  return form.kind === 'pgvector' ? DIMENSIONS_MAX : Number.POSITIVE_INFINITY
}

/** From the text that `toText` has made, in a statement. */
export function toStoredExpression(
  form: VectorFormat,
  column: VectorColumnName,
  text: string,
): string {
  if (form.kind === 'plain') return `decode(${text}, 'base64')`
  return `${text}::${form.extensionSchema}.${column === 'exact' ? 'vector' : form.quantizedType}`
}

/** As text that `fromText` reads, in a statement. Bytes are read many times as fast as written numbers. */
export function toReadExpression(form: VectorFormat, vector: string): string {
  if (form.kind === 'plain') return `encode(${vector}, 'base64')`
  return `encode(${form.extensionSchema}.vector_send(${vector}::${form.extensionSchema}.vector), 'base64')`
}

/** Single precision survives the way through text unchanged. */
export function encodeVector({ kind }: VectorFormat, vector: Float32Array): string {
  if (kind === 'pgvector') return `[${vector.join(',')}]`
  const { buffer, byteOffset, byteLength } = vector.slice()
  return littleEndFirst(Buffer.from(buffer, byteOffset, byteLength)).toString('base64')
}

export function decodeVector({ kind }: VectorFormat, text: string): Float32Array {
  // Copied, because numbers may only begin at certain places of a buffer.
  const given = Uint8Array.from(Buffer.from(text, 'base64'))
  if (kind === 'plain') return floatsIn(littleEndFirst(Buffer.from(given.buffer)))
  const numbers = Buffer.from(given.buffer.slice(SENT_HEADER_BYTES))
  return floatsIn(littleEndFirst(numbers.swap32()))
}

/** pgvector sends how many numbers there are, something that it may need one day, and the numbers, the big end first. */
const SENT_HEADER_BYTES = 4

function floatsIn({ buffer }: Buffer): Float32Array {
  return new Float32Array(buffer)
}

/** From the order of bytes of this machine, or to it. */
function littleEndFirst(bytes: Buffer): Buffer {
  return endianness() === 'LE' ? bytes : bytes.swap32()
}

/**
 * The inner product of a stored vector with the one in the parameter. Rounding must neither make it leave its range
 * nor round the vector that is looked for, which is as exact as it was given.
 */
export function toSimilarityExpression(
  { extensionSchema: extension }: PgvectorFormat,
  vector: string,
  parameter: string,
): string {
  const product = `-(${vector}::${extension}.vector OPERATOR(${extension}.<#>) ${parameter}::${extension}.vector)`
  return `LEAST(1, GREATEST(-1, ${product}))`
}

/** The type that an index is made with. */
export function selectIndexType({
  hasHalfPrecision: hasHalves,
}: PgvectorFormat): 'halfvec' | 'vector' {
  return hasHalves ? 'halfvec' : 'vector'
}

export function getIndexedDimensionsMax(form: VectorFormat): number {
  if (form.kind === 'plain') return 0
  return form.hasHalfPrecision ? INDEXED_HALVES_MAX : INDEXED_MAX
}
