/**
 * Finds statements with nearly the same words among many, without comparing all with all.
 *
 * Two sets whose Jaccard index is at least t share a word among their few rarest ones: of n words, the rarest
 * n − ⌈t·n⌉ + 1 will do, which is two or three for a sentence. So each set is listed under its rarest words only, and
 * compared with what is listed there already. Lists of rare words are short, so the work grows with the number of
 * statements and not with its square. What was found to be one statement leaves the lists at once.
 */
import { computeSlot, SLOT_COUNT, type WordSetIndex } from './word-sets.ts'

export const JACCARD_MIN = 0.9

/** Of one statement: what is listed under words that everybody uses is not walked to its end. */
const STEPS_MAX = 1_000
/** Of one statement. What repeats is found again by the next one that says it. */
const FOUND_MAX = 64

export class NearDuplicateIndex {
  readonly #sets: WordSetIndex
  readonly #isApart: (a: number, b: number) => boolean
  /** The first of each list, and what comes next, as numbers of listings; 0 ends a list. */
  readonly #heads = new Int32Array(SLOT_COUNT)
  readonly #next: number[] = [0]
  readonly #listed: number[] = [0]
  readonly #gone: Uint8Array
  readonly #comparedWith: Int32Array
  readonly #sizes: Uint16Array
  /** All words of a set in one number: sets of the same size with another one are not the same. */
  readonly #sums: Uint32Array

  /** `isApart` says of two that nothing could make them one, whatever their words. */
  constructor(sets: WordSetIndex, isApart: (a: number, b: number) => boolean) {
    this.#sets = sets
    this.#isApart = isApart
    this.#gone = new Uint8Array(sets.count)
    this.#comparedWith = new Int32Array(sets.count).fill(-1)
    this.#sizes = new Uint16Array(sets.count)
    this.#sums = new Uint32Array(sets.count)
  }

  /** What came before and has nearly the same words, the likest first; then it is listed itself. */
  take(index: number): readonly number[] {
    const set = this.#sets.at(index)
    this.#sizes[index] = set.length
    this.#sums[index] = set.reduce((sum, number) => sum ^ number, 0)
    const found: { readonly other: number; readonly likeness: number }[] = []
    const slots = this.#rarestSlots(set)
    let steps = 0
    for (const slot of slots) {
      let before = 0
      let listing = this.#heads[slot] ?? 0
      while (listing !== 0 && steps < STEPS_MAX && found.length < FOUND_MAX) {
        steps++
        const other = this.#listed[listing] ?? 0
        const next = this.#next[listing] ?? 0
        if (this.#gone[other] === 1) this.#unlist(slot, before, next)
        else {
          before = listing
          const likeness = this.#likenessOnce(index, set, other)
          if (likeness > 0) found.push({ other, likeness })
        }
        listing = next
      }
    }
    for (const slot of slots) this.#list(slot, index)
    return found
      .sort((a, b) => b.likeness - a.likeness || a.other - b.other)
      .map(({ other }) => other)
  }

  /** It became part of another one. */
  drop(index: number): void {
    this.#gone[index] = 1
  }

  #likenessOnce(index: number, set: Uint32Array, other: number): number {
    if (this.#comparedWith[other] === index) return 0
    this.#comparedWith[other] = index
    const isSameSize = this.#sizes[other] === set.length
    if (isSameSize && this.#sums[other] !== this.#sums[index]) return 0
    return this.#isApart(index, other) ? 0 : computeSubsetSimilarity(set, this.#sets.at(other))
  }

  #rarestSlots(set: Uint32Array): readonly number[] {
    const needed = set.length - Math.ceil(computeMinShared(set.length)) + 1
    const slots = Array.from(set, computeSlot)
    // Equally common words are ordered by their slot: the order must be the same in every set.
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

/** A hair less, because nine tenths of seventy are 63.000…01 to a computer. */
function computeMinShared(words: number): number {
  return JACCARD_MIN * words - 1e-9
}

/**
 * The Jaccard index of two sets if it is high enough and one holds all of the other, else 0. Where each has a word that the other lacks, one
 * may be in the place of the other ("with Tom", "with Bob"), and then they don't say the same.
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
