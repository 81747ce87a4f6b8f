/**
 * Case-insensitive substring search.
 *
 * Characters are lowered one by one, so that databases can do the same: the Greek sigma, whose lower case depends on its
 * position, has one form here. A lone surrogate is a character of its own and never matches inside a pair.
 */
import { splitsSurrogatePair } from './well-formed-text.ts'

const FINAL_SIGMA = 'ς'
const SIGMA = 'σ'

export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll(FINAL_SIGMA, SIGMA)
}

/** Whether a text contains `folded`, which must be the result of `foldCase`. */
export function containsFolded(text: string, folded: string): boolean {
  const lower = foldCase(text)
  for (let at = lower.indexOf(folded); at !== -1; at = lower.indexOf(folded, at + 1)) {
    const end = at + folded.length
    if (!splitsSurrogatePair(lower, at) && !splitsSurrogatePair(lower, end)) return true
  }
  return false
}
