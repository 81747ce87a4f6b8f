/**
 * Qdrant's public description of its REST interface, as a check of requests and answers. It lies beside the repository and
 * isn't part of it; without it nothing is checked.
 *
 * It is read more strictly than it is written: a field that it doesn't name is a mistake, where Qdrant would pass over it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'

const FILE = resolve('../shared/contracts/qdrant-openapi-1.18.json')

export const hasDescription = existsSync(FILE)
export const NO_DESCRIPTION = "Qdrant's description is not in ../shared/contracts"

type Json = { readonly [name: string]: unknown }

export type Description = {
  /** Why a request is not one of the description; null when it is. */
  faultOfRequest(operation: Operation, query: URLSearchParams, body: unknown): string | null
  faultOfAnswer(operation: Operation, status: number, body: unknown): string | null
}

/** `path` as in the description, with its placeholders. */
export type Operation = { readonly method: string; readonly path: string }

let known: Description | null = null

/** Null where the file isn't. Read once: it is large. */
export function readDescription(): Description | null {
  if (hasDescription) known ??= parseDescription()
  return known
}

function parseDescription(): Description {
  const document = withoutGaps(JSON.parse(readFileSync(FILE, 'utf8'))) as Json // it is an object
  const ajv = new Ajv({ strict: false, allErrors: false })
  // Their ranges are given beside them.
  for (const name of ['uint', 'uint8', 'uint32', 'uint64', 'partial-date-time']) {
    ajv.addFormat(name, true)
  }
  formats.default(ajv)
  ajv.addSchema(document, 'qdrant')
  const validators = new Map<string, ValidateFunction>()

  function faultAt(pointer: readonly string[], value: unknown): string | null {
    if (find(document, pointer) === undefined) return null
    const reference = `qdrant#/${pointer.map(escaped).join('/')}`
    const validate = validators.get(reference) ?? ajv.compile({ $ref: reference })
    validators.set(reference, validate)
    return validate(value) ? null : ajv.errorsText(validate.errors?.slice(0, 5))
  }

  return {
    faultOfRequest({ method, path }, query, body) {
      const at = ['paths', path, method.toLowerCase()]
      const operation = find(document, at)
      if (operation === undefined) return `no operation ${method} ${path}`
      const faultOfQuery = queryFault(operation, query, (index, value) =>
        faultAt([...at, 'parameters', String(index), 'schema'], value),
      )
      if (faultOfQuery !== null) return faultOfQuery
      const schema = [...at, 'requestBody', 'content', 'application/json', 'schema']
      const takesBody = find(document, schema) !== undefined
      if (takesBody !== (body !== undefined)) return takesBody ? 'no body' : 'a body'
      return takesBody ? faultAt(schema, body) : null
    },

    faultOfAnswer({ method, path }, status, body) {
      const kind = status === 200 ? '200' : status < 500 ? '4XX' : 'default'
      const answer = ['paths', path, method.toLowerCase(), 'responses', kind]
      return faultAt([...answer, 'content', 'application/json', 'schema'], body)
    },
  }
}

function queryFault(
  operation: unknown,
  query: URLSearchParams,
  faultOf: (index: number, value: unknown) => string | null,
): string | null {
  const parameters = (find(operation, ['parameters']) ?? []) as readonly Json[] // a list
  for (const [name, text] of query) {
    const index = parameters.findIndex((one) => one.name === name && one.in === 'query')
    if (index < 0) return `no parameter ${name}`
    const fault = faultOf(index, /^(?:true|false|\d+)$/.test(text) ? JSON.parse(text) : text)
    if (fault !== null) return `${name}: ${fault}`
  }
  return null
}

/** A schema that says only `nullable` means null, and an object has no other fields than it names. */
function withoutGaps(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutGaps)
  if (typeof value !== 'object' || value === null) return value
  const keys = Object.keys(value)
  if (keys.length === 1 && keys[0] === 'nullable') return { type: 'null' }
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutGaps(inner)]),
  )
  const isClosed =
    copy.type === 'object' && 'properties' in copy && !('additionalProperties' in copy)
  return isClosed ? { ...copy, additionalProperties: false } : copy
}

function find(value: unknown, pointer: readonly string[]): unknown {
  return pointer.reduce((at: unknown, name) => (at as Json | undefined)?.[name], value) // or undefined
}

function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}
