/** Handles a request for an operation: input, preconditions, idempotency, response. */
import { AppError, toAppError, ValidationError } from '../../lib/errors.ts'
import { sha256 } from '../../lib/hash.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Caller } from '../operations/authorization.ts'
import { type Operation, type OperationContext, performOperation } from '../operations/operation.ts'
import { IDEMPOTENCY_KEY_CHARACTERS_MAX } from './http-limits.ts'
import {
  conflictVersion,
  hasMatchingETag,
  parseETags,
  preconditionFailed,
  toETag,
} from './messages/etag.ts'
import { streamLines } from './messages/ndjson-stream.ts'
import { hasBody, readBodyLines, readJsonBody } from './messages/request-body.ts'
import { fieldTypesOf, type InputFields, mergeInput, parseQuery } from './messages/request-input.ts'
import { LINES_TYPE, sendEmpty, sendJson } from './messages/response.ts'
import { readUpload } from './messages/upload.ts'
import {
  createOperationContext,
  type RequestContext,
  type ServerContext,
} from './request-context.ts'

/** The GET operation of each path, for version preconditions of writes to the same path. */
export type ReadOperations = ReadonlyMap<string, Operation>

export async function handleOperation(
  serverContext: ServerContext,
  readers: ReadOperations,
  operation: Operation,
  caller: Caller,
  exchange: RequestContext,
): Promise<void> {
  const { request, response, signal } = exchange
  const context = createOperationContext(serverContext, caller, signal)
  if (operation.http.stream === 'upload') return handleUpload(operation, context, exchange)
  const input = await readInput(operation, exchange)
  const { stream, status = 200 } = operation.http
  if (stream === 'out') {
    const lines = (await performOperation(operation, context, input)) as AsyncIterable<string> // as its output says
    return streamLines(request, response, lines, signal)
  }
  if (operation.http.hasProgress === true && acceptsLines(exchange)) {
    return streamProgress(exchange, (onProgress) =>
      performOperation(operation, { ...context, onProgress }, input),
    )
  }
  const output = await performIdempotent(operation, context, exchange, input, async () =>
    // Inside of the idempotent part: a retry must not fail on the version that its first attempt wrote.
    performConditional(
      operation,
      context,
      exchange,
      await applyIfMatch(readers, operation, context, exchange, input),
    ),
  )
  const version = versionOf(operation, output)
  if (version !== null) {
    response.setHeader('etag', toETag(version))
    const isRead = operation.http.method === 'GET'
    if (isRead && hasMatchingETag(request.headers['if-none-match'], version)) {
      return sendEmpty(response, 304)
    }
  }
  return sendJson(request, response, status, output)
}

async function handleUpload(
  operation: Operation,
  context: OperationContext,
  exchange: RequestContext,
): Promise<void> {
  const { request, response, query, fields: path } = exchange
  const { upload, fields } = await readUpload(request)
  const form = new URLSearchParams(fields).toString()
  const input = { ...parseQuery(operation, query), ...parseQuery(operation, form), ...path, upload }
  if (!acceptsLines(exchange)) {
    return sendJson(request, response, 200, await performOperation(operation, context, input))
  }
  return streamProgress(exchange, (onProgress) =>
    performOperation(operation, { ...context, onProgress }, input),
  )
}

function acceptsLines({ request }: RequestContext): boolean {
  return (request.headers.accept ?? '').includes('application/x-ndjson')
}

/** Streams a line for each report of progress, then one with the result. */
async function streamProgress(
  { response }: RequestContext,
  perform: (onProgress: (progress: unknown) => void) => Promise<unknown>,
): Promise<void> {
  response.setHeader('content-type', LINES_TYPE)
  const write = (value: unknown) => void response.write(`${JSON.stringify(value)}\n`)
  try {
    write({ result: await perform((progress) => write({ progress })) })
  } catch (error) {
    // The status was sent with the first progress line.
    if (!response.headersSent) throw error
    const { code, message } = toAppError(error)
    write({ error: { code, message } })
  }
  response.end()
}

