/**
 * Time expressions in a question: "last week", "in May", "on 8 May 2023", "three days ago", "before June". They become
 * a span of time that memories from it are preferred by; nothing is ever excluded by it, because people misremember
 * dates. English and ISO dates; other languages are searched without.
 */

import { DAY_MS, type Instant } from '../../lib/time.ts'
import { clipMessage } from '../../text/speech/message-text.ts'

export type TimeSpan = {
  readonly from: Instant
  /** Not included. */
  readonly until: Instant
  /** The words that said so. */
  readonly words: string
  /** "Last week" is another week to the one who asks than it was to the one who said it; "May 2023" is the same to both. */
  readonly isRelative: boolean
}

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const NUMBERS = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
]

const MONTH = `(${MONTHS.join('|')}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)`
const NUMBER = `(\\d{1,3}|an?|(?:a )?couple of|(?:a )?few|${NUMBERS.join('|')})`
const UNIT = '(day|week|weekend|month|year)'
const YEAR = '((?:19|20)\\d\\d)'
const DAY_OF_MONTH = '(\\d{1,2})(?:st|nd|rd|th)?'
const ON_ONE_SIDE = '(?<=\\b(?:before|until|after|since) )'

type TimeRule = {
  readonly pattern: RegExp
  readonly isRelative?: true
  /** Null when the words turn out not to name a time. */
  span(groups: readonly (string | undefined)[], now: Date): readonly [number, number] | null
}

/** Tell that something is over. */
const PAST =
  'did|was|were|had|have|has|said|told|asked|happened|talked|discussed|mentioned|decided|learned|made'

/** Longer expressions first: "8 May 2023" must not be read as "May 2023". */
const RULES: readonly TimeRule[] = [
  {
    pattern: /\b((?:19|20)\d\d)-(\d\d)-(\d\d)(?!\d)/,
    span: ([year, month, day]) => buildDaySpan(Number(year), Number(month) - 1, Number(day)),
  },
  {
    pattern: new RegExp(`\\b${DAY_OF_MONTH}(?: of)? ${MONTH}\\.?,? ${YEAR}\\b`),
    span: ([day, month, year]) => buildDaySpan(Number(year), parseMonth(month), Number(day)),
  },
  {
    pattern: new RegExp(`\\b${MONTH}\\.? ${DAY_OF_MONTH},? ${YEAR}\\b`),
    span: ([month, day, year]) => buildDaySpan(Number(year), parseMonth(month), Number(day)),
  },
  {
    pattern: new RegExp(`\\b${DAY_OF_MONTH}(?: of)? ${MONTH}\\b`),
    span: ([day, month], now) => findLatestWeekday(parseMonth(month), Number(day), now),
  },
  {
    pattern: new RegExp(`\\b${MONTH}\\.? ${DAY_OF_MONTH}\\b`),
    span: ([month, day], now) => findLatestWeekday(parseMonth(month), Number(day), now),
  },
  {
    pattern: new RegExp(`\\b${MONTH}\\.?,?(?: of)? ${YEAR}\\b`),
    span: ([month, year]) => buildMonthSpan(Number(year), parseMonth(month)),
  },
  {
    // "may" alone is a verb more often than a month; with one of these words before it, it is not.
    pattern: new RegExp(`(?:\\b(?:in|during|last|early|late|mid)[- ]|${ON_ONE_SIDE})${MONTH}\\b`),
    span: ([month], now) => {
      const year = now.getUTCFullYear() - (parseMonth(month) > now.getUTCMonth() ? 1 : 0)
      return buildMonthSpan(year, parseMonth(month))
    },
  },
  {
    pattern: new RegExp(`(?:\\b(?:in|during) |${ON_ONE_SIDE})${YEAR}\\b`),
    span: ([year]) => [Date.UTC(Number(year), 0), Date.UTC(Number(year) + 1, 0)],
  },
  {
    pattern: new RegExp(`\\b${NUMBER} ${UNIT}s? ago\\b`),
    isRelative: true,
    span: ([number, unit], now) => buildPastSpan(parseCount(number), unit, now),
  },
  {
    pattern: new RegExp(`\\b(?:last|past|previous) ${NUMBER} ${UNIT}s?\\b`),
    isRelative: true,
    span: ([number, unit], now) => [
      startOfDay(now) - parseCount(number) * getUnitLength(unit) * DAY_MS,
      now.getTime() + 1,
    ],
  },
  {
    pattern: new RegExp(`\\b(last|past|previous|this) ${UNIT}\\b`),
    isRelative: true,
    span: ([which, unit], now) => buildCalendarSpan(which === 'this' ? 0 : 1, unit, now),
  },
  {
    pattern: new RegExp(`\\b(?:last|on|this past) (${WEEKDAYS.join('|')})\\b`),
    span: ([weekday], now) => {
      const back = (now.getUTCDay() - WEEKDAYS.indexOf(weekday ?? '') + 7) % 7 || 7
      const start = startOfDay(now) - back * DAY_MS
      return [start, start + DAY_MS]
    },
  },
  {
    pattern: /\b(?:the day before yesterday)\b/,
    isRelative: true,
    span: (_, now) => buildPastSpan(2, 'day', now),
  },
  {
    pattern: /\b(?:yesterday|last night)\b/,
    isRelative: true,
    span: (_, now) => buildPastSpan(1, 'day', now),
  },
  {
    // What is asked for today is not from today; only what was said or done today is.
    pattern: new RegExp(
      `\\bthis morning\\b|(?<=\\b(?:${PAST})\\b.*)\\btoday\\b|\\btoday\\b(?=.*\\b(?:${PAST})\\b)`,
    ),
    isRelative: true,
    span: (_, now) => [startOfDay(now), startOfDay(now) + DAY_MS],
  },
]

