/** Answers to what is no HTTP request at all, in the same shape as all others. */
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { AppError } from '../../core/errors.ts'
import { errorBody, JSON_TYPE } from './reply.ts'

const LINES: { readonly [code: string]: readonly [line: string, error: AppError] } = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    new AppError('too_large', 'The address and headers of a request have at most 16 kB.'),
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    new AppError('invalid_input', 'The request did not arrive in time.'),
  ],
}
const MALFORMED: readonly [string, AppError] = [
  '400 Bad Request',
  new AppError('invalid_input', 'This is not a well-formed request.'),
]

export function answerBrokenRequest(
  error: Error & { readonly code?: string },
  socket: Duplex,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [line, reason] = LINES[error.code ?? ''] ?? MALFORMED
  const body = `${JSON.stringify(errorBody(reason, `req_${randomUUID()}`))}\n`
  socket.end(
    [
      `HTTP/1.1 ${line}`,
      'connection: close',
      'cache-control: no-store',
      'x-content-type-options: nosniff',
      `content-type: ${JSON_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  )
}
