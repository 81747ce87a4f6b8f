/** Does an operation of the table for a request: fields in, conditions, repeated requests, answer out. */
import { createHash } from 'node:crypto'
import { AppError, InvalidFields } from '../../domain/errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Caller } from '../operations/authorization.ts'
import { type Context, type Operation, perform } from '../operations/operation.ts'
import { IDEMPOTENCY_KEY_CHARACTERS_MAX } from './http-limits.ts'
import { changedVersion, isKnown, parseTags, preconditionFailed, tagOf } from './messages/etag.ts'
import { sendLines } from './messages/ndjson-stream.ts'
import { hasBody, readJson, readLines } from './messages/request-body.ts'
import { combined, type Fields, fieldKinds, queryFields } from './messages/request-input.ts'
import { sendJson, sendNothing } from './messages/response.ts'
import { contextOf, type Exchange, type Surroundings } from './request-context.ts'

/** The operation that reads what others change at the same address, by path. */
export type Readers = ReadonlyMap<string, Operation>

export async function answerOperation(
  surroundings: Surroundings,
  readers: Readers,
  operation: Operation,
  caller: Caller,
  exchange: Exchange,
): Promise<void> {
  const { request, response, signal } = exchange
  const context = contextOf(surroundings, caller, signal)
  const given = await givenFields(operation, exchange)
  const { stream, status = 200 } = operation.http
  if (stream === 'out') {
    const lines = (await perform(operation, context, given)) as AsyncIterable<string> // as its output says
    return sendLines(request, response, lines, signal)
  }
  const output = await performOnce(operation, context, exchange, given, async () =>
    // Within what is done once: a repeated request must not fail on the version that it made itself.
    performed(
      operation,
      context,
      exchange,
      await withVersion(readers, operation, context, exchange, given),
    ),
  )
  const version = versionOf(operation, output)
  if (version !== null) {
    response.setHeader('etag', tagOf(version))
    const isRead = operation.http.method === 'GET'
    if (isRead && isKnown(request.headers['if-none-match'], version)) {
      return sendNothing(response, 304)
    }
  }
  return sendJson(request, response, status, output)
}

/** Where the fields stand depends on the method; those of the path always come along. */
async function givenFields(operation: Operation, exchange: Exchange): Promise<Fields> {
  const { request, query, fields: path } = exchange
  const { method, stream } = operation.http
  if (stream === 'in') {
    return { ...queryFields(operation, query), ...path, lines: readLines(request) }
  }
  if (method === 'GET') {
    if (hasBody(request)) throw new AppError('invalid_input', 'A GET request has no body.')
    return combined(path, queryFields(operation, query), {}) as Fields // an object, see there
  }
  if (method === 'DELETE') {
    return combined(path, queryFields(operation, query), await readJson(request)) as Fields
  }
  const stray = Object.keys(queryFields(operation, query))
  if (stray.length > 0) {
    throw new InvalidFields(
      stray.map((field) => ({
        field,
        message: `${field} stands in the body, not in the address.`,
      })),
    )
  }
  return combined(path, {}, await readJson(request)) as Fields
}

/** If-Match as the field `version`, where the operation has one; otherwise the version is looked at beforehand. */
async function withVersion(
  readers: Readers,
  operation: Operation,
  context: Context,
  { request }: Exchange,
  given: Fields,
): Promise<Fields> {
  const header = request.headers['if-match']
  if (header === undefined || operation.http.method === 'GET') return given
  const reader = readers.get(operation.http.path)
  if (reader === undefined || operation.http.version === undefined) {
    throw new AppError('invalid_input', 'If-Match means nothing at this address.', {
      field: 'If-Match',
    })
  }
  const tags = parseTags(header, 'If-Match')
  if (tags === 'any') return given
  const versions = tags.filter((tag) => /^\d{1,15}$/.test(tag)).map(Number)
  const takesVersion = fieldKinds(operation).has('version')
  const [only] = versions
  const version =
    takesVersion && versions.length === 1 && only !== undefined
      ? only
      : await currentVersion(reader, context, given)
  if (!versions.includes(version)) throw preconditionFailed(version)
  if (!takesVersion) return given
  return combined({}, { version }, given) as Fields // an object, see there
}

async function currentVersion(reader: Operation, context: Context, given: Fields): Promise<number> {
  const known = fieldKinds(reader)
  const input = Object.fromEntries(Object.entries(given).filter(([name]) => known.has(name)))
  return versionOf(reader, await perform(reader, context, input)) ?? 0
}

function versionOf(operation: Operation, output: unknown): number | null {
  const { version } = operation.http
  return version === undefined ? null : version(output as never) // the entry's own output
}

/** With an `Idempotency-Key`, once for each of them; a repeated request gets the same answer again. */
async function performOnce(
  operation: Operation,
  context: Context,
  exchange: Exchange,
  given: Fields,
  work: () => Promise<unknown>,
): Promise<unknown> {
  const { request, response, path } = exchange
  const header = request.headers['idempotency-key']
  if (header === undefined || operation.http.method === 'GET') return work()
  if (operation.http.stream !== undefined || operation.isSecret === true) {
    const why = 'An Idempotency-Key is not taken here: the answer is not kept.'
    throw new AppError('invalid_input', why, { field: 'Idempotency-Key' })
  }
  const key = parseIdempotencyKey([header].flat())
  const name = JSON.stringify([context.caller.key, operation.http.method, path, key])
  const asked = [given, request.headers['if-match'] ?? null]
  const hash = createHash('sha256').update(JSON.stringify(asked)).digest('hex')
  const { answer, isRepeated } = await context.engine.answers.once(name, hash, async () => {
    // Through JSON, so that what is kept is what was sent.
    return { output: JSON.parse(JSON.stringify(await work())) } as JsonObject
  })
  if (isRepeated) response.setHeader('idempotency-replayed', 'true')
  return answer.output
}

function parseIdempotencyKey([key = '', ...more]: readonly string[]): string {
  const isFit = key.length <= IDEMPOTENCY_KEY_CHARACTERS_MAX && /^[\x21-\x7e]+$/.test(key)
  if (isFit && more.length === 0) return key
  throw new AppError(
    'invalid_input',
    `An Idempotency-Key has 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} letters, digits and signs, and no space.`,
    { field: 'Idempotency-Key' },
  )
}

async function performed(
  operation: Operation,
  context: Context,
  { request }: Exchange,
  given: Fields,
): Promise<unknown> {
  try {
    return await perform(operation, context, given)
  } catch (error) {
    const version = request.headers['if-match'] === undefined ? null : changedVersion(error)
    throw version === null ? error : preconditionFailed(version)
  }
}
