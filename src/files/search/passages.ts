/** From what recall found in the index to the lines that answer a question. Pure. */

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

/** A part of a file that answers, and how well. */
export type Passage = {
  readonly root: string
  readonly path: string
  readonly source: FileSource
  readonly headings: readonly string[]
  lineFirst: number
  lineLast: number
  /** 0 … 1. */
  readonly score: number
  /** Holds all words of the question. */
  isExact: boolean
  /** How many chunks it is made of. */
  parts: number
  readonly memory: Memory
}

/** All words but for what rounding takes away. */
const EXACT_COVERAGE = 0.999

/** One that speaks of the time that is asked about fits at least so well, whatever words it has. */
const TIMELY_FIT = 0.6

/** What is told together with a better part of its file must be this good beside it, and not too much of the file. */
const JOINED_SHARE = 0.5
const JOINED_PARTS_MAX = 2

/** Best first, as recall has ranked them. */
export function toPassages(found: RecallResult, question: string): readonly Passage[] {
  const fits = scoreFits(found, question)
  return found.memories.flatMap((recalled, index) => {
    const { memory } = recalled
    if (!isMemoryDocument(memory)) return [] // an index of files holds no conversations
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
 * How well each memory of an answer fits, from 0 to 1: the best as well as the question's words and meaning are found in any
 * of them, the others in proportion. Unlike the scores of recall, these can be compared between answers.
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

/** A half for what is as near as the best of unrelated texts would be by chance. */
function scoreSimilarity(closeness: number | null): number {
  return closeness === null ? 0 : 1 - 2 ** -Math.max(0, closeness)
}

/**
 * Parts of a file that overlap or follow each other are told as one, in the place of the best. Only those that are good
 * themselves: a citation should point at what answers.
 */
export function mergeAdjacentPassages<P extends Passage>(passages: readonly P[]): readonly P[] {
  const told: P[] = []
  for (const passage of passages) {
    const better = told.find((other) => isAdjacent(other, passage))
    if (better === undefined || !isCovered(better, passage)) told.push({ ...passage })
    else if (!isWithin(better, passage)) extendPassage(better, passage)
  }
  return told
}

/** Whether a better passage can tell of it as well. */
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
