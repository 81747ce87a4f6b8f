/**
 * The words of many memories in little room: numbers instead of words, all in one array. That two different words share
 * a number is rare and harmless, because whoever acts on what is found here compares the statements themselves.
 */

import { USER_WORDS } from '../../../memory/contradiction/persons.ts'
import { STOP_WORDS } from '../../../text/search/stopwords.ts'
import { extractTerms } from '../../../text/search/terms.ts'

/** A text of more words has none here: it is no statement of a fact, and comparing it would take long. */
export const WORDS_MAX = 256

/** Distinct, in ascending order. */
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

/** Whom a statement is about is told by nearly every statement. */
const SAYS_NOTHING: ReadonlySet<number> = new Set(
  [...STOP_WORDS, ...USER_WORDS].flatMap((word) => extractTerms(word)).map(hashWord),
)

/** Those that tell what a text is about. */
export function selectContentWords(numbers: Uint32Array): Uint32Array {
  return numbers.filter((number) => !SAYS_NOTHING.has(number))
}

const WORDS_AT_FIRST = 1_024
/** Words are counted by their first bits. Those that share them are taken for more common than they are, which is harmless. */
const SLOT_BITS = 20
export const SLOT_COUNT = 2 ** SLOT_BITS

export function computeSlot(number: number): number {
  return number >>> (32 - SLOT_BITS)
}

export class WordSetIndex {
  #numbers = new Uint32Array(WORDS_AT_FIRST)
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

  /** In how many sets a word of this slot is. */
  countAt(slot: number): number {
    return this.#counts[slot] ?? 0
  }

  /** A view, not a copy. Empty where nothing is known. */
  at(index: number): Uint32Array {
    return this.#numbers.subarray(this.#ends[index - 1] ?? 0, this.#ends[index] ?? this.#used)
  }
}
