/** Terms of the keyword index, ranked by how a query uses them. Lower ranks are kept first. */

/** Names, links and the like that are longer match by their beginning. */
export const TERM_CHARACTERS_MAX = 64

/** Looked up by queries. */
export const CONTENT = 0

/** Pairs of hiragana, mostly endings and particles: looked up while there is room. */
export const MINOR = 1

/** Looked up only when a query has nothing else. */
export const STOP = 2

/** Covered by longer terms of the same text, so a query for this text does not need it. */
export const INDEX_ONLY = 3

export type TermRank = typeof CONTENT | typeof MINOR | typeof STOP | typeof INDEX_ONLY

export type Term = { readonly text: string; readonly rank: TermRank }

export function clipTerm(term: string): string {
  if (term.length <= TERM_CHARACTERS_MAX) return term
  return term.slice(0, TERM_CHARACTERS_MAX).replace(/[\ud800-\udbff]$/, '')
}
