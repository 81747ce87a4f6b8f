/**
 * What other systems hold, in words of ours: memories and turns, each with the name it has where it comes from. Parsers
 * beside this file turn parsed JSON, rows of tables and lines of text into these; nothing here is checked against our
 * limits yet, that happens where a record becomes a row.
 */

import { MEMORY_CATEGORIES, type MemoryCategory, type MemoryType } from '../../domain/memory.ts'
import type { TurnRole } from '../../domain/turn.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { type Fields, isObject, type JsonObject, parseJson } from '../../lib/json.ts'
import { INSTANT_MAX, type Instant } from '../../lib/time.ts'

/** The systems that something can come from. They are part of the ids of what is imported, so they never change. */
export type SourceSystem =
  | 'omniroute'
  | 'osaurus'
  | 'openclaw'
  | 'mem0'
  | 'server-memory'
  | 'chatgpt'
  | 'claude'
  | 'markdown'

type RecordOrigin = {
  readonly system: SourceSystem
  /** Its place in the source, for people: the number of the line, item or row, from 1. */
  readonly at: number
  /** What it is called there, stable for ever: the same name always makes the same id here. */
  readonly name: string
  /** Whose it was there: an API key or an agent. */
  readonly owner?: string | null
  readonly user?: string | null
  readonly session?: string | null
}

export type ImportedMemory = RecordOrigin & {
  readonly kind: 'memory'
  readonly content: string
  readonly key?: string | null
  readonly type?: MemoryType
  readonly category?: MemoryCategory
  readonly importance?: number
  readonly salience?: number
  readonly pinned?: boolean
  readonly isDisabled?: boolean
  readonly entities?: readonly string[]
  readonly metadata?: JsonObject
  /** Only a time that never changes again, because the id begins with it. */
  readonly createdAt?: Instant | null
  readonly updatedAt?: Instant | null
  readonly expiresAt?: Instant | null
  readonly sourceCount?: number
  readonly useCount?: number
  readonly lastUsedAt?: Instant | null
  /** Earlier wordings, oldest first, and when each of them began. */
  readonly earlier?: readonly { readonly content: string; readonly since: Instant }[]
}

export type ImportedTurn = RecordOrigin & {
  readonly kind: 'turn'
  readonly session: string
  readonly role: TurnRole
  readonly speaker?: string | null
  readonly content: string
  readonly position: number
  readonly saidAt: Instant | null
}

/** Something that could not be understood. It is counted and told, and does not stop the rest. */
export type ImportFault = {
  readonly kind: 'fault'
  readonly at: number
  readonly message: string
}

export type ImportRecord = ImportedMemory | ImportedTurn | ImportFault

/** The records that `read` makes of one item, or the reason why it makes none. */
export function parseImportItem(
  at: number,
  read: () => ImportRecord | readonly ImportRecord[],
): readonly ImportRecord[] {
  try {
    const records = read()
    return 'kind' in records ? [records] : records
  } catch (error) {
    const { code, message } = toAppError(error)
    if (code !== 'invalid_input') throw error
    return [{ kind: 'fault', at, message }]
  }
}

/**
 * The turns of a conversation with times that never decrease, so that they list in its order. A turn without a time takes
 * that of the turn before it; the first ones take when the conversation was started.
 */
export function orderTurnTimes(
  records: readonly ImportRecord[],
  startedAt: Instant | null,
): readonly ImportRecord[] {
  const times = records.flatMap((record) => (record.kind === 'turn' ? [record.saidAt] : []))
  const first = times.find((time) => time !== null) ?? null
  let previous = times[0] === null ? minInstant(startedAt, first) : null
  return records.map((record) => {
    if (record.kind !== 'turn') return record
    previous = maxInstant(previous, record.saidAt)
    return { ...record, saidAt: previous }
  })
}

function minInstant(a: Instant | null, b: Instant | null): Instant | null {
  return a === null || (b !== null && b < a) ? b : a
}

function maxInstant(a: Instant | null, b: Instant | null): Instant | null {
  return a === null || (b !== null && b > a) ? b : a
}

export function requireObject(value: unknown, what: string): Fields {
  if (!isObject(value)) throw createInvalidRecordError(`${what} is no JSON object.`)
  return value
}

/** A field of the object itself: one called `constructor` must not be found where there is none. */
export function getOwnField(fields: Fields, ...names: readonly string[]): unknown {
  for (const name of names) {
    if (Object.hasOwn(fields, name) && fields[name] != null) return fields[name]
  }
  return undefined
}

