import { hash } from 'node:crypto'

/** Forty hex digits: enough that nobody finds two that are equal, and short enough for every kind of id. */
export function hashOf(...parts: readonly (string | number | null)[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 40)
}

/** A text without what changes from one request to the next, as the time of day: words with a digit in them. */
export function steady(text: string): string {
  return text
    .split(/\s+/)
    .filter((word) => !/\d/.test(word))
    .join(' ')
}

/** A text without its blanks: clients and formats join and trim texts as they like. */
export function bare(text: string): string {
  return text.replace(/\s+/g, '')
}
