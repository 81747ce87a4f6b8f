import { AppError } from '../lib/errors.ts'
import { INSTANT_MAX, type Instant } from '../lib/time.ts'

export const COUNT_MAX = 2 ** 31 - 1

export function parseBoundedText(field: string, value: unknown, max: number): string {
  if (typeof value !== 'string' || value === '')
    throw createInvalidInputError(field, `${field} is non-empty text.`)
  if (value.length > max) {
    throw createInvalidInputError(
      field,
      `${field} has ${value.length} characters; at most ${max} fit.`,
    )
  }
  return value
}

export function createInvalidInputError(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}

export function object(field: string, value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw createInvalidInputError(field, `${field} is a JSON object.`)
  }
  return value as Fields // an object, whatever its fields
}

export function text(field: string, value: unknown): string {
  if (typeof value !== 'string') throw createInvalidInputError(field, `${field} is text.`)
  return value
}

export function whole(field: string, value: unknown, min: number): number {
  if (!Number.isInteger(value) || Number(value) < min || Number(value) > COUNT_MAX) {
    throw createInvalidInputError(field, `${field} is a whole number from ${min} to ${COUNT_MAX}.`)
  }
  return Number(value)
}

export function instant(field: string, value: unknown): Instant {
  if (!Number.isInteger(value) || Math.abs(Number(value)) > INSTANT_MAX) {
    throw createInvalidInputError(field, `${field} is a time in whole milliseconds since 1970.`)
  }
  return Number(value) as Instant // checked above
}

export function nullable<Value>(value: unknown, parse: (value: unknown) => Value): Value | null {
  return value === null || value === undefined ? null : parse(value)
}

export type Fields = { readonly [field: string]: unknown }
