/** Sends responses: one serializer, one error shape, and the security headers of our own pages. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type AppError, ERRORS, type FieldError } from '../../../lib/errors.ts'
import { COMPRESSION_BYTES_MIN, DETAILS_MAX, MESSAGE_CHARACTERS_MAX } from '../http-limits.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'
export const HTML_TYPE = 'text/html; charset=utf-8'
export const LINES_TYPE = 'application/x-ndjson; charset=utf-8'

/** Our pages bring their own styles and load nothing else. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
/** Headers that every response gets. */
const BASE_HEADERS: readonly (readonly [string, string])[] = [
  ['content-security-policy', CONTENT_SECURITY_POLICY],
  ['x-content-type-options', 'nosniff'],
]
const PAGE_HEADERS: readonly (readonly [string, string])[] = [
  ...BASE_HEADERS,
  ['cache-control', 'no-store'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-frame-options', 'DENY'],
]
const STRICT_TRANSPORT_SECURITY = 'max-age=31536000'

/** Proxied responses get only the required headers; caching is up to their origin. */
export function setSecurityHeaders(
  response: ServerResponse,
  isSecure: boolean,
  isProxied: boolean,
): void {
  for (const [name, value] of isProxied ? BASE_HEADERS : PAGE_HEADERS) {
    if (!response.hasHeader(name)) response.setHeader(name, value)
  }
  if (isSecure) response.setHeader('strict-transport-security', STRICT_TRANSPORT_SECURITY)
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

/** The error body. Internal details stay in the log, where the request id finds them. */
export function errorBody(error: AppError, requestId: string): ErrorBody {
  const isInternal = error.code === 'internal'
  return {
    error: {
      code: error.code,
      message: isInternal
        ? `Internal error. The log has the details under the request id ${requestId}.`
        : truncateMessage(error.message),
      details: isInternal ? [] : detailsOf(error),
      retryable: error.retryable,
      requestId,
    },
  }
}

/** `invalid_input` always has a detail; without a field it concerns the whole input. */
function detailsOf({ code, details, message }: AppError): readonly FieldError[] {
  const errors =
    code === 'invalid_input' && details.length === 0 ? [{ field: '', message }] : details
  return errors.slice(0, DETAILS_MAX).map((error) => ({
    field: truncateMessage(error.field),
    message: truncateMessage(error.message),
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

/** Sends text, compressed when that pays off and the client accepts it. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  text: string | Buffer,
  compress: Compress = compressed,
): Promise<void> {
  let body = text
  let length = Buffer.byteLength(text)
  response.setHeader('content-type', type)
  if (length >= COMPRESSION_BYTES_MIN && type !== 'image/png') {
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

/** Sends constant content and compresses it only once. */
export function createStaticResponder(
  type: string,
  text: string | Buffer,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const bodies = new Map<Coding, Promise<Buffer>>()
  const compress: Compress = (coding) => {
    const body = bodies.get(coding) ?? compressed(coding, text)
    bodies.set(coding, body)
    return body
  }
  return (request, response) => send(request, response, 200, type, text, compress)
}

export function sendEmpty(response: ServerResponse, status: 204 | 303 | 304): void {
  response.writeHead(status)
  response.end()
}

export function addVary(response: ServerResponse, name: string): void {
  const before = response.getHeader('vary')
  response.setHeader('vary', before === undefined ? name : `${String(before)}, ${name}`)
}

type Coding = 'br' | 'gzip'
type Compress = (coding: Coding, text: string | Buffer) => Promise<Buffer>
const compressed: Compress = (coding, text) => COMPRESS[coding](text)
const brotli = promisify(brotliCompress)
const gzipAsync = promisify(gzip)
/** Low compression level: the response has a single reader. */
const BROTLI_QUALITY = 4
const COMPRESS: Readonly<Record<Coding, (text: string | Buffer) => Promise<Buffer>>> = {
  br: (text) => brotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text) => gzipAsync(text, { level: 4 }),
}

/** The client's preferred encoding among the supported ones; null for identity. */
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
