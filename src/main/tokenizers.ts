/**
 * Counts tokens as OpenAI's models do, where the package `gpt-tokenizer` is installed. For other models, and before it
 * is loaded, there is the estimate.
 */
import type { CountTokens } from '../core/tokens.ts'

const KNOWN = /^(chatgpt-|gpt-|o[134](-|$))/
/** Those before GPT-4o have another vocabulary. */
const EARLIER = /^gpt-(3\.5|4)(-|$)/

export type Tokenizers = {
  /** Loading holds everything up for half a second, so it is done when nobody asks yet. */
  load(): Promise<void>
  for(model: string): CountTokens | undefined
}

export function createTokenizers(): Tokenizers {
  let count: { readonly present: CountTokens; readonly earlier: CountTokens } | undefined
  return {
    load: async () => {
      try {
        const [o200k, cl100k] = await Promise.all([
          import('gpt-tokenizer/encoding/o200k_base'),
          import('gpt-tokenizer/encoding/cl100k_base'),
        ])
        // Text that looks like a control token is text all the same.
        const asText = { disallowedSpecial: new Set<string>() }
        count = {
          present: (text) => o200k.countTokens(text, asText),
          earlier: (text) => cl100k.countTokens(text, asText),
        }
      } catch {
        /* not installed */
      }
    },
    for: (model) => {
      const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
      if (!KNOWN.test(name)) return undefined
      return EARLIER.test(name) ? count?.earlier : count?.present
    },
  }
}
