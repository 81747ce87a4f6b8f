/** What `qmd` prints, read loosely: versions differ, and progress or warnings may stand around what was asked for. Pure. */
import { AppError } from '../../lib/errors.ts'
import { getField, isList, parseJson } from '../../lib/json.ts'

export type QmdHit = {
  /** As printed: `qmd://notes/tea.md`, `notes/tea.md` or a path of the machine; null when there is none. */
  readonly file: string | null
  /** The beginning of a document's hash; null when there is none. */
  readonly documentId: string | null
  /** 0 … 1. */
  readonly score: number
  /** From 1, inclusive. */
  readonly firstLine: number
  readonly lastLine: number
}

export type QmdCollectionListing = {
  readonly name: string
  /** Null where it is not told. */
  readonly path: string | null
  readonly pattern: string | null
}

export type QmdUpdateReport = {
  readonly collection: string | null
  readonly added: number
  readonly changed: number
  readonly unchanged: number
  readonly removed: number
}

const COLOURS = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007]*\u0007/g
const NOTHING_FOUND = /^\s*no results(?: found)?\b/im

export function parseHits(output: string): readonly QmdHit[] {
  const text = output.replace(COLOURS, '')
  const list = findList(text)
  if (list !== null) return list.flatMap(toHit)
  if (NOTHING_FOUND.test(text)) return []
  throw new AppError('unavailable', 'qmd answered with something that is no list of results.')
}

export function isNoResultsOutput(text: string): boolean {
  return NOTHING_FOUND.test(text.replace(COLOURS, ''))
}

const UNKNOWN_FLAG =
  /\b(?:unknown|unrecogni[sz]ed|unexpected|invalid)\s+(?:flag|option|argument|command)\b/i

/** Whether it complains that it doesn't know what it is asked. */
export function isUnknownOptionError(text: string): boolean {
  return UNKNOWN_FLAG.test(text)
}

/** The first list of objects in a text, or an empty list; null when there is none. */
function findList(text: string): readonly unknown[] | null {
  for (let start = text.indexOf('['); start >= 0; start = text.indexOf('[', start + 1)) {
    const end = endOfList(text, start)
    if (end === null) continue
    const list = parseList(text.slice(start, end))
    if (list?.every((item) => typeof item === 'object' && item !== null)) return list
  }
  return null
}

/** Behind the bracket that closes the one at `start`; brackets in strings don't count. */
function endOfList(text: string, start: number): number | null {
  let depth = 0
  let isString = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (isString && character === '\\') at++
    else if (character === '"') isString = !isString
    else if (isString) continue
    else if (character === '[') depth++
    else if (character === ']' && --depth === 0) return at + 1
  }
  return null
}

function parseList(text: string): readonly unknown[] | null {
  const value = parseJson(text)
  return isList(value) ? value : null
}

function toHit(item: unknown): readonly QmdHit[] {
  const file = textOf(item, ['file', 'path', 'filepath', 'uri'])
  const docid = textOf(item, ['docid', 'hash', 'id'])?.replace(/^#/, '') ?? null
  if (file === null && docid === null) return []
  const score = Number(getField(item, 'score') ?? 0)
  return [
    {
      file,
      documentId: docid,
      score: Number.isFinite(score) ? Math.min(1, Math.max(0, score)) : 0,
      ...linesOf(item),
    },
  ]
}

const DIFF_HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))?/

/** From the header of the snippet, which looks like that of a diff; else as many lines as the snippet has. */
function linesOf(item: unknown): { readonly firstLine: number; readonly lastLine: number } {
  const snippet = textOf(item, ['snippet', 'body', 'text', 'content']) ?? ''
  const [, start, count = '1'] = DIFF_HEADER.exec(snippet.trimStart()) ?? []
  if (start !== undefined) {
    const firstLine = Math.max(1, Number(start))
    return { firstLine, lastLine: firstLine + Math.max(1, Number(count)) - 1 }
  }
  const line = getField(item, 'line')
  const firstLine = typeof line === 'number' && Number.isInteger(line) && line >= 1 ? line : 1
  return { firstLine, lastLine: firstLine + snippet.trimEnd().split('\n').length - 1 }
}

function textOf(item: unknown, names: readonly string[]): string | null {
  for (const name of names) {
    const value = getField(item, name)
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

/** A list of names or of objects as JSON, or the list that is printed for people. */
export function parseCollections(output: string): readonly QmdCollectionListing[] {
  const text = output.replace(COLOURS, '')
  const list = parseList(text.trim()) ?? findList(text)
  return list === null ? parseCollectionText(text) : list.flatMap(toCollection)
}

function toCollection(item: unknown): readonly QmdCollectionListing[] {
  if (typeof item === 'string') return [{ name: item, path: null, pattern: null }]
  const name = textOf(item, ['name'])
  if (name === null) return []
  const pattern = textOf(item, ['pattern', 'mask'])
  return [{ name, path: textOf(item, ['path']), pattern }]
}

const COLLECTION_LINE = /^(\S+) \(qmd:\/\/[^)]*\)/
const PATTERN_LINE = /^\s+Pattern:\s+(.+?)\s*$/

function parseCollectionText(text: string): readonly QmdCollectionListing[] {
  const found: { name: string; path: null; pattern: string | null }[] = []
  for (const line of text.split('\n')) {
    const name = COLLECTION_LINE.exec(line)?.[1]
    if (name !== undefined) found.push({ name, path: null, pattern: null })
    const last = found.at(-1)
    if (last !== undefined) last.pattern ??= PATTERN_LINE.exec(line)?.[1] ?? null
  }
  return found
}

const UPDATE_LINE = /^\s*\[\d+\/\d+\]\s+(\S+)/
const COUNTS_LINE = /^\s*Indexed:\s+(\d+) new,\s+(\d+) updated,\s+(\d+) unchanged,\s+(\d+) removed/i

/** What an update tells of each collection; nothing where it tells nothing. */
export function parseUpdate(output: string): readonly QmdUpdateReport[] {
  const told: QmdUpdateReport[] = []
  let collection: string | null = null
  for (const line of output.replace(COLOURS, '').split('\n')) {
    collection = UPDATE_LINE.exec(line)?.[1] ?? collection
    const counts = COUNTS_LINE.exec(line)
    if (counts === null) continue
    const [added = 0, changed = 0, unchanged = 0, removed = 0] = counts.slice(1).map(Number)
    told.push({ collection, added, changed, unchanged, removed })
  }
  return told
}
