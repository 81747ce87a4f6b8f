/** Counts the tokens of a text in a prompt. */
export type CountTokens = (text: string) => number

/** From this code point on, characters count as wide: those of Chinese, Japanese and Korean, and emoji. */
const WIDE_MIN = 0x2e80

/**
 * Estimates tokens without a model: about four bytes of Latin text per token, and about one and a half characters of
 * Chinese, Japanese or Korean, which take three bytes each. Never zero for a text that is not empty.
 */
export function estimateTokens(text: string): number {
  let wide = 0
  let bytes = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (unit < WIDE_MIN) bytes += 3
    else {
      const isPair = (text.codePointAt(index) ?? 0) > 0xffff
      bytes += isPair ? 4 : 3
      wide++
      if (isPair) index++
    }
  }
  return Math.ceil((bytes - wide * 3) / 4 + wide / 1.5)
}
