/**
 * Edits JSON as text. A value is located by its path and replaced, extended or wrapped; every other character stays as
 * it is, including what parsing and serializing would lose: whitespace, `1.0`, duplicate keys.
 *
 * The text must be valid JSON. A path that leads nowhere, or to a value of another kind, gives null.
 */

import type { Json } from '../../../lib/json.ts'

export type JsonPath = readonly (string | number)[]

type Span = { readonly start: number; readonly end: number }
type JsonMember = { readonly key: Span; readonly value: Span }

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** The text of a value. */
export function sliceValue(text: string, path: JsonPath): string | null {
  const span = findSpan(text, path)
  return span === null ? null : text.slice(span.start, span.end)
}

export function replaceValue(text: string, path: JsonPath, json: string): string | null {
  const span = findSpan(text, path)
  return span === null ? null : text.slice(0, span.start) + json + text.slice(span.end)
}

/** Inserts text on both sides of a value, for example to make it an element of a list. */
export function wrapValue(
  text: string,
  path: JsonPath,
  before: string,
  after: string,
): string | null {
  const span = findSpan(text, path)
  if (span === null) return null
  const { start, end } = span
  return text.slice(0, start) + before + text.slice(start, end) + after + text.slice(end)
}

export function prependToString(text: string, path: JsonPath, added: string): string | null {
  const span = findKind(text, path, QUOTE)
  return span === null ? null : insert(text, span.start + 1, escapeString(added))
}

export function appendToString(text: string, path: JsonPath, added: string): string | null {
  const span = findKind(text, path, QUOTE)
  return span === null ? null : insert(text, span.end - 1, escapeString(added))
}

/** Inserts an element before the one at `index`, or after the last one. */
export function insertElement(
  text: string,
  path: JsonPath,
  index: number,
  json: string,
): string | null {
  const list = findKind(text, path, OPEN_BRACKET)
  if (list === null) return null
  const next = elementAt(text, list.start, index)
  return next === null ? append(text, list, json) : insert(text, next.start, `${json},`)
}

/** The position after the last element of a list. */
export const LIST_END = Number.MAX_SAFE_INTEGER

/** Inserts values before the element at `index`. A text without a list at the path stays as it is. */
export function insertElements(
  text: string,
  path: JsonPath,
  index: number,
  values: readonly Json[],
): string {
  if (values.length === 0) return text
  const written = values.map((value) => JSON.stringify(value)).join(',')
  return insertElement(text, path, index, written) ?? text
}

/** Replaces the value of the key, or adds the key as the last one. */
export function setMember(text: string, path: JsonPath, key: string, json: string): string | null {
  const object = findKind(text, path, OPEN_BRACE)
  if (object === null) return null
  const value = findMember(text, object.start, key)
  if (value === null) return append(text, object, `${JSON.stringify(key)}:${json}`)
  return text.slice(0, value.start) + json + text.slice(value.end)
}

/** Replaces the model of a request; a request without one stays as it is. */
export function replaceModel(text: string, model: string): string {
  return replaceValue(text, ['model'], JSON.stringify(model)) ?? text
}

function insert(text: string, at: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at)
}

/** Adds the last element of a list or member of an object, directly after the current last one. */
function append(text: string, container: Span, json: string): string {
  let at = container.end - 1
  while (at > container.start && isWhitespace(text.charCodeAt(at - 1))) at--
  const isEmpty = at === container.start + 1
  return insert(text, at, isEmpty ? json : `,${json}`)
}

function escapeString(added: string): string {
  return JSON.stringify(added).slice(1, -1)
}

function findSpan(text: string, path: JsonPath): Span | null {
  let start = skipWhitespace(text, 0)
  let span: Span | null = null
  for (const step of path) {
    span = typeof step === 'number' ? elementAt(text, start, step) : findMember(text, start, step)
    if (span === null) return null
    start = span.start
  }
  return span ?? getSpan(text, start)
}

function findKind(text: string, path: JsonPath, firstCode: number): Span | null {
  const span = findSpan(text, path)
  return span !== null && text.charCodeAt(span.start) === firstCode ? span : null
}

function elementAt(text: string, list: number, index: number): Span | null {
  let position = 0
  for (const element of listElements(text, list)) {
    if (position === index) return element
    position++
  }
  return null
}

/** Of duplicate keys the last one counts, as in `JSON.parse`. */
function findMember(text: string, object: number, key: string): Span | null {
  let span: Span | null = null
  for (const member of listMembers(text, object)) {
    if (parseKey(text, member.key) === key) span = member.value
  }
  return span
}

/** Keys may contain escapes. */
function parseKey(text: string, { start, end }: Span): string {
  const written = text.slice(start + 1, end - 1)
  return written.includes('\\') ? JSON.parse(text.slice(start, end)) : written
}

function* listElements(text: string, list: number): Generator<Span> {
  if (text.charCodeAt(list) !== OPEN_BRACKET) return
  let at = skipWhitespace(text, list + 1)
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const element = getSpan(text, at)
    yield element
    at = skipComma(text, element.end)
  }
}

function* listMembers(text: string, object: number): Generator<JsonMember> {
  if (text.charCodeAt(object) !== OPEN_BRACE) return
  let at = skipWhitespace(text, object + 1)
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACE) {
    const key = getSpan(text, at)
    const colon = skipWhitespace(text, key.end)
    const value = getSpan(text, skipWhitespace(text, colon + 1))
    yield { key, value }
    at = skipComma(text, value.end)
  }
}

function skipComma(text: string, from: number): number {
  const at = skipWhitespace(text, from)
  return text.charCodeAt(at) === COMMA ? skipWhitespace(text, at + 1) : at
}

function getSpan(text: string, start: number): Span {
  return { start, end: findValueEnd(text, start) }
}

function findValueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start)
  if (first === QUOTE) return findStringEnd(text, start)
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return findContainerEnd(text, start)
  let end = start + 1
  while (end < text.length && !isDelimiter(text.charCodeAt(end))) end++
  return end
}

/** Uses `indexOf`, because strings may be images of several megabytes. */
function findStringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (quote > 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote < 0 ? text.length : quote + 1
}

function isEscaped(text: string, quote: number): boolean {
  let first = quote
  while (text.charCodeAt(first - 1) === BACKSLASH) first--
  return (quote - first) % 2 === 1
}

/** Iterative, because nesting may be deeper than the stack. */
function findContainerEnd(text: string, start: number): number {
  let depth = 0
  let at = start
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = findStringEnd(text, at)
      continue
    }
    at++
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
    if (depth === 0) return at
  }
  return at
}

function skipWhitespace(text: string, from: number): number {
  let at = from
  while (isWhitespace(text.charCodeAt(at))) at++
  return at
}

function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

function isDelimiter(code: number): boolean {
  return isWhitespace(code) || code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE
}
