/** What can be kept of a value in a model's answer: it may be of any kind, in any number and of any length. */

import { type Fields, isObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'

/** The first of the names that the object has a value for. */
export function getFirstField(fields: Fields, ...names: readonly string[]): unknown {
  const name = names.find((each) => Object.hasOwn(fields, each) && fields[each] !== null)
  return name === undefined ? undefined : fields[name]
}

export function toObject(value: unknown): Fields | null {
  return isObject(value) ? value : null
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu

/** In one line, without what can't be seen; null when nothing is left, or more than fits. */
export function toSingleLineText(value: unknown, charactersMax: number): string | null {
  if (typeof value !== 'string') return null
  // Twice as much as fits: blanks may be folded away, but nothing much longer is looked at.
  if (value.length > charactersMax * 2) return null
  const text = value.replace(/\s+/g, ' ').replace(UNSEEN, '').trim()
  return text === '' || text.length > charactersMax ? null : text
}

/** Distinct texts, in order. One text stands for a list of one. */
export function toTextList(
  value: unknown,
  countMax: number,
  charactersMax: number,
): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value]
  const texts = new Set<string>()
  for (const each of given) {
    const text = toSingleLineText(each, charactersMax)
    if (text !== null) texts.add(text)
    if (texts.size === countMax) break
  }
  return [...texts]
}

/** Also one in quotes. */
export function toNumber(value: unknown): number | null {
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^\s*-?\d{1,9}(?:\.\d{1,9})?\s*$/.test(value)
        ? Number(value)
        : Number.NaN
  return Number.isFinite(number) ? number : null
}

/** 0 … 1; what is out of it was meant on a scale to ten, or is none. */
export function toUnitInterval(value: unknown): number | null {
  const number = toNumber(value)
  if (number === null || number < 0 || number > 10) return null
  return number > 1 ? number / 10 : number
}

/** 1 … 10, in whole numbers. */
export function toImportance(value: unknown): number | null {
  const number = toNumber(value)
  if (number === null || number < 0 || number > 10) return null
  return Math.max(1, Math.round(number > 0 && number < 1 ? number * 10 : number))
}

/** Those that were shown; a model may name others, but can't have read them. */
export function toTurnIndexes(value: unknown, shown: ReadonlySet<number>): readonly number[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value]
  const indexes = given.map(toNumber).filter((index) => index !== null && shown.has(index))
  return [...new Set(indexes as readonly number[])].sort((a, b) => a - b) // nulls were filtered out
}

const DATE =
  /^\s*(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?)?)?\s*$/

/** Where the day, month or year begins that a date names, and where it ends. Without a zone it is in UTC. */
export function toPeriod(
  value: unknown,
): { readonly from: Instant; readonly until: Instant } | null {
  const match = typeof value === 'string' ? DATE.exec(value.slice(0, 40)) : null
  if (match === null) return null
  const [year = 0, month, day, hour, minute, second = 0] = match
    .slice(1, 7)
    .map((part) => (part === undefined ? undefined : Number(part)))
  if (hour !== undefined && minute !== undefined) {
    const at =
      Date.UTC(year, (month ?? 1) - 1, day, hour, minute, second) - parseZoneOffset(match[7])
    return isDay(year, month, day) && hour < 24 && minute < 60 ? buildPeriod(at, at) : null
  }
  if (day !== undefined) {
    if (!isDay(year, month, day)) return null
    return buildPeriod(
      Date.UTC(year, (month ?? 1) - 1, day),
      Date.UTC(year, (month ?? 1) - 1, day + 1),
    )
  }
  if (month !== undefined) {
    if (!isDay(year, month, 1)) return null
    return buildPeriod(Date.UTC(year, month - 1), Date.UTC(year, month))
  }
  return isDay(year, 1, 1) ? buildPeriod(Date.UTC(year, 0), Date.UTC(year + 1, 0)) : null
}

function buildPeriod(from: number, until: number) {
  return { from: from as Instant, until: until as Instant }
}

/** Years below 100 would be taken for those of the last century. */
function isDay(year: number, month = 1, day = 1): boolean {
  if (year < 100 || month < 1 || month > 12 || day < 1) return false
  return new Date(Date.UTC(year, month - 1, day)).getUTCMonth() === month - 1
}

function parseZoneOffset(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0
  const digits = zone.replace(/\D/g, '')
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000
}

/** Not a sentence of its own, but an abbreviation or an initial before the next word. */
const UNFINISHED =
  /(?:^|[\s(])(?:\p{L}|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|Sra|Dra|Mme|Mlle|Hr|Fr|Nr|No|Inc|Ltd|Co|vs|ca|bzw|usw|z\. ?B|e\.g|i\.e|p\. ?ej|etc)\.\s*$/u

/** The first sentences of a text, as they stand. */
export function takeFirstSentences(text: string, countMax: number): string {
  let count = 0
  let end = 0
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(
    text,
  )) {
    end += segment.length
    if (!UNFINISHED.test(segment) && ++count === countMax) break
  }
  return text.slice(0, end).trim()
}
