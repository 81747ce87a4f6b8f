/** Parses the output of `qmd` leniently: versions differ, and progress or warnings surround the result. Pure. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../lib/errors.ts'
import { getField, isList, parseJson } from '../../lib/json.ts'
import { STOP_WORDS } from '../../text/search/stopwords.ts'
import { trimLoneSurrogate } from '../../text/well-formed-text.ts'

export type QmdHit = {
  /** As printed: `qmd://notes/tea.md`, `notes/tea.md` or an absolute path; null without one. */
  readonly file: string | null
  /** The hash prefix of a document; null without one. */
  readonly documentId: string | null
  /** 0 … 1. */
  readonly score: number
  /** From 1, inclusive. */
  readonly firstLine: number
  readonly lastLine: number
}

export type QmdCollectionListing = {
  readonly name: string
  /** Null where `qmd` prints none. */
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

/** Whether `qmd` rejected an option or command. */
export function isUnknownOptionError(text: string): boolean {
  return UNKNOWN_FLAG.test(text)
}

/** The first JSON array of objects in a text, or an empty array; null without one. */
function findList(text: string): readonly unknown[] | null {
  for (let start = text.indexOf('['); start >= 0; start = text.indexOf('[', start + 1)) {
    const end = endOfList(text, start)
    if (end === null) continue
    const list = parseList(text.slice(start, end))
    if (list?.every((item) => typeof item === 'object' && item !== null)) return list
  }
  return null
}

/** The index after the bracket that closes the one at `start`; brackets in strings do not count. */
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

/** From the header of the snippet, which looks like a diff's; else the number of lines in the snippet. */
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

/** A JSON list of names or objects, or the list printed for people. */
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

/** The counts of an update per collection; empty where `qmd` prints none. */
export function parseUpdate(output: string): readonly QmdUpdateReport[] {
  const reports: QmdUpdateReport[] = []
  let collection: string | null = null
  for (const line of output.replace(COLOURS, '').split('\n')) {
    collection = UPDATE_LINE.exec(line)?.[1] ?? collection
    const counts = COUNTS_LINE.exec(line)
    if (counts === null) continue
    const [added = 0, changed = 0, unchanged = 0, removed = 0] = counts.slice(1).map(Number)
    reports.push({ collection, added, changed, unchanged, removed })
  }
  return reports
}

const DOCID = /^[0-9a-f]{6,64}$/i

export async function findFilesByDocumentId(
  home: string,
  docids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const path = join(home, 'cache', 'qmd', 'index.sqlite')
  const wanted = docids.filter((docid) => DOCID.test(docid))
  if (wanted.length === 0 || !existsSync(path)) return new Map()
  const { DatabaseSync } = await import('@photostructure/sqlite')
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: 200 })
    try {
      const select = database.prepare(
        'SELECT collection, path FROM documents WHERE active = 1 AND substr(hash, 1, ?) = ? LIMIT 1',
      )
      const found = wanted.flatMap((docid): readonly (readonly [string, string])[] => {
        const row = select.get(docid.length, docid.toLowerCase()) as Row | undefined // as selected
        return row === undefined ? [] : [[docid, `${row.collection}/${row.path}`]]
      })
      return new Map(found)
    } finally {
      database.close()
    }
  } catch {
    return new Map()
  }
}

type Row = { readonly collection: string; readonly path: string }

/** `search` is lexical, `vsearch` uses vectors, `query` combines both with a reranking model. */
const QMD_MODES = ['search', 'vsearch', 'query'] as const
export type QmdMode = (typeof QMD_MODES)[number]

const QUERY_CHARACTERS_MAX = 1_000
const TYPED_LINE = /^(lex|vec|hyde|expand|intent):/i
const AROUND_WORD = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu

/** Removes line breaks, quotes, leading minuses and search prefixes. */
export function toPlainQuery(text: string, mode: QmdMode): string {
  const plain = text
    .replace(/[\p{C}\s"]+/gu, ' ')
    .replace(/(^|\s)-+/g, '$1')
    .trim()
    .replace(TYPED_LINE, '$1 ')
  const terms = mode === 'search' ? selectContentTerms(plain) : plain
  return trimLoneSurrogate(terms.slice(0, QUERY_CHARACTERS_MAX)).trim()
}

/** `qmd` requires all terms, so stop words would hide relevant files. */
function selectContentTerms(text: string): string {
  const words = text.split(' ').map((word) => word.replace(AROUND_WORD, ''))
  const some = words.filter((word) => word !== '')
  const rest = some.filter((word) => !STOP_WORDS.has(word.toLowerCase().replace(/['’]/g, '')))
  return (rest.length > 0 ? rest : some).join(' ')
}

/** The query follows `--`, so it cannot become an option. */
export function buildSearchArguments(
  mode: QmdMode,
  query: string,
  limit: number,
  collections: readonly { readonly name: string }[],
): readonly string[] {
  const among = collections.flatMap(({ name }) => ['-c', name])
  return [mode, '--json', '-n', String(limit), ...among, '--', query]
}
