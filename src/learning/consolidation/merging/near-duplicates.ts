/**
 * Finds statements with nearly the same words among many, without comparing all with all.
 *
 * Two sets whose Jaccard index is at least t share a word among their few rarest ones: of n words, the rarest
 * n − ⌈t·n⌉ + 1 will do, which is two or three for a sentence. So each set is listed under its rarest words only, and
 * compared with what is listed there already. Lists of rare words are short, so the work grows with the number of
 * statements and not with its square. Absorbed statements leave the lists immediately.
 */
import { computeSlot, SLOT_COUNT, type WordSetIndex } from './word-sets.ts'

export const JACCARD_MIN = 0.9

/** Listings visited per statement; bounds the cost of very common words. */
const STEPS_MAX = 1_000
/** Hits per statement; later duplicates find the remaining ones. */
const HITS_MAX = 64

export class NearDuplicateIndex {
  readonly #sets: WordSetIndex
  readonly #isApart: (a: number, b: number) => boolean
  /** Linked lists of listing numbers by slot; 0 ends a list. */
  readonly #heads = new Int32Array(SLOT_COUNT)
  readonly #next: number[] = [0]
  readonly #listed: number[] = [0]
  readonly #dropped: Uint8Array
  readonly #comparedWith: Int32Array
  readonly #sizes: Uint16Array
  /** XOR of all words: sets of equal size with different checksums differ. */
  readonly #sums: Uint32Array

  /** `isApart`: whether two memories can never be merged, whatever their words. */
  constructor(sets: WordSetIndex, isApart: (a: number, b: number) => boolean) {
    this.#sets = sets
    this.#isApart = isApart
    this.#dropped = new Uint8Array(sets.count)
    this.#comparedWith = new Int32Array(sets.count).fill(-1)
    this.#sizes = new Uint16Array(sets.count)
    this.#sums = new Uint32Array(sets.count)
  }

  /** Earlier sets with nearly the same words, most similar first; then lists the set itself. */
  take(index: number): readonly number[] {
    const set = this.#sets.at(index)
    this.#sizes[index] = set.length
    this.#sums[index] = set.reduce((sum, number) => sum ^ number, 0)
    const found: { readonly other: number; readonly similarity: number }[] = []
    const slots = this.#rarestSlots(set)
    let steps = 0
    for (const slot of slots) {
      let before = 0
      let listing = this.#heads[slot] ?? 0
      while (listing !== 0 && steps < STEPS_MAX && found.length < HITS_MAX) {
        steps++
        const other = this.#listed[listing] ?? 0
        const next = this.#next[listing] ?? 0
        if (this.#dropped[other] === 1) this.#unlist(slot, before, next)
        else {
          before = listing
          const similarity = this.#compareOnce(index, set, other)
          if (similarity > 0) found.push({ other, similarity })
        }
        listing = next
      }
    }
    for (const slot of slots) this.#list(slot, index)
    return found
      .sort((a, b) => b.similarity - a.similarity || a.other - b.other)
      .map(({ other }) => other)
  }

  /** Excludes an absorbed set from further hits. */
  drop(index: number): void {
    this.#dropped[index] = 1
  }

  #compareOnce(index: number, set: Uint32Array, other: number): number {
    if (this.#comparedWith[other] === index) return 0
    this.#comparedWith[other] = index
    const isSameSize = this.#sizes[other] === set.length
    if (isSameSize && this.#sums[other] !== this.#sums[index]) return 0
    return this.#isApart(index, other) ? 0 : computeSubsetSimilarity(set, this.#sets.at(other))
  }

  #rarestSlots(set: Uint32Array): readonly number[] {
    const needed = set.length - Math.ceil(computeMinShared(set.length)) + 1
    const slots = Array.from(set, computeSlot)
    // Ties are ordered by slot, because the order must be the same in every set.
    slots.sort((a, b) => this.#sets.countAt(a) - this.#sets.countAt(b) || a - b)
    return set.length === 0 ? [] : [...new Set(slots.slice(0, needed))]
  }

  #list(slot: number, index: number): void {
    this.#listed.push(index)
    this.#next.push(this.#heads[slot] ?? 0)
    this.#heads[slot] = this.#listed.length - 1
  }

  #unlist(slot: number, before: number, next: number): void {
    if (before === 0) this.#heads[slot] = next
    else this.#next[before] = next
  }
}

/** With a tolerance for floating-point error: 0.9 · 70 is 63.000…01. */
function computeMinShared(words: number): number {
  return JACCARD_MIN * words - 1e-9
}

/**
 * The Jaccard index of two sets if it reaches the minimum and one is a subset of the other, else 0. Sets that each have a
 * word of their own may state different things ("with Tom", "with Bob").
 */
export function computeSubsetSimilarity(a: Uint32Array, b: Uint32Array): number {
  const [small, large] = a.length <= b.length ? [a, b] : [b, a]
  if (small.length === 0 || small.length < computeMinShared(large.length)) return 0
  let at = 0
  for (const number of small) {
    while (at < large.length && (large[at] ?? 0) < number) at++
    if (large[at] !== number) return 0
    at++
  }
  return small.length / large.length
}