/** The method decides where fields come from; path parameters always count. */
async function readInput(operation: Operation, exchange: RequestContext): Promise<InputFields> {
  const { request, query, fields: path } = exchange
  const { method, stream } = operation.http
  if (stream === 'in') {
    return { ...parseQuery(operation, query), ...path, lines: readBodyLines(request) }
  }
  if (method === 'GET') {
    if (hasBody(request)) throw new AppError('invalid_input', 'A GET request must not have a body.')
    return mergeInput(path, parseQuery(operation, query), {}) as InputFields // an object, see there
  }
  if (method === 'DELETE') {
    return mergeInput(
      path,
      parseQuery(operation, query),
      await readJsonBody(request),
    ) as InputFields
  }
  const misplaced = Object.keys(parseQuery(operation, query))
  if (misplaced.length > 0) {
    throw new ValidationError(
      misplaced.map((field) => ({
        field,
        message: `\`${field}\` must be sent in the body, not in the query string.`,
      })),
    )
  }
  return mergeInput(path, {}, await readJsonBody(request)) as InputFields
}

/**
 * Maps `If-Match` to the field `version` where the operation has one. Otherwise the current version
 * is checked first.
 */
async function applyIfMatch(
  readers: ReadOperations,
  operation: Operation,
  context: OperationContext,
  { request }: RequestContext,
  input: InputFields,
): Promise<InputFields> {
  const header = request.headers['if-match']
  if (header === undefined || operation.http.method === 'GET') return input
  const reader = readers.get(operation.http.path)
  if (reader === undefined || operation.http.version === undefined) {
    throw new AppError('invalid_input', '`If-Match` is not supported by this operation.', {
      field: 'If-Match',
    })
  }
  const tags = parseETags(header, 'If-Match')
  if (tags === 'any') return input
  const versions = tags.filter((tag) => /^\d{1,15}$/.test(tag)).map(Number)
  const takesVersion = fieldTypesOf(operation).has('version')
  const [only] = versions
  const version =
    takesVersion && versions.length === 1 && only !== undefined
      ? only
      : await currentVersion(reader, context, input)
  if (!versions.includes(version)) throw preconditionFailed(version)
  if (!takesVersion) return input
  return mergeInput({}, { version }, input) as InputFields // an object, see there
}

async function currentVersion(
  reader: Operation,
  context: OperationContext,
  input: InputFields,
): Promise<number> {
  const known = fieldTypesOf(reader)
  const fields = Object.fromEntries(Object.entries(input).filter(([name]) => known.has(name)))
  return versionOf(reader, await performOperation(reader, context, fields)) ?? 0
}

function versionOf(operation: Operation, output: unknown): number | null {
  const { version } = operation.http
  return version === undefined ? null : version(output as never) // the operation's own output
}

/** With an `Idempotency-Key`, the operation runs once and a retry gets the stored response. */
async function performIdempotent(
  operation: Operation,
  context: OperationContext,
  exchange: RequestContext,
  input: InputFields,
  work: () => Promise<unknown>,
): Promise<unknown> {
  const { request, response, path } = exchange
  const header = request.headers['idempotency-key']
  if (header === undefined || operation.http.method === 'GET') return work()
  if (operation.http.stream !== undefined || operation.isSecret === true) {
    const message = 'This operation does not support Idempotency-Key: its response is not stored.'
    throw new AppError('invalid_input', message, { field: 'Idempotency-Key' })
  }
  const key = parseIdempotencyKey([header].flat())
  const name = JSON.stringify([context.caller.key, operation.http.method, path, key])
  const identity = [input, request.headers['if-match'] ?? null]
  const hash = sha256(JSON.stringify(identity))
  const { answer, isRepeated } = await context.engine.admin.idempotency.runOnce(
    name,
    hash,
    async () => {
      // A JSON round trip, so that the stored response equals the sent one.
      return { output: JSON.parse(JSON.stringify(await work())) } as JsonObject
    },
  )
  if (isRepeated) response.setHeader('idempotency-replayed', 'true')
  return answer.output
}

function parseIdempotencyKey([key = '', ...more]: readonly string[]): string {
  const isValid = key.length <= IDEMPOTENCY_KEY_CHARACTERS_MAX && /^[\x21-\x7e]+$/.test(key)
  if (isValid && more.length === 0) return key
  throw new AppError(
    'invalid_input',
    `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} printable ASCII characters without spaces.`,
    { field: 'Idempotency-Key' },
  )
}

async function performConditional(
  operation: Operation,
  context: OperationContext,
  { request }: RequestContext,
  input: InputFields,
): Promise<unknown> {
  try {
    return await performOperation(operation, context, input)
  } catch (error) {
    const version = request.headers['if-match'] === undefined ? null : conflictVersion(error)
    throw version === null ? error : preconditionFailed(version)
  }
}
