/**
 * A request to a model, with memory around it. Memory comes before and after, never in between: what is sent is the
 * client's own text with at most one block more in it, and what comes back is passed on as it comes.
 */

import { shownMessages } from '../../../conversations/context/shown-messages.ts'
import type {
  ConversationRequest,
  Prepared,
  SkipReason,
} from '../../../conversations/conversations.ts'
import { NO_TOOL_MEMORIES, type ToolMemories } from '../../../conversations/receipts/receipt.ts'
import { toAppError } from '../../../domain/errors.ts'
import type { Asked, Placement } from '../../../domain/model-call.ts'
import type { Settings } from '../../../domain/settings/settings.ts'
import { sha256 } from '../../../lib/hash.ts'
import {
  contextWindowOf,
  type Route,
  routeModel,
  supportsTools,
  systemRoleOf,
} from '../../../models/provider.ts'
import type { HeaderPairs, UpstreamResponse } from '../../../models/upstream.ts'
import type { Context } from '../../operations/operation.ts'
import type { Format } from '../formats/format.ts'
import { withModel } from '../formats/json-edit.ts'
import { placementFor } from '../formats/placement-policy.ts'
import { type Body, type Exchange, type ProviderOutcome, readBody } from '../gateway-request.ts'
import {
  answerWithTools,
  createToolbox,
  type HiddenCalls,
  type ToollessModels,
  wantedTools,
  withHiddenCalls,
} from '../tools/tool-handler.ts'
import {
  forwarded,
  isUserName,
  MEMORY_HEADER,
  memoryHeader,
  readWishes,
  returnHeaders,
  type Wishes,
} from './memory-headers.ts'
import type { KeptResponses } from './response-ownership.ts'
import {
  isEventStream,
  type Listener,
  NOBODY,
  narrowed,
  pipe,
  readAlong,
  together,
} from './response-stream.ts'
import { createAnswerTail, NO_TAIL } from './response-tail.ts'
import { isShared, queryOf, reached } from './upstream-call.ts'

/** What the gateway itself remembers from one request to the next. */
export type Memories = {
  readonly hidden: HiddenCalls
  readonly toolless: ToollessModels
  readonly kept: KeptResponses
}

export async function ask(exchange: Exchange, format: Format, memories: Memories): Promise<void> {
  const { options, request, caller } = exchange
  const began = performance.now()
  const wishes = readWishes(request, caller)
  const body = await readBody(exchange)
  const asked = format.read(body.json)
  const route = routeModel(options.registry, format.name, asked.model)
  const { previous } = asked
  if (previous !== null && isShared(exchange, route.provider)) {
    await memories.kept.refuseForeign(wishes.owner, previous)
  }
  const about = aboutMemory(format, asked, wishes)
  const prepared =
    options.engine.conversations.passing(about) ?? (await prepare(exchange, about, asked, route))
  const edited = edit(format, body, route, prepared)
  await answer(exchange, { format, body, asked, route, prepared, edited, began, wishes, memories })
}

type AboutMemory = Pick<ConversationRequest, 'scope' | 'format' | 'wants'>

/** Whose memory it is about, and what is wanted of it. */
function aboutMemory(format: Format, asked: Asked, wishes: Wishes): AboutMemory {
  const { owner, session, memory, inject, extract } = wishes
  const user = userOf(wishes, asked)
  return {
    scope: { owner, ...(user === null ? {} : { user }), ...(session === null ? {} : { session }) },
    format: format.name,
    wants: { memory, inject, extract },
  }
}

function prepare(
  { options, requestId, signal }: Exchange,
  about: AboutMemory,
  asked: Asked,
  route: Route,
): Promise<Prepared> {
  return options.engine.conversations.prepare({
    ...about,
    requestId,
    model: asked.model,
    provider: route.provider.name,
    asked,
    // Both are looked up in long tables, and only where there is something to fit into a window.
    get contextWindow() {
      return contextWindowOf(route.provider, route.model)
    },
    get countTokens() {
      return options.tokenizerFor?.(route.model)
    },
    signal,
  })
}

