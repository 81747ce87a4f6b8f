/** Refusals in the words of the API that was called, so that clients and people know them again. */
import { AppError } from '../../../lib/errors.ts'
import type { Json } from '../../../lib/json.ts'

type Value = Json | undefined

/** As OpenAI's APIs say it; a field is written as `messages[0].role`. */
export const openaiErrorFormat = {
  missing: (field: string) => createRequestError(field, `Missing required parameter: '${field}'.`),
  wrongType: (field: string, expected: string, value: Value) =>
    createRequestError(
      field,
      `Invalid type for '${field}': expected ${expected}, but got ${describeJsonType(value)} instead.`,
    ),
  emptyList: (field: string) =>
    createRequestError(
      field,
      `Invalid '${field}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    ),
}

/** As Anthropic's API says it; a field is written as `messages.0.role`. */
export const anthropicErrorFormat = {
  missing: (field: string) => createRequestError(field, `${field}: Field required`),
  wrong: (field: string, complaint: string) => createRequestError(field, `${field}: ${complaint}`),
}

export function createRequestError(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}

function describeJsonType(value: Value): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
