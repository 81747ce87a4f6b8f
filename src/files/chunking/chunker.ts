/**
 * Splits files into chunks. A chunk is an exact part of its file: whole lines without the surrounding white space, or a
 * part of a line that is too long.
 */
import { indexLines, isBlank, type LineIndex } from '../../text/lines.ts'
import {
  BREAK_COST,
  buildPlainStructure,
  type DocumentStructure,
} from '../../text/markdown/document-structure.ts'
import { parseMarkdownStructure } from '../../text/markdown/markdown-structure.ts'
import type { Chunk } from '../file.ts'
import { type ChunkOptions, type LineSpan, splitIntoSpans } from './line-chunker.ts'

export type { ChunkOptions as CutOptions } from './line-chunker.ts'

export const CHUNK_DEFAULTS: ChunkOptions = { tokens: 400, overlap: 80, bytesMax: 8_192 }

/** Splits along headings, lists, tables, code and front matter. */
export function chunkMarkdown(
  text: string,
  options: ChunkOptions = CHUNK_DEFAULTS,
): readonly Chunk[] {
  const lines = indexLines(text)
  return buildChunks(lines, parseMarkdownStructure(lines), options)
}

/** Splits along paragraphs. */
export function chunkText(text: string, options: ChunkOptions = CHUNK_DEFAULTS): readonly Chunk[] {
  const lines = indexLines(text)
  return buildChunks(lines, parseTextStructure(lines), options)
}

export function parseTextStructure({ text, count, starts, ends }: LineIndex): DocumentStructure {
  return buildPlainStructure(count, (line, isAfterBlank) => {
    if (isBlank(text, starts[line] ?? 0, ends[line] ?? 0)) return BREAK_COST.never
    return isAfterBlank ? BREAK_COST.block : BREAK_COST.line
  })
}

function buildChunks(
  lines: LineIndex,
  structure: DocumentStructure,
  options: ChunkOptions,
): readonly Chunk[] {
  return splitIntoSpans(lines, structure, options).map((span) => ({
    headings: listHeadings(span, structure),
    lineFirst: span.first + 1,
    lineLast: span.last + 1,
    text: lines.text.slice(span.start, span.end),
  }))
}

/** The headings shared by all content of the span; for a span of headings only, those shared by all of them. */
function listHeadings({ first, last }: LineSpan, structure: DocumentStructure): readonly string[] {
  const { sections } = structure
  const isAll = !hasText(first, last, structure)
  let shared: number | null = null
  for (let line = first; line <= last; line++) {
    const isLeftOut =
      structure.breakCosts[line] === BREAK_COST.never || (!isAll && structure.isHeading[line] === 1)
    const section = structure.sectionOf[line] ?? 0
    if (isLeftOut || section === shared) continue
    shared = shared === null ? section : findCommonSection(shared, section, structure)
  }
  const headings: string[] = []
  for (let section = shared ?? 0; section >= 0; section = sections[section]?.parent ?? -1) {
    const title = sections[section]?.title ?? ''
    if (title !== '') headings.unshift(title)
  }
  return headings
}

function hasText(
  first: number,
  last: number,
  { breakCosts: cuts, isHeading }: DocumentStructure,
): boolean {
  for (let line = first; line <= last; line++) {
    if (cuts[line] !== BREAK_COST.never && isHeading[line] === 0) return true
  }
  return false
}

function findCommonSection(one: number, other: number, { sections }: DocumentStructure): number {
  let [a, b] = [one, other]
  // A section has a higher number than its parent.
  while (a !== b) {
    if (a > b) a = sections[a]?.parent ?? 0
    else b = sections[b]?.parent ?? 0
  }
  return a
}
