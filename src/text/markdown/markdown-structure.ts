/**
 * The structure of a Markdown text, read in one pass over its lines: headings with what stands under them, lists, tables,
 * code, HTML and front matter. It follows CommonMark where that decides where a block begins or ends, and knows nothing
 * of what stands inside of a line.
 */
import { isBlank, type LineIndex } from '../lines.ts'
import {
  BREAK_COST,
  type DocumentStructure,
  getListContentBreakCost,
  getListItemBreakCost,
  type Section,
} from './document-structure.ts'
import {
  type CodeFence,
  type Heading,
  type HtmlBlockEnd,
  hasTrailingColon,
  isClosingFence,
  isDelimiterRow,
  isHtmlBlockEnd,
  isThematicBreak,
  measureIndent,
  normalizeTitle,
  parseCodeFence,
  parseHeading,
  parseHtmlBlockStart,
  parseListItem,
  parseSetextUnderline,
  type SourceSpan,
} from './markdown-syntax.ts'

/** What the line before belongs to, if that may go on. */
type OpenBlock =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'paragraph'; readonly first: number; readonly mayBeHeading: boolean }
  | { readonly kind: 'table' }
  | { readonly kind: 'indented' }
  | { readonly kind: 'fence'; readonly fence: CodeFence }
  | OpenHtmlBlock

type OpenHtmlBlock = {
  readonly kind: 'html'
  readonly first: number
  readonly ending: HtmlBlockEnd
}

const NOTHING: OpenBlock = { kind: 'nothing' }
/** As far from the left, or farther, stands code. */
const CODE_COLUMNS = 4

export function parseMarkdownStructure(lines: LineIndex): DocumentStructure {
  return new MarkdownParser(lines).structure()
}

class MarkdownParser {
  readonly #lines: LineIndex
  readonly #cuts: Uint8Array
  readonly #sectionOf: Int32Array
  readonly #isHeading: Uint8Array
  readonly #sections: Section[] = []
  /** The number of the section that lines are in now. */
  #section = 0
  #open: OpenBlock = NOTHING
  /** How far from the left that stands which belongs to each open point of a list, outermost first. */
  #items: number[] = []
  #isAfterBlank = true
  /** The first line of the HTML that ended with the line before; null when none did. */
  #htmlAbove: number | null = null

  constructor(lines: LineIndex) {
    this.#lines = lines
    this.#cuts = new Uint8Array(lines.count)
    this.#sectionOf = new Int32Array(lines.count)
    this.#isHeading = new Uint8Array(lines.count)
  }

  structure(): DocumentStructure {
    const { text, count, starts, ends } = this.#lines
    const front = parseFrontMatter(this.#lines)
    this.#sections.push({ title: front.title, level: 0, parent: -1 })
    for (let line = 0; line < count; line++) {
      const start = starts[line] ?? 0
      const end = ends[line] ?? 0
      if (isBlank(text, start, end)) this.#readBlank(line)
      else if (line < front.lines) this.#note(line, line === 0 ? BREAK_COST.block : BREAK_COST.line)
      else this.#read(line, start, end)
    }
    return {
      breakCosts: this.#cuts,
      sectionOf: this.#sectionOf,
      isHeading: this.#isHeading,
      sections: this.#sections,
    }
  }

  #readBlank(line: number): void {
    this.#cuts[line] = BREAK_COST.never
    this.#sectionOf[line] = this.#section
    this.#isAfterBlank = true
    this.#htmlAbove = null
    const { kind } = this.#open
    const isHtmlOver = this.#open.kind === 'html' && this.#open.ending === 'blank'
    if (kind === 'paragraph' || kind === 'table' || isHtmlOver) this.#open = NOTHING
  }

