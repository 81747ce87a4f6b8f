/**
 * Validates the responses of an embedding source: number of vectors, dimensions, finite numbers. Valid vectors are
 * normalized; anything else is an error that names the source.
 */

import { raceAbort, throwIfAborted } from '../../lib/abort.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { SharedTask } from '../../lib/single-flight.ts'
import type {
  Embedder,
  EmbedderReport,
  EmbedderState,
  EmbeddingModel,
  EmbedOptions,
} from '../embedder.ts'

/** An unvalidated source of vectors. Never called without texts. */
export interface EmbeddingSource {
  readonly sourceName: string
  readonly model: string
  /** Should return an array of number arrays. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<unknown>
  /** For `status`. Never secrets. */
  facts?(): EmbedderReport['facts']
  close(): Promise<void>
}

/** Embedded once to learn the dimensions. */
const PROBE = 'Hello, world.'

/** Metadata known without a request. */
export type KnownModelFacts = {
  readonly [Name in 'tokensMax' | 'host']?: EmbeddingModel[Name] | undefined
}

export function createValidatedEmbedder(
  raw: EmbeddingSource,
  { tokensMax, host }: KnownModelFacts = {},
): Embedder {
  const name = `${raw.sourceName} (${raw.model})`
  let model: EmbeddingModel | null = null
  let probing: SharedTask<EmbeddingModel> | null = null
  let state: EmbedderState = { kind: 'cold' }

  /** Cancellation and rejected texts say nothing about the source. */
  function isBlamed(error: AppError): boolean {
    const isRefusedText = error.code === 'invalid_input' && model !== null
    return error.code !== 'cancelled' && !isRefusedText
  }

  /** Records the outcome as the embedder's state. */
  async function noted<Result>(work: Promise<Result>): Promise<Result> {
    try {
      const result = await work
      state = { kind: 'ready' }
      return result
    } catch (thrown) {
      const error = toAppError(thrown)
      if (isBlamed(error)) state = { kind: 'failing', reason: error.message }
      else if (state.kind === 'warming') state = { kind: 'cold' }
      throw error
    }
  }

  async function probe(signal: AbortSignal): Promise<EmbeddingModel> {
    if (state.kind === 'cold') state = { kind: 'warming' }
    const answer = await raw.embed([PROBE], { purpose: 'document', signal })
    const [vector] = normalizeVectors(answer, 1, null, name)
    model = {
      ...{ source: raw.sourceName, model: raw.model, dimensions: vector?.length ?? 0 },
      ...(tokensMax === undefined ? {} : { tokensMax }),
      ...(host === undefined ? {} : { host }),
    }
    return model
  }

  async function describe(signal?: AbortSignal): Promise<EmbeddingModel> {
    throwIfAborted(signal)
    if (model !== null) return model
    if (probing === null || probing.isAbandoned) {
      const mine: SharedTask<EmbeddingModel> = new SharedTask(async (stop) => {
        try {
          return await noted(probe(stop))
        } finally {
          if (probing === mine) probing = null
        }
      })
      probing = mine
    }
    return probing.join(signal)
  }

  async function embed(texts: readonly string[], options: EmbedOptions) {
    const { dimensions } = await describe(options.signal)
    if (texts.length === 0) return []
    const vectors = async () =>
      normalizeVectors(await raw.embed(texts, options), texts.length, dimensions, name)
    return noted(raceAbort(vectors(), options.signal))
  }

  return {
    describe,
    embed,
    report: () => ({
      source: raw.sourceName,
      model: raw.model,
      state,
      facts: { ...raw.facts?.(), ...(model === null ? {} : { dimensions: model.dimensions }) },
    }),
    close: () => raw.close(),
  }
}

/** Returns unit vectors; with `dimensions` null, the first vector defines them. */
export function normalizeVectors(
  answer: unknown,
  count: number,
  dimensions: number | null,
  name: string,
): readonly Float32Array[] {
  if (!Array.isArray(answer)) throw createInvalidVectorError(name, 'without a list of vectors')
  if (answer.length !== count) {
    throw createInvalidVectorError(
      name,
      `with ${answer.length} vectors where ${count} were asked for`,
    )
  }
  let expected = dimensions
  return answer.map((vector: unknown) => {
    if (!isListOfNumbers(vector))
      throw createInvalidVectorError(name, 'with a vector that is no list of numbers')
    if (vector.length === 0) throw createInvalidVectorError(name, 'with an empty vector')
    expected ??= vector.length
    if (vector.length !== expected) {
      throw createInvalidVectorError(
        name,
        `with a vector of ${vector.length} dimensions instead of ${expected}`,
      )
    }
    return normalizeVector(vector, name)
  })
}

function isListOfNumbers(value: unknown): value is ArrayLike<number> {
  if (value instanceof Float32Array || value instanceof Float64Array) return true
  return Array.isArray(value) && value.every((item) => typeof item === 'number')
}

function normalizeVector(vector: ArrayLike<number>, name: string): Float32Array {
  let largest = 0
  for (let index = 0; index < vector.length; index++) {
    const size = Math.abs(vector[index] ?? Number.NaN)
    if (!Number.isFinite(size))
      throw createInvalidVectorError(name, 'with a number that is not finite')
    if (size > largest) largest = size
  }
  if (largest === 0) throw createInvalidVectorError(name, 'with a vector of zeros')
  // Squares of very large or small numbers over- or underflow.
  let squares = 0
  for (let index = 0; index < vector.length; index++) {
    squares += ((vector[index] ?? 0) / largest) ** 2
  }
  const length = Math.sqrt(squares)
  return Float32Array.from(vector, (number) => number / largest / length)
}

function createInvalidVectorError(name: string, what: string): AppError {
  return new AppError('unavailable', `${name} answered ${what}.`, { answer: 'wrong' })
}
