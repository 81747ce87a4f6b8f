/** What a file tells of a time: its name does, or when it was last written, or it holds for good. */

import { exponentialDecay, type Instant } from '../../lib/time.ts'

const NOTES = /^memory\//i
const ROOT_NOTES = /^memory\.md$/i

/** Not inside of a longer number, as in `12026-01-01` or `2026-01-011`. */
const DAY = /(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)/g

/**
 * The day that a note under `memory/` is about, as the beginning of it: of its name, or else of the nearest folder that is
 * called by a day. Null when there is none, or the day is not in the calendar.
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
    // The calendar would make the first of March of a thirtieth of February; the first century it can't write.
    if (year >= 100 && new Date(at).toISOString().startsWith(match[0])) return at as Instant // ms
  }
  return null
}

/**
 * From when on a file grows old; null: it never does. `MEMORY.md` and undated notes under `memory/` are kept up to date by
 * whoever writes them; other files are as old as their last change.
 */
export function getAgeReference(path: string, modifiedAt: Instant): Instant | null {
  if (ROOT_NOTES.test(path) || NOTES.test(path)) return parsePathDate(path)
  return modifiedAt
}

/** What a score is worth at this age. A half-life of 0 or less lets nothing fade. */
export function decayScore(score: number, ageMs: number, halfLifeDays: number): number {
  return halfLifeDays > 0 ? score * exponentialDecay(ageMs, halfLifeDays) : score
}
