/**
 * Performs operations on a server: maps each to its HTTP request and maps the response to the result or error of a
 * local call.
 */
import {
  AppError,
  ERRORS,
  type ErrorCode,
  type ErrorDetails,
  type FieldError,
} from '../../lib/errors.ts'
import { isObject } from '../../lib/json.ts'
import { decodeLines } from '../../lib/utf8-lines.ts'
import type { Operation, Upload } from '../operations/operation.ts'
import type { CliEnvironment, RemoteServer } from './host.ts'
import type { OperationClient } from './operation-client.ts'

export type RemoteClientOptions = {
  readonly server: RemoteServer
  /** The explicitly configured scope; otherwise the key decides. */
  readonly explicitScope: CliEnvironment['explicitScope']
  readonly signal: AbortSignal
}

const LINES_TYPE = 'application/x-ndjson'

/** An error of the server with its field errors. */
class RemoteError extends AppError {
  readonly #faults: readonly FieldError[]

  constructor(
    code: ErrorCode,
    message: string,
    facts: ErrorDetails,
    faults: readonly FieldError[],
  ) {
    super(code, message, facts)
    this.#faults = faults
  }

  override get details(): readonly FieldError[] {
    return this.#faults
  }
}

type Input = { readonly [field: string]: unknown }

export function createRemoteClient({
  server,
  explicitScope: named,
  signal,
}: RemoteClientOptions): OperationClient {
  return {
    perform: async (operation, given) => {
      const input = withScope(operation, given, named)
      const response = await sendRequest(server, toHttpRequest(server, operation, input), signal)
      if (!response.ok) throw await toError(server, response)
      if (operation.http.stream === 'out') return readLines(server, response) as never // as declared by its output
      return (await readOutput(server, operation, response)) as never // validated against its output
    },
    close: async () => {},
  }
}

/** Adds the scope to operations that have fields for it. */
function withScope(
  { input }: Operation,
  given: Input,
  { owner, user, session }: CliEnvironment['explicitScope'],
) {
  const names = { owner, user, sessionId: session }
  const fitting = Object.entries(names).filter(
    ([field, name]) => name !== undefined && Object.hasOwn(input.shape, field),
  )
  return { ...Object.fromEntries(fitting), ...given }
}

type PreparedRequest = { readonly url: string; readonly init: RequestInit }

export function toHttpRequest(
  { url, key }: RemoteServer,
  { http }: Operation,
  input: Input,
): PreparedRequest {
  const rest = { ...input }
  const path = http.path.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = String(rest[field])
    delete rest[field]
    return encodeURIComponent(value)
  })
  const headers = {
    accept: http.stream === 'out' ? LINES_TYPE : 'application/json',
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
  }
  const init = { method: http.method, headers, redirect: 'error' as const }
  if (http.stream === 'in') {
    const { lines, ...query } = rest
    const body = ReadableStream.from(toBytes(lines as AsyncIterable<string>)) // as declared by its input
    const sent = { ...headers, 'content-type': LINES_TYPE }
    return {
      url: url + path + toQuery(query),
      init: { ...init, headers: sent, body, duplex: 'half' } as RequestInit, // Node requires `duplex`, which its types lack
    }
  }
  if (http.stream === 'upload') {
    const { upload, ...query } = rest
    const body = ReadableStream.from((upload as Upload).bytes) // as declared by its input
    const sent = { ...headers, 'content-type': 'application/octet-stream' }
    return {
      url: url + path + toQuery(query),
      init: { ...init, headers: sent, body, duplex: 'half' } as RequestInit, // Node requires `duplex`, which its types lack
    }
  }
  if (http.method === 'GET') return { url: url + path + toQuery(rest), init }
  const sent = { ...headers, 'content-type': 'application/json' }
  return { url: url + path, init: { ...init, headers: sent, body: JSON.stringify(rest) } }
}

function toQuery(fields: Input): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

async function* toBytes(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield Buffer.from(`${line}\n`)
}

async function sendRequest(
  server: RemoteServer,
  { url, init }: PreparedRequest,
  signal: AbortSignal,
) {
  try {
    return await fetch(url, { ...init, signal })
  } catch (error) {
    throw toConnectionError(server, error)
  }
}

/** An error of the sent lines is the cause, not the broken connection. */
function toConnectionError({ url, origin }: RemoteServer, error: unknown): AppError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AppError) return cause
    if (cause.name === 'AbortError') return new AppError('cancelled', 'Stopped.', {}, error)
  }
  return new AppError(
    'unavailable',
    `The server at ${url} is not reachable (${reasonOf(error)}). Is \`recollect serve\` running there? The address comes from ${origin}.`,
    { url },
    error,
  )
}

function reasonOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  }
  return error instanceof Error ? error.message : 'no answer'
}

async function readOutput(server: RemoteServer, { output }: Operation, response: Response) {
  const json = await readJson(server, response)
  // Not stripped: a newer server may return more fields.
  if (output.safeParse(json).success) return json
  throw new AppError(
    'unavailable',
    `The server at ${server.url} sent an unexpected response. Is it another version of Recollect?`,
    { url: server.url },
  )
}

async function readJson(server: RemoteServer, response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (error) {
    if (error instanceof SyntaxError) throw notRecollectError(server, response)
    throw toConnectionError(server, error)
  }
}

async function* readLines(server: RemoteServer, response: Response): AsyncGenerator<string> {
  const type = response.headers.get('content-type') ?? ''
  if (response.body === null || !type.startsWith(LINES_TYPE))
    throw notRecollectError(server, response)
  try {
    yield* decodeLines(response.body, 'The response of the server')
  } catch (error) {
    const known = toConnectionError(server, error)
    throw known.code === 'unavailable' ? truncatedResponseError(server, error) : known
  }
}

function truncatedResponseError({ url }: RemoteServer, error: unknown): AppError {
  const message = `The connection to ${url} closed before the response was complete.`
  return new AppError('unavailable', message, { url }, error)
}

async function toError(server: RemoteServer, response: Response): Promise<AppError> {
  const body = await readJson(server, response)
  const fields = isObject(body) && isObject(body.error) ? body.error : null
  const code = fields === null ? undefined : findErrorCode(fields.code)
  if (fields === null || code === undefined) return notRecollectError(server, response)
  const message =
    code === 'unauthenticated' ? `${fields.message} ${keyAdvice(server)}` : fields.message
  return new RemoteError(
    code,
    String(message),
    isObject(fields.facts) ? (fields.facts as ErrorDetails) : {}, // serialized from an AppError
    faultsIn(fields.details),
  )
}

function faultsIn(details: unknown) {
  if (!Array.isArray(details)) return []
  return details
    .filter(isObject)
    .map(({ field, message }) => ({ field: String(field), message: String(message) }))
}

function keyAdvice({ key }: RemoteServer): string {
  return key === null
    ? "Set an API key with --key or RECOLLECT_API_KEY. Create one with `recollect keys create` on the server's machine."
    : 'Check --key or RECOLLECT_API_KEY.'
}

function findErrorCode(name: unknown): ErrorCode | undefined {
  return typeof name === 'string' && Object.hasOwn(ERRORS, name) ? (name as ErrorCode) : undefined // a key of the table
}

function notRecollectError({ url, origin }: RemoteServer, { status }: Response): AppError {
  return new AppError(
    'unavailable',
    `${url} is not a Recollect server (status ${status}). The address comes from ${origin}.`,
    { url, status },
  )
}
