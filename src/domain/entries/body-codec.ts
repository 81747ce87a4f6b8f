/**
 * Codecs for the bodies of entries. A body is JSON in the database; a codec checks its form once, where it is read, so
 * that no reader casts unknown JSON to the type it hopes for.
 */
import type { Json, JsonObject } from '../../lib/json.ts'
import { isObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'

/** Checks one value. Throws `UnexpectedValueError` when the value has another form. */
export type Codec<T> = (value: Json | undefined) => T

export class UnexpectedValueError extends Error {}

type Fields<T> = { readonly [Name in keyof T]-?: Codec<T[Name]> }

/** An object with these fields. Other fields are dropped. */
export function object<T extends object>(fields: Fields<T>): Codec<T> {
  const names = Object.keys(fields) as (keyof T & string)[] // its own keys
  return (value) => {
    if (!isObject(value)) throw new UnexpectedValueError('must be an object')
    const parsed: Partial<T> = {}
    for (const name of names) {
      try {
        const field = fields[name](Object.hasOwn(value, name) ? value[name] : undefined)
        if (field !== undefined) parsed[name] = field
      } catch (error) {
        if (!(error instanceof UnexpectedValueError)) throw error
        throw new UnexpectedValueError(`${name}: ${error.message}`)
      }
    }
    return parsed as T // every field passed its codec
  }
}

/** Text. `T` may be a branded type: the database holds only what was checked when it was written. */
export function text<T extends string = string>(): Codec<T> {
  return (value) => {
    if (typeof value !== 'string') throw new UnexpectedValueError('must be text')
    return value as T // see above
  }
}

export function choice<T extends string>(choices: readonly T[]): Codec<T> {
  return (value) => {
    const found = choices.find((candidate) => candidate === value)
    if (found === undefined) throw new UnexpectedValueError(`must be ${choices.join(' or ')}`)
    return found
  }
}

export const number: Codec<number> = (value) => {
  if (typeof value !== 'number') throw new UnexpectedValueError('must be a number')
  return value
}

export const instant: Codec<Instant> = (value) => number(value) as Instant // milliseconds, as written

export const flag: Codec<boolean> = (value) => {
  if (typeof value !== 'boolean') throw new UnexpectedValueError('must be true or false')
  return value
}

export const json: Codec<JsonObject> = (value) => {
  if (!isObject(value)) throw new UnexpectedValueError('must be an object')
  return value
}

/** Null also stands for a field that is missing. */
export function nullable<T>(codec: Codec<T>): Codec<T | null> {
  return (value) => (value === null || value === undefined ? null : codec(value))
}

export function optional<T>(codec: Codec<T>): Codec<T | undefined> {
  return (value) => (value === undefined ? undefined : codec(value))
}

export function list<T>(codec: Codec<T>): Codec<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) throw new UnexpectedValueError('must be a list')
    return value.map((item: Json) => codec(item))
  }
}

/** An object whose values all have one form, under any names. */
export function record<T>(codec: Codec<T>): Codec<{ readonly [name: string]: T }> {
  return (value) =>
    Object.fromEntries(Object.entries(json(value)).map(([name, each]) => [name, codec(each)]))
}
