/** Validation errors in the wording of the called API, which clients and people recognize. */
import { AppError } from '../../../lib/errors.ts'
import type { Value } from '../../../lib/json.ts'

/** OpenAI's wording; fields have the form `messages[0].role`. */
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

/** Anthropic's wording; fields have the form `messages.0.role`. */
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
