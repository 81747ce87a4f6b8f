/**
 * Edits one table of a TOML file that a person maintains, and leaves every other line unchanged. It
 * parses only as much TOML as it needs to find tables, and refuses what it cannot parse.
 */
import { AppError } from '../../../lib/errors.ts'

export type TomlValue = string | readonly string[] | { readonly [name: string]: string }

type Table = { readonly name: readonly string[]; readonly line: number; readonly isList: boolean }

/**
 * The text with the table `path` holding exactly these values; the same text when it does already.
 */
export function setTomlTable(
  text: string,
  path: readonly string[],
  values: { readonly [name: string]: TomlValue },
): string {
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = text.split(/\r?\n/)
  const tables = tablesIn(lines, path)
  const block = [`[${path.map(keyOf).join('.')}]`, ...Object.entries(values).map(toLine)]
  const ours = blockOf(lines, tables, path)
  if (ours === null) {
    const kept = text.replace(/(?:\r?\n[ \t]*)*$/, '')
    const before = kept === '' ? '' : kept + lineEnd + lineEnd
    return before + block.join(lineEnd) + lineEnd
  }
  const former = lines.slice(ours.start, ours.end)
  if (isSame(former, block)) return text
  return [...lines.slice(0, ours.start), ...block, ...lines.slice(ours.end)].join(lineEnd)
}

/** The text without the table `path`; the same text when there is none. */
export function removeTomlTable(text: string, path: readonly string[]): string {
  const lines = text.split(/\r?\n/)
  const ours = blockOf(lines, tablesIn(lines, path), path)
  if (ours === null) return text
  const rest = lines.slice(ours.end)
  // The blank line before it is removed too.
  const isApart = ours.start > 0 && (lines[ours.start - 1] ?? '').trim() === ''
  const kept = lines.slice(0, isApart ? ours.start - 1 : ours.start)
  return [...kept, ...rest].join(text.includes('\r\n') ? '\r\n' : '\n')
}

/**
 * The lines of a table without trailing blank lines. Subtables, such as its environment, are
 * included.
 */
function blockOf(
  lines: readonly string[],
  tables: readonly Table[],
  path: readonly string[],
): { readonly start: number; readonly end: number } | null {
  const at = tables.findIndex(({ name }) => isSame(name, path))
  const first = tables[at]
  if (first === undefined) return null
  const after = tables.slice(at + 1).find(({ name }) => !isBelow(name, path))
  let end = startOfComments(lines, first.line + 1, after?.line ?? lines.length)
  while ((lines[end - 1] ?? '').trim() === '') end--
  return { start: first.line, end }
}