  #note(line: number, cut: number): void {
    this.#cuts[line] = cut
    this.#sectionOf[line] = this.#section
    this.#isAfterBlank = false
    this.#htmlAbove = null
  }

  #read(line: number, start: number, end: number): void {
    const { columns, at } = measureIndent(this.#lines.text, start, end)
    const written = { text: this.#lines.text, start: at, end }
    if (this.#goesOn(line, written, columns)) return
    const outer = this.#outerItems(columns)
    if (columns - (this.#items[outer - 1] ?? 0) >= CODE_COLUMNS) this.#readIndented(line, outer)
    else if (!this.#readHeading(line, written, outer))
      this.#readBlock(line, written, outer, columns)
  }

  /** Code and HTML go on whatever a line looks like, until they end or a line leaves the point that they lie in. */
  #goesOn(line: number, written: SourceSpan, columns: number): boolean {
    const open = this.#open
    if (open.kind !== 'fence' && open.kind !== 'html') return false
    if (columns < (this.#items.at(-1) ?? 0)) {
      this.#open = NOTHING
      return false
    }
    if (open.kind === 'html') {
      this.#note(line, BREAK_COST.line)
      this.#endHtml(open, written)
    } else {
      this.#note(line, this.#isAfterBlank ? BREAK_COST.codeParagraph : BREAK_COST.codeLine)
      if (isClosingFence(written, open.fence)) this.#open = NOTHING
    }
    return true
  }

  #endHtml(html: OpenHtmlBlock, written: SourceSpan): void {
    if (!isHtmlBlockEnd(written, html.ending)) return
    this.#open = NOTHING
    this.#htmlAbove = html.first
  }

  /** In how many of the open points a line lies that stands so far from the left. */
  #outerItems(columns: number): number {
    let outer = this.#items.length
    while (outer > 0 && columns < (this.#items[outer - 1] ?? 0)) outer--
    return outer
  }

  #readIndented(line: number, outer: number): void {
    const { kind } = this.#open
    if (kind === 'paragraph') this.#note(line, BREAK_COST.line)
    else if (kind !== 'indented') this.#begin(line, outer, { kind: 'indented' })
    else this.#note(line, this.#isAfterBlank ? BREAK_COST.codeParagraph : BREAK_COST.codeLine)
  }

  /** Headings in lists and quotes are no sections: what stands below them is not under them. */
  #readHeading(line: number, written: SourceSpan, outer: number): boolean {
    if (outer > 0) return false
    const open = this.#open
    if (open.kind === 'paragraph' && open.mayBeHeading) {
      const level = parseSetextUnderline(written)
      if (level !== null) {
        this.#beginSection(open.first, line, { level, title: this.#titleBetween(open.first, line) })
        return true
      }
    }
    const heading = parseHeading(written)
    if (heading === null) return false
    const html = this.#htmlAbove
    this.#beginSection(html ?? line, line, heading)
    // A comment directly above a heading speaks of it.
    if (html !== null) {
      this.#isHeading.fill(0, html, line)
      this.#cuts.fill(BREAK_COST.line, html + 1, line)
      this.#cuts[line] = BREAK_COST.afterHeading
    }
    return true
  }

  #titleBetween(first: number, last: number): string {
    const { text, starts } = this.#lines
    const start = starts[first] ?? 0
    return normalizeTitle(text.slice(start, Math.min(starts[last] ?? 0, start + TITLE_READ_MAX)))
  }

  #beginSection(first: number, last: number, { level, title }: Heading): void {
    const before = this.#lineAbove(first)
    const isDirectlyBelow =
      before !== null && this.#isHeading[before] === 1 && this.#levelNow() < level
    while (this.#levelNow() >= level) this.#section = this.#sections[this.#section]?.parent ?? 0
    const isTold = level === 1 && title === this.#sections[0]?.title
    this.#sections.push({ title: isTold ? '' : title, level, parent: this.#section })
    this.#section = this.#sections.length - 1
    for (let line = first; line <= last; line++) this.#note(line, BREAK_COST.tied)
    this.#cuts[first] = isDirectlyBelow ? BREAK_COST.afterHeading : BREAK_COST.heading + level - 1
    this.#isHeading.fill(1, first, last + 1)
    this.#items.length = 0
    this.#open = NOTHING
  }

  #levelNow(): number {
    return this.#sections[this.#section]?.level ?? 0
  }

  /** The next line above that is not empty. */
  #lineAbove(line: number): number | null {
    let above = line - 1
    while (above >= 0 && this.#cuts[above] === BREAK_COST.never) above--
    return above < 0 ? null : above
  }

  #readBlock(line: number, written: SourceSpan, outer: number, columns: number): void {
    const item = isThematicBreak(written) ? null : parseListItem(written)
    const mayBegin = this.#open.kind !== 'paragraph' || outer < this.#items.length
    const fence = parseCodeFence(written)
    const ending = parseHtmlBlockStart(written)
    if (isThematicBreak(written)) this.#begin(line, outer, NOTHING)
    else if (item !== null && (mayBegin || item.mayInterrupt)) {
      this.#beginItem(line, { ...written, start: item.at }, outer, columns + item.width)
    } else if (fence !== null) this.#begin(line, outer, { kind: 'fence', fence })
    else if (ending !== null) this.#beginHtml(line, written, outer, ending)
    else if (!this.#readTable(line, written)) this.#readParagraph(line, written, outer)
  }

  #beginHtml(line: number, written: SourceSpan, outer: number, ending: HtmlBlockEnd): void {
    const html: OpenHtmlBlock = { kind: 'html', first: line, ending }
    this.#begin(line, outer, html)
    this.#endHtml(html, written)
  }

  /** A new block at this line. */
  #begin(line: number, outer: number, open: OpenBlock): void {
    const cut = outer === 0 ? this.#cutAtTop(line) : getListContentBreakCost(outer)
    this.#items.length = outer
    this.#open = open
    this.#note(line, cut)
  }

  #cutAtTop(line: number): number {
    const above = this.#lineAbove(line)
    if (above === null) return BREAK_COST.block
    if (this.#isHeading[above] === 1) return BREAK_COST.afterHeading
    const { text, starts, ends } = this.#lines
    const isAnnounced = hasTrailingColon({ text, start: starts[above] ?? 0, end: ends[above] ?? 0 })
    return isAnnounced || this.#htmlAbove !== null ? BREAK_COST.joined : BREAK_COST.block
  }

  #beginItem(line: number, words: SourceSpan, outer: number, belongsFrom: number): void {
    // The first point of a list begins a block, as far as the words above it are concerned.
    const isFirst = outer === 0 && this.#items.length === 0
    const cut = isFirst ? this.#cutAtTop(line) : getListItemBreakCost(outer)
    this.#items.length = outer
    this.#items.push(belongsFrom)
    this.#note(line, cut)
    const fence = parseCodeFence(words)
    if (fence !== null) this.#open = { kind: 'fence', fence }
    else if (words.start < words.end) {
      this.#open = { kind: 'paragraph', first: line, mayBeHeading: false }
    } else this.#open = NOTHING
  }

  #readTable(line: number, written: SourceSpan): boolean {
    const { kind } = this.#open
    if (kind === 'table') {
      this.#note(line, BREAK_COST.row)
      return true
    }
    const { text, starts, ends } = this.#lines
    const isTable =
      kind === 'paragraph' &&
      isDelimiterRow(written) &&
      text.slice(starts[line - 1], ends[line - 1]).includes('|')
    if (!isTable) return false
    // The head may stand directly below other words, which are no part of the table.
    if (this.#cuts[line - 1] === BREAK_COST.line) {
      const within = this.#items.length
      this.#cuts[line - 1] = within === 0 ? BREAK_COST.joined : getListContentBreakCost(within)
    }
    this.#open = { kind: 'table' }
    this.#note(line, BREAK_COST.tied)
    return true
  }

  #readParagraph(line: number, { text, start }: SourceSpan, outer: number): void {
    // Neither a quote nor a command of a page generator is a heading because a line is drawn below it.
    const mayBeHeading = outer === 0 && text[start] !== '>' && !text.startsWith('{{', start)
    if (this.#open.kind === 'paragraph') this.#note(line, BREAK_COST.line)
    else this.#begin(line, outer, { kind: 'paragraph', first: line, mayBeHeading })
  }
}

