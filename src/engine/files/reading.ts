/** Reading an owner's files, or some lines of one. */
import { AppError } from '../../core/errors.ts'
import { linesOf, textOfLines } from '../../core/files/lines.ts'
import { readSessionLines } from '../../core/files/session-lines.ts'
import type { FileRange, FileText } from '../../ports/file-search.ts'
import type { FileTree } from '../../ports/file-tree.ts'
import { locate, type NamedRoot } from './roots.ts'
import type { FileSettings } from './settings.ts'

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
  const read =
    found.root.kind === 'sessions'
      ? await readSession(tree, found.root, found.path, settings)
      : await readNote(tree, found.root, found.path)
  if ('reason' in read) return nothing(path, read.reason)
  const text = textOfLines(read.text, from, lines)
  const { count } = linesOf(read.text)
  if (from > Math.max(1, count)) return nothing(path, `${path} has ${count} lines.`)
  return {
    path,
    text: range.from === undefined && range.lines === undefined ? read.text : text,
    reason: null,
  }
}

type Text = { readonly text: string } | { readonly reason: string }

async function readNote(tree: FileTree, root: NamedRoot, path: string): Promise<Text> {
  const read = await tree.read(root, path)
  return read.kind === 'read' ? { text: read.text } : { reason: read.trouble.message }
}

const SESSION_CHARACTERS_MAX = 20_000_000

/** What was said, without secrets, each message on the line that it has in the transcript. */
async function readSession(
  tree: FileTree,
  root: NamedRoot,
  path: string,
  { redactsMails: mails }: FileSettings,
): Promise<Text> {
  const told: string[] = []
  let line = 1
  for (let from = 0, length = 0; length < SESSION_CHARACTERS_MAX; ) {
    const tail = await tree.readTail(root, path, from)
    if (tail === null) return { reason: `${path}: it is not there.` }
    const { messages, nextLine } = readSessionLines(tail.text, { firstLine: line, mails })
    for (const { role, text, line: at } of messages) {
      told[at - 1] = `${role === 'user' ? 'User' : 'Assistant'}: ${text}`
    }
    line = nextLine
    length += tail.text.length
    if (tail.next <= from || tail.next >= tail.sizeBytes) break
    from = tail.next
  }
  return { text: Array.from({ length: line - 1 }, (_, at) => told[at] ?? '').join('\n') }
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
