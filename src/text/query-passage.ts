/** The passage of a long text that a question is about, cut at the ends of sentences. */

import { STOP_WORDS } from './search/stopwords.ts'
import { UNSPACED_SCRIPT } from './search/terms.ts'
import { splitSentences } from './speech/sentences.ts'

/** A piece of a word of the question, and how much finding it tells. */
export type QueryTerm = { readonly text: string; readonly weight: number }

const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
/** Longer words are looked for without their endings. */
const STEM_CHARACTERS_MIN = 4
const ENDING_CHARACTERS = 2
const NEEDLES_MAX = 24
/** Occurrences of a needle that are looked at: a word that stands everywhere tells nothing about where to look. */
const OCCURRENCES_MAX = 60
/** How much a needle counts that stands in the passage already. */
const REPEATED_WEIGHT = 0.1
/** Less room would end in the middle of a character. */
const PASSAGE_CHARACTERS_MIN = 8
/** Marks where something was left out, with the space beside it. */
const OMITTED = '… '

/** What to look for; words that hold in fewer of the texts tell more. */
export function buildQueryTerms(question: string, texts: readonly string[]): readonly QueryTerm[] {
  const lowered = texts.map((text) => text.toLowerCase())
  const words = new Set(
    (question.toLowerCase().match(WORDS) ?? []).flatMap((word) =>
      UNSPACED_SCRIPT.test(word) ? listBigrams(word) : STOP_WORDS.has(word) ? [] : [stemWord(word)],
    ),
  )
  return [...words].slice(0, NEEDLES_MAX).map((text) => {
    const holding = lowered.filter((each) => each.includes(text)).length
    return { text, weight: Math.log(1 + (lowered.length + 1) / (holding + 0.5)) }
  })
}

function stemWord(word: string): string {
  return word.slice(0, Math.max(STEM_CHARACTERS_MIN, word.length - ENDING_CHARACTERS))
}

function listBigrams(word: string): readonly string[] {
  const characters = [...word]
  return characters.length < 2
    ? characters
    : characters.slice(1).map((character, at) => `${characters[at]}${character}`)
}

/** Which of the needles a text holds. */
export function findQueryTerms(
  text: string,
  needles: readonly QueryTerm[],
): ReadonlySet<QueryTerm> {
  const lowered = text.toLowerCase()
  return new Set(needles.filter((needle) => findOffsets(lowered, needle.text, 1).length > 0))
}

/** At most so many characters, in one line, with marks where something was left out. */
export function extractPassage(
  content: string,
  needles: readonly QueryTerm[],
  charactersMax: number,
): string {
  return toSingleLine(linesOfPassage(content, needles, charactersMax))
}

/** The same with its line breaks, which tell more about what a text is. */
export function linesOfPassage(
  content: string,
  needles: readonly QueryTerm[],
  charactersMax: number,
): string {
  if (content.length <= charactersMax) return content
  const room = Math.max(PASSAGE_CHARACTERS_MIN, charactersMax - 2 * OMITTED.length)
  const occurrences = findOccurrences(content, needles)
  const region = expandRegion(content, findDensestStart(occurrences, room), room)
  const segments = splitSegments(content, region, room)
  const { start, end } = findBestWindow(segments, occurrences, room)
  return excerpt(content, start, end)
}

type TermOccurrence = { readonly at: number; readonly needle: number; readonly weight: number }

/** Where the needles stand, in the order of the text. */
function findOccurrences(
  content: string,
  needles: readonly QueryTerm[],
): readonly TermOccurrence[] {
  const lowered = content.toLowerCase()
  // A few letters are longer in lower case; then offsets in the two are not the same.
  if (lowered.length !== content.length) return []
  return needles
    .flatMap(({ text, weight }, needle) =>
      findOffsets(lowered, text).map((at) => ({ at, needle, weight })),
    )
    .sort((a, b) => a.at - b.at)
}

