/**
 * Hashes of consecutive exchanges, by which a conversation is recognized. A single exchange may occur in many
 * conversations ("thanks", "You are welcome!"); the more of the exchanges before it match, the more certain the match.
 */
import type { Exchange } from '../../domain/model-call.ts'
import { hashParts } from '../../lib/hash.ts'

/** Window sizes in exchanges, most distinctive first. They complement the hash of the whole history, whose beginning clients may cut off. */
export const EXCHANGE_WINDOWS = [6, 2, 1] as const

/** A longer exchange is unlikely to occur in two conversations. */
const DISTINCTIVE_CHARACTERS_MIN = 100

type ExchangeHash = { readonly hash: string; readonly isDistinctive: boolean }

/** Each exchange is hashed several times while a request is recorded. */
const hashes = new WeakMap<Exchange, ExchangeHash>()

function hashExchange(exchange: Exchange): ExchangeHash {
  const known = hashes.get(exchange)
  if (known !== undefined) return known
  const [user, assistant] = [
    removeWhitespace(exchange.user),
    removeWhitespace(exchange.assistant ?? ''),
  ]
  const isDistinctive = user.length + assistant.length >= DISTINCTIVE_CHARACTERS_MIN
  const result = { hash: hashParts(user, assistant), isDistinctive }
  hashes.set(exchange, result)
  return result
}

export class ExchangeHashes {
  readonly #exchanges: readonly string[]
  /** For each exchange, the hash of the history up to it. */
  readonly #histories: readonly string[]
  readonly #distinctive: ReadonlySet<number>

  constructor(exchanges: readonly Exchange[]) {
    const hashed = exchanges.map(hashExchange)
    this.#exchanges = hashed.map(({ hash }) => hash)
    let history = ''
    this.#histories = this.#exchanges.map((exchange) => {
      history = hashParts(history, exchange)
      return history
    })
    this.#distinctive = new Set(
      hashed.flatMap(({ isDistinctive }, index) => (isDistinctive ? [index] : [])),
    )
  }

  /** The hash of all exchanges before `end`. */
  hashHistory(end: number): string {
    return this.#histories[end - 1] ?? ''
  }

  /** The hash of the last `length` exchanges before `end`. */
  hashWindow(length: number, end: number): string {
    return hashParts(...this.#exchanges.slice(end - length, end))
  }

  /** Whether a window identifies a conversation although the history before it differs. */
  isDistinctive(length: number, end: number): boolean {
    return length > 1 || end === 1 || this.#distinctive.has(end - 1)
  }
}

/** Removes words with digits, such as the time of day, which change from one request to the next. */
export function removeNumericWords(text: string): string {
  return text
    .split(/\s+/)
    .filter((word) => !/\d/.test(word))
    .join(' ')
}

/** Clients and formats join and trim texts in different ways. */
export function removeWhitespace(text: string): string {
  return text.replace(/\s+/g, '')
}
