/**
 * Markdown syntax that can be recognized from a single line. Every function reads a character a bounded number of times,
 * because a line may be as long as its file.
 */
import { skipWhitespace, skipWhitespaceBackward } from '../lines.ts'
import { trimLoneSurrogate } from '../well-formed-text.ts'

/** A line of the text from its first character that is not blank. */
export type SourceSpan = { readonly text: string; readonly start: number; readonly end: number }

const TAB_COLUMNS = 4
const TITLE_CHARACTERS_MAX = 200

/** The indent of a line in columns, and the offset of its first character that is not blank. */
export function measureIndent(
  text: string,
  start: number,
  end: number,
): { readonly columns: number; readonly at: number } {
  let columns = 0
  let at = start
  for (; at < end; at++) {
    const character = text[at]
    if (character === ' ') columns++
    else if (character === '\t') columns += TAB_COLUMNS - (columns % TAB_COLUMNS)
    else break
  }
  return { columns, at }
}

export type Heading = { readonly level: number; readonly title: string }

/** `## Title ##`. */
export function parseHeading({ text, start, end }: SourceSpan): Heading | null {
  const level = measureRun(text, start, end, '#')
  if (level < 1 || level > 6) return null
  const after = start + level
  if (after < end && !isSpace(text[after])) return null
  return {
    level,
    title: normalizeTitle(text.slice(after, Math.min(end, after + 2 * TITLE_CHARACTERS_MAX))),
  }
}

const CLOSING_MARKS = /(?:^|[ \t])#{1,200}[ \t]*$/
/** `{#anchor}`, the heading id of some renderers. */
const ANCHOR = /[ \t]*\{#[^{}]{0,200}\}[ \t]*$/

/** Strips markup from a title and limits it to 200 characters on one line. */
export function normalizeTitle(source: string): string {
  const title = source.trim().replace(CLOSING_MARKS, '').replace(ANCHOR, '').replace(/\s+/g, ' ')
  return trimLoneSurrogate(title.trim().slice(0, TITLE_CHARACTERS_MAX)).trim()
}

/** The level of the heading that this line makes of the paragraph above; null when it is no underline. */
export function parseSetextUnderline({ text, start, end }: SourceSpan): 1 | 2 | null {
  const mark = text[start]
  if (mark !== '=' && mark !== '-') return null
  const after = start + measureRun(text, start, end, mark)
  if (skipWhitespace(text, after, end) !== end) return null
  return mark === '=' ? 1 : 2
}

/** Three or more of the same mark, optionally with spaces between them. */
export function isThematicBreak({ text, start, end }: SourceSpan): boolean {
  const mark = text[start]
  if (mark !== '-' && mark !== '*' && mark !== '_') return false
  let count = 0
  for (let at = start; at < end; at++) {
    if (text[at] === mark) count++
    else if (!isSpace(text[at])) return false
  }
  return count >= 3
}

export type CodeFence = { readonly mark: '`' | '~'; readonly length: number }

export function parseCodeFence({ text, start, end }: SourceSpan): CodeFence | null {
  const mark = text[start]
  if (mark !== '`' && mark !== '~') return null
  const length = measureRun(text, start, end, mark)
  if (length < 3) return null
  // With another mark after it, it is inline code.
  if (mark === '`' && text.slice(start + length, end).includes(mark)) return null
  return { mark, length }
}

export function isClosingFence({ text, start, end }: SourceSpan, fence: CodeFence): boolean {
  if (text[start] !== fence.mark) return false
  const length = measureRun(text, start, end, fence.mark)
  return length >= fence.length && skipWhitespace(text, start + length, end) === end
}

type ListItem = {
  /** The content indent, relative to the indent of the marker. */
  readonly width: number
  /** The offset of the content; the end of the line when it is empty. */
  readonly at: number
  /** Whether it may interrupt a paragraph. */
  readonly mayInterrupt: boolean
}

const DIGITS_MAX = 9

/** `- item`, `1. item`. */
export function parseListItem({ text, start, end }: SourceSpan): ListItem | null {
  const digits = countDigits(text, start, end)
  const mark = text[start + digits]
  const isMarker =
    digits === 0
      ? mark === '-' || mark === '*' || mark === '+'
      : digits <= DIGITS_MAX && (mark === '.' || mark === ')')
  const after = start + digits + 1
  if (!isMarker || (after < end && !isSpace(text[after]))) return null
  const { columns, at } = measureIndent(text, after, end)
  const isEmpty = at >= end
  return {
    // Text far from its marker is indented code inside the item.
    width: digits + 1 + (isEmpty || columns > TAB_COLUMNS ? 1 : columns),
    at,
    mayInterrupt: !isEmpty && (digits === 0 || text.slice(start, start + digits) === '1'),
  }
}

/** The delimiter row of a table, `|---|:-:|`. */
export function isDelimiterRow({ text, start, end }: SourceSpan): boolean {
  let hasDash = false
  let hasBar = false
  for (let at = start; at < end; at++) {
    const character = text[at]
    if (character === '-') hasDash = true
    else if (character === '|') hasBar = true
    else if (character !== ':' && !isSpace(character)) return false
  }
  return hasDash && hasBar
}

/** The end condition of an HTML block; `blank`: an empty line. */
export type HtmlBlockEnd = '-->' | '?>' | '</script' | '</pre' | '</style' | '</textarea' | 'blank'

const RAW = ['script', 'pre', 'style', 'textarea'] as const
const HTML_BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset ' +
    'figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main ' +
    'menu nav ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul'
  ).split(' '),
)
const TAG_NAME = /^<\/?([a-z][a-z0-9]{0,15})(?=[\s/>]|$)/i

/** The end condition of the HTML block that begins here; null when none does. */
export function parseHtmlBlockStart({ text, start, end }: SourceSpan): HtmlBlockEnd | null {
  if (text[start] !== '<') return null
  if (text.startsWith('<!--', start)) return '-->'
  if (text.startsWith('<?', start)) return '?>'
  const name = TAG_NAME.exec(text.slice(start, Math.min(end, start + 20)))?.[1]?.toLowerCase()
  if (name === undefined) return null
  const raw = RAW.find((each) => each === name)
  if (raw !== undefined && text[start + 1] !== '/') return `</${raw}`
  return HTML_BLOCKS.has(name) ? 'blank' : null
}

export function isHtmlBlockEnd({ text, start, end }: SourceSpan, ending: HtmlBlockEnd): boolean {
  return ending !== 'blank' && text.slice(start, end).toLowerCase().includes(ending)
}

export function hasTrailingColon({ text, start, end }: SourceSpan): boolean {
  const last = text[skipWhitespaceBackward(text, start, end) - 1]
  return last === ':' || last === '：'
}

function measureRun(text: string, start: number, end: number, mark: string): number {
  let at = start
  while (at < end && text[at] === mark) at++
  return at - start
}

function countDigits(text: string, start: number, end: number): number {
  let at = start
  while (at < end && at - start <= DIGITS_MAX && isDigit(text.charCodeAt(at))) at++
  return at - start
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}
