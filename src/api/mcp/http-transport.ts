/**
 * Streamable HTTP transport for both generations of the protocol. Host, origin, key and rate have
 * been checked by the mount.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { type AppError, ERRORS, toAppError } from '../../lib/errors.ts'
import { BODY_BYTES_MAX } from '../http/http-limits.ts'
import { drainRequest, readBodyBytes } from '../http/messages/request-body.ts'
import type { ConsumeRequests, MountContext } from '../http/server-options.ts'
import type { Caller } from '../operations/authorization.ts'
import { createMcpServerFactory, type McpServerOptions } from './mcp-server.ts'
import { SubscriptionBus } from './resource-subscriptions.ts'

export type McpHttpHandler = {
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    charge?: ConsumeRequests,
    context?: MountContext,
  ): Promise<void>
  /** Ends open streams and refuses later requests. */
  close(): Promise<void>
}

/** The SDK's error code for rejected requests. */
const REJECTED_STATUS = -32_000
/** Some clients send a byte order mark; JSON parsers reject it. */
const BYTE_ORDER_MARK = /^\ufeff/
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
/** Only method and path matter here; the host has been validated. */
const BASE = 'http://recollect.invalid'

export function createMcpHttpHandler(options: McpServerOptions): McpHttpHandler {
  const servers = createMcpServerFactory(options)
  const bus = new SubscriptionBus()
  const handler = createMcpHandler(
    ({ authInfo, era }) => servers.serverFor(authInfo?.extra?.caller as Caller, { era }), // put there below
    { maxRequestBodySize: BODY_BYTES_MAX, bus },
  )
  return {
    handle: async (request, response, caller, charge, context) => {
      const disconnected = new AbortController()
      response.once('close', () => disconnected.abort())
      context?.signal.addEventListener('abort', () => disconnected.abort(), { once: true })
      try {
        const body = await bodyOf(request)
        const messages = countMessages(body)
        if (messages > 1) await charge?.(messages - 1)
        const webRequest = toWebRequest(request, body, disconnected.signal)
        const operationContext = options.contextOf(caller, disconnected.signal)
        const webResponse = await bus.serveAs(operationContext, () =>
          handler.fetch(webRequest, {
            authInfo: { token: '', clientId: caller.key ?? '', scopes: [], extra: { caller } },
          }),
        )
        await send(webResponse, response)
      } catch (error) {
        reject(request, response, toAppError(error))
      }
    },
    close: () => handler.close(),
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  return BODILESS.has(request.method ?? 'GET') ? null : readBodyBytes(request, BODY_BYTES_MAX)
}

/** Older clients may send batches. Unparseable text counts as one message and is refused later. */
function countMessages(body: Buffer | null): number {
  const text = body?.toString('utf8').replace(BYTE_ORDER_MARK, '').trimStart() ?? ''
  if (!text.startsWith('[')) return 1
  try {
    return (JSON.parse(text) as unknown[]).length // it begins as a list
  } catch {
    return 1
  }
}

function toWebRequest(request: IncomingMessage, body: Buffer | null, signal: AbortSignal): Request {
  const { method = 'GET', url = '/' } = request
  const headers = new Headers()
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  return new Request(new URL(url, BASE), { method, headers, body, signal })
}

/** Errors before the protocol layer use the protocol's error shape too. */
function reject(request: IncomingMessage, response: ServerResponse, error: AppError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { retryAfter } = error.facts
  const message = error.code === 'internal' ? ERRORS.internal.help : error.message
  if (typeof retryAfter === 'number') response.setHeader('retry-after', retryAfter)
  response.writeHead(ERRORS[error.code].status, {
    'content-type': 'application/json',
    connection: 'close',
  })
  response.end(
    JSON.stringify({ jsonrpc: '2.0', error: { code: REJECTED_STATUS, message }, id: null }),
  )
  drainRequest(request)
}

async function send(webResponse: Response, response: ServerResponse): Promise<void> {
  if (response.destroyed) {
    await webResponse.body?.cancel()
    return
  }
  response.statusCode = webResponse.status
  for (const [name, value] of webResponse.headers) response.setHeader(name, value)
  if (webResponse.body === null) {
    response.end()
    return
  }
  response.flushHeaders()
  const body = Readable.fromWeb(webResponse.body as NodeReadableStream) // one stream, typed twice
  // A client disconnect is not an error.
  await pipeline(body, response).catch(() => response.destroy())
}
