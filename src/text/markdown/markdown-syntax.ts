/**
 * What a line of Markdown begins, told from the line alone. Everything looks at a character a bounded number of times:
 * a line may be as long as its file.
 */
import { skipWhitespace, skipWhitespaceBackward } from '../lines.ts'

/** A part of the text, from where the line's first character stands to the line's end. */
export type SourceSpan = { readonly text: string; readonly start: number; readonly end: number }

const TAB_COLUMNS = 4
const TITLE_CHARACTERS_MAX = 200

/** How far the first character of a line is from the left, and where it stands. */
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
/** `{#anchor}`, which some renderers take for the name of the heading's address. */
const ANCHOR = /[ \t]*\{#[^{}]{0,200}\}[ \t]*$/

/** At most 200 characters, on one line. */
export function normalizeTitle(written: string): string {
  const title = written.trim().replace(CLOSING_MARKS, '').replace(ANCHOR, '').replace(/\s+/g, ' ')
  return trimLoneSurrogate(title.trim().slice(0, TITLE_CHARACTERS_MAX)).trim()
}

/** A cut may have left the first half of a surrogate pair at the end. */
export function trimLoneSurrogate(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text
}

/** The level of the heading that the paragraph above is made by this line; null when it is none. */
export function parseSetextUnderline({ text, start, end }: SourceSpan): 1 | 2 | null {
  const mark = text[start]
  if (mark !== '=' && mark !== '-') return null
  const after = start + measureRun(text, start, end, mark)
  if (skipWhitespace(text, after, end) !== end) return null
  return mark === '=' ? 1 : 2
}

/** A line across: three or more of the same mark, with spaces between them. */
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
  // With another mark behind it, it is code in the middle of a line.
  if (mark === '`' && text.slice(start + length, end).includes(mark)) return null
  return { mark, length }
}

export function isClosingFence({ text, start, end }: SourceSpan, fence: CodeFence): boolean {
  if (text[start] !== fence.mark) return false
  const length = measureRun(text, start, end, fence.mark)
  return length >= fence.length && skipWhitespace(text, start + length, end) === end
}

export type ListItem = {
  /** How much wider than the marker's indent that is which belongs to the point. */
  readonly width: number
  /** Where its words begin; the end of the line when it has none. */
  readonly at: number
  /** Whether it may stand directly below a paragraph that it doesn't belong to. */
  readonly mayInterrupt: boolean
}

const DIGITS_MAX = 9

/** `- point`, `1. point`. */
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
    // Far away from its marker, the text is code that belongs to the point.
    width: digits + 1 + (isEmpty || columns > TAB_COLUMNS ? 1 : columns),
    at,
    mayInterrupt: !isEmpty && (digits === 0 || text.slice(start, start + digits) === '1'),
  }
}

/** `|---|:-:|`, the line below the head of a table. */
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

/** What ends a part written in HTML; `blank`: an empty line. */
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

/** How the HTML ends that begins here; null when none does. */
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
