/** Reading an owner's files, or some lines of one. */
import { AppError } from '../domain/errors.ts'
import { breaksIn, linesOf, textOfLines } from '../text/lines.ts'
import type { FileSettings } from './file-options.ts'
import type { FileRange, FileText } from './file-search.ts'
import type { FileTree } from './file-tree.ts'
import { locate, type NamedRoot } from './roots.ts'
import { readSessionLines } from './sessions/session-lines.ts'

export type ReadingParts = {
  readonly tree: FileTree
  readonly roots: readonly NamedRoot[]
  readonly settings: FileSettings
}

export async function readText(
  { tree, roots, settings }: ReadingParts,
  path: string,
  range: FileRange = {},
): Promise<FileText> {
  if (typeof path !== 'string' || path.trim() === '') throw invalid('path', 'Which file?')
  const from = parseCount('from', range.from) ?? 1
  const lines = parseCount('lines', range.lines) ?? Number.POSITIVE_INFINITY
  const found = locate(roots, path)
  if (found === null) return nothing(path, `${path} is in none of the roots.`)
  if (found.root.kind === 'sessions') {
    const told = await readSession(tree, found.root, found.path, { settings, from, lines })
    return { path, ...told }
  }
  const read = await tree.read(found.root, found.path)
  if (read.kind === 'trouble') return nothing(path, read.trouble.message)
  const { count } = linesOf(read.text)
  if (from > Math.max(1, count)) return nothing(path, `${path} has ${count} lines.`)
  const isWhole = range.from === undefined && range.lines === undefined
  return { path, text: isWhole ? read.text : textOfLines(read.text, from, lines), reason: null }
}

/** More is not told at once. */
const SESSION_CHARACTERS_MAX = 20_000_000

type Asked = {
  readonly settings: FileSettings
  readonly from: number
  readonly lines: number
}

/** What was said, without secrets, each message on the line that it has in the transcript. */
async function readSession(
  tree: FileTree,
  root: NamedRoot,
  path: string,
  { settings, from, lines }: Asked,
): Promise<Omit<FileText, 'path'>> {
  const { redactsMails: mails } = settings
  const end = from + lines
  const told: string[] = []
  let characters = 0
  let line = 1
  for (let at = 0; line < end && characters < SESSION_CHARACTERS_MAX; ) {
    const tail = await tree.readTail(root, path, at)
    if (tail === null) return { text: '', reason: `${path}: it is not there.` }
    const next = line + breaksIn(tail.text)
    const isAsked = next > from
    const said = isAsked ? readSessionLines(tail.text, { firstLine: line, mails }).messages : []
    for (const { role, text, line: number } of said) {
      if (number < from || number >= end) continue
      told[number - from] = `${role === 'user' ? 'User' : 'Assistant'}: ${text}`
      characters += text.length
    }
    line = next
    if (tail.next <= at || tail.next >= tail.sizeBytes) break
    at = tail.next
  }
  const count = line - 1
  if (from > Math.max(1, count)) return { text: '', reason: `${path} has ${count} lines.` }
  const length = Math.min(line, end) - from
  const text = Array.from({ length }, (_, index) => told[index] ?? '').join('\n')
  const isCut = line < end && characters >= SESSION_CHARACTERS_MAX
  return { text, reason: isCut ? `This is not all of it: ask for lines from ${line} on.` : null }
}

function parseCount(field: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isInteger(value) && value >= 1)) return value
  throw invalid(field, `${field} is a whole number from 1 on.`)
}

function nothing(path: string, reason: string): FileText {
  return { path, text: '', reason }
}

function invalid(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}
