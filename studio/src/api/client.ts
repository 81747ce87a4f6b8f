/**
 * The REST client, typed by the OpenAPI document. Every failure throws an `ApiError` with the message of the server.
 */
import createClient from 'openapi-fetch'
import type { components, paths } from './types.ts'

export type Schemas = components['schemas']
export type Memory = Schemas['Memory']
export type Receipt = Schemas['Receipt']
export type ReceiptDetail = Schemas['ReceiptDetail']
export type Job = Schemas['Job']
export type Signal = Schemas['Signal']

export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly details: readonly { readonly field: string; readonly message: string }[]
  readonly isRetryable: boolean

  constructor(
    status: number,
    error: Partial<Omit<Schemas['Error']['error'], 'code'>> & { readonly code?: string },
  ) {
    super(error.message ?? `The server answered ${status}.`)
    this.name = 'ApiError'
    this.status = status
    this.code = error.code ?? 'failed'
    this.details = error.details ?? []
    this.isRetryable = error.retryable ?? status >= 500
  }
}

/** Called when the server rejects the session. */
let onSignedOut: () => void = () => undefined
export function setSignedOutListener(listener: () => void): void {
  onSignedOut = listener
}

export const api = createClient<paths>({ baseUrl: '', credentials: 'same-origin' })

api.use({
  onResponse: async ({ response, request }) => {
    if (response.ok || response.status === 304) return
    const body = await response
      .clone()
      .json()
      .catch(() => ({}))
    if (response.status === 401 && !request.url.endsWith('/api/session')) onSignedOut()
    throw new ApiError(response.status, body.error ?? {})
  },
  onError: () => new ApiError(0, { code: 'unreachable', retryable: true }),
})

/** Resolves with the body of a response; failures are thrown by the middleware. */
export async function data<Data>(call: Promise<{ data?: Data }>): Promise<Data> {
  const answer = await call
  return answer.data as Data // openapi-fetch omits it only together with an error, which is thrown
}
