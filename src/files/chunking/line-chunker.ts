/**
 * Cuts a text of known structure into spans that fit. What is too large is divided where least is lost, and the parts
 * are put together again as far as they fit, so that small neighbours share a span. Each line is looked at once for each
 * strength of cut, of which there are few: the time is linear in the text.
 */
import type { LineIndex } from '../../text/lines.ts'
import { BREAK_COST, type DocumentStructure } from '../../text/markdown/document-structure.ts'
import {
  type ChunkLimits,
  LineSizeIndex,
  measureText,
  type TextSize,
  UNITS_PER_TOKEN,
} from './chunk-size.ts'
import { splitLongLine } from './long-line.ts'

export type ChunkOptions = {
  /** How much a chunk may hold, in tokens as they are estimated. */
  readonly tokens: number
  /** How much of the end of one chunk is repeated at the beginning of the next; at most half of what it may hold. */
  readonly overlap: number
  /** What the embedding model takes, in bytes of UTF-8. */
  readonly bytesMax: number
}

/** A part of a text: from `start` to `end`, in lines counted from 0. */
export type LineSpan = {
  readonly start: number
  readonly end: number
  readonly first: number
  readonly last: number
}

/** A character takes a token and four bytes at most. */
const TOKENS_MIN = 1
const BYTES_MIN = 4

export function splitIntoSpans(
  lines: LineIndex,
  structure: DocumentStructure,
  options: ChunkOptions,
): readonly LineSpan[] {
  const first = structure.breakCosts.findIndex((cut) => cut !== BREAK_COST.never)
  const last = structure.breakCosts.findLastIndex((cut) => cut !== BREAK_COST.never)
  if (first < 0) return []
  const cutter = new LineChunker(lines, structure, computeLimits(options))
  cutter.cut(first, last)
  return cutter.spans
}

function computeLimits({ tokens, overlap, bytesMax }: ChunkOptions): ChunkLimits {
  const whole = {
    tokenUnits: Math.max(TOKENS_MIN, Math.floor(tokens)) * UNITS_PER_TOKEN,
    bytes: Math.max(BYTES_MIN, Math.floor(bytesMax)),
  }
  const repeated = {
    tokenUnits: Math.min(Math.max(0, overlap) * UNITS_PER_TOKEN, whole.tokenUnits / 2),
    bytes: whole.bytes / 2,
  }
  return { whole, overlap: repeated }
}

/** Lines that will be a span. */
type LineGroup = {
  /** Where the span begins: with the line `from`, unless that was too long and this is the end of it. */
  readonly start: number
  readonly from: number
  /** What of the line `from` comes before `start`. */
  readonly skipped: TextSize
  /** The first line that the span before has not. */
  readonly first: number
  last: number
  /** Where it ends: with the line `last`, or before the white space at the end of a very long one. */
  end: number
}

const NO_SIZE: TextSize = { tokenUnits: 0, bytes: 0 }

/** The share of a whole chunk below which lines are too few to be found for what they say. */
const TINY_SHARE = 1 / 16

class LineChunker {
  readonly spans: LineSpan[] = []
  readonly #lines: LineIndex
  readonly #structure: DocumentStructure
  readonly #limits: ChunkLimits
  readonly #sizes: LineSizeIndex
  /** The first line of the last span that the span before it has not. */
  #newFrom = -1

  constructor(lines: LineIndex, structure: DocumentStructure, limits: ChunkLimits) {
    this.#lines = lines
    this.#structure = structure
    this.#limits = limits
    this.#sizes = new LineSizeIndex(lines)
  }

  /** Both lines are not empty. */
  cut(first: number, last: number): void {
    if (this.#fits(first, last)) this.#emit(this.#group(first, first, last))
    else {
      const group = this.#divide(first, last, -1)
      if (group !== null) this.#emit(group)
    }
  }

  /** At the weakest cuts above `above`. Returns the end of it, behind which other lines may follow. */
  #divide(first: number, last: number, above: number): LineGroup | null {
    const weakest = this.#weakestCut(first, last, above)
    if (weakest === BREAK_COST.never) return this.#cutCharacters(first, last)
    let group: LineGroup | null = null
    let begin = first
    for (let line = first + 1; line <= last + 1; line++) {
      if (line <= last && this.#structure.breakCosts[line] !== weakest) continue
      group = this.#add(group, begin, this.#lastFilled(line - 1), weakest)
      begin = line
    }
    return group
  }

  #weakestCut(first: number, last: number, above: number): number {
    const { breakCosts: cuts } = this.#structure
    let weakest: number = BREAK_COST.never
    for (let line = first + 1; line <= last; line++) {
      const cut = cuts[line] ?? 0
      if (cut > above && cut < weakest) weakest = cut
    }
    return weakest
  }

