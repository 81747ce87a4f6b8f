/**
 * Realtime sessions over a WebSocket: the connection to the provider is opened with its key, and then bytes pass in both
 * directions as they come. Memory has no part in them.
 */
import type { Duplex } from 'node:stream'
import { AppError } from '../../../lib/errors.ts'
import { routeModel } from '../../../models/model-routing.ts'
import type { Provider } from '../../../models/provider.ts'
import type { HeaderPairs } from '../../../models/upstream.ts'
import { KEY_PROTOCOL, protocolsOf } from '../../http/web-socket-request.ts'
import type { GatewayRequest } from '../gateway-request.ts'
import {
  copyResponseHeaders,
  parseMemoryHeaders,
  selectForwardedHeaders,
} from './memory-headers.ts'
import { findDefaultProvider } from './passthrough.ts'
import { NO_LISTENER, pipeResponse } from './response-stream.ts'
import { queryStringOf, upgradeAtProvider, usesSharedAccount } from './upstream-call.ts'

export const REALTIME_PATH = '/v1/realtime'

/** How long a side may take to close after the other one has. */
const CLOSE_MS = 10_000

export async function handleRealtime(exchange: GatewayRequest): Promise<void> {
  const { options, request, response, caller, signal } = exchange
  parseMemoryHeaders(request, caller)
  const query = new URLSearchParams(queryStringOf(request.url))
  const provider = selectProvider(exchange, query)
  if (query.has('call_id') && usesSharedAccount(exchange, provider)) {
    throw new AppError(
      'not_found',
      "`call_id` is not found: under the server's key, calls cannot be told apart by owner.",
      { field: 'call_id' },
    )
  }
  query.delete('key')
  const answer = await upgradeAtProvider(options.upstream, {
    ...{ provider, method: 'GET', body: null, signal },
    path: `${REALTIME_PATH.slice('/v1'.length)}?${query}`,
    headers: [
      ...selectForwardedHeaders(request, options.isAuthDisabled === true),
      ...selectHandshake(exchange, provider),
    ],
  })
  if (answer.kind === 'refused') {
    copyResponseHeaders(response, answer.response.headers)
    response.writeHead(answer.response.status, { connection: 'close' })
    return pipeResponse(answer.response.body, response, NO_LISTENER, () => {})
  }
  response.writeHead(101, {
    ...{ connection: 'Upgrade', upgrade: 'websocket' },
    ...Object.fromEntries(answer.headers),
  })
  response.flushHeaders()
  await connect(request.socket, answer.socket, signal)
}

/** Of the model in the query, which is then named as the provider knows it; else the default. */
function selectProvider({ options }: GatewayRequest, query: URLSearchParams): Provider {
  const asked = query.get('model')
  if (asked === null) return findDefaultProvider(options.registry, 'chat')
  const { provider, model } = routeModel(options.registry, 'chat', asked)
  query.set('model', model)
  return provider
}

/** What the two ends agree on; a key among the protocols is left out where the provider gets another one. */
function selectHandshake(exchange: GatewayRequest, provider: Provider): HeaderPairs {
  const { request } = exchange
  const { headers } = request
  const isOwnKey = (name: string) =>
    name.startsWith(KEY_PROTOCOL) &&
    (provider.key !== null || name.startsWith(`${KEY_PROTOCOL}rc_`))
  const protocols = protocolsOf(request).filter((name) => !isOwnKey(name))
  const kept = ['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-extensions'].flatMap(
    (name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value] as const] : []
    },
  )
  if (protocols.length === 0) return kept
  return [...kept, ['sec-websocket-protocol', protocols.join(', ')]]
}

/** Until both ends are closed. Each pipe waits for its reader. */
function connect(client: Duplex, provider: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      client.destroy()
      provider.destroy()
    }
    let open = 2
    for (const [from, to] of [
      [client, provider],
      [provider, client],
    ] as const) {
      from.on('error', stop)
      from.once('end', () => setTimeout(stop, CLOSE_MS).unref())
      from.once('close', () => {
        // What broke off must not look as if it had been closed in order.
        if (!from.readableEnded) to.destroy()
        open--
        if (open > 0) return
        signal.removeEventListener('abort', stop)
        resolve()
      })
      from.pipe(to)
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}
