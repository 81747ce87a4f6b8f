/**
 * Okapi BM25, the lexical score of every store. It uses the non-negative form of the inverse document frequency: a word
 * that most documents contain counts little, but never lowers a score.
 */

/** k1 and b with their usual values, as in SQLite's FTS5. */
const TERM_SATURATION = 1.2
const LENGTH_NORMALIZATION = 0.75

/** Statistics of all documents. Lengths are in terms. */
export type CorpusStatistics = {
  readonly documents: number
  readonly averageLength: number
  countDocumentsWith(term: string): number
}

export type LexicalScore = {
  /** Zero without matching terms, higher is better; never negative, always finite. */
  readonly score: number
  /** 0 … 1: the share of the query that matches, each term weighted by its IDF. */
  readonly coverage: number
}

/** Scores a document, given the distinct terms of a query and the terms of the document (see `terms.ts`). */
export function scoreDocument(
  query: readonly string[],
  document: readonly string[],
  corpus: CorpusStatistics,
): LexicalScore {
  const frequencies = new Map(query.map((term) => [term, 0]))
  for (const term of document) {
    const count = frequencies.get(term)
    if (count !== undefined) frequencies.set(term, count + 1)
  }
  return scoreTermFrequencies(frequencies, document.length, corpus)
}

function scoreTermFrequencies(
  frequencies: ReadonlyMap<string, number>,
  length: number,
  corpus: CorpusStatistics,
): LexicalScore {
  const damping = computeDamping(corpus.averageLength > 0 ? length / corpus.averageLength : 1)
  let score = 0
  let matchedIdf = 0
  let queryIdf = 0
  for (const [term, count] of frequencies) {
    const idf = computeIdf(corpus.countDocumentsWith(term), corpus.documents)
    queryIdf += idf
    if (count === 0) continue
    matchedIdf += idf
    score += (idf * count * (TERM_SATURATION + 1)) / (count + damping)
  }
  return { score, coverage: queryIdf > 0 ? Math.min(1, matchedIdf / queryIdf) : 0 }
}

/**
 * BM25 from term counts, for a text whose length is a multiple of the average. `counts` may hold the counts of several
 * texts; those of this one begin at `from`. A plain loop, because a question runs it over thousands of texts.
 */
export function scoreTermCounts(
  counts: ArrayLike<number>,
  idfs: readonly number[],
  relativeLength: number,
  from = 0,
): number {
  const damping = computeDamping(relativeLength)
  let score = 0
  for (let term = 0; term < idfs.length; term++) {
    const count = counts[from + term] ?? 0
    if (count !== 0) score += scoreTerm(idfs[term] ?? 0, count, damping)
  }
  return score
}

/** What one term adds to the score of a text. */
export function scoreTerm(idf: number, count: number, damping: number): number {
  return (idf * count * (TERM_SATURATION + 1)) / (count + damping)
}

/** How much the length of a text lowers the weight of its terms. */
export function computeDamping(relativeLength: number): number {
  return TERM_SATURATION * (1 - LENGTH_NORMALIZATION + LENGTH_NORMALIZATION * relativeLength)
}

/** The inverse document frequency of a term. */
export function computeIdf(documentsWith: number, documents: number): number {
  // Stores that keep the two counts apart may report more matches than documents.
  const documentsWithout = Math.max(0, documents - documentsWith)
  return Math.log(1 + (documentsWithout + 0.5) / (documentsWith + 0.5))
}
