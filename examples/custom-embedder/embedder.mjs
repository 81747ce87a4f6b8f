/**
 * An embedder of your own: counts character trigrams, so that misspelled words stay close. Vectors have length one and
 * a text always gets the same vector, which is what the engine expects of any embedder.
 */
const DIMENSIONS = 512

export function createTrigramEmbedder() {
  return {
    describe: async () => ({ source: 'example', model: 'trigrams-v1', dimensions: DIMENSIONS }),
    embed: async (texts) => texts.map(embedText),
    report: () => ({
      source: 'example',
      model: 'trigrams-v1',
      state: { kind: 'ready' },
      facts: { dimensions: DIMENSIONS },
    }),
    close: async () => {},
  }
}

function embedText(text) {
  const vector = new Float32Array(DIMENSIONS)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const padded = ` ${word} `
    for (let at = 0; at + 3 <= padded.length; at++) vector[hash(padded.slice(at, at + 3))] += 1
  }
  const length = Math.hypot(...vector)
  // A blank text gets a vector as well.
  if (length === 0) vector[0] = 1
  else for (let at = 0; at < DIMENSIONS; at++) vector[at] /= length
  return vector
}

/** FNV-1a, reduced to a dimension. */
function hash(text) {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  return (value >>> 0) % DIMENSIONS
}
