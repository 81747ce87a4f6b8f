/**
 * Static embeddings: sums precomputed vectors of word pieces. It ignores word order and context, but takes a tenth of a
 * millisecond and no runtime.
 */
import { basename, resolve } from 'node:path'
import { throwIfAborted } from '../../../lib/abort.ts'
import { toAppError } from '../../../lib/errors.ts'
import { yieldToEventLoop } from '../../../lib/event-loop.ts'
import { truncateText } from '../../../text/well-formed-text.ts'
import type { Embedder, EmbedderState, EmbeddingModel } from '../../embedder.ts'
import { readStaticModel, type StaticModel } from './static-model-folder.ts'
import { createWordPieceTokenizer } from './wordpiece-tokenizer.ts'

export type StaticEmbedderOptions = {
  /** See `static-model-folder.ts`. */
  readonly folder: string
}

const SOURCE = 'static'
/** About 5 ms of work between two yields to the event loop. */
const CHARACTERS_PER_TURN = 8_192
/** Longer texts are truncated: their topic shows in the beginning, and they would block the event loop. */
const TEXT_CHARACTERS_MAX = 8_192

type EmbedText = (text: string) => Float32Array

type LoadedModel = {
  readonly model: EmbeddingModel
  readonly pieces: number
  readonly embedText: EmbedText
}

/** Reads the folder on the first call; a missing or damaged folder is retried by the next one. */
export function openStaticEmbedder({ folder }: StaticEmbedderOptions): Embedder {
  let state: EmbedderState = { kind: 'cold' }
  let loaded: LoadedModel | null = null
  let loading: Promise<LoadedModel> | null = null

  function load(): Promise<LoadedModel> {
    state = { kind: 'warming' }
    return readStaticModel(folder).then(
      (vectors) => {
        loaded = prepare(vectors)
        state = { kind: 'ready' }
        return loaded
      },
      (thrown: unknown) => {
        const error = toAppError(thrown)
        loading = null
        state = { kind: 'failing', reason: error.message }
        throw error
      },
    )
  }

  async function whenLoaded(signal: AbortSignal | undefined): Promise<LoadedModel> {
    throwIfAborted(signal)
    loading ??= load()
    const ready = await loading
    throwIfAborted(signal)
    return ready
  }

  return {
    async describe(signal) {
      const { model } = await whenLoaded(signal)
      return model
    },

    async embed(texts, { signal }) {
      const { embedText } = await whenLoaded(signal)
      return embedAll(texts, embedText, signal)
    },

    report: () => ({
      source: SOURCE,
      model: loaded?.model.model ?? basename(resolve(folder)),
      state,
      facts: loaded === null ? {} : { dimensions: loaded.model.dimensions, pieces: loaded.pieces },
    }),

    async close() {
      loaded = null
      loading = null
      state = { kind: 'cold' }
    },
  }
}

async function embedAll(
  texts: readonly string[],
  embedText: EmbedText,
  signal: AbortSignal | undefined,
): Promise<readonly Float32Array[]> {
  const vectors: Float32Array[] = []
  let charactersInTurn = 0
  for (const text of texts) {
    const bounded = truncateText(text, TEXT_CHARACTERS_MAX)
    charactersInTurn += bounded.length
    if (charactersInTurn > CHARACTERS_PER_TURN) {
      await yieldToEventLoop()
      throwIfAborted(signal)
      charactersInTurn = bounded.length
    }
    vectors.push(embedText(bounded))
  }
  return vectors
}

function prepare(vectors: StaticModel): LoadedModel {
  const { name, dimensions, languages, vocabulary, scales, bytes } = vectors
  const cut = createWordPieceTokenizer(vocabulary)

  const embedText: EmbedText = (text) => {
    const sums = new Float64Array(dimensions)
    for (const piece of cut(text)) {
      const scale = scales[piece] ?? 0
      const begin = piece * dimensions
      for (let at = 0; at < dimensions; at++) {
        sums[at] = (sums[at] ?? 0) + scale * (bytes[begin + at] ?? 0)
      }
    }
    return normalize(sums)
  }
  const model = {
    source: SOURCE,
    model: name,
    dimensions,
    ...(languages === null ? {} : { languages }),
  }
  return { model, pieces: vocabulary.length, embedText }
}

function normalize(sums: Float64Array): Float32Array {
  let squares = 0
  for (const sum of sums) squares += sum * sum
  if (squares > 0) {
    const length = Math.sqrt(squares)
    return Float32Array.from(sums, (sum) => sum / length)
  }
  // No known piece: a unit vector along the last dimension, where rotated vectors vary least.
  const nowhere = new Float32Array(sums.length)
  nowhere[sums.length - 1] = 1
  return nowhere
}
