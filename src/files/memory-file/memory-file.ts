/**
 * The mirror: pinned facts and identity as lines of `MEMORY.md`, between two marks. People edit those lines, memories change
 * meanwhile, and both sides are brought together by what was last written. Nothing outside of the marks is ever touched.
 *
 *     <!-- recollect:begin … -->
 *     ## Identity
 *
 *     - Ada is a marine biologist. <!-- 8Q2KD7VN -->
 *     <!-- recollect:end -->
 */
import { indexLines } from '../../text/lines.ts'

export const MEMORY_FILE = 'MEMORY.md'

/** A memory as it stands in a line. */
export type MemoryFileEntry = {
  readonly id: string
  /** The end of its id, by which its line is known. */
  readonly tag: string
  readonly text: string
  readonly isIdentity: boolean
}

export type MemoryFileLine = {
  readonly tag: string | null
  readonly text: string
  readonly isIdentity: boolean
}

/** What was last written, by tag. */
export type MemoryFileSnapshot = Readonly<Record<string, string>>

/** What people have done to the lines, as changes of memories. */
export type MemoryFileDiff = {
  readonly edits: readonly { readonly id: string; readonly text: string }[]
  /** Lines that are new, or that were changed on both sides: then the memory keeps its words beside them. */
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
  /** What is between the marks. */
  readonly inside: string
}

/** `broken`: there are marks, but not one pair of them in order, so that nobody can tell what is ours. */
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

/** The same text, line for line, with nothing where the mirror is: its lines are memories, and found as such. */
export function removeMemoryBlock(text: string): string {
  const block = findMemoryBlock(text)
  if (typeof block === 'string') return text
  const blank = text.slice(block.start, block.end).replace(/[^\r\n]/g, '')
  return text.slice(0, block.start) + blank + text.slice(block.end)
}

export function buildMemoryTag(id: string): string {
  return id.slice(-TAG_CHARACTERS)
}

/** On one line, and without what would end a comment or begin one. */
export function renderEntryText(content: string): string {
  const line = content.trim().replace(/\s+/gu, ' ')
  return line.replaceAll('<!--', '<! --').replaceAll('-->', '-- >')
}

const TITLE = /^#{1,6}[ \t]+(.*?)[ \t#]*$/
const ITEM =
  /^(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(.*?)[ \t]*(?:<!--[ \t]*([A-Za-z0-9_-]+)[ \t]*-->)?$/

/** Every line but headings and empty ones; a line without a tag is a person's own. */
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

/** What the lines say that the memories don't. `lines` is null where there is no block: then nothing was removed. */
export function diffMemoryFile(
  lines: readonly MemoryFileLine[] | null,
  base: MemoryFileSnapshot,
  memories: readonly MemoryFileEntry[],
): MemoryFileDiff {
  const byTag = new Map(memories.map((memory) => [memory.tag, memory]))
  const told = new Set(memories.map(({ text }) => text))
  const edits: { id: string; text: string }[] = []
  const added: MemoryFileLine[] = []
  const seen = new Set<string>()
  for (const line of lines ?? []) {
    // A line that was copied is a line of its own.
    const tag = line.tag === null || seen.has(line.tag) ? null : line.tag
    if (tag !== null) seen.add(tag)
    if (told.has(line.text)) continue
    const memory = tag === null ? undefined : byTag.get(tag)
    const before = tag === null ? undefined : base[tag]
    // As it was written. Whatever changed, changed on the other side.
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

/** The block, with the line ends of the file that it stands in; `own` are lines that could not become memories. */
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

/** The file with another block in the place of the one that it has, or with one at its end. */
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
