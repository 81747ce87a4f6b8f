/**
 * Counts tokens as OpenAI's models do, where the package `gpt-tokenizer` is installed. Other models
 * use the estimate, as do all until the package is loaded.
 */

import type { DecodeTokens } from '../../api/gateway/gateway-request.ts'
import type { CountTokens } from '../../text/tokens.ts'

const KNOWN = /^(chatgpt-|gpt-|o[134](-|$))/
/** Models before GPT-4o have another vocabulary. */
const EARLIER = /^gpt-(3\.5|4)(-|$)/

export type Tokenizers = {
  /** Loading blocks the event loop for half a second, so it happens while the server is idle. */
  load(): Promise<void>
  for(model: string): CountTokens | undefined
  /** For OpenAI's embedding models, which share one vocabulary. */
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
        // Text that looks like a control token counts as plain text.
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
