/**
 * Anthropic's memory tool (`memory_20250818`), served from the folder `memory/` of a workspace, which models know as
 * `/memories`.
 *
 * Answers and errors are worded like those of Anthropic's own implementation, which models are trained on, and the
 * object fits its `betaMemoryTool`. Unlike there, replaced text may span lines, and paths with encoded traversals are
 * refused.
 */
import { AppError } from '../lib/errors.ts'
import type { FolderEntry, Workspace } from './file-tree.ts'

export type MemoryToolCommand =
  | { command: 'view'; path: string; view_range?: number[] }
  | { command: 'create'; path: string; file_text: string }
  | { command: 'str_replace'; path: string; old_str: string; new_str: string }
  | { command: 'insert'; path: string; insert_line: number; insert_text: string }
  | { command: 'delete'; path: string }
  | { command: 'rename'; old_path: string; new_path: string }

/** One method per command. Each returns a text for the model or throws an error with such a text. */
export type MemoryToolHandlers = {
  [Name in MemoryToolCommand['command']]: (
    command: Extract<MemoryToolCommand, { command: Name }>,
  ) => Promise<string>
}

const TOP = '/memories'
const FOLDER = 'memory'
const DEPTH = 2
const LINES_MAX = 999_999
const LINE_NUMBER_WIDTH = 6
/** Lines of context around a change. */
const AROUND = 2

export function createMemoryTool(workspace: Workspace): MemoryToolHandlers {
  const files = workspace.within(FOLDER)
  return {
    view: (command) => withToolErrors(() => view(files, command)),
    create: (command) => withToolErrors(() => create(files, command)),
    str_replace: (command) => withToolErrors(() => replace(files, command)),
    insert: (command) => withToolErrors(() => insert(files, command)),
    delete: (command) => withToolErrors(() => remove(files, command)),
    rename: (command) => withToolErrors(() => rename(files, command)),
  }
}

type Command<Name extends MemoryToolCommand['command']> = Parameters<MemoryToolHandlers[Name]>[0]

async function view(files: Workspace, { path, view_range: range }: Command<'view'>) {
  const name = nameOf(path)
  const entries = await files.list(name, DEPTH)
  const [entry, ...below] = entries ?? []
  // Nothing was written yet, which is an empty folder to the model.
  if (entry === undefined && name === '') return listing(path, 0, [])
  if (entry === undefined) throw createMissingError(path)
  if (entry.isFolder) return listing(path, entry.sizeBytes, relativeTo(name, below))
  const text = await files.read(name)
  if (text === null) throw createVanishedError(path)
  return content(path, text, range)
}

function listing(path: string, sizeBytes: number, entries: readonly FolderEntry[]): string {
  const shown = entries.filter((entry) => !entry.path.split('/').includes('node_modules'))
  return [
    `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`,
    `${formatSize(sizeBytes)}\t${path}`,
    ...shown.map(
      (entry) =>
        `${formatSize(entry.sizeBytes)}\t${path}/${entry.path}${entry.isFolder ? '/' : ''}`,
    ),
  ].join('\n')
}

function relativeTo(folder: string, entries: readonly FolderEntry[]): readonly FolderEntry[] {
  const start = folder === '' ? 0 : folder.length + 1
  return entries.map((entry) => ({ ...entry, path: entry.path.slice(start) }))
}

function content(path: string, text: string, range: readonly number[] | undefined): string {
  const lines = text.split('\n')
  if (lines.length > LINES_MAX) {
    throw createRefusal(
      `File ${path} has too many lines (${lines.length}). Maximum is ${LINES_MAX.toLocaleString('en-US')} lines.`,
    )
  }
  const [first = 1, last = -1] = range?.length === 2 ? range : []
  const start = Math.max(1, first) - 1
  const shown = lines.slice(start, last === -1 ? lines.length : last)
  return `Here's the content of ${path} with line numbers:\n${numberLines(shown, start)}`
}

async function create(files: Workspace, { path, file_text: text }: Command<'create'>) {
  const name = nameOf(path)
  checkText('file_text', text)
  if (name === '' || !(await files.create(name, text))) {
    throw new AppError('conflict', `File ${path} already exists`)
  }
  return `File created successfully at: ${path}`
}

async function replace(files: Workspace, command: Command<'str_replace'>) {
  const { path, old_str: from, new_str: to = '' } = command
  checkText('old_str', from)
  checkText('new_str', to)
  return edit(files, path, (text) => {
    const found = listMatchingLines(text, from)
    const [line] = found
    if (line === undefined) {
      throw createRefusal(
        `No replacement was performed, old_str \`${from}\` did not appear verbatim in ${path}.`,
      )
    }
    if (found.length > 1) {
      throw createRefusal(
        `No replacement was performed. Multiple occurrences of old_str \`${from}\` in lines: ${found.join(', ')}. Please ensure it is unique`,
      )
    }
    const changed = text.replace(from, () => to)
    return { text: changed, answer: snippet(changed, line) }
  })
}

