/** Cuts a line that is too long: after a sentence if it can be, else between words, else between any two characters. */

import { afterBlanks, beforeBlanks, isBlankUnit } from '../../text/lines.ts'
import { type Limits, type Size, sizeOfCharacter } from './chunk-size.ts'

type Part = { readonly start: number; readonly end: number }

/** Parts have no white space around them, and none is empty. Together with the white space between them they are the line. */
export function* cutLongLine(
  text: string,
  start: number,
  end: number,
  { whole, overlap }: Limits,
): Generator<Part> {
  let from = afterBlanks(text, start, end)
  /** What comes before was told. */
  let told = from
  while (told < end) {
    let furthest = reach(text, from, end, whole)
    // Where repeating leaves no room for anything new, nothing is repeated.
    if (furthest <= told) {
      from = told
      furthest = reach(text, from, end, whole)
    }
    const middle = Math.max(told, from + Math.floor((furthest - from) / 2))
    const until = furthest >= end ? end : bestCut(text, middle, furthest)
    yield { start: from, end: beforeBlanks(text, from, until) }
    told = afterBlanks(text, until, end)
    from = repeatFrom(text, from, told, overlap)
  }
}

/** How far a part may go that begins at `from`. */
function reach(text: string, from: number, end: number, limit: Size): number {
  let at = from
  let twelfths = 0
  let bytes = 0
  while (at < end) {
    const point = text.codePointAt(at) ?? 0
    const size = sizeOfCharacter(point)
    twelfths += size.twelfths
    bytes += size.bytes
    if (twelfths > limit.twelfths || bytes > limit.bytes) return at
    at += point > 0xffff ? 2 : 1
  }
  return at
}

/** The last place where a sentence ends, else a word, after `least`; else `most`. */
function bestCut(text: string, least: number, most: number): number {
  let afterWord = most
  for (let at = most; at > least; at--) {
    if (isAfterSentence(text, at)) return at
    if (afterWord === most && isAfterWord(text, at)) afterWord = at
  }
  return afterWord
}

/** Where the next part begins: with the first sentence, else the first word, that is near enough before `told`. */
function repeatFrom(text: string, start: number, told: number, limit: Size): number {
  let from = told
  let isSentence = false
  let twelfths = 0
  let bytes = 0
  for (let at = told - 1; at > start; at--) {
    const unit = text.charCodeAt(at)
    // Each half of a pair counts as much as the pair: a little too careful.
    const size = sizeOfCharacter(isLow(unit) ? 0x10000 : unit)
    twelfths += size.twelfths
    bytes += size.bytes
    if (twelfths > limit.twelfths || bytes > limit.bytes) break
    if (isBlankUnit(unit)) continue
    if (isAfterSentence(text, at)) {
      isSentence = true
      from = at
    } else if (!isSentence && isAfterWord(text, at)) from = at
  }
  return from
}

const ENDS = '.!?…'
const CLOSING = '"\')]}”’»'
const WIDE_ENDS = '。！？｡．'
const WIDE_CLOSING = '」』”’）】》'
const WIDE_PAUSES = '、，；：'

/** In Latin text behind a mark and a space; where no spaces are written, behind the mark. */
function isAfterSentence(text: string, at: number): boolean {
  const before = text[at - 1] ?? ''
  if (isBlankUnit(before.charCodeAt(0))) {
    const last = CLOSING.includes(text[at - 2] ?? ' ') ? text[at - 3] : text[at - 2]
    return last !== undefined && (ENDS.includes(last) || WIDE_ENDS.includes(last))
  }
  if (WIDE_CLOSING.includes(text[at] ?? ' ')) return false
  const last = WIDE_CLOSING.includes(before) ? (text[at - 2] ?? ' ') : before
  return WIDE_ENDS.includes(last)
}

function isAfterWord(text: string, at: number): boolean {
  const before = text[at - 1] ?? ''
  return isBlankUnit(before.charCodeAt(0)) || WIDE_PAUSES.includes(before)
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
