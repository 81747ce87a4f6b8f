/** Makes vectors for tests, the same in every run, and finds the nearest of them the plain way. */
import { hashEmbeddingText } from '../../src/domain/embedding-text.ts'
import type { MemoryId } from '../../src/domain/ids.ts'
import type { SearchDocument } from '../../src/domain/search-document.ts'
import { compareText } from '../../src/lib/compare.ts'
import type { VectorEntry, VectorHit, VectorSpace } from '../../src/storage/vector-index.ts'

export function space(dimensions: number, name = 'test:model'): VectorSpace {
  return { signature: `${name}:${dimensions}`, dimensions }
}

/** The same model, kept in bytes. */
export function inBytes({ signature, dimensions }: VectorSpace): VectorSpace {
  return { signature: `${signature}:int8`, dimensions }
}

export function entry(row: SearchDocument, vector: Float32Array): VectorEntry {
  return { place: row.place, id: row.id, vector, textHash: hashEmbeddingText(row) }
}

/** Directions of equal likelihood. */
export function unitVectors(count: number, dimensions: number, seed: number): Float32Array[] {
  const random = seededRandom(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Array.from({ length: count }, () => unit(Array.from({ length: dimensions }, normal)))
}

export function unitVector(dimensions: number, seed: number): Float32Array {
  return unitVectors(1, dimensions, seed)[0] ?? new Float32Array(dimensions)
}

export function unit(numbers: readonly number[]): Float32Array {
  const length = Math.hypot(...numbers)
  return Float32Array.from(numbers, (number) => number / length)
}

/** A unit vector whose inner product with the unit vector `of` is `similarity`. */
export function atSimilarity(of: Float32Array, similarity: number, seed: number): Float32Array {
  const other = unitVector(of.length, seed)
  const along = inner(of, other)
  const across = unit(Array.from(other, (value, index) => value - along * (of[index] ?? 0)))
  const share = Math.sqrt(1 - similarity ** 2)
  return unit(Array.from(of, (value, index) => similarity * value + share * (across[index] ?? 0)))
}

export function inner(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (const [index, value] of a.entries()) sum += value * (b[index] ?? Number.NaN)
  return sum
}

/** Every one of the vectors as a hit, in the order that is promised. */
export function byLikeness(
  vectors: Iterable<readonly [MemoryId, Float32Array]>,
  query: Float32Array,
): readonly VectorHit[] {
  return [...vectors]
    .map(([id, vector]) => ({ id, similarity: inner(vector, query) }))
    .sort((a, b) => b.similarity - a.similarity || compareText(b.id, a.id))
}

/** Numbers from 0 up to 1 that look random and are not. */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}
