/**
 * Parses the block structure of Markdown in one pass over its lines: sections, lists, tables, code, HTML and front matter.
 * It follows CommonMark where that decides where a block begins or ends, and ignores inline syntax.
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

/** The block of the previous line, if it may continue. */
type OpenBlock =
  | { readonly kind: 'none' }
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

const NO_BLOCK: OpenBlock = { kind: 'none' }
/** The indent of indented code. */
const CODE_COLUMNS = 4

export function parseMarkdownStructure(lines: LineIndex): DocumentStructure {
  return new MarkdownParser(lines).parse()
}

class MarkdownParser {
  readonly #lines: LineIndex
  readonly #breakCosts: Uint8Array
  readonly #sectionOf: Int32Array
  readonly #isHeading: Uint8Array
  readonly #sections: Section[] = []
  /** The index of the current section. */
  #section = 0
  #open: OpenBlock = NO_BLOCK
  /** The content indent of each open list item, outermost first. */
  #items: number[] = []
  #isAfterBlank = true
  /** The first line of the HTML block that ended with the previous line; null when none did. */
  #precedingHtml: number | null = null

  constructor(lines: LineIndex) {
    this.#lines = lines
    this.#breakCosts = new Uint8Array(lines.count)
    this.#sectionOf = new Int32Array(lines.count)
    this.#isHeading = new Uint8Array(lines.count)
  }

  parse(): DocumentStructure {
    const { text, count, starts, ends } = this.#lines
    const front = parseFrontMatter(this.#lines)
    this.#sections.push({ title: front.title, level: 0, parent: -1 })
    for (let line = 0; line < count; line++) {
      const start = starts[line] ?? 0
      const end = ends[line] ?? 0
      if (isBlank(text, start, end)) this.#readBlank(line)
      else if (line < front.lines)
        this.#addLine(line, line === 0 ? BREAK_COST.block : BREAK_COST.line)
      else this.#read(line, start, end)
    }
    return {
      breakCosts: this.#breakCosts,
      sectionOf: this.#sectionOf,
      isHeading: this.#isHeading,
      sections: this.#sections,
    }
  }

  #readBlank(line: number): void {
    this.#breakCosts[line] = BREAK_COST.never
    this.#sectionOf[line] = this.#section
    this.#isAfterBlank = true
    this.#precedingHtml = null
    const { kind } = this.#open
    const endsHtml = this.#open.kind === 'html' && this.#open.ending === 'blank'
    if (kind === 'paragraph' || kind === 'table' || endsHtml) this.#open = NO_BLOCK
  }

