/**
 * Sortable ids: ten characters of timestamp, then a counter, then randomness. The counter orders
 * ids of one process within a millisecond; the random part keeps ids of several processes unique.
 */
import { randomBytes } from 'node:crypto'
import type { IdGenerator, IdsByPrefix } from '../domain/ids.ts'
import type { Instant } from '../lib/time.ts'

/** Crockford's base 32: no letter that looks like a digit, in ASCII order. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARACTERS = 10
const COUNTER_CHARACTERS = 4
const RANDOM_CHARACTERS = 8
const POOL_BYTES = RANDOM_CHARACTERS * 512

export function createIdGenerator(): IdGenerator {
  let lastAt = Number.NaN
  let counter = 0
  let pool: Uint8Array = new Uint8Array(0)
  let used = 0
  // One call of the system's random source costs as much as generating a hundred bytes, so bytes are buffered.
  const random = () => {
    if (used >= pool.length) {
      pool = randomBytes(POOL_BYTES)
      used = 0
    }
    let text = ''
    for (let n = 0; n < RANDOM_CHARACTERS; n++) text += ALPHABET[(pool[used++] ?? 0) & 31]
    return text
  }
  return {
    next<Prefix extends keyof IdsByPrefix>(prefix: Prefix, at: Instant) {
      counter = at === lastAt ? counter + 1 : 0
      lastAt = at
      const time = encode(Math.max(0, at), TIME_CHARACTERS)
      return `${prefix}_${time}${encode(counter, COUNTER_CHARACTERS)}${random()}` as IdsByPrefix[Prefix]
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
