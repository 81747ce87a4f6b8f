/** Responses to input that never becomes a request, in the standard error shape. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError } from '../../lib/errors.ts'
import { errorBody, JSON_TYPE } from './messages/response.ts'

const STATUS_LINES: { readonly [code: string]: readonly [line: string, error: AppError] } = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    new AppError('too_large', 'The URL and headers must not exceed 16 kB.'),
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    new AppError('timeout', 'The request was not received within the timeout.'),
  ],
}
const MALFORMED: readonly [string, AppError] = [
  '400 Bad Request',
  new AppError('invalid_input', 'The request must be valid HTTP.'),
]
const ALLOWED = 'allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const CONNECT_ERROR = new AppError(
  'method_not_allowed',
  'CONNECT is not supported: this server is not a proxy.',
)

export function respondMalformedRequest(
  error: Error & { readonly code?: string },
  socket: Duplex,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [line, reason] = STATUS_LINES[error.code ?? ''] ?? MALFORMED
  socket.end(renderResponse(line, reason))
}

/** Node hands over the socket of a CONNECT request: it must be answered and ended here. */
export function rejectConnect(_: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => {})
  socket.resume()
  socket.end(renderResponse('405 Method Not Allowed', CONNECT_ERROR, [ALLOWED]), () =>
    socket.destroy(),
  )
}

function renderResponse(line: string, reason: AppError, headers: readonly string[] = []): string {
  const requestId = `req_${randomUUID()}`
  const body = `${JSON.stringify(errorBody(reason, requestId))}\n`
  return [
    `HTTP/1.1 ${line}`,
    ...headers,
    `x-request-id: ${requestId}`,
    'connection: close',
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    `content-type: ${JSON_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}