/** A title may stand behind many spaces. */
const TITLE_READ_MAX = 1_000

type FrontMatter = {
  /** How many lines it has; 0 when there is none. */
  readonly lines: number
  readonly title: string
}

const FRONT_MATTER_CLOSINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['---', ['---', '...']],
  ['+++', ['+++']],
])
const FRONT_MATTER_LINES_MAX = 1_000
const TITLE = /^title[ 	]{0,20}[:=][ 	]{0,20}(\S.*)$/i

/** What stands between `---` at the very beginning, or `+++`: facts for programs, with the title of the page among them. */
function parseFrontMatter({ text, count, starts, ends }: LineIndex): FrontMatter {
  const lineAt = (line: number) => text.slice(starts[line], ends[line]).trimEnd()
  const isShort = (line: number) => (ends[line] ?? 0) - (starts[line] ?? 0) <= TITLE_READ_MAX
  const closings = count > 0 && isShort(0) ? FRONT_MATTER_CLOSINGS.get(lineAt(0)) : undefined
  if (closings === undefined) return { lines: 0, title: '' }
  let title = ''
  for (let line = 1; line < Math.min(count, FRONT_MATTER_LINES_MAX); line++) {
    if (!isShort(line)) continue
    const written = lineAt(line)
    if (closings.includes(written)) return { lines: line + 1, title: normalizeTitle(title) }
    title ||= stripQuotes(TITLE.exec(written)?.[1] ?? '')
  }
  // Without an end, it is a line across and whatever stands below it.
  return { lines: 0, title: '' }
}

function stripQuotes(value: string): string {
  const quote = value[0]
  const isQuoted = (quote === '"' || quote === "'") && value.length > 1 && value.endsWith(quote)
  return isQuoted ? value.slice(1, -1) : value
}
