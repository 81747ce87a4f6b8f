/** Counts the tokens of a text in a prompt. */
export type CountTokens = (text: string) => number

const ENCODER = new TextEncoder()

/**
 * Estimates tokens without a model: about four bytes of Latin text per token, and about one and a half characters of
 * Chinese, Japanese or Korean, which take three bytes each. Never zero for a text that is not empty.
 */
export function estimateTokens(text: string): number {
  let wide = 0
  for (const character of text) if ((character.codePointAt(0) ?? 0) >= 0x2e80) wide++
  const bytes = ENCODER.encode(text).length
  return Math.ceil((bytes - wide * 3) / 4 + wide / 1.5)
}
