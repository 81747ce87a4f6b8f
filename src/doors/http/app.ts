/**
 * The HTTP door, as far as it goes: health for machines, and a page that tells a person what is there. It only
 * reads, and shows counts, never a memory.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { ERRORS, toAppError } from '../../core/errors.ts'
import type { Engine } from '../../engine/engine.ts'
import { renderPage } from './page.ts'

export type HttpOptions = {
  readonly engine: Engine
  readonly version: string
  /** Names under which this server may be asked for. */
  readonly hosts: readonly string[]
}

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000

export function createHttpServer(options: HttpOptions): Server {
  const server = createServer((request, response) => {
    answer(options, request, response).catch((error: unknown) => {
      const { code } = toAppError(error)
      // What went wrong inside stays inside; the code is enough for a caller to act on.
      sendJson(response, ERRORS[code].status, { error: { code, message: ERRORS[code].help } })
    })
  })
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.requestTimeout = REQUEST_TIMEOUT_MS
  return server
}

async function answer(
  { engine, version, hosts }: HttpOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A page elsewhere can make a browser resolve its own name to this machine; the Host header gives that away.
  if (!hosts.includes(hostName(request.headers.host ?? ''))) {
    return sendError(response, 403, 'forbidden', 'This server does not answer under that name.')
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return sendError(response, 405, 'method_not_allowed', 'Only GET is answered here.')
  }
  switch ((request.url ?? '').split('?')[0]) {
    case '/health/live':
      return sendJson(response, 200, { status: 'ok' })
    case '/health/ready': {
      const { kind, schemaVersion, rows } = await engine.status()
      return sendJson(response, 200, {
        status: 'ok',
        version,
        store: { kind, schemaVersion, rows },
      })
    }
    case '/': {
      const [status, places] = await Promise.all([engine.status(), engine.places()])
      return send(
        response,
        200,
        'text/html; charset=utf-8',
        renderPage({ version, status, places: places.filter((place) => place.memories > 0) }),
      )
    }
    default:
      return sendError(response, 404, 'not_found', 'There is nothing at this address.')
  }
}

/** The name without its port; IPv6 addresses keep their brackets. */
export function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '')
}

function sendError(response: ServerResponse, status: number, code: string, message: string): void {
  sendJson(response, status, { error: { code, message } })
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, 'application/json; charset=utf-8', `${JSON.stringify(value)}\n`)
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  if (response.headersSent) return
  response.writeHead(status, {
    ...HEADERS,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
  })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}
