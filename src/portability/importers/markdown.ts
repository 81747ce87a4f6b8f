/** Markdown lists: each list item with its indented block becomes a memory, headings become its category. */
import { sha256 } from '../../lib/hash.ts'
import { type ImportedMemory, mapCategory } from './foreign-record.ts'

const ITEM = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$/
const RULE = /^[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/
const HEADING = /^(#{1,6})[ \t]+(.*?)[ \t]*#*$/
/** Matching a heading in a very long line would take very long. */
const HEADING_CHARACTERS_MAX = 1_000
const FENCE = /^[ \t]*(```|~~~)/
const CHECKBOX = /^\[([ xX])\][ \t]+/
const TAB_COLUMNS = 4

type ListItem = { readonly at: number; readonly indent: number; readonly lines: string[] }

export function* readMarkdown(text: string): Generator<ImportedMemory> {
  const headings: string[] = []
  let item: ListItem | null = null
  let isAfterBlank = false
  let isInFence = false
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const indent = countColumns(line)
    const isFence = FENCE.test(line)
    const isNested = item !== null && (indent > item.indent || isInFence)
    if (isFence) isInFence = !isInFence
    if (line.trim() === '' && !isInFence) {
      isAfterBlank = true
      continue
    }
    const [, , text] = isFence || isInFence || RULE.test(line) ? [] : (ITEM.exec(line) ?? [])
    // A directly following line continues the item without an indent; after a blank line it needs one.
    const continues =
      item !== null && (isNested || (text === undefined && !isAfterBlank && !isBlock(line)))
    if (continues) {
      item?.lines.push(line)
    } else {
      if (item !== null) yield toImportedMemory(item, headings)
      item = text === undefined || isFence ? null : { at: index + 1, indent, lines: [text] }
      if (!isInFence) updateHeadings(headings, line)
    }
    isAfterBlank = false
  }
  if (item !== null) yield toImportedMemory(item, headings)
}

function toImportedMemory(
  { at, lines: [first = '', ...below] }: ListItem,
  headings: readonly string[],
) {
  const checkbox = CHECKBOX.exec(first)
  const sections = headings.filter((heading) => heading !== '')
  // The nearest heading is the most specific one.
  const category = mapCategory([...sections].reverse())
  const content = [first.replace(CHECKBOX, ''), ...dedent(below)].join('\n').trim()
  return {
    kind: 'memory',
    system: 'markdown',
    at,
    name: sha256(content),
    content,
    ...(category === undefined ? {} : { category }),
    metadata: {
      ...(sections.length === 0 ? {} : { headings: sections }),
      ...(checkbox === null ? {} : { isDone: checkbox[1] !== ' ' }),
    },
  } as const satisfies ImportedMemory
}

/** Removes the common indent. */
function dedent(lines: readonly string[]): readonly string[] {
  const indent = Math.min(...lines.map((line) => line.length - line.trimStart().length))
  return lines.map((line) => line.slice(indent).trimEnd())
}

function updateHeadings(headings: string[], line: string): void {
  const [, marks, title] = parseHeading(line) ?? []
  if (marks === undefined) return
  headings.length = Math.min(headings.length, marks.length - 1)
  while (headings.length < marks.length - 1) headings.push('')
  headings.push(title ?? '')
}

function parseHeading(line: string): RegExpExecArray | null {
  return line.length > HEADING_CHARACTERS_MAX ? null : HEADING.exec(line)
}

function isBlock(line: string): boolean {
  return parseHeading(line) !== null || RULE.test(line) || FENCE.test(line)
}

function countColumns(line: string): number {
  let count = 0
  for (const character of line) {
    if (character === ' ') count++
    else if (character === '\t') count += TAB_COLUMNS - (count % TAB_COLUMNS)
    else break
  }
  return count
}
