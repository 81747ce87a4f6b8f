/** The lines of a file as editors count them, and white space scanning. */

/** Lines end with `\n`, `\r\n` or a lone `\r`. Text after the last break is a line unless it is empty. */
export type LineIndex = {
  readonly text: string
  readonly count: number
  /** The start of each line, then the length of the text. A byte order mark belongs to no line. */
  readonly starts: readonly number[]
  /** The end of each line, without its break. */
  readonly ends: readonly number[]
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const BYTE_ORDER_MARK = 0xfeff

export function indexLines(text: string): LineIndex {
  const starts: number[] = []
  const ends: number[] = []
  let start = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0
  for (let at = start; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit !== LINE_FEED && unit !== CARRIAGE_RETURN) continue
    starts.push(start)
    ends.push(at)
    if (unit === CARRIAGE_RETURN && text.charCodeAt(at + 1) === LINE_FEED) at++
    start = at + 1
  }
  if (start < text.length) {
    starts.push(start)
    ends.push(text.length)
  }
  return { text, count: starts.length, starts: [...starts, text.length], ends }
}

/** `count` lines from line `from` (1-based), without the break after the last one. */
export function sliceLines(text: string, from: number, count: number): string {
  const lines = indexLines(text)
  const first = Math.max(1, from) - 1
  const last = Math.min(lines.count, first + Math.max(0, count)) - 1
  const start = lines.starts[first]
  const end = lines.ends[last]
  return start === undefined || end === undefined || last < first ? '' : text.slice(start, end)
}

/** The number of line feeds: the number of lines of a text in which every line ends with one. */
export function countLineBreaks(text: string): number {
  let breaks = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) breaks++
  return breaks
}

/** Whether a range holds only white space. */
export function isBlank(text: string, start: number, end: number): boolean {
  return skipWhitespace(text, start, end) === end
}

/** The first offset from `start` that is not white space, or `end`. */
export function skipWhitespace(text: string, start: number, end: number): number {
  let at = start
  while (at < end && isWhitespaceUnit(text.charCodeAt(at))) at++
  return at
}

/** The offset after the last character before `end` that is not white space, or `start`. */
export function skipWhitespaceBackward(text: string, start: number, end: number): number {
  let at = end
  while (at > start && isWhitespaceUnit(text.charCodeAt(at - 1))) at--
  return at
}

const WHITE_SPACE = /^\s$/

export function isWhitespaceUnit(unit: number): boolean {
  if (unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)) return true
  return unit >= 0xa0 && WHITE_SPACE.test(String.fromCharCode(unit))
}
