/**
 * Texts with the statistics that matter to a keyword index: 15 to 35 words, nearly half of them function words, the
 * others drawn from 30,000 made-up words by Zipf's law. The same in every run.
 */
import { STOP_WORDS } from '../src/text/search/stopwords.ts'
import { seededRandom } from './harness.ts'

const VOCABULARY = 30_000
const FUNCTION_WORD_SHARE = 0.45
const WORDS_MIN = 15
const WORDS_MAX = 35
/** Mandelbrot's shift, which takes the very top off Zipf's curve, as in real texts without their function words. */
const ZIPF_SHIFT = 20

const SYLLABLES =
  'ka lo mi ren tas vel dor pin gar sho bel tun mar fis wen dra cho lup zin har'.split(' ')

export class Texts {
  readonly #random: () => number
  readonly #cumulative: Float64Array

  constructor(seed: number) {
    this.#random = seededRandom(seed)
    this.#cumulative = new Float64Array(VOCABULARY)
    let total = 0
    for (let rank = 0; rank < VOCABULARY; rank++) {
      total += 1 / (rank + 1 + ZIPF_SHIFT)
      this.#cumulative[rank] = total
    }
  }

  next(): string {
    const length = WORDS_MIN + Math.floor(this.#random() * (WORDS_MAX - WORDS_MIN + 1))
    return Array.from({ length }, () =>
      this.#random() < FUNCTION_WORD_SHARE ? this.#functionWord() : this.#contentWord(),
    ).join(' ')
  }

  /** Words of a text, as a query for it would use them. */
  queryFor(text: string, words: number): string {
    const content = [...new Set(text.split(' '))].filter((word) => !STOP_WORDS.has(word))
    while (content.length > words) content.splice(Math.floor(this.#random() * content.length), 1)
    return content.join(' ')
  }

  #functionWord(): string {
    return FUNCTION_WORDS[Math.floor(this.#random() * FUNCTION_WORDS.length)] ?? 'the'
  }

  #contentWord(): string {
    const target = this.#random() * (this.#cumulative[VOCABULARY - 1] ?? 0)
    let [low, high] = [0, VOCABULARY - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#cumulative[middle] ?? 0) < target) low = middle + 1
      else high = middle
    }
    return wordOf(low)
  }
}

const FUNCTION_WORDS =
  'the a of to and in is it that for on with as was at by this be from or'.split(' ')

function wordOf(rank: number): string {
  let word = SYLLABLES[rank % SYLLABLES.length] ?? ''
  for (let rest = Math.floor(rank / SYLLABLES.length) + 1; rest > 0; ) {
    word += SYLLABLES[rest % SYLLABLES.length] ?? ''
    rest = Math.floor(rest / SYLLABLES.length)
  }
  return word
}
