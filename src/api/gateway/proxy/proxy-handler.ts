/**
 * `POST` of a chat request: prepare the context, inject it, send the request upstream, stream the response, record the
 * exchange. The request that goes out is the client's own text with at most one block more, and the response is passed
 * through unchanged.
 */

import { collectShownMessages } from '../../../conversations/context/context-preparation.ts'
import type {
  ConversationRequest,
  PreparedRequest,
  SkipReason,
} from '../../../conversations/conversations.ts'
import { NO_TOOL_MEMORY_IDS, type ToolMemoryIds } from '../../../conversations/receipts/receipt.ts'
import type { BlockPlacement, ModelRequest } from '../../../domain/model-call.ts'
import { toAppError } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/hash.ts'
import { lazy } from '../../../lib/single-flight.ts'
import {
  getContextWindow,
  getSystemRole,
  hasToolSupport,
} from '../../../models/model-capabilities.ts'
import { routeModel } from '../../../models/model-routing.ts'
import type { ModelRoute } from '../../../models/provider.ts'
import type { HeaderPairs, UpstreamResponse } from '../../../models/upstream.ts'
import { selectPlacement } from '../formats/block-placement.ts'
import type { WireFormat } from '../formats/format.ts'
import { replaceModel } from '../formats/json-edit.ts'
import { keepsState, refersToStateOf } from '../formats/provider-references.ts'
import {
  type GatewayRequest,
  type ProviderOutcome,
  type RequestBody,
  readRequestBody,
} from '../gateway-request.ts'
import type { HiddenToolCalls } from '../tools/hidden-tool-calls.ts'
import { createMemoryToolbox } from '../tools/memory-toolbox.ts'
import {
  restoreHiddenToolCalls,
  runToolLoop,
  selectTools,
  type ToolSupportCache,
} from '../tools/tool-handler.ts'
import {
  copyResponseHeaders,
  isValidUserName,
  MEMORY_HEADER,
  type MemoryHeaders,
  parseMemoryHeaders,
  renderMemoryHeader,
  selectForwardedHeaders,
} from './memory-headers.ts'
import { assertOwnReferences } from './passthrough.ts'
import type { ProviderState } from './provider-state.ts'
import {
  combineListeners,
  createReaderListener,
  isEventStream,
  limitAcceptEncoding,
  NO_LISTENER,
  pipeResponse,
  type ResponseListener,
} from './response-stream.ts'
import { createResponseTail, NO_TAIL } from './response-tail.ts'
import { queryStringOf, sendToProvider, usesSharedAccount } from './upstream-call.ts'

/** State that the gateway keeps between requests. */
type GatewayCaches = {
  readonly hiddenToolCalls: HiddenToolCalls
  readonly toolSupport: ToolSupportCache
  readonly providerState: ProviderState
}

