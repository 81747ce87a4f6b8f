/** Posting lists in memory: the rows that hold a term, by slot, with term frequencies. */
import { computeDamping, computeIdf, scoreTerm } from '../../../text/search/bm25.ts'

/** Slot and frequency share one integer, which the JavaScript engine stores unboxed. */
const COUNT_BITS = 10
const COUNT_MAX = 2 ** COUNT_BITS - 1

/** Terms of a query that are matched at once: one bit each. */
const TERMS_MAX = 32

/** The rows that hold any of the terms, in no particular order. Valid until the next call of `score`. */
export type ScoredRows = {
  readonly slots: Int32Array
  /** The BM25 score of each of them. */
  readonly scores: Float64Array
  /** The inverse document frequency of each term. */
  readonly idfs: readonly number[]
}

const NO_POSTINGS: readonly number[] = []

export class PostingLists {
  readonly #ofTerm = new Map<string, number[]>()
  #terms = 0
  /** Lengths in terms by slot; -1 for removed rows. */
  #lengths = new Int32Array(0)
  /** Buffers that `score` reuses, by slot. */
  #scores = new Float64Array(0)
  #dampings = new Float64Array(0)
  /** Which terms a row holds, a bit for each. */
  #masks = new Int32Array(0)
  #slots = new Int32Array(0)

  /** The terms of all rows. */
  get termCount(): number {
    return this.#terms
  }

  /** `text`: terms separated by spaces. Slots must come in ascending order. */
  add(slot: number, text: string, length: number): void {
    this.#makeRoom(slot)
    this.#lengths[slot] = length
    this.#terms += length
    if (text === '') return
    const counts = new Map<string, number>()
    for (const term of text.split(' ')) counts.set(term, (counts.get(term) ?? 0) + 1)
    for (const [term, count] of counts) {
      const posting = (slot << COUNT_BITS) | Math.min(count, COUNT_MAX)
      const postings = this.#ofTerm.get(term)
      if (postings === undefined) this.#ofTerm.set(term, [posting])
      else postings.push(posting)
    }
  }

  /** The postings of a removed row stay until the owner is reloaded; `score` skips them. */
  remove(slot: number, length: number): void {
    this.#terms -= length
    this.#lengths[slot] = -1
  }

  /**
   * Scores all rows that hold any of the terms, term by term: a query matches tens of thousands of postings, and most
   * rows hold few of its terms. `size`: the number of rows.
   */
  score(terms: readonly string[], size: number): ScoredRows {
    if (terms.length > TERMS_MAX) {
      throw new RangeError(`A query has at most ${TERMS_MAX} terms; got ${terms.length}.`)
    }
    const averageLength = size === 0 ? 0 : this.#terms / size
    const [lengths, scores, dampings] = [this.#lengths, this.#scores, this.#dampings]
    const [masks, slots] = [this.#masks, this.#slots]
    masks.fill(0)
    let found = 0
    const idfs = terms.map((term, position) => {
      const postings = this.#ofTerm.get(term) ?? NO_POSTINGS
      const idf = computeIdf(this.#countLive(postings), size)
      for (let index = 0; index < postings.length; index++) {
        const posting = postings[index] ?? 0
        const slot = posting >> COUNT_BITS
        const length = lengths[slot] ?? -1
        if (length < 0) continue
        const mask = masks[slot] ?? 0
        if (mask === 0) {
          slots[found++] = slot
          scores[slot] = 0
          dampings[slot] = computeDamping(averageLength > 0 ? length / averageLength : 1)
        }
        masks[slot] = mask | (1 << position)
        scores[slot] =
          (scores[slot] ?? 0) + scoreTerm(idf, posting & COUNT_MAX, dampings[slot] ?? 0)
      }
      return idf
    })
    const touched = slots.subarray(0, found)
    const ordered = new Float64Array(found)
    for (let index = 0; index < found; index++) ordered[index] = scores[touched[index] ?? 0] ?? 0
    return { slots: touched, scores: ordered, idfs }
  }

  /** The frequency of each term of the last `score` in a row. */
  countTerms(terms: readonly string[], slot: number): readonly number[] {
    const mask = this.#masks[slot] ?? 0
    const counts: number[] = []
    for (let position = 0; position < terms.length; position++) {
      const isHeld = (mask & (1 << position)) !== 0
      counts.push(isHeld ? this.#countIn(this.#ofTerm.get(terms[position] ?? ''), slot) : 0)
    }
    return counts
  }

  #countLive(postings: readonly number[]): number {
    let live = 0
    for (let index = 0; index < postings.length; index++) {
      if ((this.#lengths[(postings[index] ?? 0) >> COUNT_BITS] ?? -1) >= 0) live++
    }
    return live
  }

  #countIn(postings: readonly number[] = NO_POSTINGS, slot: number): number {
    let [from, to] = [0, postings.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((postings[middle] ?? 0) >> COUNT_BITS < slot) from = middle + 1
      else to = middle
    }
    const posting = postings[from] ?? 0
    return posting >> COUNT_BITS === slot ? posting & COUNT_MAX : 0
  }

  #makeRoom(slot: number): void {
    if (slot < this.#lengths.length) return
    const size = (slot + 1) * 2
    const lengths = new Int32Array(size).fill(-1)
    lengths.set(this.#lengths)
    this.#lengths = lengths
    this.#scores = new Float64Array(size)
    this.#dampings = new Float64Array(size)
    this.#masks = new Int32Array(size)
    this.#slots = new Int32Array(size)
  }
}
