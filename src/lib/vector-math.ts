/** Vector arithmetic on which all indexes must agree. Plain loops: vectors are long, and there are many. */

export function isFiniteThroughout(vector: Float32Array): boolean {
  for (let index = 0; index < vector.length; index++) {
    if (!Number.isFinite(vector[index])) return false
  }
  return true
}

/** Sums in double precision and in order, so that equal vectors always get equal results. */
export function innerProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0)
  return sum
}

export function isZeroVector(vector: Float32Array): boolean {
  return vector.every((value) => value === 0)
}

/** An int8 vector: each component is approximately its byte times the scale. */
export type QuantizedVector = { readonly scale: number; readonly bytes: Int8Array }

const BYTE_MAX = 127

export function quantizeVector(vector: Float32Array): QuantizedVector {
  let largest = 0
  for (let index = 0; index < vector.length; index++) {
    largest = Math.max(largest, Math.abs(vector[index] ?? 0))
  }
  const scale = Math.fround(largest / BYTE_MAX)
  const bytes = new Int8Array(vector.length)
  if (scale === 0) return { scale, bytes }
  for (let index = 0; index < vector.length; index++) {
    const steps = Math.round((vector[index] ?? 0) / scale)
    bytes[index] = Math.max(-BYTE_MAX, Math.min(BYTE_MAX, steps))
  }
  return { scale, bytes }
}

export function dequantizeVector({ scale, bytes }: QuantizedVector): Float32Array {
  const vector = new Float32Array(bytes.length)
  for (let index = 0; index < bytes.length; index++) vector[index] = (bytes[index] ?? 0) * scale
  return vector
}
