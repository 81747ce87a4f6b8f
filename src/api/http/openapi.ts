/** OpenAPI 3.1 description, generated from the operation table and the built-in routes. */
import { z } from 'zod'
import { ERRORS } from '../../lib/errors.ts'
import type { Access } from '../operations/authorization.ts'
import { OPERATIONS } from '../operations/index.ts'
import type { Operation } from '../operations/operation.ts'
import type { JsonSchema } from './messages/request-input.ts'
import type { BuiltinRoute } from './request-context.ts'
import type { MountedPath } from './server-options.ts'

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

type Content = { readonly [type: string]: { readonly schema?: JsonSchema } }

type ResponseDescription = { readonly description: string; readonly content?: Content }

export type ApiOperation = {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: { readonly [status: string]: ResponseDescription | { readonly $ref: string } }
  readonly security: readonly { readonly [scheme: string]: readonly string[] }[]
}

export type ApiDescription = {
  readonly openapi: '3.1.0'
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description: string
    readonly contact: { readonly name: string; readonly url: string }
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: { readonly [path: string]: { readonly [method: string]: ApiOperation } }
  readonly components: {
    readonly schemas: { readonly [name: string]: JsonSchema }
    readonly responses: { readonly [name: string]: ResponseDescription }
    readonly securitySchemes: { readonly [name: string]: JsonSchema }
  }
}

const INTRODUCTION =
  'Long-term memory for LLM apps and agents. Every error has the same shape and a stable code.'
const HOMEPAGE = 'https://github.com/recollect-memory/recollect'

/** What the groups of operations are about, in the order of the document. */
const TAGS: Readonly<Record<string, string>> = {
  memory: 'Memories: store, search, correct, forget, restore, import and export.',
  session: 'Conversations and their turns.',
  turn: 'Single turns of conversations.',
  episode: 'Digests of conversations.',
  identity: 'What is known about the identity of users.',
  hook: 'Context before a prompt, and capture after a run, for programs that call their model themselves.',
  files: 'Memory in files: folders, search and notes.',
  receipt: 'What memory did in requests through the gateway.',
  review: 'Memories that wait for review, and conflicts.',
  learning: 'The model that learns from conversations.',
  signal: 'Exchanges that wait to be learned from.',
  consolidation: 'Reports of consolidations.',
  job: 'Background jobs.',
  model: 'Models of the providers.',
  settings: 'Settings, and the vector store.',
  key: 'API keys.',
  owner: 'Owners and their data.',
  agent: 'Agents that have memories.',
  instance: 'Memories in the format of another system.',
  audit: 'Who changed what.',
  system: 'Status and repair.',
  gateway: "The providers' APIs, with memory. Bodies and answers are those of the provider.",
  server: 'Health, metrics, login sessions and pages.',
}
const ACCESS_TEXT: Readonly<Record<BuiltinRoute['access'], string>> = {
  open: 'Needs no key.',
  optional: 'Returns more with a key.',
  key: 'Needs any key.',
}

const ROLES_FOR: Readonly<Record<Access, string>> = {
  read: 'any key',
  write: 'a key with the role agent, user or superadmin',
  curate: 'a key with the role user or superadmin',
  manage: 'a key with the role superadmin',
}
const KEYED = [{ bearer: [] }, { apiKey: [] }, { session: [] }]
const ERROR_RESPONSE = { $ref: '#/components/responses/Error' }
const LINES = 'application/x-ndjson'
const line: JsonSchema = { type: 'string', description: 'One JSON value per line.' }

const errorSchema = z.object({
  error: z.object({
    code: z.enum(Object.keys(ERRORS) as [string, ...string[]]), // there are some
    message: z.string(),
    details: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .describe('The invalid fields.'),
    retryable: z.boolean(),
    requestId: z.string(),
  }),
})

