import { isWhitespaceUnit } from './lines.ts'
import { trimLoneSurrogate } from './markdown/markdown-syntax.ts'
import { extractTerms } from './search/terms.ts'

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

/** Where no line ends sooner, a text is looked at in parts of about this length. */
export const PART_CHARACTERS = 120

/** A part of a text; `terms` are those of the query that are in it. */
export type SnippetPart = {
  readonly start: number
  readonly end: number
  readonly terms: readonly string[]
}

export function splitParts(
  text: string,
  sought: ReadonlySet<string>,
  length: number,
): readonly SnippetPart[] {
  const parts: SnippetPart[] = []
  let start = 0
  while (start < text.length) {
    const end = findPartEnd(text, start, length)
    const terms = extractTerms(text.slice(start, end)).filter((term) => sought.has(term))
    parts.push({ start, end, terms: [...new Set(terms)] })
    start = end
  }
  return parts
}

/** Behind the next line break if that is near, else behind the last white space, else behind any character. */
export function findPartEnd(text: string, start: number, length: number): number {
  const most = Math.min(text.length, start + length)
  if (most === text.length && !text.slice(start).includes('\n')) return most
  const lineEnd = text.slice(start, most).indexOf('\n')
  if (lineEnd >= 0) return start + lineEnd + 1
  for (let at = most; at > start; at--) if (isWhitespaceUnit(text.charCodeAt(at - 1))) return at
  const whole = start + trimLoneSurrogate(text.slice(start, most)).length
  return whole > start ? whole : most
}

/** Of the runs that are short enough, the first with most different terms, without the parts at its ends that have none. */
export function findBestRun(parts: readonly SnippetPart[], charactersMax: number): PartRun {
  const counts = new Map<string, number>()
  let best: PartRun & { readonly found: number } = { first: 0, last: 0, found: 0 }
  let first = 0
  parts.forEach((part, last) => {
    for (const term of part.terms) counts.set(term, (counts.get(term) ?? 0) + 1)
    while (
      part.end - (parts[first]?.start ?? 0) > charactersMax ||
      (first < last && isPoor(first))
    ) {
      for (const term of parts[first]?.terms ?? []) decrementCount(counts, term)
      first++
    }
    if (counts.size > best.found) best = { first, last, found: counts.size }
  })
  return best

  /** Whether everything in the part is also said behind it. */
  function isPoor(index: number): boolean {
    return (parts[index]?.terms ?? []).every((term) => (counts.get(term) ?? 0) > 1)
  }
}

/** With as much around it as there is room for, a third of that before it. */
export function widenRun(
  parts: readonly SnippetPart[],
  run: PartRun,
  charactersMax: number,
): PartRun {
  let { first, last } = run
  const lengthFrom = (from: number) => (parts[last]?.end ?? 0) - (parts[from]?.start ?? 0)
  const before = lengthFrom(first) + (charactersMax - lengthFrom(first)) / 3
  while (first > 0 && lengthFrom(first - 1) <= before) first--
  const start = parts[first]?.start ?? 0
  while ((parts[last + 1]?.end ?? Number.POSITIVE_INFINITY) - start <= charactersMax) last++
  while (first > 0 && lengthFrom(first - 1) <= charactersMax) first--
  return { first, last }
}

type PartRun = { readonly first: number; readonly last: number }

function decrementCount(counts: Map<string, number>, term: string): void {
  const count = counts.get(term) ?? 0
  if (count > 1) counts.set(term, count - 1)
  else counts.delete(term)
}
