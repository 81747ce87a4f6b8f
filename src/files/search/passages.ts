/** From what recall found in the index to the lines that answer a question. Pure. */

import type { Memory } from '../../domain/memory.ts'
import { isMemoryDocument } from '../../domain/search-document.ts'
import type { Recalled, Recollection } from '../../recall/recall-result.ts'
import { fitOfCoverage, type Writing, writingOf } from '../../text/writing-system.ts'
import type { FileSource } from '../file.ts'
import { factsOf } from '../indexing/index-rows.ts'

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
export function passagesOf(found: Recollection, question: string): readonly Passage[] {
  const fits = fitsOf(found, question)
  return found.memories.flatMap((recalled, index) => {
    const { memory } = recalled
    if (!isMemoryDocument(memory)) return [] // an index of files holds no conversations
    const { root, path, source, headings, lineFirst, lineLast } = factsOf(memory)
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
export function fitsOf({ memories, closeness }: Recollection, question: string): readonly number[] {
  const writing = writingOf(question)
  const best = Math.max(0, ...memories.map(({ score }) => score))
  const fit = Math.max(0, ...memories.map((each) => fitOf(each, writing)), closenessFit(closeness))
  return memories.map((recalled) =>
    best > 0 ? fit * Math.max(0, recalled.score / best) : fitOf(recalled, writing),
  )
}

function fitOf({ coverage, evidence }: Recalled, question: Writing): number {
  return Math.max(fitOfCoverage(coverage, question), evidence.time === 1 ? TIMELY_FIT : 0)
}

/** A half for what is as near as the best of unrelated texts would be by chance. */
function closenessFit(closeness: number | null): number {
  return closeness === null ? 0 : 1 - 2 ** -Math.max(0, closeness)
}

/**
 * Parts of a file that overlap or follow each other are told as one, in the place of the best. Only those that are good
 * themselves: a citation should point at what answers.
 */
export function joined<P extends Passage>(passages: readonly P[]): readonly P[] {
  const told: P[] = []
  for (const passage of passages) {
    const better = told.find((other) => isBeside(other, passage))
    if (better === undefined || !isTold(better, passage)) told.push({ ...passage })
    else if (!isWithin(better, passage)) widen(better, passage)
  }
  return told
}

/** Whether a better passage can tell of it as well. */
function isTold(better: Passage, passage: Passage): boolean {
  if (isWithin(better, passage)) return true
  return better.parts < JOINED_PARTS_MAX && passage.score >= better.score * JOINED_SHARE
}

function isWithin(outer: Passage, inner: Passage): boolean {
  return inner.lineFirst >= outer.lineFirst && inner.lineLast <= outer.lineLast
}

function widen(passage: Passage, other: Passage): void {
  passage.lineFirst = Math.min(passage.lineFirst, other.lineFirst)
  passage.lineLast = Math.max(passage.lineLast, other.lineLast)
  passage.isExact ||= other.isExact
  passage.parts += other.parts
}

function isBeside(a: Passage, b: Passage): boolean {
  return (
    a.root === b.root &&
    a.path === b.path &&
    a.lineFirst <= b.lineLast + 1 &&
    b.lineFirst <= a.lineLast + 1
  )
}