/** Comments directly above the next table belong to that table. */
function startOfComments(lines: readonly string[], from: number, end: number): number {
  let at = end
  while (at > from && /^\s*#/.test(lines[at - 1] ?? '')) at--
  return at
}

function tablesIn(lines: readonly string[], path: readonly string[]): readonly Table[] {
  const found: Table[] = []
  let open: Open = { quote: null, brackets: 0 }
  for (const [line, content] of lines.entries()) {
    const isFresh = open.quote === null && open.brackets === 0
    if (isFresh && /^\s*\[/.test(content)) {
      found.push(toTable(content, line))
      continue
    }
    if (isFresh) refuseOtherSpelling(content, found.at(-1)?.name ?? [], path, line)
    open = scan(content, open, line)
  }
  if (open.quote !== null || open.brackets > 0) throw refusal('A text or a list in it never ends.')
  const ours = found.filter(({ name }) => isSame(name, path))
  if (ours.length > 1 || ours.some(({ isList }) => isList)) {
    throw refusal(`It has the table ${path.join('.')} more than once, or as a list.`)
  }
  return found
}

function toTable(content: string, line: number): Table {
  const header = /^\s*(\[\[?)(.*?)(\]\]?)\s*(?:#.*)?$/.exec(content)
  const name = header === null ? null : keysIn(header[2] ?? '')
  if (header === null || name === null || header[1]?.length !== header[3]?.length) {
    throw refusal(`Line ${line + 1} is no table of TOML.`)
  }
  return { name, line, isList: header[1] === '[[' }
}

/** Inline forms such as `mcp_servers.recollect = …` would be duplicated by a table. */
function refuseOtherSpelling(
  content: string,
  table: readonly string[],
  path: readonly string[],
  line: number,
): void {
  if (/^\s*(?:#|$)/.test(content)) return
  const name = keysIn(ASSIGNMENT.exec(content)?.[1] ?? '')
  if (name === null) throw refusal(`Line ${line + 1} is not as TOML is.`)
  const whole = [...table, ...name]
  const isAbove = whole.length < path.length && isBelow(path, whole)
  const isOurs = isBelow(whole, path) || isSame(whole, path)
  if (isAbove || (isOurs && !(isSame(table, path) || isBelow(table, path)))) {
    throw refusal(`Line ${line + 1} sets ${whole.join('.')} in a form that is not changed here.`)
  }
}

const KEY = `(?:"[^"]*"|'[^']*'|[\\w-]+)`
const ASSIGNMENT = new RegExp(`^\\s*(${KEY}(?:\\s*\\.\\s*${KEY})*)\\s*=`)

type Open = { readonly quote: '"""' | "'''" | null; readonly brackets: number }

/** A construct that is open at the end of a line: a multi-line string or an array. */
function scan(content: string, open: Open, line: number): Open {
  let { quote, brackets } = open
  let at = 0
  while (at < content.length) {
    const rest = content.slice(at)
    if (quote !== null) {
      if (rest.startsWith(quote)) {
        at += 3
        quote = null
      } else at += quote === '"""' && rest.startsWith('\\') ? 2 : 1
      continue
    }
    if (rest.startsWith('#')) break
    if (rest.startsWith('"""') || rest.startsWith("'''")) {
      quote = rest.startsWith('"') ? '"""' : "'''"
      at += 3
      continue
    }
    const text = /^(?:"(?:[^"\\]|\\.)*"|'[^']*')/.exec(rest)?.[0]
    if (text === undefined && /^["']/.test(rest)) {
      throw refusal(`A text in line ${line + 1} never ends.`)
    }
    if (/^[[{]/.test(rest)) brackets++
    if (/^[\]}]/.test(rest)) brackets--
    if (brackets < 0) throw refusal(`Line ${line + 1} closes what was never open.`)
    at += text?.length ?? 1
  }
  return { quote, brackets }
}

/** Splits `a."b c".d` into its parts; null when it is not a key. */
function keysIn(text: string): readonly string[] | null {
  const parts = text.trim().match(/"[^"]*"|'[^']*'|[\w-]+/g) ?? []
  const isWhole = parts.length > 0 && parts.join('.') === text.replaceAll(/\s*\.\s*/g, '.').trim()
  return isWhole ? parts.map((part) => part.replaceAll(/^["']|["']$/g, '')) : null
}

function keyOf(name: string): string {
  return /^[\w-]+$/.test(name) ? name : quoted(name)
}

function toLine([name, value]: readonly [string, TomlValue]): string {
  return `${keyOf(name)} = ${toToml(value)}`
}

function toToml(value: TomlValue): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map(quoted).join(', ')}]`
  const members = Object.entries(value).map(([name, each]) => `${keyOf(name)} = ${quoted(each)}`)
  return `{ ${members.join(', ')} }`
}

/** JSON string escapes are valid in TOML. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f')
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((part, at) => part === other[at])
}

function isBelow(one: readonly string[], other: readonly string[]): boolean {
  return one.length > other.length && isSame(one.slice(0, other.length), other)
}

function refusal(message: string): AppError {
  return new AppError('invalid_input', `The file can't be changed safely. ${message}`)
}