/** The line numbers of its occurrences; of a multi-line text, the first lines. */
function listMatchingLines(text: string, wanted: string): readonly number[] {
  if (!wanted.includes('\n')) {
    return text.split('\n').flatMap((line, index) => (line.includes(wanted) ? [index + 1] : []))
  }
  const found: number[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    found.push(text.slice(0, at).split('\n').length)
  }
  return found
}

function snippet(text: string, line: number): string {
  const start = Math.max(0, line - 1 - AROUND)
  const shown = text.split('\n').slice(start, line + AROUND)
  return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${numberLines(shown, start)}`
}

async function insert(files: Workspace, command: Command<'insert'>) {
  const { path, insert_line: line, insert_text: added } = command
  checkText('insert_text', added)
  return edit(files, path, (text) => {
    const lines = text.split('\n')
    if (!(line >= 0 && line <= lines.length)) {
      throw createRefusal(
        `Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${lines.length}]`,
      )
    }
    lines.splice(line, 0, added.replace(/\n$/, ''))
    return { text: lines.join('\n'), answer: `The file ${path} has been edited.` }
  })
}

type Edit = { readonly text: string; readonly answer: string }

/** Reads and writes under the lock, so that no concurrent edit is lost. */
async function edit(files: Workspace, path: string, decide: (text: string) => Edit) {
  const name = nameOf(path)
  const [entry] = (await files.list(name, 0)) ?? []
  if (entry === undefined && name !== '') throw createMissingError(path)
  if (entry === undefined || entry.isFolder) throw createRefusal(`The path ${path} is not a file.`)
  let answer = ''
  await files.update(name, (text) => {
    if (text === null) throw createVanishedError(path)
    const decided = decide(text)
    answer = decided.answer
    return decided.text
  })
  return answer
}

async function remove(files: Workspace, { path }: Command<'delete'>) {
  const name = nameOf(path)
  if (name === '') throw createRefusal(`Cannot delete the ${TOP} directory itself`)
  if (!(await files.remove(name))) throw createNotFoundError(path)
  return `Successfully deleted ${path}`
}

async function rename(files: Workspace, { old_path: from, new_path: to }: Command<'rename'>) {
  const [oldName, newName] = [nameOf(from), nameOf(to)]
  if (oldName === '') throw createRefusal(`Cannot rename the ${TOP} directory itself`)
  const outcome = newName === '' ? 'taken' : await files.rename(oldName, newName)
  if (outcome === 'taken') {
    throw new AppError('conflict', `The destination ${to} already exists`)
  }
  if (outcome === 'missing') throw createNotFoundError(from)
  return `Successfully renamed ${from} to ${to}`
}

/** Resolves a path in the workspace. `..` is allowed as long as it stays inside. */
function nameOf(path: unknown): string {
  if (typeof path !== 'string' || !path.startsWith(TOP)) {
    throw createRefusal(`Path must start with ${TOP}, got: ${path}`)
  }
  const parts = [TOP]
  for (const part of path.slice(TOP.length).split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(parts.length === 0 ? `/${part}` : part)
    else if (parts.pop() === undefined) throw createEscapeError(path)
  }
  const [top, ...below] = parts
  if (top !== TOP) throw createEscapeError(path)
  const name = below.join('/')
  if (/[\0\\]/.test(name) || hasParentSegments(name)) throw createEscapeError(path)
  return name
}

/** Percent-encoded traversals and separators, which a later decoding would follow. */
function hasParentSegments(name: string): boolean {
  const decoded = name.replace(/%(?:25)*(2e|2f|5c|00)/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  return decoded !== name && (/[\0\\]/.test(decoded) || decoded.split('/').includes('..'))
}

function numberLines(lines: readonly string[], start: number): string {
  return lines
    .map((line, index) => `${String(start + index + 1).padStart(LINE_NUMBER_WIDTH)}\t${line}`)
    .join('\n')
}

const UNITS = ['B', 'K', 'M', 'G', 'T']

function formatSize(bytes: number): string {
  let [size, unit] = [bytes, 0]
  while (size >= 1_024 && unit < UNITS.length - 1) {
    size /= 1_024
    unit++
  }
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${UNITS[unit]}`
}

/** Models send any JSON. */
function checkText(field: string, value: unknown): void {
  if (typeof value === 'string') return
  throw new AppError('invalid_input', `\`${field}\` must be a text.`, { field })
}

/** Words an escaping link as the tool does. */
async function withToolErrors(work: () => Promise<string>): Promise<string> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && error.facts.reason === 'link') {
      throw createRefusal(`Path would escape ${TOP} directory via symlink`)
    }
    throw error
  }
}

function createRefusal(message: string): AppError {
  return new AppError('invalid_input', message)
}

function createEscapeError(path: string): AppError {
  return createRefusal(`Path ${path} would escape ${TOP} directory`)
}

function createMissingError(path: string): AppError {
  return new AppError('not_found', `The path ${path} does not exist. Please provide a valid path.`)
}

function createNotFoundError(path: string): AppError {
  return new AppError('not_found', `The path ${path} does not exist`)
}

function createVanishedError(path: string): AppError {
  return new AppError(
    'not_found',
    `The file ${path} no longer exists (may have been deleted or renamed concurrently).`,
  )
}
