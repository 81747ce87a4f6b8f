/** Parses and formats times, in the local time zone by default. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time.ts'
import { UsageError } from '../command.ts'

const UNITS_MS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
  y: 365 * DAY_MS,
}

const SPAN = /^(\d{1,5})([mhdwy])$/
const DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/

/** `30d` is relative to now in the given direction; a date without a zone is local. */
export function parseTime(
  option: string,
  text: string,
  now: number,
  direction: 'ahead' | 'back',
): number {
  if (text === 'now') return now
  const [, count, unit] = SPAN.exec(text) ?? []
  if (count !== undefined && unit !== undefined) {
    const span = Number(count) * (UNITS_MS[unit] ?? 0)
    return direction === 'ahead' ? now + span : now - span
  }
  const [, year, month, day, time = '00:00', zone = ''] = DATE.exec(text) ?? []
  const isDate = year !== undefined && isCalendarDay(Number(year), Number(month), Number(day))
  const at = isDate ? Date.parse(`${year}-${month}-${day}T${time}${zone}`) : Number.NaN
  if (Number.isNaN(at)) {
    throw new UsageError(
      `--${option} must be a time; got "${text.slice(0, 40)}".`,
      'Use a duration such as 12h, 30d or 2w, a date such as 2026-12-01, or a time such as 2026-12-01T18:00.',
    )
  }
  return at
}

const AGE = /^(\d{1,5})([dwmy])$/

/**
 * A minimum age: `30d`, `6m` (months, because minutes are never meant here), `1y`, or a date. Returns the time limit.
 */
export function parseAge(option: string, text: string, now: number): number {
  const [, count, unit] = AGE.exec(text) ?? []
  if (count === undefined || unit === undefined) {
    if (SPAN.test(text)) {
      throw new UsageError(
        `--${option} must be at least a day: 30d, 2w, 6m (months), 1y, or a date.`,
      )
    }
    return parseTime(option, text, now, 'back')
  }
  if (unit !== 'm') return now - Number(count) * (UNITS_MS[unit] ?? 0)
  const date = new Date(now)
  date.setMonth(date.getMonth() - Number(count))
  return date.getTime()
}

/** `Date` normalizes 30 February to 2 March. */
function isCalendarDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** `2026-12-01 18:00`, local. */
export function formatTime(at: number): string {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  const year = String(date.getFullYear()).padStart(4, '0')
  const day = `${year}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Relative for recent times, else the date. */
export function formatAge(at: number, now: number): string {
  const age = now - at
  if (age >= 0 && age < MINUTE_MS) return 'just now'
  if (age >= 0 && age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} min ago`
  if (age >= 0 && age < DAY_MS) return `${Math.floor(age / HOUR_MS)} h ago`
  return formatTime(at).slice(0, 10)
}
