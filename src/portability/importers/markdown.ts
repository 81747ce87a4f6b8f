/** Lists in Markdown: each point is a memory, with what is indented below it; headings say what it is about. */
import { sha256 } from '../../lib/hash.ts'
import { type ImportedMemory, mapCategory } from './foreign-record.ts'

const POINT = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$/
const RULE = /^[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/
const HEADING = /^(#{1,6})[ \t]+(.*?)[ \t]*#*$/
/** No heading is longer, and looking for its end in a very long line would take very long. */
const HEADING_CHARACTERS_MAX = 1_000
const FENCE = /^[ \t]*(```|~~~)/
const CHECKBOX = /^\[([ xX])\][ \t]+/
const TAB_COLUMNS = 4

type ListPoint = { readonly at: number; readonly indent: number; readonly lines: string[] }

export function* readMarkdown(text: string): Generator<ImportedMemory> {
  const headings: string[] = []
  let point: ListPoint | null = null
  let isAfterBlank = false
  let isInFence = false
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const indent = countColumns(line)
    const isFence = FENCE.test(line)
    const belongs = point !== null && (indent > point.indent || isInFence)
    if (isFence) isInFence = !isInFence
    if (line.trim() === '' && !isInFence) {
      isAfterBlank = true
      continue
    }
    const [, , said] = isFence || isInFence || RULE.test(line) ? [] : (POINT.exec(line) ?? [])
    // A line right below goes on with the point even without an indent; after an empty one it needs one.
    const goesOn =
      point !== null && (belongs || (said === undefined && !isAfterBlank && !isBlock(line)))
    if (goesOn) {
      point?.lines.push(line)
    } else {
      if (point !== null) yield toImportedMemory(point, headings)
      point = said === undefined || isFence ? null : { at: index + 1, indent, lines: [said] }
      if (!isInFence) noteHeading(headings, line)
    }
    isAfterBlank = false
  }
  if (point !== null) yield toImportedMemory(point, headings)
}

function toImportedMemory(
  { at, lines: [first = '', ...below] }: ListPoint,
  headings: readonly string[],
) {
  const checkbox = CHECKBOX.exec(first)
  const about = headings.filter((heading) => heading !== '')
  // The nearest heading says most.
  const category = mapCategory([...about].reverse())
  const content = [first.replace(CHECKBOX, ''), ...dedent(below)].join('\n').trim()
  return {
    kind: 'memory',
    system: 'markdown',
    at,
    name: sha256(content),
    content,
    ...(category === undefined ? {} : { category }),
    metadata: {
      ...(about.length === 0 ? {} : { headings: about }),
      ...(checkbox === null ? {} : { isDone: checkbox[1] !== ' ' }),
    },
  } as const satisfies ImportedMemory
}

/** What stands below a point, with the indent among themselves and none before. */
function dedent(lines: readonly string[]): readonly string[] {
  const least = Math.min(...lines.map((line) => line.length - line.trimStart().length))
  return lines.map((line) => line.slice(least).trimEnd())
}

function noteHeading(headings: string[], line: string): void {
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
