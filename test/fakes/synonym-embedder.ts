/** The reference embedder with a little knowledge of meaning: some words are the same to it as others. */

import type { Embedder } from '../../src/models/embedder.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'

export function synonymEmbedder(
  synonyms: Readonly<Record<string, string>>,
  inner: Embedder = createHashingEmbedder(),
): Embedder {
  const translated = (text: string) =>
    text.replace(/\p{L}+/gu, (word) => synonyms[word.toLowerCase()] ?? word)
  return {
    ...inner,
    embed: (texts, options) => inner.embed(texts.map(translated), options),
  }
}
