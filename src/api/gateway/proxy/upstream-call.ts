import { Readable } from 'node:stream'
import { AppError, toAppError } from '../../../lib/errors.ts'
import type { Provider } from '../../../models/provider.ts'
import type { Upstream, UpstreamRequest, UpstreamResponse } from '../../../models/upstream.ts'
import type { GatewayRequest } from '../gateway-request.ts'
import { hasCredentials, selectForwardedHeaders } from './memory-headers.ts'

/** Whether the request uses the server's account at the provider, which all owners share, and not one of the client. */
export function usesSharedAccount(
  { options, request }: GatewayRequest,
  { key }: Provider,
): boolean {
  return (
    key !== null ||
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
  const response = await sendWithGatewayErrors(upstream, request)
  const { status, body } = response
  if (status < 300 || status >= 400) return response
  if (body instanceof Readable) body.destroy()
  const { name } = request.provider
  throw new AppError(
    'bad_gateway',
    `The provider ${name} answered with a redirect (status ${status}), which is not followed. Check its base URL.`,
    { provider: name, status },
  )
}

async function sendWithGatewayErrors(
  upstream: Upstream,
  request: UpstreamRequest,
): Promise<UpstreamResponse> {
  try {
    return await upstream.send(request)
  } catch (thrown) {
    const error = toAppError(thrown)
    const { code, message, facts } = error
    if (code === 'unavailable') throw new AppError('bad_gateway', message, facts, thrown)
    if (code === 'timeout') throw new AppError('gateway_timeout', message, facts, thrown)
    throw error
  }
}

export function queryStringOf(url = ''): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start)
}
