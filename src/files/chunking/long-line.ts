/** Splits a line that is too long: after a sentence if possible, else between words, else between characters. */

import { isWhitespaceUnit, skipWhitespace, skipWhitespaceBackward } from '../../text/lines.ts'
import { type ChunkLimits, measureCharacter, type TextSize } from './chunk-size.ts'

type LinePart = { readonly start: number; readonly end: number }

/** Parts are trimmed and not empty. With the white space between them they make up the line. */
export function* splitLongLine(
  text: string,
  start: number,
  end: number,
  { whole, overlap }: ChunkLimits,
): Generator<LinePart> {
  let from = skipWhitespace(text, start, end)
  /** The end of the previous part. */
  let covered = from
  while (covered < end) {
    let furthest = findReach(text, from, end, whole)
    // Without room for new text there is no overlap.
    if (furthest <= covered) {
      from = covered
      furthest = findReach(text, from, end, whole)
    }
    const middle = Math.max(covered, from + Math.floor((furthest - from) / 2))
    const until = furthest >= end ? end : findBestBreak(text, middle, furthest)
    yield { start: from, end: skipWhitespaceBackward(text, from, until) }
    covered = skipWhitespace(text, until, end)
    from = findOverlapStart(text, from, covered, overlap)
  }
}

/** The maximum end of a part that begins at `from`. */
function findReach(text: string, from: number, end: number, limit: TextSize): number {
  let at = from
  let twelfths = 0
  let bytes = 0
  while (at < end) {
    const point = text.codePointAt(at) ?? 0
    const size = measureCharacter(point)
    twelfths += size.tokenUnits
    bytes += size.bytes
    if (twelfths > limit.tokenUnits || bytes > limit.bytes) return at
    at += point > 0xffff ? 2 : 1
  }
  return at
}

/** The last sentence end, else word end, after `least`; else `most`. */
function findBestBreak(text: string, least: number, most: number): number {
  let afterWord = most
  for (let at = most; at > least; at--) {
    if (isSentenceBreak(text, at)) return at
    if (afterWord === most && isWordBreak(text, at)) afterWord = at
  }
  return afterWord
}

/** The start of the next part: the first sentence, else the first word, within the overlap before `covered`. */
function findOverlapStart(text: string, start: number, covered: number, limit: TextSize): number {
  let from = covered
  let isSentence = false
  let twelfths = 0
  let bytes = 0
  for (let at = covered - 1; at > start; at--) {
    const unit = text.charCodeAt(at)
    // Each half of a surrogate pair counts as the pair, a conservative estimate.
    const size = measureCharacter(isLowSurrogate(unit) ? 0x10000 : unit)
    twelfths += size.tokenUnits
    bytes += size.bytes
    if (twelfths > limit.tokenUnits || bytes > limit.bytes) break
    if (isWhitespaceUnit(unit)) continue
    if (isSentenceBreak(text, at)) {
      isSentence = true
      from = at
    } else if (!isSentence && isWordBreak(text, at)) from = at
  }
  return from
}

const ENDS = '.!?…'
const CLOSING = '"\')]}”’»'
const WIDE_ENDS = '。！？｡．'
const WIDE_CLOSING = '」』”’）】》'
const WIDE_PAUSES = '、，；：'

/** In Latin text after a mark and a space; in text without spaces, after the mark. */
function isSentenceBreak(text: string, at: number): boolean {
  const before = text[at - 1] ?? ''
  if (isWhitespaceUnit(before.charCodeAt(0))) {
    const last = CLOSING.includes(text[at - 2] ?? ' ') ? text[at - 3] : text[at - 2]
    return last !== undefined && (ENDS.includes(last) || WIDE_ENDS.includes(last))
  }
  if (WIDE_CLOSING.includes(text[at] ?? ' ')) return false
  const last = WIDE_CLOSING.includes(before) ? (text[at - 2] ?? ' ') : before
  return WIDE_ENDS.includes(last)
}

function isWordBreak(text: string, at: number): boolean {
  const before = text[at - 1] ?? ''
  return isWhitespaceUnit(before.charCodeAt(0)) || WIDE_PAUSES.includes(before)
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
