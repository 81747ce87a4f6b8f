/**
 * Exchanges in a row, as hashes. One exchange alone is found in many conversations ("thanks", "You are welcome!"); the
 * more of those before it are the same, the surer it is that the conversation is.
 */
import type { Exchange } from '../../domain/model-call.ts'
import { hashParts } from '../../lib/hash.ts'

/** How many exchanges a run may hold, the surest first, besides all that the client sends: it may cut off the beginning. */
export const EXCHANGE_WINDOWS = [6, 2, 1] as const

/** An exchange of this many characters is hardly found in two conversations. */
const TELLING_CHARACTERS_MIN = 100

type ExchangeHash = { readonly hash: string; readonly isTelling: boolean }

/** Each is asked about several times while a request is kept. */
const marks = new WeakMap<Exchange, ExchangeHash>()

function hashExchange(exchange: Exchange): ExchangeHash {
  const known = marks.get(exchange)
  if (known !== undefined) return known
  const [user, assistant] = [
    removeWhitespace(exchange.user),
    removeWhitespace(exchange.assistant ?? ''),
  ]
  const isTelling = user.length + assistant.length >= TELLING_CHARACTERS_MIN
  const mark = { hash: hashParts(user, assistant), isTelling }
  marks.set(exchange, mark)
  return mark
}

export class ExchangeHashes {
  readonly #exchanges: readonly string[]
  /** Of all exchanges up to each. */
  readonly #whole: readonly string[]
  readonly #telling: ReadonlySet<number>

  constructor(exchanges: readonly Exchange[]) {
    const said = exchanges.map(hashExchange)
    this.#exchanges = said.map(({ hash }) => hash)
    let whole = ''
    this.#whole = this.#exchanges.map((exchange) => {
      whole = hashParts(whole, exchange)
      return whole
    })
    this.#telling = new Set(said.flatMap(({ isTelling }, index) => (isTelling ? [index] : [])))
  }

  /** All before `end`. */
  whole(end: number): string {
    return this.#whole[end - 1] ?? ''
  }

  /** The last ones before `end`. */
  last(length: number, end: number): string {
    return hashParts(...this.#exchanges.slice(end - length, end))
  }

  /** Whether the last ones before `end` tell which conversation it is, though not all that were sent are the same. */
  isTelling(length: number, end: number): boolean {
    return length > 1 || end === 1 || this.#telling.has(end - 1)
  }
}

/** A text without what changes from one request to the next, as the time of day: words with a digit in them. */
export function removeNumericWords(text: string): string {
  return text
    .split(/\s+/)
    .filter((word) => !/\d/.test(word))
    .join(' ')
}

/** A text without its blanks: clients and formats join and trim texts as they like. */
export function removeWhitespace(text: string): string {
  return text.replace(/\s+/g, '')
}
