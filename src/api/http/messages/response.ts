/** Answering: one way to send a value, one shape for errors, the same protective headers on all that is our own. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type AppError, ERRORS, type FieldError } from '../../../lib/errors.ts'
import { COMPRESSION_BYTES_MIN, DETAILS_MAX, MESSAGE_CHARACTERS_MAX } from '../http-limits.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'
export const HTML_TYPE = 'text/html; charset=utf-8'
export const LINES_TYPE = 'application/x-ndjson; charset=utf-8'

/** Pages bring their own styles and nothing else: no script, no frame, no address but ours. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
/** What a browser must not make of any answer, whoever wrote it. */
const BASE_HEADERS: readonly (readonly [string, string])[] = [
  ['content-security-policy', POLICY],
  ['x-content-type-options', 'nosniff'],
]
const PROTECTION: readonly (readonly [string, string])[] = [
  ...BASE_HEADERS,
  ['cache-control', 'no-store'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-frame-options', 'DENY'],
]
const TLS_ONLY = 'max-age=31536000'

/** Answers that are passed on get only what they must; how they may be kept, those say who wrote them. */
export function setSecurityHeaders(
  response: ServerResponse,
  isSecure: boolean,
  isPassedOn: boolean,
): void {
  for (const [name, value] of isPassedOn ? BASE_HEADERS : PROTECTION) {
    if (!response.hasHeader(name)) response.setHeader(name, value)
  }
  if (isSecure) response.setHeader('strict-transport-security', TLS_ONLY)
}

export type ErrorBody = {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly details: readonly FieldError[]
    readonly retryable: boolean
    readonly requestId: string
  }
}

/** What a caller is told. What went wrong inside stays inside; the request id finds it in the log. */
export function errorBody(error: AppError, requestId: string): ErrorBody {
  const isInside = error.code === 'internal'
  return {
    error: {
      code: error.code,
      message: isInside
        ? `Something went wrong inside. The log tells more under ${requestId}.`
        : truncateMessage(error.message),
      details: isInside ? [] : detailsOf(error),
      retryable: error.retryable,
      requestId,
    },
  }
}

/** Bad input always has a detail; without a field, it is the whole that is wrong. */
function detailsOf({ code, details, message }: AppError): readonly FieldError[] {
  const faults =
    code === 'invalid_input' && details.length === 0 ? [{ field: '', message }] : details
  return faults.slice(0, DETAILS_MAX).map((fault) => ({
    field: truncateMessage(fault.field),
    message: truncateMessage(fault.message),
  }))
}

function truncateMessage(text: string): string {
  return text.length <= MESSAGE_CHARACTERS_MAX
    ? text
    : `${text.slice(0, MESSAGE_CHARACTERS_MAX - 1)}…`
}

export function statusOf(error: AppError): number {
  return ERRORS[error.code].status
}

export async function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  value: unknown,
): Promise<void> {
  await send(request, response, status, JSON_TYPE, `${JSON.stringify(value)}\n`)
}

/** Sends a text, compressed where that is worth it and the client can read it. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  compress: Compress = compressed,
): Promise<void> {
  let body: string | Buffer = text
  let length = Buffer.byteLength(text)
  response.setHeader('content-type', type)
  if (length >= COMPRESSION_BYTES_MIN) {
    addVary(response, 'Accept-Encoding')
    const coding = negotiateEncoding(request.headers['accept-encoding'] ?? '')
    if (coding !== null) {
      body = await compress(coding, text)
      length = body.length
      response.setHeader('content-encoding', coding)
    }
  }
  if (response.headersSent || response.destroyed) return
  response.setHeader('content-length', length)
  response.writeHead(status)
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Sends a text that is always the same, and compresses it only once. */
export function createStaticResponder(
  type: string,
  text: string,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const bodies = new Map<Coding, Promise<Buffer>>()
  const compress: Compress = (coding) => {
    const body = bodies.get(coding) ?? compressed(coding, text)
    bodies.set(coding, body)
    return body
  }
  return (request, response) => send(request, response, 200, type, text, compress)
}

export function sendEmpty(response: ServerResponse, status: 204 | 304): void {
  response.writeHead(status)
  response.end()
}

export function addVary(response: ServerResponse, name: string): void {
  const before = response.getHeader('vary')
  response.setHeader('vary', before === undefined ? name : `${String(before)}, ${name}`)
}

type Coding = 'br' | 'gzip'
type Compress = (coding: Coding, text: string) => Promise<Buffer>
const compressed: Compress = (coding, text) => COMPRESS[coding](text)
const brotli = promisify(brotliCompress)
const gzipAsync = promisify(gzip)
/** Fast rather than small: the answer is made for one reader. */
const BROTLI_QUALITY = 4
const COMPRESS: Readonly<Record<Coding, (text: string) => Promise<Buffer>>> = {
  br: (text) => brotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text) => gzipAsync(text, { level: 4 }),
}

/** The coding that the client likes best of those we have; null when it wants none. */
export function negotiateEncoding(accepted: string): Coding | null {
  if (accepted === '') return null
  const weights = new Map(
    accepted.split(',').map((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))
      return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
    }),
  )
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0
  const best = weightOf('br') >= weightOf('gzip') ? 'br' : 'gzip'
  return weightOf(best) > 0 ? best : null
}
