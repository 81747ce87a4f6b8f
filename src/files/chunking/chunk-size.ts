/**
 * Chunk sizes in tokens, as `estimateTokens` counts them, and in bytes of UTF-8. Tokens are counted in twelfths, which
 * add up without rounding: a byte is a quarter, and a CJK character two thirds.
 */
import type { LineIndex } from '../../text/lines.ts'

export type TextSize = { readonly tokenUnits: number; readonly bytes: number }

export const UNITS_PER_TOKEN = 12
const BYTE_TWELFTHS = 3
const WIDE_FROM = 0x2e80

/** The size of a code point; a lone surrogate counts as its replacement character. */
export function measureCharacter(point: number): TextSize {
  const bytes = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
  return { tokenUnits: bytes * BYTE_TWELFTHS - (point >= WIDE_FROM ? 1 : 0), bytes }
}

/** Prefix sums per line, so that the size of a range is a difference. */
export class LineSizeIndex {
  readonly #twelfths: Float64Array
  readonly #bytes: Float64Array
  readonly #breaks: Uint8Array

  constructor({ text, count, starts, ends }: LineIndex) {
    this.#twelfths = new Float64Array(count + 1)
    this.#bytes = new Float64Array(count + 1)
    this.#breaks = new Uint8Array(count)
    for (let line = 0; line < count; line++) {
      const start = starts[line] ?? 0
      const end = ends[line] ?? 0
      const breakLength = (starts[line + 1] ?? end) - end
      const { tokenUnits: twelfths, bytes } = measureText(text, start, end)
      this.#breaks[line] = breakLength
      this.#twelfths[line + 1] =
        (this.#twelfths[line] ?? 0) + twelfths + breakLength * BYTE_TWELFTHS
      this.#bytes[line + 1] = (this.#bytes[line] ?? 0) + bytes + breakLength
    }
  }

  /** Size of a line range without its last line break. */
  between(first: number, last: number): TextSize {
    const lastBreak = this.#breaks[last] ?? 0
    return {
      tokenUnits:
        (this.#twelfths[last + 1] ?? 0) - (this.#twelfths[first] ?? 0) - lastBreak * BYTE_TWELFTHS,
      bytes: (this.#bytes[last + 1] ?? 0) - (this.#bytes[first] ?? 0) - lastBreak,
    }
  }
}

export function measureText(text: string, start: number, end: number): TextSize {
  let bytes = 0
  let wide = 0
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes++
    else if (unit < 0x800) bytes += 2
    else {
      bytes += 3
      if (unit >= WIDE_FROM) wide++
      // A surrogate pair is one character of four bytes.
      if (isHighSurrogate(unit) && at + 1 < end && isLowSurrogate(text.charCodeAt(at + 1))) {
        bytes++
        at++
      }
    }
  }
  return { tokenUnits: bytes * BYTE_TWELFTHS - wide, bytes }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** Both in the same unit: the maximum size of a span, and the part of it that may repeat the previous span. */
export type ChunkLimits = { readonly whole: TextSize; readonly overlap: TextSize }
