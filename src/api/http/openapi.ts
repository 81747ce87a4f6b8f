/** OpenAPI 3.1 description, generated from the operation table and the built-in routes. */
import { z } from 'zod'
import { ERRORS } from '../../lib/errors.ts'
import type { Access } from '../operations/authorization.ts'
import { OPERATIONS } from '../operations/index.ts'
import type { Operation } from '../operations/operation.ts'
import type { JsonSchema } from './messages/request-input.ts'
import type { BuiltinRoute } from './route.ts'

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

type Content = { readonly [type: string]: { readonly schema?: JsonSchema } }

type Answer = { readonly description: string; readonly content?: Content }

export type ApiOperation = {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: { readonly [status: string]: Answer | { readonly $ref: string } }
  readonly security: readonly { readonly [scheme: string]: readonly string[] }[]
}

export type ApiDescription = {
  readonly openapi: '3.1.0'
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: { readonly [path: string]: { readonly [method: string]: ApiOperation } }
  readonly components: {
    readonly schemas: { readonly [name: string]: JsonSchema }
    readonly responses: { readonly [name: string]: Answer }
    readonly securitySchemes: { readonly [name: string]: JsonSchema }
  }
}

const INTRODUCTION =
  'Long-term memory for LLM apps and agents. Every error has the same shape, and its code tells programs what to do.'
const ROLES_FOR: Readonly<Record<Access, string>> = {
  read: 'any key',
  write: 'a key of an agent, a user or a superadmin',
  curate: 'a key of a user or a superadmin',
  manage: 'a key of a superadmin',
}
const KEYED = [{ bearer: [] }, { apiKey: [] }, { session: [] }]
const ERROR_ANSWER = { $ref: '#/components/responses/Error' }
const LINES = 'application/x-ndjson'
const line: JsonSchema = { type: 'string', description: 'One JSON value on each line.' }

const errorSchema = z.object({
  error: z.object({
    code: z.enum(Object.keys(ERRORS) as [string, ...string[]]), // there are some
    message: z.string(),
    details: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .describe('The faulty fields, where the input is to blame.'),
    retryable: z.boolean(),
    requestId: z.string(),
  }),
})

export function describeApi(version: string, own: readonly BuiltinRoute[]): ApiDescription {
  const schemas = new Schemas()
  const paths: { [path: string]: { [method: string]: ApiOperation } } = {}
  const add = (path: string, method: string, operation: ApiOperation) => {
    paths[path] ??= {}
    Object.assign(paths[path], { [method.toLowerCase()]: operation })
  }
  for (const operation of OPERATIONS) {
    const { path, method } = operation.http
    const described = describeOperation(operation, schemas)
    add(path, method, described)
    if (method === 'PUT') {
      add(path, 'PATCH', { ...described, operationId: `${operation.name}.patch` })
    }
  }
  for (const route of own.filter(({ isUndocumented: isPart }) => isPart !== true))
    add(route.path, route.method, describeBuiltin(route, schemas))
  schemas.define('Error', errorSchema)
  return {
    openapi: '3.1.0',
    info: { title: 'Recollect', version, description: INTRODUCTION },
    paths,
    components: {
      schemas: schemas.all,
      responses: {
        Error: {
          description: 'What went wrong.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A key, as rc_….' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        session: { type: 'apiKey', in: 'cookie', name: 'recollect_session' },
      },
    },
  }
}

function describeOperation(operation: Operation, schemas: Schemas): ApiOperation {
  const { name, summary, access, http } = operation
  const { method, path, stream, status = 200, version } = http
  const input = schemas.of(operation.input, 'input')
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
  const hasQuery = method === 'GET' || method === 'DELETE' || stream === 'in'
  const body = bodyOf(operation, input, inPath)
  return {
    operationId: name,
    summary,
    description: `Needs ${ROLES_FOR[access]}.`,
    tags: [name.split('.')[0] ?? name],
    parameters: [
      ...parametersOf(input, inPath, hasQuery),
      ...(version !== undefined && method === 'GET' ? [header('If-None-Match', ETAG_KNOWN)] : []),
      ...(version !== undefined && inPath.length > 0 && method !== 'GET'
        ? [header('If-Match', ETAG_WANTED)]
        : []),
      ...(method !== 'GET' && stream === undefined && operation.isSecret !== true
        ? [header('Idempotency-Key', IDEMPOTENCY)]
        : []),
    ],
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      [status]:
        stream === 'out'
          ? { description: 'Lines, as they come.', content: { [LINES]: { schema: line } } }
          : json(schemas.of(operation.output, 'output'), 'Done.'),
      ...(version !== undefined && method === 'GET' ? { 304: nothing('Not changed.') } : {}),
      '4XX': ERROR_ANSWER,
      '5XX': ERROR_ANSWER,
    },
    security: KEYED,
  }
}