/** Clients may call their users what they like; what can't be a name of ours still stands for the same user. */
function userOf({ user }: Pick<Wishes, 'user'>, { endUser }: Asked): string | null {
  if (user !== null || endUser === null || endUser.trim() === '') return user
  return isUserName(endUser) ? endUser : `user_${sha256(endUser)}`
}

type Edited = {
  readonly text: string
  readonly bytes: Uint8Array
  readonly placement: Placement | null
  readonly skipped: SkipReason | null
}

/** The request as it goes out: with the block, and with the name by which the provider knows the model. */
function edit(
  format: Format,
  body: Body,
  route: Route,
  { block, settings, skipped }: Prepared,
): Edited {
  const injected =
    block === null ? null : injectedOrNot(format, body, block, settings.injectPosition, route)
  const isMissing = block !== null && injected === null
  const text = injected?.text ?? body.text
  const named = route.model === body.json.model ? text : withModel(text, route.model)
  return {
    text: named,
    bytes: named === body.text ? body.bytes : Buffer.from(named, 'utf8'),
    placement: injected?.placement ?? null,
    skipped: isMissing ? 'no-place' : skipped,
  }
}

/** Whatever goes wrong with a block, the request goes on without it. */
function injectedOrNot(
  format: Format,
  { text, json }: Body,
  block: string,
  position: Settings['injectPosition'],
  { provider, model }: Route,
): { readonly text: string; readonly placement: Placement } | null {
  try {
    const placement = placementFor(position, systemRoleOf(provider, model))
    const injected = format.inject(text, json, block, placement)
    return injected === null ? null : { text: injected, placement }
  } catch {
    return null
  }
}

type Turn = {
  readonly format: Format
  readonly body: Body
  readonly asked: Asked
  readonly route: Route
  readonly prepared: Prepared
  readonly edited: Edited
  readonly wishes: Wishes
  readonly memories: Memories
  readonly began: number
}

async function answer(exchange: Exchange, turn: Turn): Promise<void> {
  const { options, response } = exchange
  const { prepared, edited, began, format } = turn
  const { conversations } = options.engine
  const told = memoryHeader(prepared, edited.skipped)
  response.setHeader(MEMORY_HEADER, told)
  // Where nothing is kept, nobody needs to listen.
  const reader = prepared.receipt === null ? null : format.createReader()
  const progress = { status: null as number | null, firstByteMs: null as number | null }
  let sent: Sent | null = null
  let hearing = NOBODY
  let failure: unknown
  const record = once(async () => {
    await hearing.end().catch(() => {})
    conversations.record(prepared, {
      placement: edited.placement,
      skipped: edited.skipped,
      ...progress,
      answer: hearing === NOBODY ? null : (reader?.answer() ?? null),
      totalMs: performance.now() - began,
      toolCalls: sent?.toolCalls ?? [],
      toolMemories: sent?.toolMemories ?? NO_TOOL_MEMORIES,
    })
  })
  try {
    sent = await send(exchange, turn)
    const { upstream } = sent
    progress.status = upstream.status
    if (sent.refusesTools) response.setHeader(MEMORY_HEADER, `${told}; tools=refused`)
    if (reader !== null) hearing = readAlong(reader, upstream.headers) ?? NOBODY
    returnHeaders(response, upstream.headers)
    response.writeHead(upstream.status)
    const onFirstByte = () => {
      progress.firstByteMs = performance.now() - began
    }
    const tail =
      reader === null
        ? NO_TAIL
        : createAnswerTail({
            isStream: isEventStream(upstream.headers),
            reader,
            mayEnd: () => conversations.mayEnd(prepared),
            record: () => record().then(() => conversations.recorded(prepared)),
          })
    const listener = together(hearing, idListener(turn, upstream))
    await pipe(upstream.body, response, listener, onFirstByte, tail)
  } catch (thrown) {
    failure = thrown
    throw thrown
  } finally {
    await record()
    const outcome = failure === undefined ? progress.status : outcomeOf(failure, progress.status)
    if (outcome !== null) options.onAnswer?.({ provider: turn.route.provider.name, outcome })
  }
}

