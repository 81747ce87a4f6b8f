/**
 * About how many tokens a text has for a model whose tokens we can't count: four ASCII characters make one, and two
 * bytes of anything else. Services bill and limit by tokens; a guess that is a little high costs nothing.
 */
const UNITS_PER_TOKEN = 4
const UNITS_MAX = 6

export function estimateBilledTokens(text: string): number {
  let units = 0
  for (let index = 0; index < text.length; index++) units += unitsAt(text, index)
  return Math.ceil(units / UNITS_PER_TOKEN)
}

/** The beginning of a text, as far as it has no more than `tokensMax` tokens; never half a character. */
export function truncateToTokens(text: string, tokensMax: number): string {
  // Most texts are so short that nothing needs to be counted.
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
  // Two, three and four bytes of UTF-8; a pair of halves has four, two each.
  return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 4 : UNITS_MAX
}

function isSecondHalf(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