/** Text, or null when there is none. Numbers are taken as text: ids often are. */
export function readText(fields: Fields, ...names: readonly string[]): string | null {
  const value = getOwnField(fields, ...names)
  if (value === undefined || value === '') return null
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') throw createInvalidRecordError(`${names[0] ?? ''} is not text.`)
  return value
}

export function requireText(fields: Fields, ...names: readonly string[]): string {
  const value = getOwnField(fields, ...names)
  if (typeof value !== 'string')
    throw createInvalidRecordError(`It has no ${names[0] ?? ''}, or one that is no text.`)
  return value
}

export function readNumber(fields: Fields, ...names: readonly string[]): number | null {
  const value = getOwnField(fields, ...names)
  if (value === undefined) return null
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    throw createInvalidRecordError(`${names[0] ?? ''} is not a number.`)
  }
  return number
}

/** Seconds count from 1970 as milliseconds do; from this number on they would be in the year 5138. */
const SECONDS_MAX = 1e11

/** As databases write it: a date and a time of the world's clock, without saying so. */
const ZONELESS = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)$/

/** A time in whichever form: ISO text, a database's text, seconds or milliseconds. */
export function readTime(fields: Fields, ...names: readonly string[]): Instant | null {
  const value = getOwnField(fields, ...names)
  if (value === undefined || value === '') return null
  const ms = typeof value === 'number' ? parseEpoch(value) : parseDateText(value)
  if (!Number.isFinite(ms) || Math.abs(ms) > INSTANT_MAX) {
    const told = typeof value === 'string' || typeof value === 'number' ? `: "${value}"` : ''
    throw createInvalidRecordError(`${names[0] ?? ''} is not a time${told.slice(0, 44)}.`)
  }
  return Math.round(ms) as Instant // checked above
}

function parseEpoch(value: number): number {
  return Math.abs(value) < SECONDS_MAX ? value * 1_000 : value
}

function parseDateText(value: unknown): number {
  if (typeof value !== 'string' || value.length > 64) return Number.NaN
  if (/^\d{9,}(?:\.\d+)?$/.test(value)) return parseEpoch(Number(value))
  const [, day, time] = ZONELESS.exec(value) ?? []
  return Date.parse(day === undefined ? value : `${day}T${(time ?? '').replace(',', '.')}Z`)
}

/** A list of texts: a JSON array of them, or one text in which commas part them. */
export function readTextList(fields: Fields, ...names: readonly string[]): readonly string[] {
  const value = getOwnField(fields, ...names)
  const parts = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : []
  return parts
    .filter((part) => typeof part === 'string')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** A JSON object, perhaps written as text. What is no object is left out rather than the memory lost. */
export function readMetadata(fields: Fields, ...names: readonly string[]): JsonObject {
  const value = getOwnField(fields, ...names)
  const parsed = typeof value === 'string' ? parseJson(value) : value
  return isObject(parsed) ? parsed : {} // its depth and values are checked with the memory
}

const CATEGORY_WORDS: readonly (readonly [RegExp, MemoryCategory])[] = [
  [/prefer|like|favou?rite|taste/, 'preference'],
  [/decision|decided|choice/, 'decision'],
  [/relation|people|family|friend|contact|colleague/, 'relationship'],
  [/event|episode|milestone|journal|diary|travel/, 'event'],
  [/pattern|habit|routine/, 'pattern'],
  [/entit|compan|place|product/, 'entity'],
  [/fact|detail|profile|personal|about|background/, 'fact'],
]

/** The category that a foreign word for one comes nearest to; undefined when none does. */
export function mapCategory(words: readonly string[]): MemoryCategory | undefined {
  for (const word of words.map((each) => each.slice(0, 200).toLowerCase())) {
    const same = MEMORY_CATEGORIES.find((category) => category === word)
    const near = CATEGORY_WORDS.find(([pattern]) => pattern.test(word))?.[1]
    if (same !== undefined || near !== undefined) return same ?? near
  }
  return undefined
}

/** Salience of 0 … 1 on the scale of 1 … 10. */
export function toImportanceScale(salience: number): number {
  return Math.min(10, Math.max(1, Math.round(salience * 10)))
}

export function createInvalidRecordError(message: string): AppError {
  return new AppError('invalid_input', message)
}
