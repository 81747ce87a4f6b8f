/** The snippet of a file chunk that matches a query best: whole lines where possible, verbatim. */
import { isWhitespaceUnit } from './lines.ts'
import { extractTerms } from './search/terms.ts'
import { trimLoneSurrogate } from './well-formed-text.ts'

export const SNIPPET_CHARACTERS_MAX = 700

/** Parts end at line breaks; longer lines are split into parts of about this length. */
const PART_CHARACTERS = 120

/**
 * The run of parts with most of the query terms (see `extractQueryTerms`), widened by its surroundings. A short text is
 * returned whole; without any term the snippet is the beginning of the text.
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

/** A part of a text with the query terms that occur in it. */
type SnippetPart = {
  readonly start: number
  readonly end: number
  readonly terms: readonly string[]
}

type PartRun = { readonly first: number; readonly last: number }

function splitParts(
  text: string,
  queryTerms: ReadonlySet<string>,
  length: number,
): readonly SnippetPart[] {
  const parts: SnippetPart[] = []
  let start = 0
  while (start < text.length) {
    const end = findPartEnd(text, start, length)
    const terms = extractTerms(text.slice(start, end)).filter((term) => queryTerms.has(term))
    parts.push({ start, end, terms: [...new Set(terms)] })
    start = end
  }
  return parts
}

/** After the next line break if it is near, else after the last white space, else after any character. */
function findPartEnd(text: string, start: number, length: number): number {
  const most = Math.min(text.length, start + length)
  if (most === text.length && !text.slice(start).includes('\n')) return most
  const lineEnd = text.slice(start, most).indexOf('\n')
  if (lineEnd >= 0) return start + lineEnd + 1
  for (let at = most; at > start; at--) if (isWhitespaceUnit(text.charCodeAt(at - 1))) return at
  const whole = start + trimLoneSurrogate(text.slice(start, most)).length
  return whole > start ? whole : most
}

/** The first of the runs within the length limit that has the most distinct terms, without parts that add none. */
function findBestRun(parts: readonly SnippetPart[], charactersMax: number): PartRun {
  const counts = new Map<string, number>()
  let best: PartRun & { readonly distinct: number } = { first: 0, last: 0, distinct: 0 }
  let first = 0
  parts.forEach((part, last) => {
    for (const term of part.terms) counts.set(term, (counts.get(term) ?? 0) + 1)
    while (
      part.end - (parts[first]?.start ?? 0) > charactersMax ||
      (first < last && isRedundant(first))
    ) {
      for (const term of parts[first]?.terms ?? []) decrementCount(counts, term)
      first++
    }
    if (counts.size > best.distinct) best = { first, last, distinct: counts.size }
  })
  return best

  /** Whether all terms of the part occur again later in the run. */
  function isRedundant(index: number): boolean {
    return (parts[index]?.terms ?? []).every((term) => (counts.get(term) ?? 0) > 1)
  }
}

/** Adds surrounding parts up to the length limit, a third of the free room before the run. */
function widenRun(parts: readonly SnippetPart[], run: PartRun, charactersMax: number): PartRun {
  let { first, last } = run
  const lengthFrom = (from: number) => (parts[last]?.end ?? 0) - (parts[from]?.start ?? 0)
  const before = lengthFrom(first) + (charactersMax - lengthFrom(first)) / 3
  while (first > 0 && lengthFrom(first - 1) <= before) first--
  const start = parts[first]?.start ?? 0
  while ((parts[last + 1]?.end ?? Number.POSITIVE_INFINITY) - start <= charactersMax) last++
  while (first > 0 && lengthFrom(first - 1) <= charactersMax) first--
  return { first, last }
}

function decrementCount(counts: Map<string, number>, term: string): void {
  const count = counts.get(term) ?? 0
  if (count > 1) counts.set(term, count - 1)
  else counts.delete(term)
}
