/** A request to the gateway with the options of the gateway, and reading its body. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FailureListener } from '../../conversations/failures.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { ProviderRegistry } from '../../models/provider.ts'
import type { Upstream } from '../../models/upstream.ts'
import type { CountTokens } from '../../text/tokens.ts'
import { readBodyBytes } from '../http/messages/request-body.ts'
import type { Caller } from '../operations/authorization.ts'
import type { EmbeddingProvider } from '../operations/operation.ts'
import type { RefersToState } from './body/abridged-body.ts'
import { parseBody } from './body/gateway-body.ts'
import type { RequestBody } from './body/request-json.ts'

export type { RequestBody } from './body/request-json.ts'

/** A status, or why there is none. `interrupted`: the response broke off. `client_closed`: the client, or the server that stops, closed it. */
export type ProviderOutcome = number | 'unreachable' | 'timeout' | 'interrupted' | 'client_closed'

/** Called when a request to a model has ended. */
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
  /** Whether the server requires no key, so that credentials of clients are meant for the provider. */
  readonly isAuthDisabled?: boolean
  /** Default: 32 MB. */
  readonly bodyBytesMax?: number
  readonly onAnswer?: ProviderAnswerListener
  /** Called when memory fails and the request continues without it. */
  readonly onFailure?: FailureListener
  /** The tokenizer of a model; undefined when it has none, and tokens are estimated. */
  readonly tokenizerFor?: (model: string) => CountTokens | undefined
  /** Loads the decoder for token input of OpenAI's embedding models; undefined when none is installed. */
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

const GATEWAY_BODY_BYTES_MAX = 32 * 1_048_576

/** Long enough for large images over slow connections. */
const BODY_TIMEOUT_MS = 300_000

/** `refersToState`: reads a large body in slices, and only what the gateway needs of it. */
export async function readRequestBody(
  { options, request }: GatewayRequest,
  refersToState: RefersToState | null = null,
): Promise<RequestBody> {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new AppError('unsupported_media_type', 'The body must not be compressed.')
  }
  const bytesMax = options.bodyBytesMax ?? GATEWAY_BODY_BYTES_MAX
  return parseBody(await readBodyBytes(request, bytesMax, BODY_TIMEOUT_MS), refersToState)
}
