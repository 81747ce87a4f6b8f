import { findBestRun, PART_CHARACTERS, splitParts, widenRun } from '../files/citation.ts'
import { trimLoneSurrogate } from './markdown/markdown-syntax.ts'

/**
 * The part of the text, as it is written, that has most of the terms of a query (`queryTerms`), with something of what is
 * around it. All of the text when it is short enough, its beginning when it has none of the terms.
 */
export function extractFileSnippet(
  text: string,
  terms: readonly string[],
  charactersMax: number = SNIPPET_CHARACTERS_MAX,
): string {
  if (text.length <= charactersMax) return text
  const parts = splitParts(text, new Set(terms), Math.min(PART_CHARACTERS, charactersMax))
  const { first, last } = widenRun(parts, findBestRun(parts, charactersMax), charactersMax)
  return trimLoneSurrogate(text.slice(parts[first]?.start ?? 0, parts[last]?.end ?? 0)).trimEnd()
}

export const SNIPPET_CHARACTERS_MAX = 700
