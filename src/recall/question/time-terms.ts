/** Takes the words of a time out of what keyword search looks for, once the time itself is looked for. */
import { scoreTermCounts } from '../../text/search/bm25.ts'
import { extractTerms } from '../../text/search/terms.ts'
import type { LexicalHits } from '../ranking/evidence.ts'
import type { TimeSpan } from './time-expressions.ts'

/**
 * What keyword search would have found without the words of a time like "four weeks ago". Who said these words back then
 * meant another time, so they speak for the wrong memories. Words that the question has elsewhere as well stay, and all
 * do when there are no others.
 */
export function removeTimeTerms(leg: LexicalHits, question: string, span: TimeSpan): LexicalHits {
  const asked = countOccurrences(question)
  const spent = countOccurrences(span.words)
  const kept = leg.terms.flatMap(({ text }, term) => {
    const isSpent = spent.has(text) && spent.get(text) === asked.get(text)
    return isSpent ? [] : [term]
  })
  if (kept.length === 0 || kept.length === leg.terms.length) return leg
  const of = <Item>(items: readonly Item[]) => items.filter((_, term) => kept.includes(term))
  const terms = of(leg.terms)
  const rarities = terms.map(({ rarity }) => rarity)
  const hits = leg.hits.map((hit) => {
    const counts = of(hit.counts)
    return { ...hit, counts, ...computeScores(counts, rarities, hit.length, leg.averageLength) }
  })
  return {
    ...leg,
    terms,
    hits: hits
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1)),
  }
}

/** The same hits with other weights of the terms, in the order that these make. */
export function rescoreHits(leg: LexicalHits, rarities: readonly number[]): LexicalHits {
  const hits = leg.hits.map((hit) => ({
    ...hit,
    ...computeScores(hit.counts, rarities, hit.length, leg.averageLength),
  }))
  return {
    ...leg,
    terms: leg.terms.map(({ text }, term) => ({ text, rarity: rarities[term] ?? 0 })),
    hits: hits
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1)),
  }
}

function countOccurrences(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const term of extractTerms(text)) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

function computeScores(
  counts: readonly number[],
  rarities: readonly number[],
  length: number,
  averageLength: number,
): { readonly score: number; readonly coverage: number } {
  const asked = rarities.reduce((sum, rarity) => sum + rarity, 0)
  const found = rarities.reduce((sum, rarity, term) => sum + (counts[term] ? rarity : 0), 0)
  return {
    score: scoreTermCounts(counts, rarities, averageLength > 0 ? length / averageLength : 1),
    coverage: asked > 0 ? found / asked : 0,
  }
}
