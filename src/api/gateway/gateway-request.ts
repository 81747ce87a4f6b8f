/** One request on its way through the gateway, and what every part of it is given. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ProviderRegistry } from '../../models/provider.ts'
import type { Upstream } from '../../models/upstream.ts'
import type { CountTokens } from '../../text/tokens.ts'
import { readBodyBytes } from '../http/messages/request-body.ts'
import type { Caller } from '../operations/authorization.ts'
import type { EmbeddingProvider } from '../operations/operation.ts'

/** A status, or why there is none. `interrupted`: the response broke off. `client_closed`: the client, or the server that stops, closed it. */
export type ProviderOutcome = number | 'unreachable' | 'timeout' | 'interrupted' | 'client_closed'

/** Hears how a request to a model ended. */
export type ProviderAnswerListener = (report: {
  readonly provider: string
  readonly outcome: ProviderOutcome
}) => void

export type DecodeTokens = (tokens: readonly number[]) => string

export type GatewayOptions = {
  readonly engine: Engine
  readonly version: string
  readonly clock: Clock
  readonly registry: ProviderRegistry
  readonly upstream: Upstream
  readonly embeddingProviders?: readonly EmbeddingProvider[]
  /** Whether the server lets everybody in, so that what clients bring along is for the provider. */
  readonly isAuthDisabled?: boolean
  /** Default: 32 MB. */
  readonly bodyBytesMax?: number
  readonly onAnswer?: ProviderAnswerListener
  /** The tokenizer of a model, where there is one. */
  readonly tokenizerFor?: (model: string) => CountTokens | undefined
  /** What turns tokens of OpenAI's embedding models into text again, where there is something that can. */
  readonly loadTokenDecoder?: () => Promise<DecodeTokens | undefined>
}

export type GatewayRequest = {
  readonly options: GatewayOptions
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly caller: Caller
  readonly requestId: string
  readonly signal: AbortSignal
}

export const GATEWAY_BODY_BYTES_MAX = 32 * 1_048_576

/** Long enough for large images over slow lines. */
const BODY_TIMEOUT_MS = 300_000

/** A body as it came, as text, and as what it says. */
export type RequestBody = {
  readonly bytes: Uint8Array
  readonly text: string
  readonly json: JsonObject
}

export async function readRequestBody({ options, request }: GatewayRequest): Promise<RequestBody> {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new AppError('unsupported_media_type', 'The body must not be compressed.')
  }
  const bytes = await readBodyBytes(
    request,
    options.bodyBytesMax ?? GATEWAY_BODY_BYTES_MAX,
    BODY_TIMEOUT_MS,
  )
  const text = decoded(bytes)
  return { bytes, text, json: parsed(text) }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

function decoded(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new AppError('invalid_input', 'The body is not valid UTF-8.')
  }
}

function parsed(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new AppError('invalid_input', 'We could not parse the JSON body of your request.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('invalid_input', 'The body must be a JSON object.')
  }
  return value as JsonObject // what JSON.parse makes of an object
}
