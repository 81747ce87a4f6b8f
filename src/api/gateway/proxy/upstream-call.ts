import { AppError, toAppError } from '../../../domain/errors.ts'
import type { Provider } from '../../../models/provider.ts'
import type { UpstreamResponse } from '../../../models/upstream.ts'
import type { Exchange } from '../gateway-request.ts'
import { bringCredentials, forwarded } from './memory-headers.ts'

/** Whether one account at the provider serves all owners: the client brings none of its own. */
export function isShared({ options, request }: Exchange, { key }: Provider): boolean {
  return key !== null || !bringCredentials(forwarded(request, options.isOpen === true))
}

/** A provider that can't be reached is not us being unavailable. */
export async function reached(sending: Promise<UpstreamResponse>): Promise<UpstreamResponse> {
  try {
    return await sending
  } catch (thrown) {
    const error = toAppError(thrown)
    const { code, message, facts } = error
    if (code === 'unavailable') throw new AppError('bad_gateway', message, facts, thrown)
    if (code === 'timeout') throw new AppError('gateway_timeout', message, facts, thrown)
    throw error
  }
}

export function queryOf(url = ''): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start)
}
