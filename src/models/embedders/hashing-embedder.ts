/**
 * In-memory embedder: texts with common terms get similar vectors, and no model is loaded.
 *
 * Each term is hashed into a few signed buckets. It captures no meaning, but is exact, fast and identical everywhere,
 * which tests and comparisons need.
 */
import { throwIfAborted } from '../../lib/abort.ts'
import { yieldToEventLoop } from '../../lib/event-loop.ts'
import { STOP_WORDS } from '../../text/search/stopwords.ts'
import { extractTerms } from '../../text/search/terms.ts'
import type { Embedder, EmbedOptions } from '../embedder.ts'

/** With one bucket per term, unrelated texts would often collide. Odd, so that the signs of one term never cancel out. */
const BUCKETS_PER_TERM = 7
/** Stop words say little about the topic of a text. */
const STOP_WORD_WEIGHT = 0.1
/** Texts embedded between two checks of the abort signal. */
const TEXTS_PER_TURN = 32
/** Stands in for a text without terms, and for the rare one whose terms cancel out. */
const BLANK_TERM = ' '

export function createHashingEmbedder(options: { readonly dimensions?: number } = {}): Embedder {
  const dimensions = options.dimensions ?? 64
  const model = { source: 'reference', model: 'terms', dimensions }
  return {
    describe: async (signal) => {
      throwIfAborted(signal)
      return model
    },
    embed: (texts, { signal }) => embedAll(texts, dimensions, signal),
    report: () => ({
      source: model.source,
      model: model.model,
      state: { kind: 'ready' },
      facts: { dimensions },
    }),
    close: async () => {},
  }
}

async function embedAll(
  texts: readonly string[],
  dimensions: number,
  signal: EmbedOptions['signal'],
): Promise<readonly Float32Array[]> {
  const vectors: Float32Array[] = []
  throwIfAborted(signal)
  for (const text of texts) {
    if (vectors.length % TEXTS_PER_TURN === 0) {
      await (vectors.length === 0 ? undefined : yieldToEventLoop())
      throwIfAborted(signal)
    }
    vectors.push(embedOne(text, dimensions))
  }
  return vectors
}

function embedOne(text: string, dimensions: number): Float32Array {
  const sums = new Float64Array(dimensions)
  for (const term of new Set(extractTerms(text))) addTerm(sums, term)
  if (sums.every((sum) => sum === 0)) addTerm(sums, BLANK_TERM)
  const length = Math.sqrt(sums.reduce((total, sum) => total + sum * sum, 0))
  return Float32Array.from(sums, (sum) => sum / length)
}

function addTerm(sums: Float64Array, term: string): void {
  const weight = STOP_WORDS.has(term) ? STOP_WORD_WEIGHT : 1
  let hash = 0x811c9dc5
  for (let i = 0; i < term.length; i++) {
    hash = Math.imul(hash ^ term.charCodeAt(i), 0x01000193)
  }
  for (let bucket = 0; bucket < BUCKETS_PER_TERM; bucket++) {
    hash = mixed(hash + 0x9e3779b9)
    const index = (hash >>> 1) % sums.length
    sums[index] = (sums[index] ?? 0) + (hash & 1 ? weight : -weight)
  }
}

/** Finalizer of MurmurHash3: every input bit affects every output bit. */
function mixed(number: number): number {
  const once = Math.imul(number ^ (number >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return twice ^ (twice >>> 16)
}
