/** Requests that memory has no part in, forwarded to the provider unchanged. */

import type { ApiFormat } from '../../../domain/model-call.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Provider, ProviderRegistry } from '../../../models/provider.ts'
import type { UpstreamRequest } from '../../../models/upstream.ts'
import { assertAccess, hasAccess } from '../../operations/authorization.ts'
import type { GatewayRequest, RequestBody } from '../gateway-request.ts'
import {
  copyResponseHeaders,
  parseMemoryHeaders,
  selectForwardedHeaders,
} from './memory-headers.ts'
import type { ProviderState } from './provider-state.ts'
import { NO_LISTENER, pipeResponse } from './response-stream.ts'
import { queryFor, selectEndpoint, sendToProvider, usesSharedAccount } from './upstream-call.ts'

/** A request about a response that the provider stores. */
type StoredResponseRequest = {
  readonly id: string
  readonly path: string
  readonly methods: readonly ['GET', 'DELETE'] | readonly ['GET'] | readonly ['POST']
}

const STORED_RESPONSE_PATH = /^\/v1\/responses\/([\w-]{1,200})(\/cancel|\/input_items)?$/

export function matchStoredResponseRequest(path: string): StoredResponseRequest | null {
  const [, id, action] = STORED_RESPONSE_PATH.exec(path) ?? []
  if (id === undefined) return null
  if (action === undefined) return { id, path, methods: ['GET', 'DELETE'] }
  return { id, path, methods: action === '/cancel' ? ['POST'] : ['GET'] }
}

/** The request names no model, so it goes to the provider that created the response, or else to the default provider. */
export async function forwardStoredResponseRequest(
  exchange: GatewayRequest,
  { id, path }: StoredResponseRequest,
  providerState: ProviderState,
): Promise<void> {
  const { options, request, caller } = exchange
  const { owner } = parseMemoryHeaders(request, caller)
  if (request.method !== 'GET') assertAccess(caller, 'write')
  const provider =
    providerState.providerOf(id) ?? findDefaultProvider(options.registry, 'responses')
  if (usesSharedAccount(exchange, provider))
    await providerState.assertOwned(owner, id, `Response with id '${id}' not found.`)
  await forwardRequest(exchange, provider, path.slice('/v1'.length), null)
}

type ReferenceCheck = {
  readonly providerState: ProviderState
  readonly provider: Provider
  readonly owner: string
  readonly format: ApiFormat
  readonly body: RequestBody
}

/** Under the shared account, a request refers to its owner's state only; under the client's own, the provider decides. */
export async function assertOwnReferences(
  exchange: GatewayRequest,
  { providerState, provider, owner, format, body }: ReferenceCheck,
): Promise<void> {
  if (!usesSharedAccount(exchange, provider)) return
  const acceptsUnknown = hasAccess(exchange.caller, 'manage')
  if (body.isUnread && !acceptsUnknown) {
    throw new AppError(
      'too_large',
      'A message has too many parts, or the request refers to too much, to be checked. Send less.',
    )
  }
  await providerState.assertReferences(owner, format, body.json, acceptsUnknown)
}

/** `path` is below the base URL of the provider. */
export async function forwardRequest(
  exchange: GatewayRequest,
  provider: Provider,
  path: string,
  body: UpstreamRequest['body'],
  format: ApiFormat = 'chat',
): Promise<void> {
  const { options, request, response, signal } = exchange
  const upstream = await sendToProvider(options.upstream, {
    provider: selectEndpoint(exchange, provider, format),
    method: request.method ?? 'GET',
    path: `${path}${queryFor(exchange, provider)}`,
    headers: selectForwardedHeaders(request, options.isAuthDisabled === true),
    body,
    signal,
  })
  copyResponseHeaders(response, upstream.headers)
  response.writeHead(upstream.status)
  await pipeResponse(upstream.body, response, NO_LISTENER, () => {})
}

export function findDefaultProvider(
  { providers, defaults }: ProviderRegistry,
  format: ApiFormat,
): Provider {
  const provider = providers.find(({ name }) => name === defaults[format])
  if (provider !== undefined) return provider
  throw new AppError(
    'not_found',
    `No default provider is configured for the format "${format}". Set one in the providers file.`,
  )
}