function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined
  return () => {
    result ??= work()
    return result
  }
}

/** Null where the provider has no part in it: the request could not be sent, or something failed here. */
function outcomeOf(failure: unknown, status: number | null): ProviderOutcome | null {
  const { code } = toAppError(failure)
  if (code === 'cancelled') return 'left'
  if (code === 'bad_gateway') return 'unreachable'
  if (code === 'gateway_timeout' || code === 'timeout') return 'late'
  return status === null ? null : 'broken'
}

/** Hears under which id the provider keeps the answer, where it does. */
function idListener(
  { format, memories, route, wishes }: Turn,
  { status, headers }: UpstreamResponse,
): Listener {
  if (format.name !== 'responses' || status >= 300) return NOBODY
  return memories.kept.listener(headers, { owner: wishes.owner, provider: route.provider })
}

type Sent = {
  readonly upstream: UpstreamResponse
  /** Of memory tools; complete when the body has come to its end, as their memories. */
  readonly toolCalls: readonly string[]
  readonly toolMemories: ToolMemories
  /** Whether memory tools were wanted, and the model takes none. */
  readonly refusesTools: boolean
}

async function send(exchange: Exchange, turn: Turn): Promise<Sent> {
  const { format, body, asked, route, prepared, edited, wishes, memories } = turn
  const { options, request, signal } = exchange
  const headers = forwarded(request, options.isOpen === true)
  const base = {
    provider: route.provider,
    method: 'POST',
    path: `${format.path.slice('/v1'.length)}${queryOf(request.url)}`,
    signal,
  }
  const user = userOf(wishes, asked)
  const remembered = memories.hidden.of(wishes.owner, user)
  const sendPlainly = async (refusesTools: boolean): Promise<Sent> => {
    // Calls of ours that led to those of the client are part of the conversation, also when no more are wanted.
    const text = withHiddenCalls(format.name, edited.text, remembered)
    const bytes = text === edited.text ? edited.bytes : Buffer.from(text, 'utf8')
    const upstream = await reached(
      options.upstream.send({
        ...base,
        headers: prepared.receipt === null ? headers : narrowed(headers),
        body: bytes,
      }),
    )
    return { upstream, toolCalls: [], toolMemories: NO_TOOL_MEMORIES, refusesTools }
  }
  const { settings } = prepared
  const takesTools = supportsTools(route.provider, route.model)
  const offered = wantedTools({ settings, wishes, takesTools, body: body.json })
  if (offered.length === 0) return await sendPlainly(false)
  if (memories.toolless.has(route)) return await sendPlainly(true)
  const whose = { owner: wishes.owner, user }
  const toolbox = createToolbox(contextOf(exchange), whose, {
    wanted: offered,
    include: settings.recallSources,
    shown: shownMessages(asked),
  })
  const answer = await answerWithTools({
    ...toolbox,
    format: format.name,
    text: edited.text,
    remembered,
    signal,
    send: (text, stop) =>
      reached(
        options.upstream.send({
          ...base,
          headers: readable(headers),
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
  if (sent.upstream.status < 400) memories.toolless.add(route)
  return sent
}

/** What is taken apart must not be compressed. */
function readable(headers: HeaderPairs): HeaderPairs {
  const rest = headers.filter(([name]) => name.toLowerCase() !== 'accept-encoding')
  return [...rest, ['accept-encoding', 'identity']]
}

function contextOf({ options, caller, signal }: Exchange): Context {
  const { engine, version, embeddingProviders = [] } = options
  return { engine, version, embeddingProviders, caller, signal }
}
