/**
 * Files → chunks. A chunk is a part of its file, to the character: whole lines without the white space around them or,
 * of a line that is too long, a part of that line.
 */

import { isBlank, type Lines, linesOf } from '../../text/lines.ts'
import { CUT, plainStructure, type Structure } from '../../text/markdown/document-structure.ts'
import { structureOfMarkdown } from '../../text/markdown/markdown-structure.ts'
import type { Chunk } from '../file.ts'
import { type CutOptions, cutLines, type Span } from './line-chunker.ts'

export type { CutOptions } from './line-chunker.ts'

export const CUT_DEFAULTS: CutOptions = { tokens: 400, overlap: 80, bytesMax: 8_192 }

/** Along headings, lists, tables, code and front matter. */
export function cutMarkdown(text: string, options: CutOptions = CUT_DEFAULTS): readonly Chunk[] {
  const lines = linesOf(text)
  return chunksOf(lines, structureOfMarkdown(lines), options)
}

/** Along paragraphs. */
export function cutText(text: string, options: CutOptions = CUT_DEFAULTS): readonly Chunk[] {
  const lines = linesOf(text)
  return chunksOf(lines, structureOfText(lines), options)
}

export function structureOfText({ text, count, starts, ends }: Lines): Structure {
  return plainStructure(count, (line, isAfterBlank) => {
    if (isBlank(text, starts[line] ?? 0, ends[line] ?? 0)) return CUT.never
    return isAfterBlank ? CUT.block : CUT.line
  })
}

function chunksOf(lines: Lines, structure: Structure, options: CutOptions): readonly Chunk[] {
  return cutLines(lines, structure, options).map((span) => ({
    headings: headingsOf(span, structure),
    lineFirst: span.first + 1,
    lineLast: span.last + 1,
    text: lines.text.slice(span.start, span.end),
  }))
}

/** Those that everything stands under which is no heading itself; of headings alone, those that all of them share. */
function headingsOf({ first, last }: Span, structure: Structure): readonly string[] {
  const { sections } = structure
  const isAll = !hasWords(first, last, structure)
  let shared: number | null = null
  for (let line = first; line <= last; line++) {
    const isLeftOut =
      structure.cuts[line] === CUT.never || (!isAll && structure.isHeading[line] === 1)
    const section = structure.sectionOf[line] ?? 0
    if (isLeftOut || section === shared) continue
    shared = shared === null ? section : sharedSection(shared, section, structure)
  }
  const headings: string[] = []
  for (let section = shared ?? 0; section >= 0; section = sections[section]?.parent ?? -1) {
    const title = sections[section]?.title ?? ''
    if (title !== '') headings.unshift(title)
  }
  return headings
}

function hasWords(first: number, last: number, { cuts, isHeading }: Structure): boolean {
  for (let line = first; line <= last; line++) {
    if (cuts[line] !== CUT.never && isHeading[line] === 0) return true
  }
  return false
}

function sharedSection(one: number, other: number, { sections }: Structure): number {
  let [a, b] = [one, other]
  // A section has a higher number than the one that it is in.
  while (a !== b) {
    if (a > b) a = sections[a]?.parent ?? 0
    else b = sections[b]?.parent ?? 0
  }
  return a
}
