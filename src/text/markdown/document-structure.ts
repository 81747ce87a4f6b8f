/** The structure of a document as far as chunking needs it: sections, and the cost of a break before each line. */

/** The cost of a chunk break before a line, in increasing order. Text that exceeds a chunk is broken where it costs least. */
export const BREAK_COST = {
  /** Before a heading: this value plus its level, less one. */
  heading: 0,
  /** Between paragraphs, lists, tables, code. */
  block: 6,
  /** After a line that ends with a colon, or directly after a comment: both mostly introduce what follows. */
  joined: 7,
  /** Between a heading and its first text. */
  afterHeading: 8,
  /** Between list items; one more within an item, two more for each nested level. */
  item: 9,
  /** Between the lines of a paragraph. */
  line: 21,
  row: 22,
  /** In code, after an empty line. */
  codeParagraph: 23,
  codeLine: 24,
  /** Between lines that belong together: the head of a table and its delimiter row. */
  tied: 25,
  /** Before empty lines. */
  never: 26,
} as const

/** Deeper lists cost the same. */
const ITEM_DEPTH_MAX = 5

/** Before a list item inside `depth` other items. */
export function getListItemBreakCost(depth: number): number {
  return BREAK_COST.item + 2 * Math.min(depth, ITEM_DEPTH_MAX)
}

/** Before further content of a list item, inside `depth` items. */
export function getListContentBreakCost(depth: number): number {
  return getListItemBreakCost(depth - 1) + 1
}

export type Section = {
  /** Empty when the section has no title. */
  readonly title: string
  /** 1 … 6; 0 for the whole document. */
  readonly level: number
  /** The index of the parent section; -1 for the whole document. */
  readonly parent: number
}

/** Arrays are indexed by line. */
export type DocumentStructure = {
  readonly breakCosts: Uint8Array
  /** The index of the innermost section of a line. */
  readonly sectionOf: Int32Array
  readonly isHeading: Uint8Array
  readonly sections: readonly Section[]
}

/** The structure of a text without headings. `getCost` returns the cost of a break before a line. */
export function buildPlainStructure(
  count: number,
  getCost: (line: number, isAfterBlank: boolean) => number,
): DocumentStructure {
  const breakCosts = new Uint8Array(count)
  let isAfterBlank = true
  for (let line = 0; line < count; line++) {
    const cost = getCost(line, isAfterBlank)
    breakCosts[line] = cost
    isAfterBlank = cost === BREAK_COST.never
  }
  return {
    breakCosts,
    sectionOf: new Int32Array(count),
    isHeading: new Uint8Array(count),
    sections: [{ title: '', level: 0, parent: -1 }],
  }
}