  #lastFilled(line: number): number {
    let last = line
    while (this.#structure.breakCosts[last] === BREAK_COST.never) last--
    return last
  }

  /** Puts the lines to the group if they fit; otherwise the group is done, and they begin another. */
  #add(group: LineGroup | null, first: number, last: number, cut: number): LineGroup | null {
    if (group !== null && this.#fits(group.from, last, group.skipped)) {
      group.last = last
      group.end = this.#lines.ends[last] ?? 0
      return group
    }
    const fitsAlone = this.#fits(first, last)
    if (group !== null && !fitsAlone && this.#isTiny(group)) {
      return this.#divideIn(group.first, last, cut)
    }
    if (group !== null) this.#emit(group)
    if (fitsAlone) return this.#group(this.#overlapFrom(first, last), first, last)
    return this.#divideIn(first, last, cut)
  }

  /** What follows the end of it goes on with that, unless it is another section. */
  #divideIn(first: number, last: number, cut: number): LineGroup | null {
    const group = this.#divide(first, last, cut)
    if (group === null || cut >= BREAK_COST.block) return group
    this.#emit(group)
    return null
  }

  /** Whether it says too little to stand alone: headings without words, or hardly any words. */
  #isTiny({ first, last, skipped }: LineGroup): boolean {
    if (skipped !== NO_SIZE) return false
    const { whole } = this.#limits
    const { tokenUnits, bytes } = this.#sizes.between(first, last)
    if (tokenUnits <= whole.tokenUnits * TINY_SHARE && bytes <= whole.bytes * TINY_SHARE)
      return true
    return this.#structure.isHeading.subarray(first, last + 1).every((flag, index) => {
      return flag === 1 || this.#structure.breakCosts[first + index] === BREAK_COST.never
    })
  }

  #group(from: number, first: number, last: number): LineGroup {
    const { starts, ends } = this.#lines
    return { start: starts[from] ?? 0, from, skipped: NO_SIZE, first, last, end: ends[last] ?? 0 }
  }

  #fits(first: number, last: number, skipped: TextSize = NO_SIZE): boolean {
    const { tokenUnits, bytes } = this.#sizes.between(first, last)
    const size = { tokenUnits: tokenUnits - skipped.tokenUnits, bytes: bytes - skipped.bytes }
    return isWithinLimit(size, this.#limits.whole)
  }

  /**
   * Where a span with these lines should begin, so that what was said right before can be understood from it: at the best
   * place that is near enough. Not behind a heading, and the span before must keep something of its own.
   */
  #overlapFrom(first: number, last: number): number {
    const { breakCosts: cuts, isHeading, sectionOf } = this.#structure
    const worst = Math.max(BREAK_COST.line, cuts[first] ?? 0)
    let from = first
    let best: number = BREAK_COST.never
    for (let line = first - 1; line > this.#newFrom; line--) {
      if (isHeading[line] === 1 || sectionOf[line] !== sectionOf[first]) break
      const cut = cuts[line] ?? 0
      if (cut === BREAK_COST.never) continue
      if (!isWithinLimit(this.#sizes.between(line, first - 1), this.#limits.overlap)) break
      if (!this.#fits(line, last)) break
      if (cut > best || cut > worst) continue
      best = cut
      from = line
    }
    return from
  }

  #emit({ start, end, from, first, last }: LineGroup): void {
    this.spans.push({ start, end, first: from, last })
    this.#newFrom = first
  }

  /**
   * Cuts between characters, with no regard to lines: one that is too long, with the heading above it. All but the last
   * part are done.
   */
  #cutCharacters(first: number, last: number): LineGroup {
    const { text, starts, ends } = this.#lines
    const start = starts[first] ?? 0
    const parts = [...splitLongLine(text, start, ends[last] ?? 0, this.#limits)]
    const final = parts.pop() ?? { start, end: start }
    let line = first
    for (const part of parts) {
      line = this.#lineAt(part.start, line)
      this.spans.push({ ...part, first: line, last: this.#lineAt(part.end - 1, line) })
    }
    line = this.#lineAt(final.start, line)
    const skipped = measureText(text, starts[line] ?? 0, final.start)
    this.#newFrom = line
    return { start: final.start, from: line, skipped, first: line, last, end: final.end }
  }

  /** The line of a place, which is not before `from`. */
  #lineAt(place: number, from: number): number {
    let line = from
    while ((this.#lines.starts[line + 1] ?? Number.POSITIVE_INFINITY) <= place) line++
    return line
  }
}

export function isWithinLimit(size: TextSize, limit: TextSize): boolean {
  return size.tokenUnits <= limit.tokenUnits && size.bytes <= limit.bytes
}
