/** JSON values, and reading values whose form is unknown. */

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

/** A field of a value that may be anything. */
export function getField(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** The same field of every item of a list; undefined when it is no list. */
export function pluckField(list: unknown, name: string): unknown {
  return Array.isArray(list) ? list.map((item) => getField(item, name)) : undefined
}
