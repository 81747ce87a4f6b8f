import { hash } from 'node:crypto'

/** SHA-256 as hex. Text is hashed as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex')
}

/** Forty hex digits leave no room for accidental collisions and fit into every kind of id. */
const PARTS_HASH_DIGITS = 40

/** Hashes the parts as a JSON list, so that no choice of parts reads like another. Stored ids depend on the exact bytes. */
export function hashParts(...parts: readonly (string | number | null)[]): string {
  return sha256(JSON.stringify(parts)).slice(0, PARTS_HASH_DIGITS)
}
