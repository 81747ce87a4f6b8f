import { hash } from 'node:crypto'

/** Forty hex digits: enough that nobody finds two that are equal, and short enough for every kind of id. */
export function hashParts(...parts: readonly (string | number | null)[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 40)
}
