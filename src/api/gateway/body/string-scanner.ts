/** Finds the ends of strings in JSON, in UTF-8. */
import type { TimeSlice } from '../../../lib/event-loop.ts'

/** From the opening quote to behind the closing one. */
export type LongString = {
  readonly start: number
  readonly end: number
  /** Places where it may be cut: between two characters, and not within an escape sequence. */
  readonly boundaries: readonly number[]
}

/** Longer strings are scanned in slices. */
const SHORT_BYTES_MAX = 4_096
/** Between two boundaries. */
const STEP_BYTES = 4_096

const QUOTE = 0x22
const BACKSLASH = 0x5c
const UNICODE_ESCAPE = 0x75

export class StringScanner {
  readonly #bytes: Uint8Array
  readonly #slice: TimeSlice

  constructor(bytes: Uint8Array, slice: TimeSlice) {
    this.#bytes = bytes
    this.#slice = slice
  }

  /** Behind the closing quote of a short string; negative when it is longer. */
  shortEnd(start: number): number {
    const bytes = this.#bytes
    const limit = Math.min(bytes.length, start + SHORT_BYTES_MAX)
    for (let at = start + 1; at < limit; at++) {
      const code = bytes[at]
      if (code === QUOTE) return at + 1
      if (code === BACKSLASH) at++
    }
    return -1
  }

  /** A string without an end ends with the bytes. */
  async scanLong(start: number): Promise<LongString> {
    const bytes = this.#bytes
    const boundaries: number[] = []
    let at = start + 1
    // The first one is early, because next to nothing is kept of an image.
    let next = at + 64
    while (at < bytes.length) {
      const stop = Math.min(bytes.length, next)
      let code = bytes[at] ?? 0
      while (at < stop && code !== QUOTE && code !== BACKSLASH) code = bytes[++at] ?? 0
      if (at >= stop) {
        while (((bytes[at] ?? 0) & 0xc0) === 0x80) at++
        boundaries.push(at)
        next = at + STEP_BYTES
        if (this.#slice.isExpired) await this.#slice.yieldThread()
      } else if (code === QUOTE) return { start, end: at + 1, boundaries }
      else at += bytes[at + 1] === UNICODE_ESCAPE ? 6 : 2
    }
    return { start, end: bytes.length, boundaries }
  }
}
