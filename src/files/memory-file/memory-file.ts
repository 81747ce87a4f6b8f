/**
 * Pinned facts and identity as lines of `MEMORY.md`, between two marks. People edit the lines while memories change; a
 * three-way merge with the last written state combines both. Text outside of the marks is never changed.
 *
 *     <!-- recollect:begin … -->
 *     ## Identity
 *
 *     - Ada is a marine biologist. <!-- 8Q2KD7VN -->
 *     <!-- recollect:end -->
 */
import { indexLines } from '../../text/lines.ts'

export const MEMORY_FILE = 'MEMORY.md'

/** A memory in the block. */
export type MemoryFileEntry = {
  readonly id: string
  /** The end of its id, which identifies its line. */
  readonly tag: string
  readonly text: string
  readonly isIdentity: boolean
}

export type MemoryFileLine = {
  readonly tag: string | null
  readonly text: string
  readonly isIdentity: boolean
}

/** The last written lines by tag. */
export type MemoryFileSnapshot = Readonly<Record<string, string>>

/** Changes of memories that result from edited lines. */
export type MemoryFileDiff = {
  readonly edits: readonly { readonly id: string; readonly text: string }[]
  /**
   * New lines, and lines that changed on both sides: then the memory keeps its text and the line becomes another
   * memory.
   */
  readonly added: readonly MemoryFileLine[]
  readonly removed: readonly MemoryFileEntry[]
}

const BEGIN =
  '<!-- recollect:begin What you change between these two marks becomes a change of the memories. -->'
const END = '<!-- recollect:end -->'
const BEGIN_MARK = /^[ \t]*<!-- recollect:begin\b[^\r\n]*-->[ \t]*$/gm
const END_MARK = /^[ \t]*<!-- recollect:end\b[^\r\n]*-->[ \t]*$/gm
const IDENTITY_TITLE = 'Identity'
const FACTS_TITLE = 'Pinned'
const TAG_CHARACTERS = 8

export type MemoryFileBlock = {
  readonly start: number
  readonly end: number
  /** The text between the marks. */
  readonly inside: string
}

/** `broken`: the marks are not exactly one ordered pair, so the block is unknown. */
export type MemoryFileBlockMatch = MemoryFileBlock | 'none' | 'broken'

export function findMemoryBlock(text: string): MemoryFileBlockMatch {
  const begins = [...text.matchAll(BEGIN_MARK)]
  const ends = [...text.matchAll(END_MARK)]
  if (begins.length === 0 && ends.length === 0) return 'none'
  const [begin, end] = [begins[0], ends[0]]
  const isPair = begins.length === 1 && ends.length === 1 && begin !== undefined
  if (!isPair || end === undefined || end.index < begin.index) return 'broken'
  const inside = text.slice(begin.index + begin[0].length, end.index)
  return { start: begin.index, end: end.index + end[0].length, inside }
}

/** Blanks the block, keeping line numbers: its lines are memories and are found as such. */
export function removeMemoryBlock(text: string): string {
  const block = findMemoryBlock(text)
  if (typeof block === 'string') return text
  const blank = text.slice(block.start, block.end).replace(/[^\r\n]/g, '')
  return text.slice(0, block.start) + blank + text.slice(block.end)
}

export function buildMemoryTag(id: string): string {
  return id.slice(-TAG_CHARACTERS)
}

/** On one line, without comment delimiters. */
export function renderEntryText(content: string): string {
  const line = content.trim().replace(/\s+/gu, ' ')
  return line.replaceAll('<!--', '<! --').replaceAll('-->', '-- >')
}

const TITLE = /^#{1,6}[ \t]+(.*?)[ \t#]*$/
const ITEM =
  /^(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(.*?)[ \t]*(?:<!--[ \t]*([A-Za-z0-9_-]+)[ \t]*-->)?$/

/** All lines except headings and empty ones; a line without a tag is new. */
export function parseMemoryBlock(inside: string): readonly MemoryFileLine[] {
  const { text, starts, ends, count } = indexLines(inside)
  const lines: MemoryFileLine[] = []
  let isIdentity = false
  for (let line = 0; line < count; line++) {
    const words = text.slice(starts[line], ends[line]).trim()
    const title = TITLE.exec(words)
    if (title !== null) isIdentity = title[1]?.trim().toLowerCase() === IDENTITY_TITLE.toLowerCase()
    const [, item = '', tag = null] = title === null ? (ITEM.exec(words) ?? []) : []
    if (item !== '') lines.push({ tag, text: item, isIdentity })
  }
  return lines
}

/** Changes of the lines relative to the memories. `lines` is null without a block: then nothing was removed. */
export function diffMemoryFile(
  lines: readonly MemoryFileLine[] | null,
  base: MemoryFileSnapshot,
  memories: readonly MemoryFileEntry[],
): MemoryFileDiff {
  const byTag = new Map(memories.map((memory) => [memory.tag, memory]))
  const known = new Set(memories.map(({ text }) => text))
  const edits: { id: string; text: string }[] = []
  const added: MemoryFileLine[] = []
  const seen = new Set<string>()
  for (const line of lines ?? []) {
    // A copied line is a new line.
    const tag = line.tag === null || seen.has(line.tag) ? null : line.tag
    if (tag !== null) seen.add(tag)
    if (known.has(line.text)) continue
    const memory = tag === null ? undefined : byTag.get(tag)
    const before = tag === null ? undefined : base[tag]
    // Unchanged here: the change is on the memory's side.
    if (line.text === before) continue
    if (memory !== undefined && memory.text === before) {
      edits.push({ id: memory.id, text: line.text })
    } else added.push(line)
  }
  const removed = memories.filter(
    ({ tag, text }) => lines !== null && !seen.has(tag) && base[tag] === text,
  )
  return { edits, added, removed }
}

/** Renders the block with the line ends of its file; `own` are lines that could not become memories. */
export function renderMemoryBlock(
  memories: readonly MemoryFileEntry[],
  own: readonly MemoryFileLine[],
  lineEnd: string,
): string {
  const section = (title: string, isIdentity: boolean) => {
    const lines = [
      ...memories
        .filter((memory) => memory.isIdentity === isIdentity)
        .map(({ text, tag }) => `- ${text} <!-- ${tag} -->`),
      ...own.filter((line) => line.isIdentity === isIdentity).map(({ text }) => `- ${text}`),
    ]
    return lines.length === 0 ? [] : [`## ${title}`, '', ...lines, '']
  }
  return [BEGIN, ...section(IDENTITY_TITLE, true), ...section(FACTS_TITLE, false), END].join(
    lineEnd,
  )
}

/** Replaces the block of the file, or appends one. */
export function replaceMemoryBlock(text: string, block: string): string {
  const found = findMemoryBlock(text)
  if (found === 'broken') return text
  if (found !== 'none') return text.slice(0, found.start) + block + text.slice(found.end)
  const lineEnd = detectLineEnding(text)
  if (text === '') return block + lineEnd
  const gap = text.endsWith('\n') ? lineEnd : lineEnd + lineEnd
  return text + gap + block + lineEnd
}

export function detectLineEnding(text: string): string {
  return /\r\n/.test(text) ? '\r\n' : '\n'
}
