/** JSON values, and access to values whose form is unknown. */
import { compareText } from './compare.ts'

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

export type JsonObject = { readonly [key: string]: Json }

/** A JSON object or a table row whose fields are unchecked. */
export type Fields = { readonly [name: string]: unknown }

/** What a lookup in a JSON object gives: `undefined` when the field is missing. */
export type Value = Json | undefined

/** Undefined when the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json // every result of JSON.parse is one
  } catch {
    return undefined
  }
}

/** Null when the text is not JSON, or not an object. */
export function parseJsonObject(text: string): JsonObject | null {
  const value = parseJson(text)
  return isObject(value) ? value : null
}

/** Values of JSON are taken for what they are; what else is an object counts as well. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

export function toCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

export function filterObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A field of a value that may be anything; undefined when it has none of its own by that name. */
export function getField(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** The same field of every item of a list; undefined when the value is not a list. */
export function pluckField(list: unknown, name: string): unknown {
  return Array.isArray(list) ? list.map((item) => getField(item, name)) : undefined
}

/** JSON with the names of every object in order. Undefined fields are left out, as `JSON.stringify` does. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => compareText(a, b)))
      : part,
  )
}

/** Whether both are the same as JSON, whatever the order of the names in their objects. */
export function isJsonEqual(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b) || canonicalJson(a) === canonicalJson(b)
}
