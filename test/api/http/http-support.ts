/** A running server for tests, and a client that compares every answer with the description at /openapi.json. */
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, onTestFinished } from 'vitest'
import type { ServeOptions } from '../../../src/api/cli/host.ts'
import { createEngine, type EngineOptions } from '../../../src/app/composition.ts'
import { serve } from '../../../src/app/serve.ts'
import type { Role } from '../../../src/domain/access.ts'
import type { Engine } from '../../../src/engine/engine.ts'

export type Started = {
  readonly engine: Engine
  readonly url: string
  /** The management key that was made at the start. */
  readonly admin: string
  readonly warnings: readonly string[]
  readonly signInUrl: string | null
  readonly client: Client
  close(): Promise<void>
}

/** A server on a free port with a store in memory. Requests are not limited unless a test wants that. */
export async function start(
  options: Partial<ServeOptions> = {},
  engineOptions: EngineOptions = {},
): Promise<Started> {
  const engine =
    options.engine ??
    (await createEngine({
      embedding: false,
      ...engineOptions,
      settings: { 'server.requestsPerMinute': 0, ...engineOptions.settings },
    }))
  const serving = await serve({
    host: '127.0.0.1',
    port: 0,
    version: '9.9.9',
    ...options,
    engine,
  })
  onTestFinished(async () => {
    await serving.close()
    await engine.close()
  })
  const admin = serving.managementKey ?? ''
  const client = new Client(serving.url, admin)
  return {
    engine,
    url: serving.url,
    admin,
    client,
    warnings: serving.warnings ?? [],
    signInUrl: serving.signInUrl ?? null,
    close: () => serving.close(),
  }
}

export async function keyFor(
  engine: Engine,
  role: Role,
  home: string,
  actsFor: readonly string[] = [],
): Promise<string> {
  return (
    await engine.admin.keys.create({
      name: `${role} of ${home}`,
      defaultOwner: home,
      role,
      actsFor,
    })
  ).secret
}

export type Answer = {
  readonly status: number
  readonly headers: Headers
  /** The parsed JSON, or the text where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
}

export type Call = {
  readonly key?: string | null
  readonly body?: unknown
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly headers?: { readonly [name: string]: string }
}

type Schema = { readonly [keyword: string]: unknown }
type Described = { readonly responses: { readonly [status: string]: Schema } }

export class Client {
  readonly url: string
  readonly #key: string
  #api: Promise<Schema> | undefined
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(url: string, key: string) {
    this.url = url
    this.#key = key
    addFormats.default(this.#ajv)
  }

  get(path: string, call: Call = {}): Promise<Answer> {
    return this.call('GET', path, call)
  }

  post(path: string, body: unknown, call: Call = {}): Promise<Answer> {
    return this.call('POST', path, { body, ...call })
  }

  async call(method: string, path: string, call: Call = {}): Promise<Answer> {
    const { key = this.#key, body, raw, headers = {} } = call
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(key === null || key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    }
    if (method !== 'HEAD' && method !== 'OPTIONS') await this.#compare(method, path, answer)
    return answer
  }

  /** The answer must be one that the description knows, and whole; an error must be in the one shape. */
  async #compare(method: string, path: string, { status, headers, body }: Answer): Promise<void> {
    expect(headers.get('x-request-id')).toMatch(/^[\w.:-]+$/)
    const api = await this.api()
    if (status >= 400 && path !== '/health/ready') {
      this.#validate({ $ref: '#/components/schemas/Error' }, body, `${method} ${path}`)
      expect(status, JSON.stringify(body)).not.toBe(500)
      expect(JSON.stringify(body)).not.toMatch(/\bat .*:\d+:\d+|node_modules|\.ts:/)
      return
    }
    const operation = described(api, method, path)
    if (operation === null) throw new Error(`${method} ${path} is not in /openapi.json.`)
    const answer = operation.responses[String(status)] as
      | { readonly content?: { readonly [type: string]: { readonly schema?: Schema } } }
      | undefined
    if (answer === undefined) throw new Error(`${method} ${path} answered ${status}, undescribed.`)
    const type = headers.get('content-type')?.split(';')[0] ?? ''
    const types = Object.keys(answer.content ?? {})
    if (types.length === 0) expect(body).toBe('')
    else expect(types).toContain(type)
    const schema = answer.content?.[type]?.schema
    if (schema !== undefined) this.#validate(schema, body, `${method} ${path}`)
  }

  #validate(schema: Schema, value: unknown, what: string): void {
    const key = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')
    const validate = this.#validators.get(key) ?? this.#ajv.compile(JSON.parse(key) as Schema)
    this.#validators.set(key, validate)
    if (validate(value) === true) return
    throw new Error(`${what}: ${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`)
  }

  api(): Promise<Schema> {
    this.#api ??= fetch(`${this.url}/openapi.json`).then(async (response) => {
      const api = (await response.json()) as Schema
      this.#ajv.addSchema({ $id: 'api', ...api })
      return api
    })
    return this.#api
  }
}

/** The description of what an address stands for; fixed segments go before those that are fields. */
export function described(api: Schema, method: string, path: string): Described | null {
  const segments = (path.split('?')[0] ?? '').split('/')
  const paths = Object.entries(api.paths as { readonly [path: string]: Schema })
  const fitting = paths
    .filter(([template]) => {
      const wanted = template.split('/')
      return (
        wanted.length === segments.length &&
        wanted.every((segment, index) => segment.startsWith('{') || segment === segments[index])
      )
    })
    .sort(([a], [b]) => a.split('{').length - b.split('{').length)
  const methods = fitting[0]?.[1] as { readonly [method: string]: Described } | undefined
  return methods?.[method.toLowerCase()] ?? null
}
