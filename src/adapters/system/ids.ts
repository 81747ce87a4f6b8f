/**
 * Sortable ids: the time in the first ten characters, then a counter, then randomness.
 *
 * The counter makes ids of one process sort in the order they were made even within a millisecond; the random
 * tail keeps processes apart.
 */
import { randomBytes } from 'node:crypto'
import type { IdKinds, Instant } from '../../core/ids.ts'
import type { Ids } from '../../ports/clock.ts'

/** Crockford's base 32: no letter that reads like a digit, and in ASCII order. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARACTERS = 10
const COUNTER_CHARACTERS = 4
const RANDOM_BYTES = 8

export function createIds(): Ids {
  let lastAt = Number.NaN
  let counter = 0
  return {
    next<Prefix extends keyof IdKinds>(prefix: Prefix, at: Instant) {
      counter = at === lastAt ? counter + 1 : 0
      lastAt = at
      const time = encode(Math.max(0, at), TIME_CHARACTERS)
      const random = Array.from(randomBytes(RANDOM_BYTES), (byte) => ALPHABET[byte & 31]).join('')
      return `${prefix}_${time}${encode(counter, COUNTER_CHARACTERS)}${random}` as IdKinds[Prefix]
    },
  }
}

function encode(value: number, characters: number): string {
  let text = ''
  for (let rest = value; text.length < characters; rest = Math.floor(rest / 32)) {
    text = (ALPHABET[rest % 32] ?? '') + text
  }
  return text
}
