/**
 * Turns the parts of a request into the input of an operation. Everything in an address is text; what a field takes is
 * read from its schema, so that `limit=5` is a number and `q=5` is not. What doesn't fit is left as it is, for the
 * schema to refuse in its own words.
 */
import { z } from 'zod'
import { AppError, type FieldFault, InvalidFields } from '../../../domain/errors.ts'
import type { Operation } from '../../operations/operation.ts'
import { decoded, type PathFields } from '../router.ts'

export type JsonSchema = { readonly [keyword: string]: unknown }
export type Fields = { [field: string]: unknown }

type Kind = { readonly list: boolean; readonly number: boolean; readonly boolean: boolean }

/** The kinds of every field of an operation. */
export type FieldKinds = ReadonlyMap<string, Kind>

const kindsOf = new WeakMap<Operation, FieldKinds>()

export function fieldKinds(operation: Operation): FieldKinds {
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

/** The fields of a query. Lists are given by repeating a field or with commas; anything else only once. */
export function queryFields(operation: Operation, query: string): Fields {
  const fields: Fields = {}
  if (query === '') return fields
  const kinds = fieldKinds(operation)
  const faults: FieldFault[] = []
  for (const [name, values] of grouped(query)) {
    const kind = kinds.get(name)
    if (kind === undefined) faults.push(stray(name))
    else if (kind.list) {
      const items = values.flatMap((value) => value.split(','))
      fields[name] = items.map((item) => converted(item, kind))
    } else if (values.length > 1) {
      faults.push({ field: name, message: `${name} is given ${values.length} times.` })
    } else {
      fields[name] = converted(values[0] ?? '', kind)
    }
  }
  if (faults.length > 0) throw new InvalidFields(faults)
  return fields
}

function grouped(query: string): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const spaced = (text: string) => text.replaceAll('+', ' ')
    const name = decoded(spaced(at < 0 ? pair : pair.slice(0, at)), 'A name in the query')
    const value = at < 0 ? '' : decoded(spaced(pair.slice(at + 1)), name.slice(0, 80))
    const values = groups.get(name)
    if (values === undefined) groups.set(name, [value])
    else values.push(value)
  }
  return groups
}

const NUMBER = /^-?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?$/i

function converted(text: string, kind: Kind): unknown {
  if (kind.boolean && (text === 'true' || text === 'false')) return text === 'true'
  if (kind.number && NUMBER.test(text)) return Number(text)
  return text
}

function stray(name: string): FieldFault {
  const shown = name.slice(0, 80)
  return { field: shown, message: `There is no field "${shown}" here.` }
}

/** One set of fields. A field that stands in two places must say the same in both. */
export function combined(path: PathFields, query: Fields, body: unknown): unknown {
  if (!isObject(body)) {
    throw new AppError('invalid_input', 'The body is a JSON object.', { field: '' })
  }
  const fields: Fields = { ...body }
  for (const [name, value] of [...Object.entries(query), ...Object.entries(path)]) {
    if (Object.hasOwn(fields, name) && fields[name] !== value) {
      const message = `${name} is given twice, and not the same.`
      throw new AppError('invalid_input', message, { field: name })
    }
    fields[name] = value
  }
  return fields
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
