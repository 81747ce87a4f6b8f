/**
 * Estimates tokens for models without a local tokenizer: four ASCII characters or two bytes of other text per token.
 * Services bill and limit by tokens, so the estimate errs on the high side.
 */
const UNITS_PER_TOKEN = 4
const UNITS_MAX = 6

export function estimateBilledTokens(text: string): number {
  let units = 0
  for (let index = 0; index < text.length; index++) units += unitsAt(text, index)
  return Math.ceil(units / UNITS_PER_TOKEN)
}

/** Truncates to about `tokensMax` tokens without splitting a surrogate pair. */
export function truncateToTokens(text: string, tokensMax: number): string {
  // Most texts are too short to need counting.
  if (text.length * UNITS_MAX <= tokensMax * UNITS_PER_TOKEN) return text
  let units = 0
  for (let index = 0; index < text.length; index++) {
    units += unitsAt(text, index)
    if (units > tokensMax * UNITS_PER_TOKEN) {
      return isSecondHalf(text.charCodeAt(index)) ? text.slice(0, index - 1) : text.slice(0, index)
    }
  }
  return text
}

function unitsAt(text: string, index: number): number {
  const code = text.charCodeAt(index)
  if (code < 0x80) return 1
  // Two, three or four bytes of UTF-8; a surrogate pair has four, two per half.
  return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 4 : UNITS_MAX
}

function isSecondHalf(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
