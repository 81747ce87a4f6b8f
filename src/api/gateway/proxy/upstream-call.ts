import { Readable } from 'node:stream'
import type { ApiFormat } from '../../../domain/model-call.ts'
import { AppError, toAppError } from '../../../lib/errors.ts'
import { toNativeGemini } from '../../../models/native-gemini.ts'
import type { Provider } from '../../../models/provider.ts'
import {
  createNoSocketError,
  type Upstream,
  type UpstreamRequest,
  type UpstreamResponse,
  type UpstreamUpgrade,
} from '../../../models/upstream.ts'
import type { GatewayRequest } from '../gateway-request.ts'
import { hasCredentials, selectForwardedHeaders } from './memory-headers.ts'

/** Whether the request uses the server's account at the provider, which all owners share, and not one of the client. */
export function usesSharedAccount(
  { options, request }: GatewayRequest,
  { key, aws }: Provider,
): boolean {
  return (
    key !== null ||
    aws !== undefined ||
    !hasCredentials(selectForwardedHeaders(request, options.isAuthDisabled === true))
  )
}

/**
 * Sends a request upstream. An unreachable provider is a 502 or 504, not this server being unavailable, and so is one
 * that answers with a redirect: its `Location` would lead the client, with its key, to another place.
 */
export async function sendToProvider(
  upstream: Upstream,
  request: UpstreamRequest,
): Promise<UpstreamResponse> {
  const response = await withGatewayErrors(() => upstream.send(request))
  assertNoRedirect(request, response)
  return response
}

/** Asks a provider for a WebSocket, with the same errors. */
export async function upgradeAtProvider(
  upstream: Upstream,
  request: UpstreamRequest,
): Promise<UpstreamUpgrade> {
  const { name } = request.provider
  if (upstream.upgrade === undefined) throw createNoSocketError(name)
  const { upgrade } = upstream
  const answer = await withGatewayErrors(() => upgrade(request))
  if (answer.kind === 'refused') assertNoRedirect(request, answer.response)
  return answer
}

function assertNoRedirect(request: UpstreamRequest, response: UpstreamResponse): void {
  const { status, body } = response
  if (status < 300 || status >= 400) return
  if (body instanceof Readable) body.destroy()
  const { name } = request.provider
  throw new AppError(
    'bad_gateway',
    `The provider ${name} answered with a redirect (status ${status}), which is not followed. Check its base URL.`,
    { provider: name, status },
  )
}

async function withGatewayErrors<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (thrown) {
    const error = toAppError(thrown)
    const { code, message, facts } = error
    if (code === 'unavailable') throw new AppError('bad_gateway', message, facts, thrown)
    if (code === 'timeout') throw new AppError('gateway_timeout', message, facts, thrown)
    throw error
  }
}

/** The provider as it is reached in a format: Gemini has its own API beside the one compatible with OpenAI's. */
export function selectEndpoint(
  { request }: GatewayRequest,
  provider: Provider,
  format: ApiFormat,
): Provider {
  if (format !== 'gemini') return provider
  return toNativeGemini(provider, request.url?.startsWith('/v1/') === true ? 'v1' : 'v1beta')
}

/** The query without a key that would go beside that of the provider, or that is one of this server. */
export function queryFor({ request }: GatewayRequest, { key }: Provider): string {
  const query = queryStringOf(request.url)
  if (!/[?&]key=/.test(query)) return query
  const parts = query.slice(1).split('&')
  const kept = parts.filter(
    (part) => !(part.startsWith('key=') && (key !== null || part.startsWith('key=rc_'))),
  )
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

export function queryStringOf(url = ''): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start)
}
