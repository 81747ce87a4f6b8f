/** Names of those who speak, in a question. */

import { UNSPACED_SCRIPT } from '../../text/search/cjk-terms.ts'
import { STOP_WORDS } from '../../text/search/stopwords.ts'

/** Whole names only: "Al" is not asked for by "also". Looked for without an expression, since names are anything. */
export function containsName(question: string, name: string): boolean {
  return findOccurrences(question.toLowerCase(), name.toLowerCase()).length > 0
}

/** Looks through the text once in lower case, for as many names as a question has. */
export function containsAnyName(text: string, names: readonly string[]): boolean {
  if (names.length === 0) return false
  const lower = text.toLowerCase()
  return names.some((name) => findOccurrences(lower, name.toLowerCase()).length > 0)
}

/** Whether a name may be in it at all, where names begin with a capital letter. */
export function canContainName(question: string): boolean {
  return extractNames(question).length > 0
}

/** Words that may be names, because they begin with a capital letter. */
export function extractNames(question: string): readonly string[] {
  return (question.match(CAPITALISED) ?? []).filter((word) => !STOP_WORDS.has(word.toLowerCase()))
}

/** Of these, the ones that do not only begin a sentence, where every word has a capital letter. */
export function namesWithin(question: string): readonly string[] {
  return [...new Set(extractNames(question.replace(SENTENCE_START, ' ')))].slice(0, NAMES_MAX)
}

/** Whoever names more asks about nobody in particular; a text in title case has hundreds. */
const NAMES_MAX = 20

// The marks are left out of the second class, or a row of them would be read again from each.
const SENTENCE_START = /(?:^|[.!?\n])[^\p{L}\p{N}.!?\n]*[\p{L}\p{N}\p{M}]+/gu

/**
 * The question without these names, if enough is left of it. The vector of what was said begins with who said it, so a
 * name is near to everything that this person said, whatever it is about.
 */
export function removeNames(question: string, names: readonly string[]): string {
  const left = names.reduce(removeName, question)
  if (left === question) return question
  const words = left.match(WORDS) ?? []
  const isTelling = words.some((word) => !STOP_WORDS.has(word.toLowerCase()))
  return isTelling ? left.replace(/\s+/g, ' ').trim() : question
}

const CAPITALISED = /\p{Lu}[\p{L}\p{M}]+/gu
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
/** Of a name that something belongs to. */
const POSSESSIVE = /^['’]s(?![\p{L}\p{N}])/u

function removeName(question: string, name: string): string {
  const lower = question.toLowerCase()
  // A few letters are longer in lower case; then places in the two are not the same.
  if (lower.length !== question.length) return question
  return findOccurrences(lower, name.toLowerCase()).reduceRight((text, at) => {
    const rest = text.slice(at + name.length).replace(POSSESSIVE, '')
    return text.slice(0, at) + rest
  }, question)
}

/** Where a name begins, both in lower case. */
function findOccurrences(question: string, name: string): readonly number[] {
  const places: number[] = []
  if (name.trim() === '') return places
  for (let at = question.indexOf(name); at >= 0; at = question.indexOf(name, at + 1)) {
    const isOverlapping = at < (places.at(-1) ?? -name.length) + name.length
    if (!isOverlapping && isWordEdge(question, at) && isWordEdge(question, at + name.length)) {
      places.push(at)
    }
  }
  return places
}

/** Whether a word may begin or end here. Where words are written without spaces, that is anywhere. */
function isWordEdge(text: string, at: number): boolean {
  const before = LAST_LETTER.exec(text.slice(Math.max(0, at - 2), at))?.[0]
  const after = FIRST_LETTER.exec(text.slice(at, at + 2))?.[0]
  if (before === undefined || after === undefined) return true
  return UNSPACED_SCRIPT.test(before) || UNSPACED_SCRIPT.test(after)
}

// Not one class: V8 14 misses letters beyond the basic plane when a class stands before `$`.
const LAST_LETTER = /(?:\p{L}|\p{N}|\p{M})$/u
const FIRST_LETTER = /^[\p{L}\p{N}\p{M}]/u
