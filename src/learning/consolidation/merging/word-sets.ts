/**
 * Compact word sets of many memories: hashed words in one array. Hash collisions are rare and harmless, because callers
 * compare the statements themselves before they act.
 */

import { USER_WORDS } from '../../../memory/contradiction/persons.ts'
import { STOP_WORDS } from '../../../text/search/stopwords.ts'
import { extractTerms } from '../../../text/search/terms.ts'

/** Longer texts get an empty set: they are no single statement and slow to compare. */
export const WORDS_MAX = 256

/** Distinct hashes in ascending order. */
export function encodeWords(text: string): Uint32Array {
  const numbers = Uint32Array.from(new Set(extractTerms(text).map(hashWord))).sort()
  return numbers.length > WORDS_MAX ? new Uint32Array(0) : numbers
}

/** FNV-1a. */
function hashWord(term: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < term.length; index++) {
    hash = Math.imul(hash ^ term.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}

/** Stop words and words for the user, which occur in nearly every statement. */
const UNINFORMATIVE: ReadonlySet<number> = new Set(
  [...STOP_WORDS, ...USER_WORDS].flatMap((word) => extractTerms(word)).map(hashWord),
)

/** Words that are specific to a text. */
export function selectContentWords(numbers: Uint32Array): Uint32Array {
  return numbers.filter((number) => !UNINFORMATIVE.has(number))
}

const WORDS_CAPACITY_MIN = 1_024
/** Words are counted by their leading bits; collisions only make a word look more common. */
const SLOT_BITS = 20
export const SLOT_COUNT = 2 ** SLOT_BITS

export function computeSlot(number: number): number {
  return number >>> (32 - SLOT_BITS)
}

export class WordSetIndex {
  #numbers = new Uint32Array(WORDS_CAPACITY_MIN)
  #used = 0
  readonly #ends: number[] = []
  readonly #counts = new Uint32Array(SLOT_COUNT)

  get count(): number {
    return this.#ends.length
  }

  add(numbers: Uint32Array): void {
    while (this.#used + numbers.length > this.#numbers.length) {
      const larger = new Uint32Array(this.#numbers.length * 2)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers.set(numbers, this.#used)
    this.#used += numbers.length
    this.#ends.push(this.#used)
    for (const number of numbers) {
      const slot = computeSlot(number)
      this.#counts[slot] = (this.#counts[slot] ?? 0) + 1
    }
  }

  /** The number of sets with a word of this slot. */
  countAt(slot: number): number {
    return this.#counts[slot] ?? 0
  }

  /** A view, not a copy; empty for unknown indexes. */
  at(index: number): Uint32Array {
    return this.#numbers.subarray(this.#ends[index - 1] ?? 0, this.#ends[index] ?? this.#used)
  }
}
