/**
 * Extracts the JSON object from a model's answer. Surrounding prose, code fences, reasoning and trailing commas are
 * tolerated. A truncated answer is rejected, because the missing part is unknown.
 */
import { AppError } from '../../lib/errors.ts'
import { type Fields, parseJson, parseJsonObject } from '../../lib/json.ts'

/** Far above any expected answer; bounds the time to parse one. */
export const COMPLETION_CHARACTERS_MAX = 200_000

/** Candidate start positions that are tried. */
const STARTS_MAX = 20

/** Prefers the first object with one of the fields in `names`. */
export function parseAnswerObject(text: string, names: readonly string[]): Fields {
  if (text.length > COMPLETION_CHARACTERS_MAX) {
    throw new AppError(
      'too_large',
      `The answer of the model must have at most ${COMPLETION_CHARACTERS_MAX} characters; got ${text.length}.`,
      {
        characters: text.length,
      },
    )
  }
  const answer = stripReasoning(text)
  const list = parseBareList(answer)
  if (list !== null && names.includes('facts')) return { facts: list }
  const first = answer.indexOf('{')
  if (first < 0) throw createUnreadableAnswerError('The answer holds no JSON object.', 'no_object')
  let other: Fields | null = null
  for (let start = first, tries = 0; start >= 0 && tries < STARTS_MAX; tries++) {
    const end = findObjectEnd(answer, start)
    if (end === null) {
      // Objects inside of a truncated answer are not used: a part must not pass for the whole.
      if (isJsonStart(answer, start))
        throw createUnreadableAnswerError('The answer is truncated.', 'cut')
      start = answer.indexOf('{', start + 1)
      continue
    }
    const found = tryParseJson(answer.slice(start, end))
    if (found !== null && names.some((name) => Object.hasOwn(found, name))) return found
    other ??= found
    start = answer.indexOf('{', end)
  }
  if (other === null) throw createUnreadableAnswerError('The answer is not valid JSON.', 'no_json')
  return other
}

export function createUnreadableAnswerError(message: string, fault: string): AppError {
  return new AppError('invalid_input', message, { fault })
}

/** Rejects an object without any expected field. `{}` is accepted as an empty answer. */
export function assertExpectedAnswer(fields: Fields, expected: readonly string[]): void {
  const isUnexpected = !expected.some((name) => Object.hasOwn(fields, name))
  if (isUnexpected && Object.keys(fields).length > 0) {
    throw createUnreadableAnswerError(
      `The answer must hold ${expected.map((name) => `"${name}"`).join(' or ')}.`,
      'no_item',
    )
  }
}

/** A list of facts in place of the object that holds it; null for anything else. */
function parseBareList(answer: string): readonly unknown[] | null {
  const start = /^[^{}[\]]{0,200}(?=\[)/u.exec(answer)?.[0].length
  const end = answer.lastIndexOf(']')
  if (start === undefined || end < start) return null
  const json = answer.slice(start, end + 1)
  const list = parseJson(json) ?? parseJson(removeTrailingCommas(json))
  return Array.isArray(list) ? list : null
}

/** Reasoning models put a <think> section before the answer. */
function stripReasoning(text: string): string {
  const end = /^\s*<think(?:ing)?>/i.test(text) ? text.search(/<\/think(?:ing)?>/i) : -1
  return end < 0 ? text : text.slice(end)
}

function isJsonStart(text: string, start: number): boolean {
  return /^\{\s*(?:"|$)/.test(text.slice(start, start + 200))
}

/** The position after the closing brace of the object at `start`; null when it is not closed. */
function findObjectEnd(text: string, start: number): number | null {
  let depth = 0
  let isInString = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (isInString) {
      if (character === '\\') at++
      else if (character === '"') isInString = false
    } else if (character === '"') isInString = true
    else if (character === '{') depth++
    else if (character === '}' && --depth === 0) return at + 1
  }
  return null
}

function tryParseJson(json: string): Fields | null {
  for (const candidate of [json, removeTrailingCommas(json)]) {
    const value = parseJsonObject(candidate)
    if (value !== null) return value
  }
  return null
}

/** `[1, 2, ]` becomes `[1, 2 ]`; commas in strings stay. */
function removeTrailingCommas(json: string): string {
  return json.replace(/"[^"\\]*(?:\\[\s\S][^"\\]*)*"|,(?=\s*[}\]])/g, (piece) =>
    piece === ',' ? '' : piece,
  )
}
