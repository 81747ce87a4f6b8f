/**
 * Renders text for terminals: colors, tables, and escaped content. Control and bidirectional characters are escaped,
 * because memories may contain anything.
 */
import type { Output } from '../host.ts'

export type Style = {
  /** Null without a terminal: nothing is truncated. */
  readonly columns: number | null
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
}

const COLUMNS_MIN = 40

export function createStyle(output: Output, hasColor: boolean): Style {
  const paint = (code: number) => (text: string) =>
    hasColor && output.isTerminal && text !== '' ? `\x1b[${code}m${text}\x1b[0m` : text
  return {
    columns: output.isTerminal ? Math.max(COLUMNS_MIN, output.columns) : null,
    bold: paint(1),
    dim: paint(2),
    red: paint(31),
    green: paint(32),
    yellow: paint(33),
  }
}

const CONTROL_CHARACTERS = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Keeps line ends and tabs. */
export function escapeControlCharacters(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(CONTROL_CHARACTERS, (character) => {
    const code = character.charCodeAt(0)
    return code > 0xff
      ? `\\u${code.toString(16).padStart(4, '0')}`
      : `\\x${code.toString(16).padStart(2, '0')}`
  })
}

export function toTerminalLine(text: string): string {
  return escapeControlCharacters(text.trim().replace(/\s+/gu, ' '))
}

/** Quotes a word for a shell. */
export function quoteForShell(value: string): string {
  const line = escapeControlCharacters(value)
  return /^[\w@%+=:,./-]+$/.test(line) ? line : `'${line.replaceAll("'", "'\\''")}'`
}

const WIDE_GRAPHEME =
  /^(?:\p{Emoji_Presentation}|.\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

function widthOf(grapheme: string): number {
  return WIDE_GRAPHEME.test(grapheme) ? 2 : 1
}

/** The approximate width in columns; fonts differ for emoji. */
export function displayWidth(line: string): number {
  if (/^[ -~]*$/.test(line)) return line.length
  let width = 0
  for (const { segment } of graphemes.segment(line)) width += widthOf(segment)
  return width
}

export function truncate(line: string, columns: number): string {
  if (line.length <= columns && displayWidth(line) <= columns) return line
  let width = 0
  let cut = ''
  for (const { segment } of graphemes.segment(line)) {
    width += widthOf(segment)
    if (width > columns - 1) return `${cut.trimEnd()}…`
    cut += segment
  }
  return cut
}

export type TableCell = { readonly text: string; readonly paint?: (text: string) => string }

/** Renders columns. The last one gets the remaining width and is truncated to it. */
export function renderTable(
  style: Style,
  head: readonly string[],
  rows: readonly (readonly TableCell[])[],
) {
  const lines = [head.map((text): TableCell => ({ text, paint: style.bold })), ...rows]
  const widths = head
    .slice(0, -1)
    .map((_, column) => Math.max(...lines.map((line) => displayWidth(line[column]?.text ?? ''))))
  const taken = widths.reduce((sum, width) => sum + width + GAP.length, 0)
  const left = style.columns === null ? null : Math.max(LAST_COLUMN_MIN, style.columns - taken)
  return lines
    .map((line) =>
      line
        .map(({ text, paint = (plain) => plain }, column) => {
          const width = widths[column]
          if (width === undefined) return paint(left === null ? text : truncate(text, left))
          return paint(text) + ' '.repeat(width - displayWidth(text))
        })
        .join(GAP)
        .trimEnd(),
    )
    .join('\n')
}

const GAP = '  '
const LAST_COLUMN_MIN = 20

/** Names and values in two columns; multi-line values are indented. */
export function renderFields(
  style: Style,
  entries: readonly (readonly [string, string])[],
): string {
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries
    .map(([name, value]) => {
      const indented = value.replaceAll('\n', `\n${' '.repeat(width + 4)}`)
      return `  ${style.dim(name.padEnd(width))}  ${indented}`
    })
    .join('\n')
}

export function formatCount(number: number, one: string, many = `${one}s`): string {
  return `${formatNumber(number)} ${number === 1 ? one : many}`
}

export function formatMemoryCount(number: number): string {
  return formatCount(number, 'memory', 'memories')
}

export function formatNumber(number: number): string {
  return number.toLocaleString('en-US')
}

export function formatBytes(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}