  #addLine(line: number, cost: number): void {
    this.#breakCosts[line] = cost
    this.#sectionOf[line] = this.#section
    this.#isAfterBlank = false
    this.#precedingHtml = null
  }

  #read(line: number, start: number, end: number): void {
    const { columns, at } = measureIndent(this.#lines.text, start, end)
    const span = { text: this.#lines.text, start: at, end }
    if (this.#continueRawBlock(line, span, columns)) return
    const outer = this.#countEnclosingItems(columns)
    if (columns - (this.#items[outer - 1] ?? 0) >= CODE_COLUMNS) this.#readIndented(line, outer)
    else if (!this.#readHeading(line, span, outer)) this.#readBlock(line, span, outer, columns)
  }

  /** Code and HTML continue on any line, until they end or a line leaves their list item. */
  #continueRawBlock(line: number, span: SourceSpan, columns: number): boolean {
    const open = this.#open
    if (open.kind !== 'fence' && open.kind !== 'html') return false
    if (columns < (this.#items.at(-1) ?? 0)) {
      this.#open = NO_BLOCK
      return false
    }
    if (open.kind === 'html') {
      this.#addLine(line, BREAK_COST.line)
      this.#endHtml(open, span)
    } else {
      this.#addLine(line, this.#isAfterBlank ? BREAK_COST.codeParagraph : BREAK_COST.codeLine)
      if (isClosingFence(span, open.fence)) this.#open = NO_BLOCK
    }
    return true
  }

  #endHtml(html: OpenHtmlBlock, span: SourceSpan): void {
    if (!isHtmlBlockEnd(span, html.ending)) return
    this.#open = NO_BLOCK
    this.#precedingHtml = html.first
  }

  /** The number of open list items that a line with this indent belongs to. */
  #countEnclosingItems(columns: number): number {
    let outer = this.#items.length
    while (outer > 0 && columns < (this.#items[outer - 1] ?? 0)) outer--
    return outer
  }

  #readIndented(line: number, outer: number): void {
    const { kind } = this.#open
    if (kind === 'paragraph') this.#addLine(line, BREAK_COST.line)
    else if (kind !== 'indented') this.#begin(line, outer, { kind: 'indented' })
    else this.#addLine(line, this.#isAfterBlank ? BREAK_COST.codeParagraph : BREAK_COST.codeLine)
  }

  /** Headings in lists and quotes begin no section: the text after the list is not under them. */
  #readHeading(line: number, span: SourceSpan, outer: number): boolean {
    if (outer > 0) return false
    const open = this.#open
    if (open.kind === 'paragraph' && open.mayBeHeading) {
      const level = parseSetextUnderline(span)
      if (level !== null) {
        this.#beginSection(open.first, line, { level, title: this.#titleBetween(open.first, line) })
        return true
      }
    }
    const heading = parseHeading(span)
    if (heading === null) return false
    const html = this.#precedingHtml
    this.#beginSection(html ?? line, line, heading)
    // A comment directly above a heading belongs to it.
    if (html !== null) {
      this.#isHeading.fill(0, html, line)
      this.#breakCosts.fill(BREAK_COST.line, html + 1, line)
      this.#breakCosts[line] = BREAK_COST.afterHeading
    }
    return true
  }

  #titleBetween(first: number, last: number): string {
    const { text, starts } = this.#lines
    const start = starts[first] ?? 0
    return normalizeTitle(text.slice(start, Math.min(starts[last] ?? 0, start + TITLE_READ_MAX)))
  }

  #beginSection(first: number, last: number, { level, title }: Heading): void {
    const above = this.#findLineAbove(first)
    const isDirectlyBelow =
      above !== null && this.#isHeading[above] === 1 && this.#currentLevel() < level
    while (this.#currentLevel() >= level) this.#section = this.#sections[this.#section]?.parent ?? 0
    const isDocumentTitle = level === 1 && title === this.#sections[0]?.title
    this.#sections.push({ title: isDocumentTitle ? '' : title, level, parent: this.#section })
    this.#section = this.#sections.length - 1
    for (let line = first; line <= last; line++) this.#addLine(line, BREAK_COST.tied)
    this.#breakCosts[first] = isDirectlyBelow
      ? BREAK_COST.afterHeading
      : BREAK_COST.heading + level - 1
    this.#isHeading.fill(1, first, last + 1)
    this.#items.length = 0
    this.#open = NO_BLOCK
  }

  #currentLevel(): number {
    return this.#sections[this.#section]?.level ?? 0
  }

  /** The nearest line above that is not empty. */
  #findLineAbove(line: number): number | null {
    let above = line - 1
    while (above >= 0 && this.#breakCosts[above] === BREAK_COST.never) above--
    return above < 0 ? null : above
  }

  #readBlock(line: number, span: SourceSpan, outer: number, columns: number): void {
    const item = isThematicBreak(span) ? null : parseListItem(span)
    const mayBegin = this.#open.kind !== 'paragraph' || outer < this.#items.length
    const fence = parseCodeFence(span)
    const ending = parseHtmlBlockStart(span)
    if (isThematicBreak(span)) this.#begin(line, outer, NO_BLOCK)
    else if (item !== null && (mayBegin || item.mayInterrupt)) {
      this.#beginItem(line, { ...span, start: item.at }, outer, columns + item.width)
    } else if (fence !== null) this.#begin(line, outer, { kind: 'fence', fence })
    else if (ending !== null) this.#beginHtml(line, span, outer, ending)
    else if (!this.#readTable(line, span)) this.#readParagraph(line, span, outer)
  }

  #beginHtml(line: number, span: SourceSpan, outer: number, ending: HtmlBlockEnd): void {
    const html: OpenHtmlBlock = { kind: 'html', first: line, ending }
    this.#begin(line, outer, html)
    this.#endHtml(html, span)
  }

  /** Begins a new block at this line. */
  #begin(line: number, outer: number, open: OpenBlock): void {
    const cost = outer === 0 ? this.#getTopLevelCost(line) : getListContentBreakCost(outer)
    this.#items.length = outer
    this.#open = open
    this.#addLine(line, cost)
  }

  #getTopLevelCost(line: number): number {
    const above = this.#findLineAbove(line)
    if (above === null) return BREAK_COST.block
    if (this.#isHeading[above] === 1) return BREAK_COST.afterHeading
    const { text, starts, ends } = this.#lines
    const isIntroduced = hasTrailingColon({
      text,
      start: starts[above] ?? 0,
      end: ends[above] ?? 0,
    })
    return isIntroduced || this.#precedingHtml !== null ? BREAK_COST.joined : BREAK_COST.block
  }

  #beginItem(line: number, content: SourceSpan, outer: number, contentColumns: number): void {
    // To the text above, the first item of a list begins a block.
    const isFirst = outer === 0 && this.#items.length === 0
    const cost = isFirst ? this.#getTopLevelCost(line) : getListItemBreakCost(outer)
    this.#items.length = outer
    this.#items.push(contentColumns)
    this.#addLine(line, cost)
    const fence = parseCodeFence(content)
    if (fence !== null) this.#open = { kind: 'fence', fence }
    else if (content.start < content.end) {
      this.#open = { kind: 'paragraph', first: line, mayBeHeading: false }
    } else this.#open = NO_BLOCK
  }

  #readTable(line: number, span: SourceSpan): boolean {
    const { kind } = this.#open
    if (kind === 'table') {
      this.#addLine(line, BREAK_COST.row)
      return true
    }
    const { text, starts, ends } = this.#lines
    const isTable =
      kind === 'paragraph' &&
      isDelimiterRow(span) &&
      text.slice(starts[line - 1], ends[line - 1]).includes('|')
    if (!isTable) return false
    // Text directly above the head is no part of the table.
    if (this.#breakCosts[line - 1] === BREAK_COST.line) {
      const depth = this.#items.length
      this.#breakCosts[line - 1] = depth === 0 ? BREAK_COST.joined : getListContentBreakCost(depth)
    }
    this.#open = { kind: 'table' }
    this.#addLine(line, BREAK_COST.tied)
    return true
  }

  #readParagraph(line: number, { text, start }: SourceSpan, outer: number): void {
    // An underline makes no heading of a quote or of a directive of a page generator.
    const mayBeHeading = outer === 0 && text[start] !== '>' && !text.startsWith('{{', start)
    if (this.#open.kind === 'paragraph') this.#addLine(line, BREAK_COST.line)
    else this.#begin(line, outer, { kind: 'paragraph', first: line, mayBeHeading })
  }
}

