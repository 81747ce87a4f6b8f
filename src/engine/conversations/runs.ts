/**
 * Exchanges in a row, as hashes. One exchange alone is found in many conversations ("thanks", "You are welcome!"); the
 * more of those before it are the same, the surer it is that the conversation is.
 */
import type { Exchange } from '../../core/formats/format.ts'
import { bare, hashOf } from './hashing.ts'

/** How many exchanges a run may hold, the surest first, besides all that the client sends: it may cut off the beginning. */
export const RUN_LENGTHS = [6, 2, 1] as const
/** An exchange of this many characters is hardly found in two conversations. */
const TELLING_CHARACTERS_MIN = 100

export class Runs {
  readonly #exchanges: readonly string[]
  /** Of all exchanges up to each. */
  readonly #whole: readonly string[]
  readonly #telling: ReadonlySet<number>

  constructor(exchanges: readonly Exchange[]) {
    const said = exchanges.map(
      ({ user, assistant }) => [bare(user), bare(assistant ?? '')] as const,
    )
    this.#exchanges = said.map((texts) => hashOf(...texts))
    let whole = ''
    this.#whole = this.#exchanges.map((exchange) => {
      whole = hashOf(whole, exchange)
      return whole
    })
    const isTelling = (texts: readonly string[]) => texts.join('').length >= TELLING_CHARACTERS_MIN
    this.#telling = new Set(said.flatMap((texts, index) => (isTelling(texts) ? [index] : [])))
  }

  /** All before `end`. */
  whole(end: number): string {
    return this.#whole[end - 1] ?? ''
  }

  /** The last ones before `end`. */
  last(length: number, end: number): string {
    return hashOf(...this.#exchanges.slice(end - length, end))
  }

  /** Whether the last ones before `end` tell which conversation it is, though not all that were sent are the same. */
  isTelling(length: number, end: number): boolean {
    return length > 1 || end === 1 || this.#telling.has(end - 1)
  }
}