/** One chat request on its way through the gateway. */
type ChatTurn = {
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

export async function handleProxyRequest(
  exchange: GatewayRequest,
  format: WireFormat,
  caches: GatewayCaches,
): Promise<void> {
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
  const turn = { format, caches, headers, user, body, modelRequest, route, startedAt }
  const prepared = await prepareContext(exchange, turn)
  await respond(exchange, turn, prepared, injectContext(exchange, turn, prepared))
}

/** End users may have any name; one that is no valid user name is hashed, and so still stands for the same user. */
function selectUser({ user }: MemoryHeaders, { endUser }: ModelRequest): string | null {
  if (user !== null || endUser === null || endUser.trim() === '') return user
  return isValidUserName(endUser) ? endUser : `user_${sha256(endUser)}`
}

function prepareContext(
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
type EditedRequest = {
  readonly text: string
  readonly bytes: Uint8Array
  readonly placement: BlockPlacement | null
  readonly skipped: SkipReason | null
}

function injectContext(
  exchange: GatewayRequest,
  turn: ChatTurn,
  prepared: PreparedRequest,
): EditedRequest {
  const { body, route } = turn
  const { block, skipped } = prepared
  const injected = block === null ? null : tryInjectBlock(exchange, turn, prepared, block)
  const text = injected?.text ?? body.text
  const routed = route.model === body.json.model ? text : replaceModel(text, route.model)
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

async function respond(
  exchange: GatewayRequest,
  turn: ChatTurn,
  prepared: PreparedRequest,
  edited: EditedRequest,
): Promise<void> {
  const { options, response } = exchange
  const { conversations } = options.engine
  const memoryHeader = renderMemoryHeader(prepared, edited.skipped)
  response.setHeader(MEMORY_HEADER, memoryHeader)
  // Without a receipt nothing is recorded, so the response need not be parsed.
  const reader = prepared.receipt === null ? null : turn.format.createAnswerReader()
  const progress = { status: null as number | null, firstByteMs: null as number | null }
  let sent: UpstreamAnswer | null = null
  let readerListener = NO_LISTENER
  let failure: unknown
  const record = lazy(async () => {
    await readerListener.end().catch(() => {}) // an answer that cannot be decoded is recorded as it was read so far
    conversations.recordOutcome(prepared, {
      placement: edited.placement,
      skipped: edited.skipped,
      ...progress,
      answer: readerListener === NO_LISTENER ? null : (reader?.getAnswer() ?? null),
      totalMs: performance.now() - turn.startedAt,
      toolCalls: sent?.toolCalls ?? [],
      toolMemories: sent?.toolMemories ?? NO_TOOL_MEMORY_IDS,
      isEcho: turn.route.provider.kind === 'demo',
    })
  })
  try {
    sent = await sendUpstream(exchange, turn, prepared, edited)
    const { upstream } = sent
    progress.status = upstream.status
    if (sent.rejectsTools) response.setHeader(MEMORY_HEADER, `${memoryHeader}; tools=refused`)
    if (reader !== null) {
      readerListener = createReaderListener(reader, upstream.headers) ?? NO_LISTENER
    }
    copyResponseHeaders(response, upstream.headers)
    response.writeHead(upstream.status)
    const onFirstByte = () => {
      progress.firstByteMs = performance.now() - turn.startedAt
    }
    const tail =
      reader === null
        ? NO_TAIL
        : createResponseTail({
            isStream: isEventStream(upstream.headers),
            reader,
            canEnd: () => conversations.canRelease(prepared),
            record: () => record().then(() => conversations.waitUntilRecorded(prepared)),
          })
    const listener = combineListeners(readerListener, trackIssuedIds(exchange, turn, upstream))
    await pipeResponse(upstream.body, response, listener, onFirstByte, tail)
  } catch (thrown) {
    failure = thrown
    throw thrown
  } finally {
    await record()
    const outcome =
      failure === undefined ? progress.status : classifyOutcome(failure, progress.status)
    if (outcome !== null) options.onAnswer?.({ provider: turn.route.provider.name, outcome })
  }
}

/** Null when the provider has no part in the failure: the request was never sent, or the gateway failed. */
function classifyOutcome(failure: unknown, status: number | null): ProviderOutcome | null {
  const { code } = toAppError(failure)
  if (code === 'cancelled') return 'client_closed'
  if (code === 'bad_gateway') return 'unreachable'
  if (code === 'gateway_timeout' || code === 'timeout') return 'timeout'
  return status === null ? null : 'interrupted'
}

/** Binds the ids that the provider hands out to the owner, where the account at the provider is shared. */
function trackIssuedIds(
  exchange: GatewayRequest,
  { format, caches, route, headers, body }: ChatTurn,
  upstream: UpstreamResponse,
): ResponseListener {
  const { provider } = route
  const isTracked =
    upstream.status < 300 &&
    keepsState(format.name, body.json) &&
    (format.name === 'responses' || usesSharedAccount(exchange, provider))
  if (!isTracked) return NO_LISTENER
  return caches.providerState.trackResponse(format.name, upstream.headers, {
    owner: headers.owner,
    provider,
  })
}

type UpstreamAnswer = {
  readonly upstream: UpstreamResponse
  /** Names of the memory tools that were called; complete when the body has ended, like `toolMemories`. */
  readonly toolCalls: readonly string[]
  readonly toolMemories: ToolMemoryIds
  /** Whether memory tools were wanted and the model does not support tools. */
  readonly rejectsTools: boolean
}

async function sendUpstream(
  exchange: GatewayRequest,
  turn: ChatTurn,
  prepared: PreparedRequest,
  edited: EditedRequest,
): Promise<UpstreamAnswer> {
  const { format, body, headers, user, caches, modelRequest, route } = turn
  const { options, request, signal } = exchange
  const { settings } = prepared
  const forwarded = selectForwardedHeaders(request, options.isAuthDisabled === true)
  const hiddenCalls = caches.hiddenToolCalls.forScope(headers.owner, user)
  const send = (requestHeaders: HeaderPairs, bytes: Uint8Array, roundSignal = signal) =>
    sendToProvider(options.upstream, {
      provider: route.provider,
      method: 'POST',
      path: `${format.path.slice('/v1'.length)}${queryStringOf(request.url)}`,
      headers: requestHeaders,
      body: bytes,
      signal: roundSignal,
    })
  const sendWithoutTools = async (rejectsTools: boolean): Promise<UpstreamAnswer> => {
    // Hidden calls are part of the conversation, even when no tools are offered any more.
    const text = restoreHiddenToolCalls(format.name, edited.text, hiddenCalls)
    const upstream = await send(
      prepared.receipt === null ? forwarded : limitAcceptEncoding(forwarded),
      text === edited.text ? edited.bytes : body.toBytes(text),
    )
    return { upstream, toolCalls: [], toolMemories: NO_TOOL_MEMORY_IDS, rejectsTools }
  }
  const toolNames = selectTools({
    settings,
    headers,
    supportsTools: hasToolSupport(route.provider, route.model),
    body: body.json,
  })
  if (toolNames.length === 0) return await sendWithoutTools(false)
  if (caches.toolSupport.isUnsupported(route)) return await sendWithoutTools(true)
  const { engine, version, embeddingProviders = [] } = options
  const context = { engine, version, embeddingProviders, caller: exchange.caller, signal }
  const toolbox = createMemoryToolbox(
    context,
    { owner: headers.owner, user },
    {
      toolNames,
      include: settings['gateway.contextSources'],
      visibleMessages: collectShownMessages(modelRequest),
    },
  )
  const answer = await runToolLoop({
    ...toolbox,
    format: format.name,
    text: edited.text,
    hiddenCalls,
    signal,
    send: (text, roundSignal) =>
      send(requestIdentityEncoding(forwarded), body.toBytes(text), roundSignal),
  })
  if (answer !== null) {
    const { toolCalls, ...upstream } = answer
    return { upstream, toolCalls, toolMemories: toolbox.memories, rejectsTools: false }
  }
  const sent = await sendWithoutTools(true)
  // If the request fails without tools as well, the tools may not have been the reason.
  if (sent.upstream.status < 400) caches.toolSupport.markUnsupported(route)
  return sent
}

/** The tool loop parses answers, so they must not be compressed. */
function requestIdentityEncoding(headers: HeaderPairs): HeaderPairs {
  const others = headers.filter(([name]) => name.toLowerCase() !== 'accept-encoding')
  return [...others, ['accept-encoding', 'identity']]
}
