/**
 * Parsers for fields of untrusted input: each returns the value with its type or throws `invalid_input` that names the field,
 * what it must be, and what it is.
 */
import { AppError } from '../lib/errors.ts'
import type { Fields } from '../lib/json.ts'
import { INSTANT_MAX, type Instant } from '../lib/time.ts'

/** The largest count or version: far above what is counted, and far below where numbers lose precision. */
export const COUNT_MAX = 2 ** 31 - 1

export function createInvalidInputError(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}

export function parseObject(field: string, value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Fields // an object, whatever its fields
  }
  throw createExpectationError(field, 'a JSON object', value)
}

export function parseText(
  field: string,
  value: unknown,
  charactersMax = Number.POSITIVE_INFINITY,
): string {
  if (typeof value !== 'string') throw createExpectationError(field, 'text', value)
  if (value.length > charactersMax) throw createTooLongError(field, value, charactersMax)
  return value
}

/** Text that is not empty. */
export function parseBoundedText(field: string, value: unknown, charactersMax: number): string {
  if (typeof value !== 'string' || value === '') {
    throw createExpectationError(field, 'non-empty text', value)
  }
  return parseText(field, value, charactersMax)
}

export function parseTextList(
  field: string,
  value: unknown,
  itemsMax: number,
  charactersMax: number,
): readonly string[] {
  if (!Array.isArray(value)) throw createExpectationError(field, 'a list of texts', value)
  if (value.length > itemsMax) {
    const expectation = `a list of at most ${itemsMax} texts`
    throw createInvalidInputError(
      field,
      `\`${field}\` must be ${expectation}; got ${value.length}.`,
    )
  }
  return value.map((item) => parseBoundedText(field, item, charactersMax))
}

export function parseBoolean(field: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw createExpectationError(field, 'true or false', value)
}

export function parseInteger(field: string, value: unknown, min: number, max = COUNT_MAX): number {
  if (isInteger(value, min, max)) return value
  throw createExpectationError(field, `an integer from ${min} to ${max}`, value)
}

/** An option of a library call, which errors name as `option` and not as a field of a request. */
export function parseIntegerOption(
  option: string,
  value: unknown,
  min: number,
  max: number,
): number {
  if (isInteger(value, min, max)) return value
  const message = formatExpectation(option, `an integer from ${min} to ${max}`, value)
  throw new AppError('invalid_input', message, { option })
}

export function parseNumber(field: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value
  throw createExpectationError(field, `a number from ${min} to ${max}`, value)
}

export function parseInstant(field: string, value: unknown): Instant {
  if (isInteger(value, -INSTANT_MAX, INSTANT_MAX)) return value as Instant // just checked
  throw createExpectationError(field, 'a time in whole milliseconds since 1970', value)
}

export function parseChoice<Choice extends string>(
  field: string,
  value: unknown,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((candidate) => candidate === value)
  if (choice !== undefined) return choice
  throw createExpectationError(field, `one of ${choices.join(', ')}`, value)
}

/** Null for null and for a missing value. */
export function parseNullable<Value>(
  value: unknown,
  parse: (value: unknown) => Value,
): Value | null {
  return value === null || value === undefined ? null : parse(value)
}

/** "`limit` must be an integer from 1 to 100; got 0." */
function createExpectationError(field: string, expectation: string, value: unknown): AppError {
  return createInvalidInputError(field, formatExpectation(field, expectation, value))
}

function formatExpectation(name: string, expectation: string, value: unknown): string {
  return `\`${name}\` must be ${expectation}; got ${describeValue(value)}.`
}

function createTooLongError(field: string, text: string, charactersMax: number): AppError {
  const message = `\`${field}\` must have at most ${charactersMax} characters; got ${text.length}.`
  return createInvalidInputError(field, message)
}

function isInteger(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max
}

const SHOWN_CHARACTERS_MAX = 40

/** Short, because it ends up in messages and logs. */
function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN_CHARACTERS_MAX))
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
