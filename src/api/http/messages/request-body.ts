/** Reads request bodies: JSON within limits, or a stream of lines. */
import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../lib/errors.ts'
import { runWithTimeout } from '../../../lib/timeout.ts'
import {
  BODY_BYTES_MAX,
  BODY_IDLE_TIMEOUT_MS,
  BODY_TIMEOUT_MS,
  DRAIN_BYTES_MAX,
  DRAIN_TIMEOUT_MS,
  JSON_DEPTH_MAX,
  LINE_CHARACTERS_MAX,
} from '../http-limits.ts'

const JSON_TYPES = ['application/json']
const LINE_TYPES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl']
/** Keys that would allow prototype pollution. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Parses the body as JSON. An empty body is an empty object. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  if (!hasBody(request)) return {}
  assertContentType(request, JSON_TYPES)
  const bytes = await readBodyBytes(request, BODY_BYTES_MAX)
  if (bytes.length === 0) return {}
  return parseJson(bytes)
}

export function parseJson(bytes: Uint8Array): unknown {
  let value: unknown
  try {
    value = JSON.parse(textOf(bytes))
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('invalid_input', 'The body must be valid JSON.', { field: '' })
  }
  assertSafeKeys(value)
  return value
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw notUtf8()
  }
}

function notUtf8(): AppError {
  return new AppError('invalid_input', 'The body must be valid UTF-8.', { field: '' })
}

/** Iterative, because recursion would overflow the stack on deeply nested input. */
function assertSafeKeys(value: unknown): void {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = []
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue
      if (depth >= JSON_DEPTH_MAX) {
        const message = `The body must not be nested deeper than ${JSON_DEPTH_MAX} levels.`
        throw new AppError('invalid_input', message, { field: '' })
      }
      for (const [key, inner] of Object.entries(each)) {
        if (FORBIDDEN_KEYS.has(key) && !Array.isArray(each)) {
          throw new AppError('invalid_input', `A field must not be named "${key}".`, { field: key })
        }
        next.push(inner)
      }
    }
    level = next
  }
}

/** The body in chunks as they arrive, with backpressure. */
export function readBodyChunks(request: IncomingMessage): AsyncGenerator<Buffer> {
  return chunksOf(request, BODY_IDLE_TIMEOUT_MS)
}

/** Lines without line ends, read with backpressure. */
export async function* readBodyLines(
  request: IncomingMessage,
  { charactersMax = LINE_CHARACTERS_MAX, idleTimeoutMs = BODY_IDLE_TIMEOUT_MS } = {},
): AsyncGenerator<string> {
  if (!hasBody(request)) return
  assertContentType(request, LINE_TYPES)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw notUtf8()
    }
  }
  let rest = ''
  for await (const chunk of chunksOf(request, idleTimeoutMs)) {
    const lines = (rest + decode(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield assertLineLength(withoutReturn(line), charactersMax)
    assertLineLength(rest, charactersMax)
  }
  rest += decode()
  if (rest !== '') yield assertLineLength(withoutReturn(rest), charactersMax)
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

function assertLineLength(line: string, charactersMax: number): string {
  if (line.length <= charactersMax) return line
  throw new AppError('too_large', `A line must not exceed ${charactersMax} characters.`)
}

/** The chunks of a body. Fails when the client is idle for too long or disconnects. */
async function* chunksOf(request: IncomingMessage, idleTimeoutMs: number): AsyncGenerator<Buffer> {
  const iterator = request.iterator({ destroyOnReturn: false })
  try {
    for (;;) {
      const step = await readWithTimeout(iterator.next(), idleTimeoutMs)
      if (step.done === true) return
      yield step.value as Buffer // no encoding is set
    }
  } finally {
    // Releases the stream so that the rest can be drained. Not awaited: an idle client would block it.
    iterator.return?.().catch(() => {})
  }
}

async function readWithTimeout<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  try {
    return await runWithTimeout(ms, () => promise, { onTimeout: bodyTimeoutError })
  } catch (error) {
    throw error instanceof AppError ? error : clientClosedError(error)
  }
}

export function readBodyBytes(
  request: IncomingMessage,
  bytesMax: number,
  timeoutMs = BODY_TIMEOUT_MS,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
    return Promise.reject(bodyTooLargeError(bytesMax))
  }
  // The end event has been emitted already.
  if (request.destroyed) return Promise.reject(clientClosedError(request.errored))
  return new Promise((resolve, reject) => {
    const collector = createCollector(Number(request.headers['content-length'] ?? 0))
    let length = 0
    const finish = (settle: () => void) => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
      settle()
    }
    const timer = setTimeout(() => finish(() => reject(bodyTimeoutError())), timeoutMs)
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length > bytesMax) finish(() => reject(bodyTooLargeError(bytesMax)))
      else collector.add(chunk)
    }
    const onEnd = () => finish(() => resolve(collector.end()))
    const onError = (error: Error) => finish(() => reject(clientClosedError(error)))
    const onClose = () => finish(() => reject(clientClosedError(undefined)))
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  })
}

/** A body of announced length is written into its place, so that it is never in memory twice. */
function createCollector(announcedBytes: number): { add(chunk: Buffer): void; end(): Buffer } {
  if (announcedBytes === 0) {
    const chunks: Buffer[] = []
    return { add: (chunk) => chunks.push(chunk), end: () => Buffer.concat(chunks) }
  }
  const bytes = Buffer.allocUnsafeSlow(announcedBytes)
  let length = 0
  return {
    add: (chunk) => {
      length += chunk.copy(bytes, length)
    },
    end: () => bytes.subarray(0, length),
  }
}

function bodyTooLargeError(bytesMax: number): AppError {
  return new AppError('too_large', `The body must not exceed ${bytesMax} bytes.`)
}

function bodyTimeoutError(): AppError {
  return new AppError('timeout', 'The body was not received within the timeout.')
}

function clientClosedError(cause: unknown): AppError {
  return new AppError(
    'cancelled',
    'The client disconnected before the request was complete.',
    {},
    cause,
  )
}

function assertContentType({ headers }: IncomingMessage, types: readonly string[]): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='))
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset)
  const encoding = (headers['content-encoding'] ?? 'identity').toLowerCase()
  if (types.includes(type.trim()) && isUtf8 && encoding === 'identity') return
  throw new AppError(
    'unsupported_media_type',
    `\`Content-Type\` must be ${types[0]}, in UTF-8 and uncompressed.`,
  )
}

/**
 * Drains the body of a refused request within limits: closing the connection at once could discard
 * the error response.
 */
export function drainRequest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  let length = 0
  const destroy = () => request.socket.destroy()
  const timer = setTimeout(destroy, DRAIN_TIMEOUT_MS)
  request
    .on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > DRAIN_BYTES_MAX) destroy()
    })
    .once('error', () => {})
    .once('close', () => clearTimeout(timer))
    .once('end', () => clearTimeout(timer))
    .resume()
}
