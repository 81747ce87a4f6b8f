/** Anthropic's Messages API. */

import { readContentText } from '../../../domain/message-content.ts'
import type {
  BlockPlacement,
  ModelAnswer,
  ModelRequest,
  TokenUsage,
} from '../../../domain/model-call.ts'
import { isList, isObject, type Json, type JsonObject, toCount } from '../../../lib/json.ts'
import { AnswerText, parseEventData } from './answer-text.ts'
import { appendBlock, prependBlock } from './block-placement.ts'
import { anthropicErrorFormat } from './error-body.ts'
import type { AnswerReader, WireFormat } from './format.ts'
import { setMember } from './json-edit.ts'
import {
  countCharacters,
  createLazyRequest,
  groupExchanges,
  hasUserContent,
  type RequestPart,
  readEndUser,
  readRecentParts,
  toNonBlankText,
} from './request-text.ts'

export const messagesFormat: WireFormat = {
  name: 'messages',
  path: '/v1/messages',
  parseRequest,
  injectBlock,
  createAnswerReader: () => new MessagesAnswerReader(),
}

function parseRequest(body: JsonObject): ModelRequest {
  const model = readModel(body)
  const { system } = body
  const list = readMessages(body)
  return createLazyRequest(
    {
      model,
      isStreaming: body.stream === true,
      ...readIdentity(body),
      previousResponseId: isObject(body.thread)
        ? toNonBlankText(body.thread.previous_message_id)
        : null,
      outputTokensMax: toCount(body.max_tokens),
    },
    () => ({
      instructions: readContentText(system, getPartText),
      ...groupExchanges(readRecentParts(list, toRequestParts)),
      characters: countCharacters(body),
    }),
  )
}

function readModel({ model }: JsonObject): string {
  if (model === undefined) throw anthropicErrorFormat.missing('model')
  if (typeof model !== 'string')
    throw anthropicErrorFormat.wrong('model', 'Input should be a valid string')
  if (model === '')
    throw anthropicErrorFormat.wrong('model', 'String should have at least 1 character')
  return model
}

function readMessages({ messages: list }: JsonObject): readonly JsonObject[] {
  if (list === undefined) throw anthropicErrorFormat.missing('messages')
  if (!isList(list)) throw anthropicErrorFormat.wrong('messages', 'Input should be a valid list')
  if (list.length === 0)
    throw anthropicErrorFormat.wrong('messages', 'at least one message is required')
  return list.map(checkMessage)
}

function checkMessage(message: Json, index: number): JsonObject {
  const at = `messages.${index}`
  if (!isObject(message)) {
    throw anthropicErrorFormat.wrong(
      at,
      'Input should be a valid dictionary or object to extract fields from',
    )
  }
  const { role, content } = message
  if (role === undefined) throw anthropicErrorFormat.missing(`${at}.role`)
  if (typeof role !== 'string') {
    throw anthropicErrorFormat.wrong(`${at}.role`, "Input should be 'user' or 'assistant'")
  }
  if (content === undefined) throw anthropicErrorFormat.missing(`${at}.content`)
  if (typeof content !== 'string' && !isList(content)) {
    throw anthropicErrorFormat.wrong(`${at}.content`, 'Input should be a valid list')
  }
  return message
}

const SESSION = /_session_([0-9a-f]{8}-[0-9a-f-]{27})$/i

/**
 * The end user in `metadata.user_id`. Claude Code puts its installation and its session there: the installation is not an
 * end user, and the session identifies the conversation.
 */
function readIdentity(body: JsonObject): Pick<ModelRequest, 'endUser' | 'conversationId'> {
  const name = readEndUser(body)
  if (name === null) return { endUser: null, conversationId: null }
  const fields = name.startsWith('{') ? parseEventData(name) : null
  const session = toNonBlankText(fields?.session_id) ?? SESSION.exec(name)?.[1] ?? null
  return { endUser: session === null ? name : null, conversationId: session }
}

function toRequestParts(message: JsonObject): readonly RequestPart[] {
  const { role, content } = message
  if (role === 'assistant') return [{ kind: 'answer', text: readContentText(content, getPartText) }]
  if (role !== 'user') return []
  // Results come first in a message, but they belong to the turn in the same message.
  const turn: RequestPart = { kind: 'turn', text: readContentText(content, getPartText) }
  return isUserMessage(message)
    ? [turn, ...readToolResults(content, true)]
    : readToolResults(content, false)
}

function readToolResults(content: Json | undefined, joinsTurn: boolean): readonly RequestPart[] {
  if (!isList(content)) return []
  return content
    .filter(isObject)
    .filter(isToolResult)
    .map((result) => ({
      kind: 'result',
      text: readContentText(result.content, getPartText),
      joinsTurn,
    }))
}

/** Blocks of reasoning have other types and are not text. */
function getPartText({ type, text }: JsonObject): Json | undefined {
  return type === 'text' ? text : undefined
}

function isToolResult({ type }: JsonObject): boolean {
  return type === 'tool_result'
}

function isUserMessage({ role, content }: JsonObject): boolean {
  return role === 'user' && hasUserContent(content, getPartText, isToolResult)
}

