/** Reads an owner's files, or a range of lines. */
import { parseInteger } from '../domain/field-parsers.ts'
import { AppError } from '../lib/errors.ts'
import { countLineBreaks, indexLines, sliceLines } from '../text/lines.ts'
import type { FileOptions } from './file-options.ts'
import type { FileText, LineRange } from './file-search.ts'
import type { FileTree } from './file-tree.ts'
import { type NamedRoot, resolveDisplayPath } from './roots.ts'
import { parseSessionLines } from './sessions/session-lines.ts'

export type TextRangeDependencies = {
  readonly tree: FileTree
  readonly roots: readonly NamedRoot[]
  readonly settings: FileOptions
}

export async function readTextRange(
  { tree, roots, settings }: TextRangeDependencies,
  path: string,
  range: LineRange = {},
): Promise<FileText> {
  if (typeof path !== 'string' || path.trim() === '') throw invalid('path', 'Which file?')
  const from = parseCount('from', range.from) ?? 1
  const lines = parseCount('lines', range.lines) ?? Number.POSITIVE_INFINITY
  const found = resolveDisplayPath(roots, path)
  if (found === null) return emptyText(path, `${path} is in none of the roots.`)
  if (found.root.kind === 'sessions') {
    const range = await readSession(tree, found.root, found.path, { settings, from, lines })
    return { path, ...range }
  }
  const read = await tree.read(found.root, found.path)
  if (read.kind === 'trouble') return emptyText(path, read.trouble.message)
  const { count } = indexLines(read.text)
  if (from > Math.max(1, count)) return emptyText(path, `${path} has ${count} lines.`)
  const isWhole = range.from === undefined && range.lines === undefined
  return { path, text: isWhole ? read.text : sliceLines(read.text, from, lines), reason: null }
}

/** The maximum size of one answer. */
const SESSION_CHARACTERS_MAX = 20_000_000

type RequestedRange = {
  readonly settings: FileOptions
  readonly from: number
  readonly lines: number
}

/** The redacted messages of a transcript, each on its line of the transcript. */
async function readSession(
  tree: FileTree,
  root: NamedRoot,
  path: string,
  { settings, from, lines }: RequestedRange,
): Promise<Omit<FileText, 'path'>> {
  const { redactsEmails: mails } = settings
  const end = from + lines
  const texts: string[] = []
  let characters = 0
  let line = 1
  for (let at = 0; line < end && characters < SESSION_CHARACTERS_MAX; ) {
    const tail = await tree.readTail(root, path, at)
    if (tail === null) return { text: '', reason: `${path}: it is not there.` }
    const next = line + countLineBreaks(tail.text)
    const isAsked = next > from
    const messages = isAsked
      ? parseSessionLines(tail.text, { firstLine: line, emailAddresses: mails }).messages
      : []
    for (const { role, text, line: number } of messages) {
      if (number < from || number >= end) continue
      texts[number - from] = `${role === 'user' ? 'User' : 'Assistant'}: ${text}`
      characters += text.length
    }
    line = next
    if (tail.next <= at || tail.next >= tail.sizeBytes) break
    at = tail.next
  }
  const count = line - 1
  if (from > Math.max(1, count)) return { text: '', reason: `${path} has ${count} lines.` }
  const length = Math.min(line, end) - from
  const text = Array.from({ length }, (_, index) => texts[index] ?? '').join('\n')
  const isCut = line < end && characters >= SESSION_CHARACTERS_MAX
  return { text, reason: isCut ? `Truncated: continue at line ${line}.` : null }
}

function parseCount(field: string, value: number | undefined): number | undefined {
  return value === undefined ? undefined : parseInteger(field, value, 1, Number.MAX_SAFE_INTEGER)
}

function emptyText(path: string, reason: string): FileText {
  return { path, text: '', reason }
}

function invalid(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}
