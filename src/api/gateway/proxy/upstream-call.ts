import { AppError, toAppError } from '../../../lib/errors.ts'
import type { Provider } from '../../../models/provider.ts'
import type { UpstreamResponse } from '../../../models/upstream.ts'
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

/** An unreachable provider is a 502 or 504, not this server being unavailable. */
export async function mapUpstreamErrors(
  response: Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  try {
    return await response
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
