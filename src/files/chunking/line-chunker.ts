/**
 * Splits a structured text into spans of limited size. Oversized parts are split at the strongest boundary, and small
 * neighbors are merged again while they fit. Each line is visited once per boundary strength, so the time is linear in
 * the text.
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
  /** The maximum size of a chunk in estimated tokens. */
  readonly tokens: number
  /** The overlap between consecutive chunks; at most half of the size. */
  readonly overlap: number
  /** The input limit of the embedding model in bytes of UTF-8. */
  readonly bytesMax: number
}

/** A range of lines, counted from 0. */
export type LineSpan = {
  readonly start: number
  readonly end: number
  readonly first: number
  readonly last: number
}

/** A character takes at most one token and four bytes. */
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

/** Lines that become a span. */
type LineGroup = {
  /** The start: the line `from`, or a position in it when this is the rest of an oversized line. */
  readonly start: number
  readonly from: number
  /** The part of the line `from` before `start`. */
  readonly skipped: TextSize
  /** The first line that is not in the previous span. */
  readonly first: number
  last: number
  /** The end: the line `last`, or before the trailing white space of a very long line. */
  end: number
}

const NO_SIZE: TextSize = { tokenUnits: 0, bytes: 0 }

/** Below this share of the size limit, a chunk is too small to be found by its meaning. */
const TINY_SHARE = 1 / 16

class LineChunker {
  readonly spans: LineSpan[] = []
  readonly #lines: LineIndex
  readonly #structure: DocumentStructure
  readonly #limits: ChunkLimits
  readonly #sizes: LineSizeIndex
  /** The first line of the last span that is not in the span before it. */
  #newFrom = -1

  constructor(lines: LineIndex, structure: DocumentStructure, limits: ChunkLimits) {
    this.#lines = lines
    this.#structure = structure
    this.#limits = limits
    this.#sizes = new LineSizeIndex(lines)
  }

  /** Neither line is empty. */
  cut(first: number, last: number): void {
    if (this.#fits(first, last)) this.#emit(this.#group(first, first, last))
    else {
      const group = this.#divide(first, last, -1)
      if (group !== null) this.#emit(group)
    }
  }

  /** Splits at the weakest boundaries above `above`. Returns the last group, which may still grow. */
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

  /** Adds the lines to the group if they fit; otherwise closes the group and starts another. */
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

  /** Continues the group with what follows it, except across sections. */
  #divideIn(first: number, last: number, cut: number): LineGroup | null {
    const group = this.#divide(first, last, cut)
    if (group === null || cut >= BREAK_COST.block) return group
    this.#emit(group)
    return null
  }

  /** Whether it is too small for a chunk: headings only, or hardly any words. */
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
   * The start of a span with its overlap: the best boundary within reach, not directly after a heading, and leaving the
   * previous span some lines of its own.
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

  /** Splits an oversized line, with the heading above it, between characters. Emits all parts but the last. */
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

  /** The line of an offset that is not before `from`. */
  #lineAt(place: number, from: number): number {
    let line = from
    while ((this.#lines.starts[line + 1] ?? Number.POSITIVE_INFINITY) <= place) line++
    return line
  }
}

export function isWithinLimit(size: TextSize, limit: TextSize): boolean {
  return size.tokenUnits <= limit.tokenUnits && size.bytes <= limit.bytes
}
