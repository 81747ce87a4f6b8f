/**
 * Records of other systems as memories and turns, each with its name in the source. The parsers in this folder produce
 * them from JSON, table rows and lines; limits are checked later, when a record becomes a row.
 */

import { MEMORY_CATEGORIES, type MemoryCategory, type MemoryType } from '../../domain/memory.ts'
import type { TurnRole } from '../../domain/turn.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { type Fields, isObject, type JsonObject, parseJson } from '../../lib/json.ts'
import { INSTANT_MAX, type Instant } from '../../lib/time.ts'

/** Source systems. Their names are part of the ids of imported rows, so they never change. */
export type SourceSystem =
  | 'omniroute'
  | 'osaurus'
  | 'openclaw'
  | 'mem0'
  | 'server-memory'
  | 'chatgpt'
  | 'claude'
  | 'markdown'
  | 'polyant'
  | 'letta'
  | 'hindsight'
  | 'zep'
  | 'langmem'

type RecordOrigin = {
  readonly system: SourceSystem
  /** The number of the line, item or row in the source, from 1, for messages. */
  readonly at: number
  /** A stable name in the source: the same name always yields the same id. */
  readonly name: string
  /** The owner in the source, such as an API key or an agent. */
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
  /** Belongs to every owner of the source, as statements about the user do. */
  readonly isShared?: boolean
  /** Must never change in the source, because the id begins with it. */
  readonly createdAt?: Instant | null
  readonly updatedAt?: Instant | null
  readonly expiresAt?: Instant | null
  readonly sourceCount?: number
  readonly useCount?: number
  readonly lastUsedAt?: Instant | null
  /** When the statement became true and stopped being true. */
  readonly validFrom?: Instant | null
  readonly validUntil?: Instant | null
  /** Earlier wordings, oldest first, with the time each of them began. */
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
  /** False for conversations that the source has learned from already. Default: true. */
  readonly isLearned?: boolean
}

/** An exchange that the source has not learned from yet. It is found among the turns of its session, or added to them. */
export type ImportedSignal = RecordOrigin & {
  readonly kind: 'signal'
  readonly session: string
  readonly userText: string
  readonly assistantText: string | null
  readonly saidAt: Instant | null
}

/** Settings under our names. Values are checked when they are stored. */
export type ImportedSettings = RecordOrigin & {
  readonly kind: 'settings'
  readonly values: JsonObject
  /** Names without a counterpart here, with the reason. */
  readonly ignored: readonly { readonly name: string; readonly reason: string }[]
}

/** A record that could not be parsed. It is counted and reported. */
export type ImportFault = {
  readonly kind: 'fault'
  readonly at: number
  readonly message: string
}

export type ImportRecord =
  | ImportedMemory
  | ImportedTurn
  | ImportedSignal
  | ImportedSettings
  | ImportFault

/** Parses one item into records, or into a fault with the reason. */
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
 * Makes the times of a conversation's turns non-decreasing, so that they list in order. A turn without a time takes that
 * of the turn before it; the first ones take the start of the conversation.
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
  if (!isObject(value)) throw createInvalidRecordError(`${what} must be a JSON object.`)
  return value
}

/** Reads the first own field that is set, so that inherited names such as `constructor` are never found. */
export function getOwnField(fields: Fields, ...names: readonly string[]): unknown {
  for (const name of names) {
    if (Object.hasOwn(fields, name) && fields[name] != null) return fields[name]
  }
  return undefined
}

/** Reads text or null. Numbers become text, because ids are often numbers. */
export function readText(fields: Fields, ...names: readonly string[]): string | null {
  const value = getOwnField(fields, ...names)
  if (value === undefined || value === '') return null
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string')
    throw createInvalidRecordError(`\`${names[0] ?? ''}\` must be text.`)
  return value
}

export function requireText(fields: Fields, ...names: readonly string[]): string {
  const value = getOwnField(fields, ...names)
  if (typeof value !== 'string')
    throw createInvalidRecordError(`\`${names[0] ?? ''}\` is required and must be text.`)
  return value
}

export function readNumber(fields: Fields, ...names: readonly string[]): number | null {
  const value = getOwnField(fields, ...names)
  if (value === undefined) return null
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    throw createInvalidRecordError(`\`${names[0] ?? ''}\` must be a number.`)
  }
  return number
}

/** Smaller epoch values are seconds; as seconds, this number is in the year 5138. */
const SECONDS_MAX = 1e11

/** The SQL form of a UTC time, without a time zone. */
const ZONELESS = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)$/

/** Reads a time as ISO text, SQL text, epoch seconds or epoch milliseconds. */
export function readTime(fields: Fields, ...names: readonly string[]): Instant | null {
  const value = getOwnField(fields, ...names)
  if (value === undefined || value === '') return null
  const ms = typeof value === 'number' ? parseEpoch(value) : parseDateText(value)
  if (!Number.isFinite(ms) || Math.abs(ms) > INSTANT_MAX) {
    const shown = typeof value === 'string' || typeof value === 'number' ? `; got "${value}"` : ''
    throw createInvalidRecordError(`\`${names[0] ?? ''}\` must be a time${shown.slice(0, 48)}.`)
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

/** Reads a list of texts from a JSON array or from comma-separated text. */
export function readTextList(fields: Fields, ...names: readonly string[]): readonly string[] {
  const value = getOwnField(fields, ...names)
  const parts = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : []
  return parts
    .filter((part) => typeof part === 'string')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** Reads a JSON object or its serialized form. Anything else is dropped, so that the memory is not lost. */
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

/** Maps foreign category words to the closest category; undefined when none matches. */
export function mapCategory(words: readonly string[]): MemoryCategory | undefined {
  for (const word of words.map((each) => each.slice(0, 200).toLowerCase())) {
    const same = MEMORY_CATEGORIES.find((category) => category === word)
    const near = CATEGORY_WORDS.find(([pattern]) => pattern.test(word))?.[1]
    if (same !== undefined || near !== undefined) return same ?? near
  }
  return undefined
}

/** Maps a salience of 0 to 1 onto the importance scale of 1 to 10. */
export function toImportanceScale(salience: number): number {
  return Math.min(10, Math.max(1, Math.round(salience * 10)))
}

export function createInvalidRecordError(message: string): AppError {
  return new AppError('invalid_input', message)
}
