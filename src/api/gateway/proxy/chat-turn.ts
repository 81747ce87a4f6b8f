/** A chat request as it is read, with its context prepared and inserted. */

import type {
  ConversationRequest,
  PreparedRequest,
  SkipReason,
} from '../../../conversations/conversations.ts'
import type { BlockPlacement, ModelRequest } from '../../../domain/model-call.ts'
import { sha256 } from '../../../lib/hash.ts'
import { getContextWindow, getSystemRole } from '../../../models/model-capabilities.ts'
import { routeModel } from '../../../models/model-routing.ts'
import type { ModelRoute } from '../../../models/provider.ts'
import { selectPlacement } from '../formats/block-placement.ts'
import type { WireFormat } from '../formats/format.ts'
import { replaceModel } from '../formats/json-edit.ts'
import { refersToStateOf } from '../formats/provider-references.ts'
import { type GatewayRequest, type RequestBody, readRequestBody } from '../gateway-request.ts'
import type { HiddenToolCalls } from '../tools/hidden-tool-calls.ts'
import type { ToolSupportCache } from '../tools/tool-handler.ts'
import { isValidUserName, type MemoryHeaders, parseMemoryHeaders } from './memory-headers.ts'
import { assertOwnReferences } from './passthrough.ts'
import type { ProviderState } from './provider-state.ts'

/** State that the gateway keeps between requests. */
export type GatewayCaches = {
  readonly hiddenToolCalls: HiddenToolCalls
  readonly toolSupport: ToolSupportCache
  readonly providerState: ProviderState
}

/** One chat request on its way through the gateway. */
export type ChatTurn = {
  readonly format: WireFormat
  readonly caches: GatewayCaches
  readonly headers: MemoryHeaders
  /** Whose memory it is about; the name that the client gives its end user counts where no header names one. */
  readonly user: string | null
  readonly body: RequestBody
  readonly modelRequest: ModelRequest
  readonly route: ModelRoute
  readonly startedAt: number
}

export async function readChatTurn(
  exchange: GatewayRequest,
  format: WireFormat,
  caches: GatewayCaches,
): Promise<ChatTurn> {
  const { options, request, caller } = exchange
  const startedAt = performance.now()
  const wishes = parseMemoryHeaders(request, caller)
  const body = await readRequestBody(exchange, refersToStateOf(format.name))
  const headers = body.isTooLarge ? { ...wishes, memory: false } : wishes
  const modelRequest = format.parseRequest(body.json)
  const route = routeModel(options.registry, format.name, modelRequest.model)
  const { providerState } = caches
  const { provider } = route
  await assertOwnReferences(exchange, {
    ...{ providerState, provider, format: format.name, body },
    owner: headers.owner,
  })
  const user = selectUser(headers, modelRequest)
  return { format, caches, headers, user, body, modelRequest, route, startedAt }
}

/** End users may have any name; one that is no valid user name is hashed, and so still stands for the same user. */
function selectUser({ user }: MemoryHeaders, { endUser }: ModelRequest): string | null {
  if (user !== null || endUser === null || endUser.trim() === '') return user
  return isValidUserName(endUser) ? endUser : `user_${sha256(endUser)}`
}

export function prepareContext(
  { options, requestId, signal }: GatewayRequest,
  { format, headers, user, modelRequest, route }: ChatTurn,
): Promise<PreparedRequest> | PreparedRequest {
  const { owner, session, memory, inject, extract } = headers
  const about: Pick<ConversationRequest, 'scope' | 'format' | 'options'> = {
    scope: { owner, ...(user === null ? {} : { user }), ...(session === null ? {} : { session }) },
    format: format.name,
    options: { memory, inject, extract },
  }
  const { conversations } = options.engine
  return (
    conversations.prepareWithoutMemory(about) ??
    conversations.prepare({
      ...about,
      requestId,
      model: modelRequest.model,
      provider: route.provider.name,
      request: modelRequest,
      // Both are lookups in long tables, needed only when there is a block to fit into the window.
      get contextWindow() {
        return getContextWindow(route.provider, route.model)
      },
      get countTokens() {
        return options.tokenizerFor?.(route.model)
      },
      signal,
    })
  )
}

/** The request as it is sent: with the block, and with the model under its name at the provider. */
export type EditedRequest = {
  readonly text: string
  readonly bytes: Uint8Array
  readonly placement: BlockPlacement | null
  readonly skipped: SkipReason | null
}

export function injectContext(
  exchange: GatewayRequest,
  turn: ChatTurn,
  prepared: PreparedRequest,
): EditedRequest {
  const { body, route, format, modelRequest } = turn
  const { block, skipped } = prepared
  const injected = block === null ? null : tryInjectBlock(exchange, turn, prepared, block)
  const text = injected?.text ?? body.text
  const isNamed = format.toUpstreamPath !== undefined || route.model === modelRequest.model
  const routed = isNamed ? text : replaceModel(text, route.model)
  return {
    text: routed,
    bytes: routed === body.text ? body.bytes : body.toBytes(routed),
    placement: injected?.placement ?? null,
    skipped: body.isTooLarge
      ? 'too-large'
      : block !== null && injected === null
        ? 'no-insertion-point'
        : skipped,
  }
}

/** Null when the request has no position for a block. A block that cannot be injected never fails the request. */
function tryInjectBlock(
  { options, requestId }: GatewayRequest,
  { format, body, route, headers }: ChatTurn,
  { settings }: PreparedRequest,
  block: string,
): { readonly text: string; readonly placement: BlockPlacement } | null {
  try {
    const systemRole = getSystemRole(route.provider, route.model)
    const placement = selectPlacement(settings['gateway.contextPosition'], systemRole)
    const text = format.injectBlock(body.text, body.json, block, placement)
    return text === null ? null : { text, placement }
  } catch (error) {
    options.onFailure?.({ stage: 'inject', owner: headers.owner, requestId, error })
    return null
  }
}
