/** Dates of files: from the name, the modification time, or none for evergreen files. */

import { exponentialDecay, type Instant } from '../../lib/time.ts'

const NOTES = /^memory\//i
const ROOT_NOTES = /^memory\.md$/i

/** Not inside of a longer number, as in `12026-01-01` or `2026-01-011`. */
const DAY = /(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)/g

/**
 * The start of the day in the name of a note under `memory/`, or of its nearest folder with a date. Null without one or
 * for a day that does not exist.
 */
export function parsePathDate(path: string): Instant | null {
  if (!NOTES.test(path)) return null
  for (const name of path.split('/').slice(1).reverse()) {
    const day = parseDay(name)
    if (day !== null) return day
  }
  return null
}

function parseDay(name: string): Instant | null {
  for (const match of name.matchAll(DAY)) {
    const [year = 0, month = 0, day = 0] = match.slice(1).map(Number)
    const at = Date.UTC(year, month - 1, day)
    // Dates normalize 30 February to 1 March; years below 100 cannot be formatted.
    if (year >= 100 && new Date(at).toISOString().startsWith(match[0])) return at as Instant // ms
  }
  return null
}

/**
 * The reference time for decay; null for evergreen files: `MEMORY.md` and undated notes under `memory/`. Other files
 * use their modification time.
 */
export function getAgeReference(path: string, modifiedAt: Instant): Instant | null {
  if (ROOT_NOTES.test(path) || NOTES.test(path)) return parsePathDate(path)
  return modifiedAt
}

/** The decayed score. A half-life of 0 or less disables decay. */
export function decayScore(score: number, ageMs: number, halfLifeDays: number): number {
  return halfLifeDays > 0 ? score * exponentialDecay(ageMs, halfLifeDays) : score
}