const ETAG_KNOWN = 'An ETag from before: answers 304 when nothing has changed.'
const ETAG_WANTED = 'An ETag from before: changes nothing when it is no longer the one in force.'
const IDEMPOTENCY = 'Any text of the client’s own: done once for each, however often it is sent.'

function header(name: string, description: string): Parameter {
  return { name, in: 'header', description, schema: { type: 'string' } }
}

function json(schema: JsonSchema, description: string): Answer {
  return { description, content: { 'application/json': { schema } } }
}

function nothing(description: string): Answer {
  return { description }
}

function parametersOf(
  input: JsonSchema,
  inPath: readonly string[],
  hasQuery: boolean,
): readonly Parameter[] {
  const properties = (input.properties ?? {}) as { readonly [name: string]: JsonSchema }
  const required = (input.required ?? []) as readonly string[]
  return Object.entries(properties)
    .filter(([name]) => inPath.includes(name) || (hasQuery && name !== 'lines'))
    .map(([name, { description, ...schema }]) => ({
      name,
      in: inPath.includes(name) ? ('path' as const) : ('query' as const),
      ...(inPath.includes(name) || required.includes(name) ? { required: true } : {}),
      ...(typeof description === 'string' ? { description } : {}),
      schema,
    }))
}

function bodyOf(
  { http: { method, stream } }: Operation,
  input: JsonSchema,
  inPath: readonly string[],
): NonNullable<ApiOperation['requestBody']> | null {
  if (stream === 'in') return { required: true, content: { [LINES]: { schema: line } } }
  if (method === 'GET') return null
  const properties = (input.properties ?? {}) as { readonly [name: string]: JsonSchema }
  const fields = Object.entries(properties).filter(([name]) => !inPath.includes(name))
  if (fields.length === 0) return null
  const required = ((input.required ?? []) as readonly string[]).filter(
    (name) => !inPath.includes(name),
  )
  // DELETE accepts its fields in the query too, so no body field is required.
  const isNeeded = required.length > 0 && method !== 'DELETE'
  const schema = {
    ...input,
    properties: Object.fromEntries(fields),
    ...(isNeeded ? { required } : { required: [] }),
  }
  return { required: isNeeded, content: { 'application/json': { schema } } }
}

function describeBuiltin(route: BuiltinRoute, schemas: Schemas): ApiOperation {
  const { method, path, summary, access, input, answers } = route
  const name = path === '/' ? 'page' : path.slice(1).replaceAll(/[/.]/g, '-')
  const responses = Object.entries(answers).map(([status, answer]) => [
    status,
    answer === null
      ? nothing('Done.')
      : typeof answer === 'string'
        ? { description: 'Done.', content: { [answer]: { schema: { type: 'string' } } } }
        : json(schemas.of(answer, 'output'), 'Done.'),
  ])
  return {
    operationId: `door.${name}.${method.toLowerCase()}`,
    summary,
    tags: ['door'],
    ...(input === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemas.of(input, 'input') } },
          },
        }),
    responses: { ...Object.fromEntries(responses), '4XX': ERROR_ANSWER, '5XX': ERROR_ANSWER },
    security: access === 'open' ? [] : access === 'optional' ? [{}, ...KEYED] : KEYED,
  }
}

/** Schemas with an id become components and are referenced. */
class Schemas {
  readonly #defined: { [name: string]: JsonSchema } = {}

  get all(): { readonly [name: string]: JsonSchema } {
    return this.#defined
  }

  define(name: string, schema: z.ZodType): void {
    this.#keep(name, this.of(schema, 'output'))
  }

  of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const made = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema
    const { $schema: _, $defs = {}, ...rest } = made
    const definitions = Object.entries($defs as { readonly [name: string]: JsonSchema })
    const names = new Map(definitions.map(([name, each]) => [name, lastingName(name, each)]))
    for (const [name, { id: _id, ...each }] of definitions) {
      this.#keep(names.get(name) ?? name, withReferences(each, names))
    }
    return withReferences(rest, names)
  }

  #keep(name: string, schema: JsonSchema): void {
    const known = this.#defined[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas are called ${name}.`)
    }
    this.#defined[name] = schema
  }
}

/** The recursive schema of any JSON value gets a generated name that differs from call to call. */
function lastingName(name: string, schema: JsonSchema): string {
  if (!name.startsWith('__')) return name
  const isJson = JSON.stringify(schema).split(`"#/$defs/${name}"`).length === 3
  if (!isJson) throw new Error('A schema that points at itself needs a name of its own.')
  return 'Json'
}

/** The schema with its references rewritten to components. */
function withReferences(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  const text = JSON.stringify(schema).replaceAll(
    /"#\/\$defs\/([^"]+)"/g,
    (_, name: string) => `"#/components/schemas/${names.get(name) ?? name}"`,
  )
  return JSON.parse(text) as JsonSchema // the input of the call
}
