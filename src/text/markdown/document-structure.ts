/** What a text is made of, as far as it matters where it may be cut. */

/**
 * How much is lost by a cut before a line, from least to most. Where something is too much for one chunk, it is cut where
 * least is lost.
 */
export const BREAK_COST = {
  /** Before a heading: this and the next five, by its level. */
  heading: 0,
  /** Between paragraphs, lists, tables, code. */
  block: 6,
  /** Below a line that ends with a colon, or directly below a comment, which mostly speak of what follows. */
  joined: 7,
  /** Between a heading and the first words below it. */
  afterHeading: 8,
  /** Between the points of a list, and one later between what belongs to one of them; two more for each level below. */
  item: 9,
  /** Between the lines of a paragraph. */
  line: 21,
  row: 22,
  /** In code, after an empty line. */
  codeParagraph: 23,
  codeLine: 24,
  /** Between lines that mean nothing without each other: a table's head and the line below it. */
  tied: 25,
  /** Not before empty lines. */
  never: 26,
} as const

/** Deeper lists are cut like these. */
const ITEM_DEPTH_MAX = 5

/** Before a point of a list that lies in `depth` others. */
export function getListItemBreakCost(depth: number): number {
  return BREAK_COST.item + 2 * Math.min(depth, ITEM_DEPTH_MAX)
}

/** Before what belongs to a point of a list: `depth` says in how many it lies. */
export function getListContentBreakCost(depth: number): number {
  return getListItemBreakCost(depth - 1) + 1
}

export type Section = {
  /** Empty when there is nothing to call it. */
  readonly title: string
  /** 1 … 6; 0 for the whole text. */
  readonly level: number
  /** Its number; -1 for the whole text. */
  readonly parent: number
}

/** All lists are by line. */
export type DocumentStructure = {
  readonly breakCosts: Uint8Array
  /** The number of the innermost section that a line is in. */
  readonly sectionOf: Int32Array
  readonly isHeading: Uint8Array
  readonly sections: readonly Section[]
}

/** A text without headings: `cutBefore` says for each line how much a cut before it loses. */
export function buildPlainStructure(
  count: number,
  cutBefore: (line: number, isAfterBlank: boolean) => number,
): DocumentStructure {
  const cuts = new Uint8Array(count)
  let isAfterBlank = true
  for (let line = 0; line < count; line++) {
    const cut = cutBefore(line, isAfterBlank)
    cuts[line] = cut
    isAfterBlank = cut === BREAK_COST.never
  }
  return {
    breakCosts: cuts,
    sectionOf: new Int32Array(count),
    isHeading: new Uint8Array(count),
    sections: [{ title: '', level: 0, parent: -1 }],
  }
}
