/** The passage of a conversation turn that answers a query best, cut at sentence boundaries. */

import { UNSPACED_SCRIPT } from './search/cjk-terms.ts'
import { STOP_WORDS } from './search/stopwords.ts'
import { splitSentences } from './speech/sentences.ts'
import { alignToCharacter } from './well-formed-text.ts'

/** A stem or bigram of a query with its weight. */
export type QueryTerm = { readonly text: string; readonly weight: number }

const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
/** Words longer than this are matched without their endings. */
const STEM_CHARACTERS_MIN = 4
const ENDING_CHARACTERS = 2
const QUERY_TERMS_MAX = 24
/** Occurrences per term that are considered: a word that is everywhere does not locate anything. */
const OCCURRENCES_MAX = 60
/** The weight of further occurrences of a term, relative to the first. */
const REPEATED_WEIGHT = 0.1
/** Less room would end in the middle of a character. */
const PASSAGE_CHARACTERS_MIN = 8
/** Marks an omission, with the adjacent space. */
const OMITTED = '… '

/** The terms of a query, weighted by their inverse document frequency in the texts. */
export function buildQueryTerms(question: string, texts: readonly string[]): readonly QueryTerm[] {
  const lowered = texts.map((text) => text.toLowerCase())
  const words = new Set(
    (question.toLowerCase().match(WORDS) ?? []).flatMap((word) =>
      UNSPACED_SCRIPT.test(word) ? listBigrams(word) : STOP_WORDS.has(word) ? [] : [stemWord(word)],
    ),
  )
  return [...words].slice(0, QUERY_TERMS_MAX).map((text) => {
    const documents = lowered.filter((each) => each.includes(text)).length
    return { text, weight: Math.log(1 + (lowered.length + 1) / (documents + 0.5)) }
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

/** The query terms that occur in a text. */
export function findQueryTerms(text: string, terms: readonly QueryTerm[]): ReadonlySet<QueryTerm> {
  const lowered = text.toLowerCase()
  return new Set(terms.filter((term) => findOffsets(lowered, term.text, 1).length > 0))
}

/** A passage of at most `charactersMax` characters on one line, with marks of omission. */
export function extractPassage(
  content: string,
  terms: readonly QueryTerm[],
  charactersMax: number,
): string {
  return toSingleLine(extractPassageLines(content, terms, charactersMax))
}

/** The passage with its line breaks, which help to tell what kind of text it is. */
export function extractPassageLines(
  content: string,
  terms: readonly QueryTerm[],
  charactersMax: number,
): string {
  if (content.length <= charactersMax) return content
  const room = Math.max(PASSAGE_CHARACTERS_MIN, charactersMax - 2 * OMITTED.length)
  const occurrences = findOccurrences(content, terms)
  const region = expandRegion(content, findDensestStart(occurrences, room), room)
  const segments = splitSegments(content, region, room)
  const { start, end } = findBestWindow(segments, occurrences, room)
  return renderPassage(content, start, end)
}

type TermOccurrence = { readonly at: number; readonly term: number; readonly weight: number }

/** The occurrences of all terms, in the order of the text. */
function findOccurrences(content: string, terms: readonly QueryTerm[]): readonly TermOccurrence[] {
  const lowered = content.toLowerCase()
  // A few letters are longer in lower case, which would shift the offsets.
  if (lowered.length !== content.length) return []
  return terms
    .flatMap(({ text, weight }, term) =>
      findOffsets(lowered, text).map((at) => ({ at, term, weight })),
    )
    .sort((a, b) => a.at - b.at)
}

/** Where a term begins, at the beginning of a word unless the script has no spaces. */
function findOffsets(text: string, term: string, most = OCCURRENCES_MAX): readonly number[] {
  const offsets: number[] = []
  for (
    let at = text.indexOf(term);
    at >= 0 && offsets.length < most;
    at = text.indexOf(term, at + term.length)
  ) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1)) || UNSPACED_SCRIPT.test(term)) {
      offsets.push(at)
    }
  }
  return offsets
}

/** The weight of the occurrences in a range; repetitions of a term count little. */
function scoreRange(occurrences: readonly TermOccurrence[], start: number, end: number): number {
  const seen = new Set<number>()
  let score = 0
  for (const { at, term, weight } of occurrences) {
    if (at < start) continue
    if (at >= end) break
    score += seen.has(term) ? weight * REPEATED_WEIGHT : weight
    seen.add(term)
  }
  return score
}

/** The start of the range of a given length with the highest score. */
function findDensestStart(occurrences: readonly TermOccurrence[], length: number): number {
  let best = { score: 0, start: 0 }
  for (const { at } of occurrences) {
    const score = scoreRange(occurrences, at, at + length)
    if (score > best.score) best = { score, start: at }
  }
  return best.start
}

/** The size of the region around the densest range that is split into sentences. */
const REGION_CHARACTERS = 4_000

type TextRange = { readonly start: number; readonly end: number }

function expandRegion(content: string, densest: number, length: number): TextRange {
  const start = alignToCharacter(content, Math.max(0, densest - REGION_CHARACTERS / 2))
  const end = densest + length + REGION_CHARACTERS / 2
  return { start, end: alignToCharacter(content, Math.min(content.length, end)) }
}

/** The sentences of a region without gaps. Sentences that exceed the passage are split between words. */
function splitSegments(
  content: string,
  region: TextRange,
  lengthMax: number,
): readonly TextRange[] {
  const sentences = splitSentences(content.slice(region.start, region.end))
  const starts = sentences.map(({ start }) => region.start + start)
  const segments: TextRange[] = []
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
 * The run of segments within the length limit that has the highest score; the first one of equals. Segments before the
 * first occurrence make room for those that follow.
 */
function findBestWindow(
  segments: readonly TextRange[],
  occurrences: readonly TermOccurrence[],
  lengthMax: number,
): TextRange {
  let best: TextRange & { readonly score: number } = { start: 0, end: 0, score: -1 }
  let [next, end] = [0, 0]
  for (const { start } of segments) {
    for (; next < segments.length; next++) {
      const segmentEnd = segments[next]?.end ?? end
      if (segmentEnd - start > lengthMax) break
      end = segmentEnd
    }
    const score = scoreRange(occurrences, start, end)
    const isTighter =
      score === best.score && !occurrences.some(({ at }) => at >= best.start && at < start)
    if (score > best.score || (score > 0 && isTighter)) best = { start, end, score }
  }
  return best
}

function renderPassage(content: string, start: number, end: number): string {
  const passage = content.slice(start, end).trim()
  const before = content.slice(0, start).trim() === '' ? '' : OMITTED
  const after = content.slice(end).trim() === '' ? '' : ' …'
  return `${before}${passage}${after}`
}

const WORD_REACH = 30

/** The end of the last whole word before an offset. */
function findWordEnd(content: string, at: number): number {
  const end = Math.min(content.length, at)
  const blank = content.slice(Math.max(0, end - WORD_REACH), end).search(/\s\S*$/u)
  return end === content.length || blank < 0
    ? alignToCharacter(content, end)
    : Math.max(0, end - WORD_REACH) + blank
}

function toSingleLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}