/** Bounds the scan of lines with many leading spaces. */
const TITLE_READ_MAX = 1_000

type FrontMatter = {
  /** The number of lines; 0 when there is none. */
  readonly lines: number
  readonly title: string
}

const FRONT_MATTER_CLOSINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['---', ['---', '...']],
  ['+++', ['+++']],
])
const FRONT_MATTER_LINES_MAX = 1_000
const TITLE = /^title[ 	]{0,20}[:=][ 	]{0,20}(\S.*)$/i

/** Parses YAML or TOML front matter between `---` or `+++` at the beginning of a document. */
function parseFrontMatter({ text, count, starts, ends }: LineIndex): FrontMatter {
  const lineAt = (line: number) => text.slice(starts[line], ends[line]).trimEnd()
  const isShort = (line: number) => (ends[line] ?? 0) - (starts[line] ?? 0) <= TITLE_READ_MAX
  const closings = count > 0 && isShort(0) ? FRONT_MATTER_CLOSINGS.get(lineAt(0)) : undefined
  if (closings === undefined) return { lines: 0, title: '' }
  let title = ''
  for (let line = 1; line < Math.min(count, FRONT_MATTER_LINES_MAX); line++) {
    if (!isShort(line)) continue
    const content = lineAt(line)
    if (closings.includes(content)) return { lines: line + 1, title: normalizeTitle(title) }
    title ||= stripQuotes(TITLE.exec(content)?.[1] ?? '')
  }
  // Without an end, it is a line across and whatever stands below it.
  return { lines: 0, title: '' }
}

function stripQuotes(value: string): string {
  const quote = value[0]
  const isQuoted = (quote === '"' || quote === "'") && value.length > 1 && value.endsWith(quote)
  return isQuoted ? value.slice(1, -1) : value
}
