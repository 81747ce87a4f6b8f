/**
 * How well a document answers a keyword query, the same for every store.
 *
 * BM25 in the form that never goes below zero: a word that occurs in most documents counts for little, but
 * finding it is never held against a document.
 */

/** 1.2 and 0.75, the usual values and those of SQLite's FTS5. */
const TERM_SATURATION = 1.2
const LENGTH_NORMALISATION = 0.75

/** What must be known about all documents to judge one of them. Lengths count terms. */
export type CorpusStatistics = {
  readonly documents: number
  readonly averageLength: number
  countDocumentsWith(term: string): number
}

export type LexicalScore = {
  /** Above zero when a term occurs, higher is better, zero when none does. Never negative, always finite. */
  readonly score: number
  /** 0 … 1: the share of the query that occurs, each term weighted by its rarity. */
  readonly coverage: number
}

/** Both lists as made by `core/terms.ts`; the terms of the query are distinct. */
export function scoreDocument(
  query: readonly string[],
  document: readonly string[],
  corpus: CorpusStatistics,
): LexicalScore {
  const occurrences = new Map(query.map((term) => [term, 0]))
  for (const term of document) {
    const seen = occurrences.get(term)
    if (seen !== undefined) occurrences.set(term, seen + 1)
  }
  return scoreTermFrequencies(occurrences, document.length, corpus)
}

/** The same for a caller that has already counted how often each term of the query occurs. */
export function scoreTermFrequencies(
  occurrences: ReadonlyMap<string, number>,
  length: number,
  corpus: CorpusStatistics,
): LexicalScore {
  const relativeLength = corpus.averageLength > 0 ? length / corpus.averageLength : 1
  const damping =
    TERM_SATURATION * (1 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * relativeLength)
  let score = 0
  let found = 0
  let asked = 0
  for (const [term, count] of occurrences) {
    const rarity = computeIdf(corpus.countDocumentsWith(term), corpus.documents)
    asked += rarity
    if (count === 0) continue
    found += rarity
    score += (rarity * count * (TERM_SATURATION + 1)) / (count + damping)
  }
  return { score, coverage: asked > 0 ? Math.min(1, found / asked) : 0 }
}

/**
 * BM25 of a text that is longer or shorter than the average by a factor, from terms that occur in it. The counts may
 * stand among those of other texts, beginning at `from`. A plain loop: a question runs it over thousands of texts.
 */
export function scoreTermCounts(
  counts: ArrayLike<number>,
  rarities: readonly number[],
  relativeLength: number,
  from = 0,
): number {
  const damping =
    TERM_SATURATION * (1 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * relativeLength)
  let score = 0
  for (let term = 0; term < rarities.length; term++) {
    const count = counts[from + term] ?? 0
    if (count === 0) continue
    score += ((rarities[term] ?? 0) * count * (TERM_SATURATION + 1)) / (count + damping)
  }
  return score
}

/** How much finding a term tells: much for a rare one, little for one that most documents hold. */
export function computeIdf(documentsWith: number, documents: number): number {
  // Counts may lag behind one another in a store that keeps them apart; a negative share must not follow.
  const without = Math.max(0, documents - documentsWith)
  return Math.log(1 + (without + 0.5) / (documentsWith + 0.5))
}
