/**
 * Builds the input of an operation from path, query and body. Query values are text and are coerced
 * by the schema of their field, so that `limit=5` is a number and `q=5` stays text. Values that do
 * not fit are passed on unchanged, and the schema reports the error.
 */
import { z } from 'zod'
import { AppError, type FieldError, ValidationError } from '../../../lib/errors.ts'
import { isObject } from '../../../lib/json.ts'
import type { Operation } from '../../operations/operation.ts'
import { decodePathSegment, type PathFields } from '../router.ts'

export type JsonSchema = { readonly [keyword: string]: unknown }
export type InputFields = { [field: string]: unknown }

type Kind = { readonly list: boolean; readonly number: boolean; readonly boolean: boolean }

/** The value kinds of each field of an operation. */
export type FieldTypes = ReadonlyMap<string, Kind>

const kindsOf = new WeakMap<Operation, FieldTypes>()

export function fieldTypesOf(operation: Operation): FieldTypes {
  const known = kindsOf.get(operation)
  if (known !== undefined) return known
  const { properties } = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' })
  const kinds = new Map(
    Object.entries(properties ?? {}).map(([name, schema]) => [name, kindOf(schema as JsonSchema)]),
  )
  kindsOf.set(operation, kinds)
  return kinds
}

function kindOf(schema: JsonSchema): Kind {
  const alternatives = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined
  if (alternatives !== undefined) {
    const kinds = alternatives.map(kindOf)
    return {
      list: kinds.some(({ list }) => list),
      number: kinds.some(({ number }) => number),
      boolean: kinds.some(({ boolean }) => boolean),
    }
  }
  const types = [schema.type].flat()
  if (types.includes('array')) return { ...kindOf((schema.items ?? {}) as JsonSchema), list: true }
  return {
    list: false,
    number: types.includes('number') || types.includes('integer'),
    boolean: types.includes('boolean'),
  }
}

/**
 * The fields of a query string. Lists are repeated parameters or comma-separated; any other field
 * may occur once.
 */
export function parseQuery(operation: Operation, query: string): InputFields {
  const fields: InputFields = {}
  if (query === '') return fields
  const kinds = fieldTypesOf(operation)
  const errors: FieldError[] = []
  for (const [name, values] of groupByField(query)) {
    const kind = kinds.get(name)
    if (kind === undefined) errors.push(unknownField(name))
    else if (kind.list) {
      const items = values.flatMap((value) => value.split(','))
      fields[name] = items.map((item) => convertValue(item, kind))
    } else if (values.length > 1) {
      errors.push({
        field: name,
        message: `\`${name}\` must be given once; got ${values.length} values.`,
      })
    } else {
      fields[name] = convertValue(values[0] ?? '', kind)
    }
  }
  if (errors.length > 0) throw new ValidationError(errors)
  return fields
}

function groupByField(query: string): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const spaced = (text: string) => text.replaceAll('+', ' ')
    const name = decodePathSegment(spaced(at < 0 ? pair : pair.slice(0, at)), 'A name in the query')
    const value = at < 0 ? '' : decodePathSegment(spaced(pair.slice(at + 1)), name.slice(0, 80))
    const values = groups.get(name)
    if (values === undefined) groups.set(name, [value])
    else values.push(value)
  }
  return groups
}

const NUMBER = /^-?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?$/i

function convertValue(text: string, kind: Kind): unknown {
  if (kind.boolean && (text === 'true' || text === 'false')) return text === 'true'
  if (kind.number && NUMBER.test(text)) return Number(text)
  return text
}

function unknownField(name: string): FieldError {
  const excerpt = name.slice(0, 80)
  return { field: excerpt, message: `Unknown field "${excerpt}".` }
}

/** Merges field sources. A field that occurs in two of them must have the same value. */
export function mergeInput(path: PathFields, query: InputFields, body: unknown): unknown {
  if (!isObject(body)) {
    throw new AppError('invalid_input', 'The body must be a JSON object.', { field: '' })
  }
  const fields: InputFields = { ...body }
  for (const [name, value] of [...Object.entries(query), ...Object.entries(path)]) {
    if (Object.hasOwn(fields, name) && fields[name] !== value) {
      const message = `\`${name}\` must have the same value in path, query and body.`
      throw new AppError('invalid_input', message, { field: name })
    }
    fields[name] = value
  }
  return fields
}
