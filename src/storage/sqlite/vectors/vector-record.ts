/**
 * A vector as bytes, in the form in which the scan reads it (`kernel/scan.as`), on disk and in memory alike: a head of
 * 16 bytes (scale, error, sequence, place) and the numbers as signed bytes, padded to a multiple of 16.
 */
import { dequantizeVector, type QuantizedVector, quantizeVector } from '../../../lib/vector-math.ts'

const HEAD_BYTES = 16
const LANE_BYTES = 16
const [SCALE_AT, ERROR_AT, SEQUENCE_AT, PLACE_AT] = [0, 4, 8, 12]
const FLOAT_BYTES = 4
const BYTE_MAX = 127
/** The ends of the range of bytes, without their sign. */
const [LARGEST, SMALLEST] = [BYTE_MAX, 256 - BYTE_MAX]

export function countRecordBytes(dimensions: number): number {
  return HEAD_BYTES + padDimensions(dimensions)
}

export function padDimensions(dimensions: number): number {
  return Math.ceil(dimensions / LANE_BYTES) * LANE_BYTES
}

export type VectorRecordFields = {
  readonly vector: Float32Array
  readonly sequence: number
  readonly place: number
  /** Whether the bytes are all that is kept: then hardly anything is lost by comparing with them. */
  readonly isWhole: boolean
}

export function encodeRecord({ vector, sequence, place, isWhole }: VectorRecordFields): Uint8Array {
  const quantised = quantizeVector(vector)
  const { scale, bytes } = quantised
  const kept = isWhole ? dequantizeVector(quantised) : vector
  const record = new Uint8Array(countRecordBytes(vector.length))
  const head = new DataView(record.buffer)
  head.setFloat32(SCALE_AT, scale, true)
  head.setFloat32(ERROR_AT, errorOf(distance(kept, scale, bytes)), true)
  head.setUint32(SEQUENCE_AT, sequence, true)
  head.setUint32(PLACE_AT, place, true)
  record.set(new Uint8Array(bytes.buffer), HEAD_BYTES)
  return record
}

/** How far the bytes are from the vector that is kept. */
function distance(vector: Float32Array, scale: number, bytes: Int8Array): number {
  let squares = 0
  for (let index = 0; index < bytes.length; index++) {
    squares += ((vector[index] ?? 0) - (bytes[index] ?? 0) * scale) ** 2
  }
  return Math.sqrt(squares)
}

/** Sums of double precision are off by less than this. */
const SUM_ERROR = 1e-10

/** In single precision, and never too small. */
function errorOf(distance: number): number {
  return Math.fround(distance * (1 + 2 ** -22) + SUM_ERROR)
}

/** The vector that a record holds. */
export function decodeVector(record: Uint8Array, dimensions: number): Float32Array {
  const head = new DataView(record.buffer, record.byteOffset, HEAD_BYTES)
  const bytes = new Int8Array(record.buffer, record.byteOffset + HEAD_BYTES, dimensions)
  return dequantizeVector({ scale: head.getFloat32(SCALE_AT, true), bytes })
}

/** The vectors of records that follow each other, one after the other. */
export function decodeVectors(records: Uint8Array, dimensions: number): Float32Array {
  const stride = countRecordBytes(dimensions)
  const vectors = new Float32Array(Math.floor(records.length / stride) * dimensions)
  for (let at = 0, end = 0; end < vectors.length; at += stride, end += dimensions) {
    vectors.set(decodeVector(records.subarray(at, at + stride), dimensions), end)
  }
  return vectors
}

/** What of a record repeats its row, for inspection. */
export function readRecordHeader(record: Uint8Array): {
  readonly sequence: number
  readonly place: number
} {
  const head = new DataView(record.buffer, record.byteOffset, HEAD_BYTES)
  return { sequence: head.getUint32(SEQUENCE_AT, true), place: head.getUint32(PLACE_AT, true) }
}

/** The numbers of a record where it lies, and what each unit of them is worth. */
export function readQuantized(
  memory: DataView,
  record: number,
  dimensions: number,
): QuantizedVector {
  const bytes = new Int8Array(memory.buffer, record + HEAD_BYTES, dimensions)
  return { scale: memory.getFloat32(record + SCALE_AT, true), bytes }
}

export function readSequence(memory: DataView, record: number): number {
  return memory.getUint32(record + SEQUENCE_AT, true)
}

/**
 * Where the largest number of a record's vector stands, if one byte alone says so; -1 otherwise, and null for a record that no
 * scan finds. What a byte is worth is made from that number, so nothing of it was lost by rounding.
 */
export function findPeak(record: Uint8Array, dimensions: number): number | null {
  if (record.subarray(SCALE_AT, SCALE_AT + FLOAT_BYTES).every((byte) => byte === 0)) return null
  let peak = -1
  for (let index = 0; index < dimensions; index++) {
    const byte = record[HEAD_BYTES + index]
    if (byte !== LARGEST && byte !== SMALLEST) continue
    if (peak >= 0) return -1
    peak = index
  }
  return peak
}

/** How long the vector of a record is at most: no number of it is larger than the largest byte stands for. */
export function boundLength(memory: DataView, record: number, dimensions: number): number {
  const largest = memory.getFloat32(record + SCALE_AT, true) * (BYTE_MAX + 1)
  return largest * Math.sqrt(dimensions)
}

/** A record with this mark is passed over by every scan. */
export function markDeleted(memory: DataView, record: number): void {
  memory.setFloat32(record + SCALE_AT, 0, true)
}

export function encodeFloats(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.length * FLOAT_BYTES)
}

/** A copy, because what the driver gives may stand at any address. */
export function decodeFloats(blob: Uint8Array): Float32Array {
  return new Float32Array(new Uint8Array(blob).buffer)
}
