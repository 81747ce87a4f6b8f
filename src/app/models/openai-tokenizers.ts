/**
 * Counts tokens as OpenAI's models do, where the package `gpt-tokenizer` is installed. For other models, and before it
 * is loaded, there is the estimate.
 */

import type { DecodeTokens } from '../../api/gateway/gateway-request.ts'
import type { CountTokens } from '../../text/tokens.ts'

const KNOWN = /^(chatgpt-|gpt-|o[134](-|$))/
/** Those before GPT-4o have another vocabulary. */
const EARLIER = /^gpt-(3\.5|4)(-|$)/

export type Tokenizers = {
  /** Loading holds everything up for half a second, so it is done when nobody asks yet. */
  load(): Promise<void>
  for(model: string): CountTokens | undefined
  /** For the tokens of OpenAI's embedding models, which share one vocabulary. */
  reader(): Promise<DecodeTokens | undefined>
}

export function createTokenizers(): Tokenizers {
  let count: { readonly present: CountTokens; readonly earlier: CountTokens } | undefined
  const cl100k = () => import('gpt-tokenizer/encoding/cl100k_base')
  return {
    load: async () => {
      try {
        const [o200k, earlier] = await Promise.all([
          import('gpt-tokenizer/encoding/o200k_base'),
          cl100k(),
        ])
        // Text that looks like a control token is text all the same.
        const asText = { disallowedSpecial: new Set<string>() }
        count = {
          present: (text) => o200k.countTokens(text, asText),
          earlier: (text) => earlier.countTokens(text, asText),
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
    reader: async () => {
      const { decode } = await cl100k().catch(() => ({ decode: undefined }))
      return decode
    },
  }
}
