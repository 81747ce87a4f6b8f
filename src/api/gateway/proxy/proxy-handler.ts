/**
 * A request to a model, with memory around it. Memory comes before and after, never in between: what is sent is the
 * client's own text with at most one block more in it, and what comes back is passed on as it comes.
 */

import { collectShownMessages } from '../../../conversations/context/shown-messages.ts'
import type {
  ConversationRequest,
  PreparedRequest,
  SkipReason,
} from '../../../conversations/conversations.ts'
import { NO_TOOL_MEMORY_IDS, type ToolMemoryIds } from '../../../conversations/receipts/receipt.ts'
import type { BlockPlacement, ModelRequest } from '../../../domain/model-call.ts'
import type { Settings } from '../../../domain/settings/settings.ts'
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
import type { OperationContext } from '../../operations/operation.ts'
import type { WireFormat } from '../formats/format.ts'
import { replaceModel } from '../formats/json-edit.ts'
import { selectPlacement } from '../formats/placement-policy.ts'
import {
  type GatewayRequest,
  type ProviderOutcome,
  type RequestBody,
  readRequestBody,
} from '../gateway-request.ts'
import {
  createToolbox,
  type HiddenCalls,
  restoreHiddenToolCalls,
  runToolLoop,
  selectTools,
  type ToollessModels,
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
import type { ResponseOwnership } from './response-ownership.ts'
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
import { mapUpstreamErrors, queryStringOf, usesSharedAccount } from './upstream-call.ts'

/** What the gateway itself remembers from one request to the next. */
export type GatewayCaches = {
  readonly hiddenToolCalls: HiddenCalls
  readonly toolSupport: ToollessModels
  readonly responseOwnership: ResponseOwnership
}

export async function handleProxyRequest(
  exchange: GatewayRequest,
  format: WireFormat,
  memories: GatewayCaches,
): Promise<void> {
  const { options, request, caller } = exchange
  const began = performance.now()
  const wishes = parseMemoryHeaders(request, caller)
  const body = await readRequestBody(exchange)
  const asked = format.parseRequest(body.json)
  const route = routeModel(options.registry, format.name, asked.model)
  const { previousResponseId: previous } = asked
  if (previous !== null && usesSharedAccount(exchange, route.provider)) {
    await memories.responseOwnership.assertNotForeign(wishes.owner, previous)
  }
  const about = toMemoryRequest(format, asked, wishes)
  const prepared =
    options.engine.conversations.prepareWithoutMemory(about) ??
    (await prepareContext(exchange, about, asked, route))
  const edited = editRequest(format, body, route, prepared)
  await respond(exchange, { format, body, asked, route, prepared, edited, began, wishes, memories })
}

type MemoryRequest = Pick<ConversationRequest, 'scope' | 'format' | 'options'>

/** Whose memory it is about, and what is wanted of it. */
function toMemoryRequest(
  format: WireFormat,
  asked: ModelRequest,
  wishes: MemoryHeaders,
): MemoryRequest {
  const { owner, session, memory, inject, extract } = wishes
  const user = userOf(wishes, asked)
  return {
    scope: { owner, ...(user === null ? {} : { user }), ...(session === null ? {} : { session }) },
    format: format.name,
    options: { memory, inject, extract },
  }
}

function prepareContext(
  { options, requestId, signal }: GatewayRequest,
  about: MemoryRequest,
  asked: ModelRequest,
  route: ModelRoute,
): Promise<PreparedRequest> {
  return options.engine.conversations.prepare({
    ...about,
    requestId,
    model: asked.model,
    provider: route.provider.name,
    request: asked,
    // Both are looked up in long tables, and only where there is something to fit into a window.
    get contextWindow() {
      return getContextWindow(route.provider, route.model)
    },
    get countTokens() {
      return options.tokenizerFor?.(route.model)
    },
    signal,
  })
}

/** Clients may call their users what they like; what can't be a name of ours still stands for the same user. */
function userOf({ user }: Pick<MemoryHeaders, 'user'>, { endUser }: ModelRequest): string | null {
  if (user !== null || endUser === null || endUser.trim() === '') return user
  return isValidUserName(endUser) ? endUser : `user_${sha256(endUser)}`
}

type EditedRequest = {
  readonly text: string
  readonly bytes: Uint8Array
  readonly placement: BlockPlacement | null
  readonly skipped: SkipReason | null
}

/** The request as it goes out: with the block, and with the name by which the provider knows the model. */
function editRequest(
  format: WireFormat,
  body: RequestBody,
  route: ModelRoute,
  { block, settings, skipped }: PreparedRequest,
): EditedRequest {
  const injected =
    block === null
      ? null
      : tryInject(format, body, block, settings['gateway.contextPosition'], route)
  const isMissing = block !== null && injected === null
  const text = injected?.text ?? body.text
  const named = route.model === body.json.model ? text : replaceModel(text, route.model)
  return {
    text: named,
    bytes: named === body.text ? body.bytes : Buffer.from(named, 'utf8'),
    placement: injected?.placement ?? null,
    skipped: isMissing ? 'no-insertion-point' : skipped,
  }
}

/** Whatever goes wrong with a block, the request goes on without it. */
function tryInject(
  format: WireFormat,
  { text, json }: RequestBody,
  block: string,
  position: Settings['gateway.contextPosition'],
  { provider, model }: ModelRoute,
): { readonly text: string; readonly placement: BlockPlacement } | null {
  try {
    const placement = selectPlacement(position, getSystemRole(provider, model))
    const injected = format.injectBlock(text, json, block, placement)
    return injected === null ? null : { text: injected, placement }
  } catch {
    return null
  }
}

type ProxyTurn = {
  readonly format: WireFormat
  readonly body: RequestBody
  readonly asked: ModelRequest
  readonly route: ModelRoute
  readonly prepared: PreparedRequest
  readonly edited: EditedRequest
  readonly wishes: MemoryHeaders
  readonly memories: GatewayCaches
  readonly began: number
}

async function respond(exchange: GatewayRequest, turn: ProxyTurn): Promise<void> {
  const { options, response } = exchange
  const { prepared, edited, began, format } = turn
  const { conversations } = options.engine
  const told = renderMemoryHeader(prepared, edited.skipped)
  response.setHeader(MEMORY_HEADER, told)
  // Where nothing is kept, nobody needs to listen.
  const reader = prepared.receipt === null ? null : format.createAnswerReader()
  const progress = { status: null as number | null, firstByteMs: null as number | null }
  let sent: UpstreamAnswer | null = null
  let hearing = NO_LISTENER
  let failure: unknown
  const record = lazy(async () => {
    await hearing.end().catch(() => {})
    conversations.recordOutcome(prepared, {
      placement: edited.placement,
      skipped: edited.skipped,
      ...progress,
      answer: hearing === NO_LISTENER ? null : (reader?.getAnswer() ?? null),
      totalMs: performance.now() - began,
      toolCalls: sent?.toolCalls ?? [],
      toolMemories: sent?.toolMemories ?? NO_TOOL_MEMORY_IDS,
    })
  })
  try {
    sent = await sendUpstream(exchange, turn)
    const { upstream } = sent
    progress.status = upstream.status
    if (sent.refusesTools) response.setHeader(MEMORY_HEADER, `${told}; tools=refused`)
    if (reader !== null) hearing = createReaderListener(reader, upstream.headers) ?? NO_LISTENER
    copyResponseHeaders(response, upstream.headers)
    response.writeHead(upstream.status)
    const onFirstByte = () => {
      progress.firstByteMs = performance.now() - began
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
    const listener = combineListeners(hearing, trackResponseId(turn, upstream))
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

/** Null where the provider has no part in it: the request could not be sent, or something failed here. */
function classifyOutcome(failure: unknown, status: number | null): ProviderOutcome | null {
  const { code } = toAppError(failure)
  if (code === 'cancelled') return 'client_closed'
  if (code === 'bad_gateway') return 'unreachable'
  if (code === 'gateway_timeout' || code === 'timeout') return 'timeout'
  return status === null ? null : 'interrupted'
}

/** Hears under which id the provider keeps the answer, where it does. */
function trackResponseId(
  { format, memories, route, wishes }: ProxyTurn,
  { status, headers }: UpstreamResponse,
): ResponseListener {
  if (format.name !== 'responses' || status >= 300) return NO_LISTENER
  return memories.responseOwnership.trackResponse(headers, {
    owner: wishes.owner,
    provider: route.provider,
  })
}

type UpstreamAnswer = {
  readonly upstream: UpstreamResponse
  /** Of memory tools; complete when the body has come to its end, as their memories. */
  readonly toolCalls: readonly string[]
  readonly toolMemories: ToolMemoryIds
  /** Whether memory tools were wanted, and the model takes none. */
  readonly refusesTools: boolean
}

async function sendUpstream(exchange: GatewayRequest, turn: ProxyTurn): Promise<UpstreamAnswer> {
  const { format, body, asked, route, prepared, edited, wishes, memories } = turn
  const { options, request, signal } = exchange
  const headers = selectForwardedHeaders(request, options.isAuthDisabled === true)
  const base = {
    provider: route.provider,
    method: 'POST',
    path: `${format.path.slice('/v1'.length)}${queryStringOf(request.url)}`,
    signal,
  }
  const user = userOf(wishes, asked)
  const remembered = memories.hiddenToolCalls.forScope(wishes.owner, user)
  const sendPlainly = async (refusesTools: boolean): Promise<UpstreamAnswer> => {
    // Calls of ours that led to those of the client are part of the conversation, also when no more are wanted.
    const text = restoreHiddenToolCalls(format.name, edited.text, remembered)
    const bytes = text === edited.text ? edited.bytes : Buffer.from(text, 'utf8')
    const upstream = await mapUpstreamErrors(
      options.upstream.send({
        ...base,
        headers: prepared.receipt === null ? headers : limitAcceptEncoding(headers),
        body: bytes,
      }),
    )
    return { upstream, toolCalls: [], toolMemories: NO_TOOL_MEMORY_IDS, refusesTools }
  }
  const { settings } = prepared
  const takesTools = hasToolSupport(route.provider, route.model)
  const offered = selectTools({
    settings,
    headers: wishes,
    supportsTools: takesTools,
    body: body.json,
  })
  if (offered.length === 0) return await sendPlainly(false)
  if (memories.toolSupport.isUnsupported(route)) return await sendPlainly(true)
  const whose = { owner: wishes.owner, user }
  const toolbox = createToolbox(contextOf(exchange), whose, {
    toolNames: offered,
    include: settings['gateway.contextSources'],
    visibleMessages: collectShownMessages(asked),
  })
  const answer = await runToolLoop({
    ...toolbox,
    format: format.name,
    text: edited.text,
    hiddenCalls: remembered,
    signal,
    send: (text, stop) =>
      mapUpstreamErrors(
        options.upstream.send({
          ...base,
          headers: requestIdentityEncoding(headers),
          body: Buffer.from(text, 'utf8'),
          signal: stop,
        }),
      ),
  })
  if (answer !== null) {
    const { toolCalls, ...upstream } = answer
    return { upstream, toolCalls, toolMemories: toolbox.memories, refusesTools: false }
  }
  const sent = await sendPlainly(true)
  // Where it is refused without them as well, they may not have been the reason.
  if (sent.upstream.status < 400) memories.toolSupport.markUnsupported(route)
  return sent
}

/** What is taken apart must not be compressed. */
function requestIdentityEncoding(headers: HeaderPairs): HeaderPairs {
  const rest = headers.filter(([name]) => name.toLowerCase() !== 'accept-encoding')
  return [...rest, ['accept-encoding', 'identity']]
}

function contextOf({ options, caller, signal }: GatewayRequest): OperationContext {
  const { engine, version, embeddingProviders = [] } = options
  return { engine, version, embeddingProviders, caller, signal }
}
