/** Names an extracted clause, so that saying it again finds the same memory. */
import type { MemoryCategory } from '../../domain/memory.ts'

/** As many as fit on a line of a listing; what is longer is told apart by its hash. */
const SLUG_CHARACTERS_MAX = 40

/**
 * `category:slug`. Case, blanks and ordinary punctuation do not matter; letters and digits of every script do.
 * A hash of the whole clause is added where the slug alone could stand for two clauses: when it was cut, and
 * when it drops a symbol that carries meaning ("C++" and "C#").
 */
export function toPatternKey(category: MemoryCategory, content: string): string {
  const plain = content.normalize('NFKC').toLowerCase().replace(/’/gu, "'")
  const slug = plain
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_/u, '')
    .replace(/_$/u, '')
  const characters = [...slug]
  const isWhole =
    characters.length <= SLUG_CHARACTERS_MAX && !/[^\p{L}\p{M}\p{N}\p{P}\s]|[#@%&*/\\]/u.test(plain)
  if (isWhole) return `${category}:${slug}`
  const exact = plain.replace(/\s+/gu, ' ').trim()
  return `${category}:${characters.slice(0, SLUG_CHARACTERS_MAX).join('')}_${hash(exact)}`
}

/** FNV-1a, 64 bit: not secret, only short, stable and well spread. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n
  for (let at = 0; at < text.length; at++) {
    value = BigInt.asUintN(64, (value ^ BigInt(text.charCodeAt(at))) * 0x100000001b3n)
  }
  return value.toString(36)
}
