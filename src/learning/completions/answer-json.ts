/**
 * The JSON object in what a model answered. Models put words, fences and thoughts around it, and a comma too many into
 * it; none of that is a reason to lose an answer. One that is cut off is: nobody knows what is missing.
 */
import { AppError } from '../../lib/errors.ts'
import { type Fields, parseJsonObject } from '../../lib/json.ts'

/** Far more than any answer that was asked for, and little enough to be read at once. */
export const COMPLETION_CHARACTERS_MAX = 200_000

/** How many places are tried where the object may begin. */
const STARTS_MAX = 20

/** `names`: an object with one of these fields is the one that was asked for. */
export function parseAnswerObject(text: string, names: readonly string[]): Fields {
  if (text.length > COMPLETION_CHARACTERS_MAX) {
    throw new AppError('too_large', 'The model answered with more than can be read.', {
      characters: text.length,
    })
  }
  const answer = stripReasoning(text)
  const first = answer.indexOf('{')
  if (first < 0)
    throw createUnreadableAnswerError('There is no JSON object in the answer.', 'no_object')
  let other: Fields | null = null
  for (let start = first, tries = 0; start >= 0 && tries < STARTS_MAX; tries++) {
    const end = findObjectEnd(answer, start)
    if (end === null) {
      // What is cut is not searched for smaller objects: a part of an answer must not pass for all of it.
      if (isJsonStart(answer, start))
        throw createUnreadableAnswerError('The answer breaks off.', 'cut')
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

/** An answer to another question says nothing about this one. `{}` does: there is nothing to keep. */
export function assertExpectedAnswer(fields: Fields, askedFor: readonly string[]): void {
  const isAnother = !askedFor.some((name) => Object.hasOwn(fields, name))
  if (isAnother && Object.keys(fields).length > 0) {
    throw createUnreadableAnswerError('Nothing that was asked for is in the answer.', 'no_item')
  }
}

/** Models that think aloud do so before they answer. */
function stripReasoning(text: string): string {
  const end = /^\s*<think(?:ing)?>/i.test(text) ? text.search(/<\/think(?:ing)?>/i) : -1
  return end < 0 ? text : text.slice(end)
}

function isJsonStart(text: string, start: number): boolean {
  return /^\{\s*(?:"|$)/.test(text.slice(start, start + 200))
}

/** Behind the brace that ends the object which begins at `start`; null when there is none. */
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

/** `[1, 2, ]`: without the last comma; commas in strings stay. */
function removeTrailingCommas(json: string): string {
  return json.replace(/"[^"\\]*(?:\\[\s\S][^"\\]*)*"|,(?=\s*[}\]])/g, (piece) =>
    piece === ',' ? '' : piece,
  )
}
