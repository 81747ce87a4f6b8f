/** Converts recalled chunks into passages. Pure. */

import type { Memory } from '../../domain/memory.ts'
import { isMemoryDocument } from '../../domain/search-document.ts'
import type { RecalledMemory, RecallResult } from '../../recall/recall-result.ts'
import {
  detectWritingSystem,
  scoreCoverage,
  type WritingSystem,
} from '../../text/writing-system.ts'
import type { FileSource } from '../file.ts'
import { readChunkMetadata } from '../indexing/index-rows.ts'

/** A relevant range of a file. */
export type Passage = {
  readonly root: string
  readonly path: string
  readonly source: FileSource
  readonly headings: readonly string[]
  lineFirst: number
  lineLast: number
  /** 0 … 1. */
  readonly score: number
  /** Contains all query terms. */
  isExact: boolean
  /** The number of merged chunks. */
  parts: number
  readonly memory: Memory
}

/** Full coverage within rounding error. */
const EXACT_COVERAGE = 0.999

/** The minimum score of a passage from the requested time. */
const TIMELY_FIT = 0.6

/** A passage merged into a better one must reach this share of its score without covering too much of the file. */
const JOINED_SHARE = 0.5
const JOINED_PARTS_MAX = 2

/** Best first, in recall's order. */
export function toPassages(found: RecallResult, question: string): readonly Passage[] {
  const fits = scoreFits(found, question)
  return found.memories.flatMap((recalled, index) => {
    const { memory } = recalled
    if (!isMemoryDocument(memory)) return [] // the index contains no conversations
    const { root, path, source, headings, lineFirst, lineLast } = readChunkMetadata(memory)
    return {
      ...{ root, path, source, headings, lineFirst, lineLast },
      score: fits[index] ?? 0,
      isExact: recalled.coverage >= EXACT_COVERAGE,
      parts: 1,
      memory,
    }
  })
}

/**
 * Scores from 0 to 1: the best result gets the best lexical coverage or vector similarity of any result, the others a
 * proportional score. Unlike recall's scores, they are comparable between queries.
 */
export function scoreFits(
  { memories, topSimilarity: closeness }: RecallResult,
  question: string,
): readonly number[] {
  const writing = detectWritingSystem(question)
  const best = Math.max(0, ...memories.map(({ score }) => score))
  const fit = Math.max(
    0,
    ...memories.map((each) => scoreFit(each, writing)),
    scoreSimilarity(closeness),
  )
  return memories.map((recalled) =>
    best > 0 ? fit * Math.max(0, recalled.score / best) : scoreFit(recalled, writing),
  )
}

function scoreFit({ coverage, evidence }: RecalledMemory, question: WritingSystem): number {
  return Math.max(scoreCoverage(coverage, question), evidence.time === 1 ? TIMELY_FIT : 0)
}

/** 0.5 for a similarity that unrelated texts reach by chance. */
function scoreSimilarity(closeness: number | null): number {
  return closeness === null ? 0 : 1 - 2 ** -Math.max(0, closeness)
}

/**
 * Merges overlapping and adjacent passages of a file into the best of them. A weak passage is not merged, because a
 * citation should point at the answer.
 */
export function mergeAdjacentPassages<P extends Passage>(passages: readonly P[]): readonly P[] {
  const merged: P[] = []
  for (const passage of passages) {
    const better = merged.find((other) => isAdjacent(other, passage))
    if (better === undefined || !isCovered(better, passage)) merged.push({ ...passage })
    else if (!isWithin(better, passage)) extendPassage(better, passage)
  }
  return merged
}

/** Whether a better passage can absorb this one. */
function isCovered(better: Passage, passage: Passage): boolean {
  if (isWithin(better, passage)) return true
  return better.parts < JOINED_PARTS_MAX && passage.score >= better.score * JOINED_SHARE
}

function isWithin(outer: Passage, inner: Passage): boolean {
  return inner.lineFirst >= outer.lineFirst && inner.lineLast <= outer.lineLast
}

function extendPassage(passage: Passage, other: Passage): void {
  passage.lineFirst = Math.min(passage.lineFirst, other.lineFirst)
  passage.lineLast = Math.max(passage.lineLast, other.lineLast)
  passage.isExact ||= other.isExact
  passage.parts += other.parts
}

function isAdjacent(a: Passage, b: Passage): boolean {
  return (
    a.root === b.root &&
    a.path === b.path &&
    a.lineFirst <= b.lineLast + 1 &&
    b.lineFirst <= a.lineLast + 1
  )
}