/** The span that a question names, or null. "Before" and "after" turn it into all the time on that side of it. */
export function parseTimeSpan(question: string, now: Instant): TimeSpan | null {
  // The patterns take quadratic time on a text without words, such as half a million emoji.
  const text = clipMessage(question).toLowerCase()
  for (const { pattern, span, isRelative = false } of RULES) {
    const match = pattern.exec(text)
    const found = match === null ? null : span(match.slice(1), new Date(now))
    // Next to the ends of all time a span may have no beginning or end that can be told.
    if (match === null || found === null || !found.every(Number.isFinite)) continue
    const side = /\b(before|until|after|since)(?: the)? $/.exec(text.slice(0, match.index))?.[1]
    const [from, until] = found
    const words = `${side === undefined ? '' : `${side} `}${match[0]}`
    const told = { words, isRelative }
    if (side === 'before' || side === 'until')
      return { from: EARLIEST, until: toInstant(from), ...told }
    if (side === 'after') return { from: toInstant(until), until: LATEST, ...told }
    if (side === 'since') return { from: toInstant(from), until: LATEST, ...told }
    return { from: toInstant(from), until: toInstant(until), ...told }
  }
  return null
}

/** 1 within the span, less the farther outside: a day or two off is likely still meant. */
export function computeTimeProximity(moment: Instant, { from, until }: TimeSpan): number {
  if (moment >= from && moment < until) return 1
  const length = Math.min(until - from, 60 * DAY_MS)
  const distance = moment < from ? from - moment : moment - until
  return Math.max(0, 1 - distance / Math.max(2 * DAY_MS, length / 2))
}

const EARLIEST = toInstant(Number.NEGATIVE_INFINITY)
const LATEST = toInstant(Number.POSITIVE_INFINITY)

function toInstant(ms: number): Instant {
  return ms as Instant // computed from instants
}

function buildDaySpan(year: number, month: number, day: number): readonly [number, number] | null {
  const start = Date.UTC(year, month, day)
  const date = new Date(start)
  const exists = date.getUTCMonth() === month && date.getUTCDate() === day
  return exists ? [start, start + DAY_MS] : null
}

/** Between two days of the same name there are at most eight years: 29 February 1896 and 1904. */
const YEARS_BETWEEN_DAYS_MAX = 8

/** A day without a year is the latest such day that is not in the future. */
function findLatestWeekday(
  month: number,
  day: number,
  now: Date,
): readonly [number, number] | null {
  for (let back = 0; back <= YEARS_BETWEEN_DAYS_MAX; back++) {
    const found = buildDaySpan(now.getUTCFullYear() - back, month, day)
    if (found !== null && found[0] <= now.getTime()) return found
  }
  return null
}

function buildMonthSpan(year: number, month: number): readonly [number, number] {
  return [Date.UTC(year, month), Date.UTC(year, month + 1)]
}

function parseMonth(name: string | undefined): number {
  return MONTHS.findIndex((month) => month.startsWith((name ?? '').slice(0, 3)))
}

function parseCount(words: string | undefined): number {
  if (words === 'a' || words === 'an') return 1
  if (words?.endsWith('couple of')) return 2
  if (words?.endsWith('few')) return 3
  const number = NUMBERS.indexOf(words ?? '')
  return number >= 0 ? number : Number(words)
}

function getUnitLength(unit: string | undefined): number {
  return { day: 1, weekend: 7, week: 7, month: 30, year: 365 }[unit ?? 'day'] ?? 1
}

function buildPastSpan(
  number: number,
  unit: string | undefined,
  now: Date,
): readonly [number, number] {
  const days = getUnitLength(unit)
  const centre = startOfDay(now) - number * days * DAY_MS
  // "Two months ago" is said of anything about that long ago.
  const slack = days === 1 ? 0 : Math.floor((days * DAY_MS) / 2)
  return [centre - slack, centre + DAY_MS + slack]
}

function buildCalendarSpan(
  back: number,
  unit: string | undefined,
  now: Date,
): readonly [number, number] {
  const year = now.getUTCFullYear()
  const month = now.getUTCMonth()
  const today = startOfDay(now)
  const monday = today - ((now.getUTCDay() + 6) % 7) * DAY_MS
  switch (unit) {
    case 'year':
      return [Date.UTC(year - back, 0), Date.UTC(year - back + 1, 0)]
    case 'month':
      return [Date.UTC(year, month - back), Date.UTC(year, month - back + 1)]
    case 'week':
      return [monday - back * 7 * DAY_MS, monday - (back - 1) * 7 * DAY_MS]
    case 'weekend':
      return [monday - back * 7 * DAY_MS + 5 * DAY_MS, monday - (back - 1) * 7 * DAY_MS]
    default:
      return [today - back * DAY_MS, today - (back - 1) * DAY_MS]
  }
}

function startOfDay(now: Date): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())
}
