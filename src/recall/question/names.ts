/** Finds names of persons in questions. */

import { UNSPACED_SCRIPT } from '../../text/search/cjk-terms.ts'
import { STOP_WORDS } from '../../text/search/stopwords.ts'

/** Whether a question contains a name as whole words: "also" does not contain "Al". */
export function containsName(question: string, name: string): boolean {
  return findOccurrences(question.toLowerCase(), name.toLowerCase()).length > 0
}

/** Whether a text contains any of the names. */
export function containsAnyName(text: string, names: readonly string[]): boolean {
  if (names.length === 0) return false
  const lower = text.toLowerCase()
  return names.some((name) => findOccurrences(lower, name.toLowerCase()).length > 0)
}

/** Whether a question has a capitalized word that may be a name. */
export function canContainName(question: string): boolean {
  return extractNames(question).length > 0
}

/** Capitalized words, which may be names. */
export function extractNames(question: string): readonly string[] {
  return (question.match(CAPITALIZED) ?? []).filter((word) => !STOP_WORDS.has(word.toLowerCase()))
}

/** Capitalized words that do not only begin a sentence. */
export function extractInnerNames(question: string): readonly string[] {
  return [...new Set(extractNames(question.replace(SENTENCE_START, ' ')))].slice(0, NAMES_MAX)
}

/** A question with more names is about nobody in particular; title case has hundreds. */
const NAMES_MAX = 20

// The second class excludes the marks; otherwise a row of them would take quadratic time.
const SENTENCE_START = /(?:^|[.!?\n])[^\p{L}\p{N}.!?\n]*[\p{L}\p{N}\p{M}]+/gu

/**
 * Removes names from a question, if enough is left of it. Embedded texts begin with their speaker, so a name is close to
 * everything that this person said, whatever the subject.
 */
export function removeNames(question: string, names: readonly string[]): string {
  const left = names.reduce(removeName, question)
  if (left === question) return question
  const words = left.match(WORDS) ?? []
  const hasContent = words.some((word) => !STOP_WORDS.has(word.toLowerCase()))
  return hasContent ? left.replace(/\s+/g, ' ').trim() : question
}

const CAPITALIZED = /\p{Lu}[\p{L}\p{M}]+/gu
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
/** A possessive ending. */
const POSSESSIVE = /^['’]s(?![\p{L}\p{N}])/u

function removeName(question: string, name: string): string {
  const lower = question.toLowerCase()
  // A few letters are longer in lower case, which would shift the offsets.
  if (lower.length !== question.length) return question
  return findOccurrences(lower, name.toLowerCase()).reduceRight((text, at) => {
    const rest = text.slice(at + name.length).replace(POSSESSIVE, '')
    return text.slice(0, at) + rest
  }, question)
}

/** The offsets of a name; both in lower case. */
function findOccurrences(question: string, name: string): readonly number[] {
  const offsets: number[] = []
  if (name.trim() === '') return offsets
  for (let at = question.indexOf(name); at >= 0; at = question.indexOf(name, at + 1)) {
    const isOverlapping = at < (offsets.at(-1) ?? -name.length) + name.length
    if (
      !isOverlapping &&
      isWordBoundary(question, at) &&
      isWordBoundary(question, at + name.length)
    ) {
      offsets.push(at)
    }
  }
  return offsets
}

/** Whether an offset is a word boundary. In scripts without spaces, every offset is one. */
function isWordBoundary(text: string, at: number): boolean {
  const before = LAST_LETTER.exec(text.slice(Math.max(0, at - 2), at))?.[0]
  const after = FIRST_LETTER.exec(text.slice(at, at + 2))?.[0]
  if (before === undefined || after === undefined) return true
  return UNSPACED_SCRIPT.test(before) || UNSPACED_SCRIPT.test(after)
}

// Not one class: V8 14 misses letters beyond the basic plane when a class stands before `$`.
const LAST_LETTER = /(?:\p{L}|\p{N}|\p{M})$/u
const FIRST_LETTER = /^[\p{L}\p{N}\p{M}]/u