function findOffsets(text: string, needle: string, most = OCCURRENCES_MAX): readonly number[] {
  const offsets: number[] = []
  for (
    let at = text.indexOf(needle);
    at >= 0 && offsets.length < most;
    at = text.indexOf(needle, at + needle.length)
  ) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1)) || UNSPACED_SCRIPT.test(needle)) {
      offsets.push(at)
    }
  }
  return offsets
}

/** How much the occurrences within a stretch tell; the same word again tells little. */
function scoreStretch(occurrences: readonly TermOccurrence[], start: number, end: number): number {
  const seen = new Set<number>()
  let score = 0
  for (const { at, needle, weight } of occurrences) {
    if (at < start) continue
    if (at >= end) break
    score += seen.has(needle) ? weight * REPEATED_WEIGHT : weight
    seen.add(needle)
  }
  return score
}

/** Where the stretch of a length begins that holds the most of what is looked for. */
function findDensestStart(occurrences: readonly TermOccurrence[], length: number): number {
  let best = { score: 0, start: 0 }
  for (const { at } of occurrences) {
    const score = scoreStretch(occurrences, at, at + length)
    if (score > best.score) best = { score, start: at }
  }
  return best.start
}

/** Sentences are looked for in so much of a text around its densest stretch. */
const REGION_CHARACTERS = 4_000

type Stretch = { readonly start: number; readonly end: number }

function expandRegion(content: string, densest: number, length: number): Stretch {
  const start = alignToCharacter(content, Math.max(0, densest - REGION_CHARACTERS / 2))
  const end = densest + length + REGION_CHARACTERS / 2
  return { start, end: alignToCharacter(content, Math.min(content.length, end)) }
}

/** The sentences of a region without gaps; what is too long for a passage is split between words. */
function splitSegments(content: string, region: Stretch, lengthMax: number): readonly Stretch[] {
  const sentences = splitSentences(content.slice(region.start, region.end))
  const starts = sentences.map(({ start }) => region.start + start)
  const segments: Stretch[] = []
  for (const [index, sentence] of starts.entries()) {
    const end = starts[index + 1] ?? region.end
    let start = sentence
    while (end - start > lengthMax) {
      const middle = findWordEnd(content, start + lengthMax)
      const stop = middle > start ? middle : start + lengthMax
      segments.push({ start, end: stop })
      start = stop
    }
    if (end > start) segments.push({ start, end })
  }
  return segments
}

/**
 * Of all runs of segments that fit, the one that tells the most; of equals the first. Segments before the first occurrence
 * in it make way for those that follow.
 */
function findBestWindow(
  segments: readonly Stretch[],
  occurrences: readonly TermOccurrence[],
  lengthMax: number,
): Stretch {
  let best: Stretch & { readonly score: number } = { start: 0, end: 0, score: -1 }
  let [next, end] = [0, 0]
  for (const { start } of segments) {
    for (; next < segments.length; next++) {
      const segmentEnd = segments[next]?.end ?? end
      if (segmentEnd - start > lengthMax) break
      end = segmentEnd
    }
    const score = scoreStretch(occurrences, start, end)
    const isTighter =
      score === best.score && !occurrences.some(({ at }) => at >= best.start && at < start)
    if (score > best.score || (score > 0 && isTighter)) best = { start, end, score }
  }
  return best
}

function excerpt(content: string, start: number, end: number): string {
  const passage = content.slice(start, end).trim()
  const before = content.slice(0, start).trim() === '' ? '' : OMITTED
  const after = content.slice(end).trim() === '' ? '' : ' …'
  return `${before}${passage}${after}`
}

const WORD_REACH = 30

/** Behind the last whole word before an offset. */
function findWordEnd(content: string, at: number): number {
  const end = Math.min(content.length, at)
  const blank = content.slice(Math.max(0, end - WORD_REACH), end).search(/\s\S*$/u)
  return end === content.length || blank < 0
    ? alignToCharacter(content, end)
    : Math.max(0, end - WORD_REACH) + blank
}

/** Not between the halves of a surrogate pair. */
function alignToCharacter(content: string, at: number): number {
  return /[\udc00-\udfff]/.test(content.charAt(at)) ? at - 1 : at
}

function toSingleLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}
