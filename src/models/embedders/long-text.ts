/** Embeds documents longer than the model's limit: in chunks of similar length, averaged. */
import type { Embedder } from '../embedder.ts'
import { estimateBilledTokens } from './billed-tokens.ts'

/** Code has up to twice the estimated number of tokens. */
const ESTIMATED_SHARE = 0.6
/** Share of a chunk that may move to the next one, so that no word is split. */
const WORD_SHARE_MAX = 0.2

export function withLongText(embedder: Embedder): Embedder {
  return {
    describe: (signal) => embedder.describe(signal),
    embed: async (texts, options) => {
      const { tokensMax } = await embedder.describe(options.signal)
      if (options.purpose === 'query' || tokensMax === undefined) {
        return embedder.embed(texts, options)
      }
      const parts = texts.map((text) => splitLongText(text, tokensMax * ESTIMATED_SHARE))
      const vectors = await embedder.embed(parts.flat(), options)
      let next = 0
      return parts.map(({ length }) => {
        const own = vectors.slice(next, next + length)
        next += length
        return averageVectors(own)
      })
    },
    report: () => embedder.report(),
    close: () => embedder.close(),
  }
}

export function splitLongText(text: string, tokensMax: number): readonly string[] {
  const count = Math.ceil(estimateBilledTokens(text) / tokensMax)
  if (count <= 1) return [text]
  const parts: string[] = []
  let start = 0
  for (let part = 1; part < count; part++) {
    const end = findWordEnd(text, start, Math.floor((text.length * part) / count))
    parts.push(text.slice(start, end))
    start = end
  }
  return [...parts, text.slice(start)]
}

/** After the last whitespace before `end`; within a longer word, at `end`, but never within a surrogate pair. */
function findWordEnd(text: string, start: number, end: number): number {
  const earliest = end - Math.floor((end - start) * WORD_SHARE_MAX)
  for (let at = end; at > earliest; at--) if (/\s/.test(text.charAt(at - 1))) return at
  return /[\udc00-\udfff]/.test(text.charAt(end)) ? end + 1 : end
}

function averageVectors(vectors: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0), ...others] = vectors
  if (others.length === 0) return first
  const sums = Float64Array.from(first)
  for (const vector of others)
    for (const [at, value] of vector.entries()) sums[at] = (sums[at] ?? 0) + value
  const length = Math.sqrt(sums.reduce((total, sum) => total + sum * sum, 0))
  // Chunks that cancel out have no mean; the first chunk stands in.
  return length > 0 ? Float32Array.from(sums, (sum) => sum / length) : first
}