function injectBlock(
  text: string,
  { messages: list, system }: JsonObject,
  block: string,
  placement: BlockPlacement,
): string | null {
  if (placement === 'system' || placement === 'system-merged') {
    return injectIntoSystem(text, system, block)
  }
  if (!isList(list)) return null
  const index = list.findLastIndex((message) => isObject(message) && isUserMessage(message))
  const turn = list[index]
  if (!isObject(turn)) return null
  const content = { path: ['messages', index, 'content'], value: turn.content }
  if (placement === 'turn-end') return appendBlock(text, content, block, blockJson(block))
  // The API would merge a separate message with the next one.
  return prependBlock(text, content, block, blockJson(block), countLeadingResults(turn.content))
}

/** The API requires tool results to come first in a message. */
function countLeadingResults(content: Json | undefined): number {
  if (!isList(content)) return 0
  const first = content.findIndex((each) => !(isObject(each) && isToolResult(each)))
  return first < 0 ? content.length : first
}

/** At the end, so that the client's cache breakpoints before it stay valid. */
function injectIntoSystem(text: string, system: Json | undefined, block: string): string | null {
  if (system === undefined || system === null) {
    return setMember(text, [], 'system', JSON.stringify(block))
  }
  return appendBlock(text, { path: ['system'], value: system }, block, blockJson(block))
}

function blockJson(text: string): string {
  return JSON.stringify({ type: 'text', text })
}

/** Stop reasons of an answer that reached a length limit. */
const LENGTH_STOP_REASONS: ReadonlySet<string> = new Set([
  'max_tokens',
  'model_context_window_exceeded',
])

/** Stop reasons after which the model continues, once the client sends tool results or the answer so far. */
const CONTINUED_STOP_REASONS: ReadonlySet<string> = new Set(['tool_use', 'pause_turn'])

class MessagesAnswerReader implements AnswerReader {
  readonly #text = new AnswerText()
  readonly #counts = new Map<string, number>()
  #id: string | null = null
  #stopReason: string | null = null
  #isStopped = false
  #hasFailed = false

  readEvent({ name, data }: { readonly name: string; readonly data: string }): void {
    const event = parseEventData(data)
    if (event === null) return
    const { delta, index } = event
    const type = toNonBlankText(event.type) ?? name
    if (type === 'error') this.#hasFailed = true
    else if (type === 'message_stop') this.#isStopped = true
    else if (type === 'message_start') this.#readMessage(event.message)
    else if (type === 'message_delta') this.#readDelta(delta, event.usage)
    else if (type === 'content_block_start') this.#addText(index, event.content_block, 'text')
    else if (type === 'content_block_delta') this.#addText(index, delta, 'text_delta')
  }

  readBody(body: unknown): void {
    if (!isObject(body)) return
    if (body.type === 'error' || isObject(body.error)) this.#hasFailed = true
    this.#readMessage(body)
    this.#readDelta(body, undefined)
    this.#isStopped = this.#stopReason !== null
  }

  isEnded(): boolean {
    return this.#isStopped || this.#hasFailed
  }

  getAnswer(): ModelAnswer {
    const isEnded = this.#isStopped && !this.#hasFailed
    const isOverLength = LENGTH_STOP_REASONS.has(this.#stopReason ?? '')
    const hasWholeText = !isOverLength && this.#stopReason !== 'refusal' && !this.#text.isTruncated
    return {
      id: this.#id,
      text: this.#text.text(),
      isComplete: isEnded && hasWholeText,
      isTruncated: isEnded && isOverLength,
      hasToolCalls: CONTINUED_STOP_REASONS.has(this.#stopReason ?? ''),
      usage: this.#getUsage(),
    }
  }

  #readMessage(message: Json | undefined): void {
    if (!isObject(message)) return
    this.#id ??= toNonBlankText(message.id)
    this.#addUsage(message.usage)
    if (!isList(message.content)) return
    for (const [index, block] of message.content.entries()) this.#addText(index, block, 'text')
  }

  #readDelta(delta: Json | undefined, usage: Json | undefined): void {
    this.#addUsage(usage)
    if (isObject(delta)) this.#stopReason = toNonBlankText(delta.stop_reason) ?? this.#stopReason
  }

  #addText(index: Json | undefined, block: Json | undefined, type: 'text' | 'text_delta'): void {
    if (isObject(block) && block.type === type) this.#text.add(`${index}`, block.text)
  }

  /** Usage comes in several events, each with the counts so far. */
  #addUsage(usage: Json | undefined): void {
    if (!isObject(usage)) return
    for (const [name, value] of Object.entries(usage)) {
      const count = toCount(value)
      if (count !== null) this.#counts.set(name, count)
    }
  }

  /** Anthropic counts cache reads and writes separately from the other input. */
  #getUsage(): TokenUsage | null {
    if (this.#counts.size === 0) return null
    const count = (name: string) => this.#counts.get(name) ?? 0
    const written = count('cache_creation_input_tokens')
    const cached = this.#counts.get('cache_read_input_tokens') ?? null
    return {
      input: count('input_tokens') + written + (cached ?? 0),
      output: count('output_tokens'),
      cached,
    }
  }
}
