/** Which text of a memory is embedded, and the signatures of vector spaces. */

import { sha256 } from '../lib/hash.ts'
import type { Memory } from './memory.ts'

/** `int8` takes a quarter of the space of `float32` and rounds slightly. */
export const VECTOR_ENCODINGS = ['float32', 'int8'] as const

export type VectorEncoding = (typeof VECTOR_ENCODINGS)[number]

/**
 * The text whose vector represents a memory. It begins with the speaker, so that questions about Ann find
 * "Ann: I moved to Oslo". On LoCoMo (vectors alone, ten hits) this raised evidence recall from 0.34 to 0.59.
 */
export function renderEmbeddingText(memory: Pick<Memory, 'content' | 'provenance'>): string {
  const { speaker } = memory.provenance
  return speaker === null ? memory.content : `${speaker}: ${memory.content}`
}

export function hashEmbeddingText(memory: Pick<Memory, 'content' | 'provenance'>): string {
  return sha256(renderEmbeddingText(memory)).slice(0, 32)
}

/** The name of a vector space. Vectors of spaces with different signatures cannot be compared. */
export function buildSpaceSignature(
  model: {
    readonly source: string
    readonly model: string
    readonly dimensions: number
    readonly host?: string
  },
  encoding: VectorEncoding,
): string {
  const host = model.host === undefined ? '' : `@${model.host}`
  const name = `${model.source}:${model.model}${host}:${model.dimensions}`
  return encoding === 'int8' ? `${name}:int8` : name
}

/** Whether a space stores int8 vectors, see `buildSpaceSignature`. */
export function isByteSpace(signature: string): boolean {
  return signature.endsWith(':int8')
}
