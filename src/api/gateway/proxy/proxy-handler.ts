/**
 * `POST` of a chat request: prepare the context, inject it, send the request upstream, stream the response, record the
 * exchange. The request that goes out is the client's own text with at most one block more, and the response is passed
 * through unchanged.
 */

import { collectShownMessages } from '../../../conversations/context/context-preparation.ts'
import type { PreparedRequest } from '../../../conversations/conversations.ts'
import { NO_TOOL_MEMORY_IDS, type ToolMemoryIds } from '../../../conversations/receipts/receipt.ts'
import { toAppError } from '../../../lib/errors.ts'
import { lazy } from '../../../lib/single-flight.ts'
import { hasToolSupport } from '../../../models/model-capabilities.ts'
import type { HeaderPairs, UpstreamResponse } from '../../../models/upstream.ts'
import type { WireFormat } from '../formats/format.ts'
import { hasEventStream } from '../formats/gemini-generate-content.ts'
import { keepsState } from '../formats/provider-references.ts'
import type { GatewayRequest, ProviderOutcome } from '../gateway-request.ts'
import { createMemoryToolbox } from '../tools/memory-toolbox.ts'
import { restoreHiddenToolCalls, runToolLoop, selectTools } from '../tools/tool-handler.ts'
import {
  type ChatTurn,
  type EditedRequest,
  type GatewayCaches,
  injectContext,
  prepareContext,
  readChatTurn,
} from './chat-turn.ts'
import {
  copyResponseHeaders,
  MEMORY_HEADER,
  renderMemoryHeader,
  selectForwardedHeaders,
} from './memory-headers.ts'
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
import { queryFor, selectEndpoint, sendToProvider, usesSharedAccount } from './upstream-call.ts'

export async function handleProxyRequest(
  exchange: GatewayRequest,
  format: WireFormat,
  caches: GatewayCaches,
): Promise<void> {
  const turn = await readChatTurn(exchange, format, caches)
  const prepared = await prepareContext(exchange, turn)
  await respond(exchange, turn, prepared, injectContext(exchange, turn, prepared))
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
  const path = format.toUpstreamPath?.(route.model) ?? format.path.slice('/v1'.length)
  const send = (requestHeaders: HeaderPairs, bytes: Uint8Array, roundSignal = signal) =>
    sendToProvider(options.upstream, {
      provider: selectEndpoint(exchange, route.provider, format.name),
      method: 'POST',
      path: `${path}${queryFor(exchange, route.provider)}`,
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
    // A stream that is one list of JSON cannot be merged with another.
    supportsTools:
      hasToolSupport(route.provider, route.model) &&
      (format.name !== 'gemini' || !modelRequest.isStreaming || hasEventStream(request.url)),
    format: format.name,
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
    isStreaming: modelRequest.isStreaming,
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
