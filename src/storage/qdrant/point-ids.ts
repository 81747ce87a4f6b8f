/** Identifiers in Qdrant: a collection per space, a point per memory. */
import type { MemoryId } from '../../domain/ids.ts'
import { AppError } from '../../lib/errors.ts'
import { sha256 } from '../../lib/hash.ts'

const READABLE_CHARACTERS_MAX = 60
const HASH_CHARACTERS = 12

export function parseCollectionPrefix(prefix: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$/.test(prefix)) return prefix
  throw new AppError(
    'invalid_input',
    'The prefix of Qdrant collections must be 1 to 60 letters, digits, - and _, and begin with a letter or digit.',
    { option: 'collectionPrefix' },
  )
}

/** Readable, and unique per signature through the hash at its end. */
export function toCollectionName(prefix: string, signature: string): string {
  const readable = signature.replace(/[^A-Za-z0-9_.-]+/g, '-').slice(0, READABLE_CHARACTERS_MAX)
  return `${prefix}_${readable}_${sha256(signature).slice(0, HASH_CHARACTERS)}`
}

const PREFIX_CHARACTERS = 'mem_'.length
/** Six bits each: enough for the whole timestamp of our own ids. */
const ORDERED_CHARACTERS = 10

/**
 * The rank of a character among the characters of ids, so that ranks sort as the characters do.
 */
const RANKS = new Uint8Array(128)
for (let code = 1; code < RANKS.length; code++) {
  const isOfIds = /[0-9A-Z_a-z]/.test(String.fromCharCode(code))
  RANKS[code] = (RANKS[code - 1] ?? 0) + (isOfIds ? 1 : 0)
}

/**
 * A memory always maps to the same point, so writes are idempotent. Qdrant lists points by id, so
 * point ids sort as memories do: a version 8 UUID with the first ten characters and a hash of all
 * of them. Memories that share the first ten (those of one millisecond) form a group without an
 * order.
 */
export function toPointId(id: MemoryId): string {
  const hash = sha256(id)
  const variant = ((Number.parseInt(hash.slice(0, 1), 16) & 3) | 8).toString(16)
  return `${groupStart(id)}-${variant}${hash.slice(1, 4)}-${hash.slice(4, 16)}`
}

/** Not after any point of the memory's group. */
export function toGroupStart(id: MemoryId): string {
  return `${groupStart(id)}-8000-000000000000`
}

/** The prefix of all points of a group. */
export function getPointGroup(point: string): string {
  return point.slice(0, 18)
}

function groupStart(id: MemoryId): string {
  let digits = ''
  for (let at = 0; at < ORDERED_CHARACTERS; at += 2) {
    const bits = rankAt(id, at) * 64 + rankAt(id, at + 1)
    digits += bits.toString(16).padStart(3, '0')
  }
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(12)}`
}

/** Zero past the end. */
function rankAt(id: MemoryId, at: number): number {
  const position = PREFIX_CHARACTERS + at
  return position < id.length ? (RANKS[Math.min(id.charCodeAt(position), 127)] ?? 0) : 0
}