export function describeApi(
  version: string,
  own: readonly BuiltinRoute[],
  mounted: readonly MountedPath[] = [],
): ApiDescription {
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
  for (const route of own.filter(({ isUndocumented }) => isUndocumented !== true))
    add(route.path, route.method, describeBuiltin(route, schemas))
  for (const each of mounted) add(each.path, each.method, describeMounted(each))
  const used = new Set(
    Object.values(paths)
      .flatMap(Object.values)
      .flatMap(({ tags }) => tags),
  )
  schemas.define('Error', errorSchema)
  return {
    openapi: '3.1.0',
    info: {
      ...{ title: 'Recollect', version, description: INTRODUCTION },
      contact: { name: 'Recollect', url: HOMEPAGE },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    tags: Object.entries(TAGS).flatMap(([name, description]) =>
      used.has(name) ? [{ name, description }] : [],
    ),
    paths,
    components: {
      schemas: schemas.all,
      responses: {
        Error: {
          description: 'The error.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, such as rc_….' },
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
  const hasQuery = method === 'GET' || method === 'DELETE' || stream === 'in' || stream === 'upload'
  const body = bodyOf(operation, input, inPath)
  return {
    operationId: name,
    summary,
    description: `Requires ${ROLES_FOR[access]}.`,
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
          ? { description: 'A stream of JSON lines.', content: { [LINES]: { schema: line } } }
          : json(schemas.of(operation.output, 'output'), 'Done.'),
      ...(version !== undefined && method === 'GET' ? { 304: noContent('Not modified.') } : {}),
      '4XX': ERROR_RESPONSE,
      '5XX': ERROR_RESPONSE,
    },
    security: KEYED,
  }
}

const UPLOAD_CONTENT: Content = {
  'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
  'multipart/form-data': {
    schema: {
      type: 'object',
      description: 'Parameters may also be fields of the form, before the file.',
      properties: { file: { type: 'string', format: 'binary' } },
      required: ['file'],
    },
  },
}
const ETAG_KNOWN = 'An earlier ETag: responds with 304 when the resource is unchanged.'
const ETAG_WANTED = 'An earlier ETag: responds with 412 when the resource has changed since.'
const IDEMPOTENCY = 'A unique key chosen by the client: repeated requests run once.'

function header(name: string, description: string): Parameter {
  return { name, in: 'header', description, schema: { type: 'string' } }
}

function json(schema: JsonSchema, description: string): ResponseDescription {
  return { description, content: { 'application/json': { schema } } }
}

function noContent(description: string): ResponseDescription {
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
    .filter(
      ([name]) => inPath.includes(name) || (hasQuery && name !== 'lines' && name !== 'upload'),
    )
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
  if (stream === 'upload') return { required: true, content: UPLOAD_CONTENT }
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
      ? noContent('Done.')
      : typeof answer === 'string'
        ? { description: 'Done.', content: { [answer]: { schema: { type: 'string' } } } }
        : json(schemas.of(answer, 'output'), 'Done.'),
  ])
  return {
    operationId: `server.${name}.${method.toLowerCase()}`,
    summary,
    description: ACCESS_TEXT[access],
    tags: ['server'],
    ...(input === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemas.of(input, 'input') } },
          },
        }),
    responses: { ...Object.fromEntries(responses), '4XX': ERROR_RESPONSE, '5XX': ERROR_RESPONSE },
    security: access === 'open' ? [] : access === 'optional' ? [{}, ...KEYED] : KEYED,
  }
}

/** Bodies belong to the API of a provider, whose own description has them. */
function describeMounted({ method, path, summary, body, answer }: MountedPath): ApiOperation {
  const name = path
    .replace(/^\/v1\//, '')
    .replaceAll(/[{}]/g, '')
    .replaceAll(/[/_]/g, '-')
  const anything: JsonSchema = { type: 'object', additionalProperties: true }
  return {
    operationId: `gateway.${name}.${method.toLowerCase()}`,
    summary,
    description: 'Needs any key. The format is that of the provider.',
    tags: ['gateway'],
    parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, field = '']) => ({
      ...{ name: field, in: 'path' as const, required: true, schema: { type: 'string' } },
    })),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { [body]: { schema: anything } } } }),
    responses: {
      200: {
        description: 'The answer of the provider.',
        content: { [answer ?? 'application/json']: { schema: anything } },
      },
      '4XX': { description: 'An error in the format of the provider.' },
      '5XX': { description: 'An error in the format of the provider.' },
    },
    security: KEYED,
  }
}

/** Schemas with an id become components and are referenced. */
class Schemas {
  readonly #defined: { [name: string]: JsonSchema } = {}

  get all(): { readonly [name: string]: JsonSchema } {
    return this.#defined
  }

  define(name: string, schema: z.ZodType): void {
    this.#add(name, this.of(schema, 'output'))
  }

  of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const generated = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema
    const { $schema: _, $defs = {}, ...rest } = generated
    const definitions = Object.entries($defs as { readonly [name: string]: JsonSchema })
    const names = new Map(definitions.map(([name, each]) => [name, stableName(name, each)]))
    for (const [name, { id: _id, ...each }] of definitions) {
      const named = names.get(name) ?? name
      this.#add(named, named === JSON_NAME ? JSON_VALUE : withReferences(each, names))
    }
    return withReferences(rest, names)
  }

  #add(name: string, schema: JsonSchema): void {
    const known = this.#defined[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Duplicate schema name: ${name}.`)
    }
    this.#defined[name] = schema
  }
}

const JSON_NAME = 'Json'

/** Any JSON value, not recursive: types that some generators make of a recursive one do not compile. */
const JSON_VALUE: JsonSchema = {
  anyOf: [
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'null' },
    { type: 'array', items: {} },
    { type: 'object', additionalProperties: true },
  ],
}

/** The recursive schema of any JSON value gets a generated name that differs from call to call. */
function stableName(name: string, schema: JsonSchema): string {
  if (!name.startsWith('__')) return name
  const isJson = JSON.stringify(schema).split(`"#/$defs/${name}"`).length === 3
  if (!isJson) throw new Error('A recursive schema requires an explicit id.')
  return JSON_NAME
}

/** The schema with its references rewritten to components. */
function withReferences(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  const text = JSON.stringify(schema).replaceAll(
    /"#\/\$defs\/([^"]+)"/g,
    (_, name: string) => `"#/components/schemas/${names.get(name) ?? name}"`,
  )
  return JSON.parse(text) as JsonSchema // the input of the call
}
