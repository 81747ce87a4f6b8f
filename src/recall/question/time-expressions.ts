/**
 * Parses time expressions in questions: "last week", "in May", "on 8 May 2023", "three days ago", "before June". Memories
 * from the span are boosted; others are never excluded, because people misremember dates. Names of times and other languages
 * are in `named-times.ts`.
 */

import { DAY_MS, type Instant } from '../../lib/time.ts'
import { UNSPACED_SCRIPT } from '../../text/search/cjk-terms.ts'
import { clipMessage } from '../../text/speech/message-text.ts'
import { hasContentWord } from './follow-up.ts'
import { findNamedTime } from './named-times.ts'

export type TimeSpan = {
  readonly from: Instant
  /** Exclusive. */
  readonly until: Instant
  /** The expression in the question. */
  readonly words: string
  /** Whether it depends on the time of speaking, as "last week" does and "May 2023" does not. */
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
  /** Null when the match is no valid time. */
  span(groups: readonly (string | undefined)[], now: Date): readonly [number, number] | null
}

/** Verbs in the past tense. */
const PAST =
  'did|was|were|had|have|has|said|told|asked|happened|talked|discussed|mentioned|decided|learned|made'

/** Longer expressions first: "8 May 2023" must not be parsed as "May 2023". */
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
    span: ([day, month], now) => findLatestDate(parseMonth(month), Number(day), now),
  },
  {
    pattern: new RegExp(`\\b${MONTH}\\.? ${DAY_OF_MONTH}\\b`),
    span: ([month, day], now) => findLatestDate(parseMonth(month), Number(day), now),
  },
  {
    pattern: new RegExp(`\\b${MONTH}\\.?,?(?: of)? ${YEAR}\\b`),
    span: ([month, year]) => buildMonthSpan(Number(year), parseMonth(month)),
  },
  {
    // "may" alone is mostly a verb; after one of these words it is a month.
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
    // "What can I do today?" asks for no memory of today, "What did I do today?" does.
    pattern: new RegExp(
      `\\bthis morning\\b|(?<=\\b(?:${PAST})\\b.*)\\btoday\\b|\\btoday\\b(?=.*\\b(?:${PAST})\\b)`,
    ),
    isRelative: true,
    span: (_, now) => [startOfDay(now), startOfDay(now) + DAY_MS],
  },
]

/** The time span that a question names, or null. "Before" and "after" make it open-ended. */
export function parseTimeSpan(question: string, now: Instant): TimeSpan | null {
  // The patterns take quadratic time on text without words, such as half a million emoji.
  const text = clipMessage(question).toLowerCase()
  const named = findNamedTime(text, new Date(now))
  if (named !== null && Number.isFinite(named.from) && Number.isFinite(named.until)) {
    return { ...named, from: toInstant(named.from), until: toInstant(named.until) }
  }
  for (const { pattern, span, isRelative = false } of RULES) {
    const match = pattern.exec(text)
    const range = match === null ? null : span(match.slice(1), new Date(now))
    // Near the limits of the date range a span may have no valid start or end.
    if (match === null || range === null || !range.every(Number.isFinite)) continue
    const side = /\b(before|until|after|since)(?: the)? $/.exec(text.slice(0, match.index))?.[1]
    const [from, until] = range
    const words = `${side === undefined ? '' : `${side} `}${match[0]}`
    const expression = { words, isRelative }
    if (side === 'before' || side === 'until')
      return { from: EARLIEST, until: toInstant(from), ...expression }
    if (side === 'after') return { from: toInstant(until), until: LATEST, ...expression }
    if (side === 'since') return { from: toInstant(from), until: LATEST, ...expression }
    return { from: toInstant(from), until: toInstant(until), ...expression }
  }
  return null
}

/** Verbs of questions that ask for whatever happened. */
const GENERAL_VERBS =
  /(?<!\p{L})(?:do|did|done|doing|happen\p{L}*|go(?:ing)?|went|talk\p{L}*|said|say|told|tell|chat\p{L}*|discuss\p{L}*|mention\p{L}*|remember|recall|about|up to|anything|everything|something|all|going on|gemacht|getan|passiert\p{L}*|geredet|gesprochen|gesagt|besprochen|los|unternommen|hice|hicimos|hablamos|pasó|dije|fiz|fizemos|falamos|aconteceu|disse|fait|passé|parlé|dit)(?!\p{L})/giu
/** In scripts without spaces, a question of so few characters beside its time has no subject. */
const UNSPACED_SUBJECT_MIN = 8

/** Whether a question asks for more than what happened in a span: "What did I cook last week?". */
export function hasSubject(question: string, { words }: TimeSpan): boolean {
  const text = clipMessage(question).toLowerCase().replace(words, ' ')
  if (UNSPACED_SCRIPT.test(text)) return [...text.trim()].length >= UNSPACED_SUBJECT_MIN
  return hasContentWord(text.replace(GENERAL_VERBS, ' '))
}

/** 1 within the span, decreasing outside of it: people are often off by a day or two. */
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

/** 29 February recurs after at most eight years: 1896 and 1904. */
const YEARS_BETWEEN_DAYS_MAX = 8

/** A date without a year is the latest such date that is not in the future. */
function findLatestDate(month: number, day: number, now: Date): readonly [number, number] | null {
  for (let back = 0; back <= YEARS_BETWEEN_DAYS_MAX; back++) {
    const span = buildDaySpan(now.getUTCFullYear() - back, month, day)
    if (span !== null && span[0] <= now.getTime()) return span
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
  const center = startOfDay(now) - number * days * DAY_MS
  // "Two months ago" is approximate.
  const slack = days === 1 ? 0 : Math.floor((days * DAY_MS) / 2)
  return [center - slack, center + DAY_MS + slack]
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
