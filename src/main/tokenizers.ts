/**
 * Counts tokens as OpenAI's models do, where the package `gpt-tokenizer` is installed. For other models, and before it
 * is loaded, there is the estimate.
 */
import type { CountTokens } from '../core/tokens.ts'

const KNOWN = /^(chatgpt-|gpt-|o[134](-|$))/

export type Tokenizers = {
  /** Loading holds everything up for half a second, so it is done when nobody asks yet. */
  load(): Promise<void>
  for(model: string): CountTokens | undefined
}

export function createTokenizers(): Tokenizers {
  let count: CountTokens | undefined
  return {
    load: async () => {
      try {
        const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
        // Text that looks like a control token is text all the same.
        count = (text) => countTokens(text, { disallowedSpecial: new Set() })
      } catch {
        /* not installed */
      }
    },
    for: (model) => {
      const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
      return KNOWN.test(name) ? count : undefined
    },
  }
}
