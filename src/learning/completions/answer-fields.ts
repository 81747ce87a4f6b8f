/** Lenient readers for single values of a model's answer, which may have any type, number and length. */

import { type Fields, isObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'

/** The value of the first name that is present and not null. */
export function getFirstField(fields: Fields, ...names: readonly string[]): unknown {
  const name = names.find((each) => Object.hasOwn(fields, each) && fields[each] !== null)
  return name === undefined ? undefined : fields[name]
}

export function toObject(value: unknown): Fields | null {
  return isObject(value) ? value : null
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu

/** Collapses whitespace and removes invisible characters; null when the result is empty or too long. */
export function toSingleLineText(value: unknown, charactersMax: number): string | null {
  if (typeof value !== 'string') return null
  // Collapsing whitespace may shorten the text, but not by more than half in practice.
  if (value.length > charactersMax * 2) return null
  const text = value.replace(/\s+/g, ' ').replace(INVISIBLE, '').trim()
  return text === '' || text.length > charactersMax ? null : text
}

/** Distinct texts in order. Accepts a single text in place of a list. */
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

/** Accepts numeric strings. */
export function toNumber(value: unknown): number | null {
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^\s*-?\d{1,9}(?:\.\d{1,9})?\s*$/.test(value)
        ? Number(value)
        : Number.NaN
  return Number.isFinite(number) ? number : null
}

/** A number from 0 to 1; values up to 10 are read as a scale to ten. */
export function toUnitInterval(value: unknown): number | null {
  const number = toNumber(value)
  if (number === null || number < 0 || number > 10) return null
  return number > 1 ? number / 10 : number
}

/** An integer from 1 to 10. */
export function toImportance(value: unknown): number | null {
  const number = toNumber(value)
  if (number === null || number < 0 || number > 10) return null
  return Math.max(1, Math.round(number > 0 && number < 1 ? number * 10 : number))
}

/** Sorted distinct indexes of turns that were part of the prompt. */
export function toTurnIndexes(value: unknown, shown: ReadonlySet<number>): readonly number[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value]
  const indexes = given.map(toNumber).filter((index) => index !== null && shown.has(index))
  return [...new Set(indexes as readonly number[])].sort((a, b) => a - b) // nulls were filtered out
}

const DATE =
  /^\s*(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?)?)?\s*$/

/** The period of a day, month or year. Without a time zone it is in UTC. */
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

/** `Date.UTC` maps years below 100 to the 20th century, so they are rejected. */
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

/** A segment that ends with an abbreviation or an initial, not with a sentence. */
const ABBREVIATION_AT_END =
  /(?:^|[\s(])(?:\p{L}|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|Sra|Dra|Mme|Mlle|Hr|Fr|Nr|No|Inc|Ltd|Co|vs|ca|bzw|usw|z\. ?B|e\.g|i\.e|p\. ?ej|etc)\.\s*$/u

const SEGMENTED_CHARACTERS_MAX = 4_000

/** Longer than any abbreviation with what stands before it. */
const ABBREVIATION_CHARACTERS_MAX = 20

/** The first sentences of a text, unchanged. */
export function takeFirstSentences(whole: string, countMax: number): string {
  // Segmentation takes more than linear time on some texts.
  const text = whole.slice(0, SEGMENTED_CHARACTERS_MAX)
  let count = 0
  let end = 0
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(
    text,
  )) {
    end += segment.length
    const ending = segment.trimEnd().slice(-ABBREVIATION_CHARACTERS_MAX)
    if (!ABBREVIATION_AT_END.test(ending) && ++count === countMax) break
  }
  return text.slice(0, end).trim()
}
