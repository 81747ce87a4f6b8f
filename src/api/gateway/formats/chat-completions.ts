/** OpenAI's Chat Completions API, which most other providers implement as well. */

import { joinTexts, readContentText } from '../../../domain/message-content.ts'
import type {
  BlockPlacement,
  ModelAnswer,
  ModelRequest,
  TokenUsage,
} from '../../../domain/model-call.ts'
import { isList, isObject, type Json, type JsonObject, toCount } from '../../../lib/json.ts'
import { AnswerText, parseEventData } from './answer-text.ts'
import { appendBlock, prependBlock } from './block-placement.ts'
import { createRequestError, openaiErrorFormat } from './error-body.ts'
import type { AnswerReader, WireFormat } from './format.ts'
import { insertElement } from './json-edit.ts'
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

export const chatFormat: WireFormat = {
  name: 'chat',
  path: '/v1/chat/completions',
  parseRequest,
  injectBlock,
  createAnswerReader: () => new ChatAnswerReader(),
}

function parseRequest(body: JsonObject): ModelRequest {
  const model = readModel(body)
  const messages = readMessages(body)
  return createLazyRequest(
    {
      model,
      isStreaming: body.stream === true,
      endUser: readEndUser(body),
      previousResponseId: null,
      conversationId: null,
      outputTokensMax: toCount(body.max_completion_tokens) ?? toCount(body.max_tokens),
    },
    () => ({
      instructions: joinTexts(
        messages.filter(isSystem).map(({ content }) => readContentText(content, getPartText)),
      ),
      ...groupExchanges(readRecentParts(messages, toRequestPart)),
      characters: countCharacters(body),
    }),
  )
}

function readModel({ model }: JsonObject): string {
  if (model === undefined || model === '') {
    throw createRequestError('model', 'you must provide a model parameter')
  }
  if (typeof model !== 'string') throw openaiErrorFormat.wrongType('model', 'a string', model)
  return model
}

function readMessages({ messages }: JsonObject): readonly JsonObject[] {
  if (messages === undefined) throw openaiErrorFormat.missing('messages')
  if (!isList(messages))
    throw openaiErrorFormat.wrongType('messages', 'an array of objects', messages)
  if (messages.length === 0) throw openaiErrorFormat.emptyList('messages')
  return messages.map(checkMessage)
}

function checkMessage(message: Json, index: number): JsonObject {
  const at = `messages[${index}]`
  if (!isObject(message)) throw openaiErrorFormat.wrongType(at, 'an object', message)
  const { role, content = null } = message
  if (role === undefined) throw openaiErrorFormat.missing(`${at}.role`)
  if (typeof role !== 'string') throw openaiErrorFormat.wrongType(`${at}.role`, 'a string', role)
  const isRead = role === 'user' || role === 'assistant'
  if (isRead && content !== null && typeof content !== 'string' && !isList(content)) {
    throw openaiErrorFormat.wrongType(
      `${at}.content`,
      'one of a string or array of objects',
      content,
    )
  }
  return message
}

function toRequestPart(message: JsonObject): readonly RequestPart[] {
  const { role, content, refusal } = message
  if (isUserMessage(message)) return [{ kind: 'turn', text: readContentText(content, getPartText) }]
  if (role === 'assistant') {
    const words = readContentText(content, getPartText)
    const text = typeof refusal === 'string' ? joinTexts([words, refusal]) : words
    return [{ kind: 'answer', text }]
  }
  const isResult = role === 'tool' || role === 'function'
  return isResult ? [{ kind: 'result', text: readContentText(content, getPartText) }] : []
}

function getPartText({ type, text, refusal }: JsonObject): Json | undefined {
  if (type === 'text') return text
  return type === 'refusal' ? refusal : undefined
}

function isUserMessage({ role, content }: JsonObject): boolean {
  return role === 'user' && hasUserContent(content, getPartText)
}

function isSystem(message: Json | undefined): message is JsonObject {
  return isObject(message) && (message.role === 'system' || message.role === 'developer')
}

function injectBlock(
  text: string,
  { messages }: JsonObject,
  block: string,
  placement: BlockPlacement,
): string | null {
  if (!isList(messages)) return null
  if (placement === 'system') return addSystem(text, messages, block)
  if (placement === 'system-merged') {
    return mergeSystem(text, messages, block) ?? addSystem(text, messages, block)
  }
  const index = messages.findLastIndex((message) => isObject(message) && isUserMessage(message))
  const turn = messages[index]
  if (!isObject(turn)) return null
  if (placement === 'message') {
    return insertElement(text, ['messages'], index, messageJson('user', block))
  }
  const content = { path: ['messages', index, 'content'], value: turn.content }
  const place = placement === 'turn-end' ? appendBlock : prependBlock
  return place(text, content, block, partJson(block))
}

/** Under the name that the client uses for it: some providers refuse a request with both. */
function addSystem(text: string, messages: readonly Json[], block: string): string | null {
  const role = messages.find(isSystem)?.role === 'developer' ? 'developer' : 'system'
  return insertElement(text, ['messages'], 0, messageJson(role, block))
}

function mergeSystem(text: string, messages: readonly Json[], block: string): string | null {
  const [first] = messages
  if (!isSystem(first)) return null
  const content = { path: ['messages', 0, 'content'], value: first.content }
  return prependBlock(text, content, block, partJson(block))
}

function messageJson(role: string, content: string): string {
  return JSON.stringify({ role, content })
}

function partJson(text: string): string {
  return JSON.stringify({ type: 'text', text })
}

/** Finish reasons of an incomplete answer. */
const INCOMPLETE_FINISH_REASONS: ReadonlySet<string> = new Set([
  'length',
  'content_filter',
  'error',
])

class ChatAnswerReader implements AnswerReader {
  readonly #text = new AnswerText()
  #id: string | null = null
  #usage: TokenUsage | null = null
  #finishReason: string | null = null
  #hasFailed = false
  #hasToolCalls = false

  readEvent({ name, data }: { readonly name: string; readonly data: string }): void {
    if (name === 'error') this.#hasFailed = true
    this.#read(parseEventData(data), 'delta')
  }

  readBody(body: unknown): void {
    this.#read(isObject(body) ? body : null, 'message')
  }

  isEnded(): boolean {
    return this.#finishReason !== null || this.#hasFailed
  }

  getAnswer(): ModelAnswer {
    // The finish reason ends the answer; not every server sends `[DONE]` after it.
    const isEnded = this.#finishReason !== null && !this.#hasFailed
    const hasWholeText =
      !INCOMPLETE_FINISH_REASONS.has(this.#finishReason ?? '') && !this.#text.isTruncated
    return {
      id: this.#id,
      text: this.#text.text(),
      isComplete: isEnded && hasWholeText,
      isTruncated: isEnded && this.#finishReason === 'length',
      hasToolCalls: this.#hasToolCalls,
      usage: this.#usage,
    }
  }

  #read(body: JsonObject | null, field: 'delta' | 'message'): void {
    if (body === null) return
    if (body.error !== undefined && body.error !== null) this.#hasFailed = true
    this.#id ??= toNonBlankText(body.id)
    // The usage comes with or after the last chunk; some providers send a running total with every chunk.
    this.#usage = readUsage(body.usage) ?? this.#usage
    const choice = firstChoice(body.choices)
    if (choice === undefined) return
    this.#finishReason = toNonBlankText(choice.finish_reason) ?? this.#finishReason
    const message = choice[field]
    if (!isObject(message)) return
    this.#hasToolCalls ||= isObject(message.function_call) || isNonEmptyList(message.tool_calls)
    this.#text.add('content', readContent(message.content))
    this.#text.add('refusal', message.refusal)
  }
}

function isNonEmptyList(list: Json | undefined): boolean {
  return isList(list) && list.length > 0
}

/** Of several choices, the first is recorded. */
function firstChoice(choices: Json | undefined): JsonObject | undefined {
  if (!isList(choices)) return undefined
  return choices.filter(isObject).find(({ index = 0 }) => index === 0)
}

/** Some providers answer with a list of parts. */
function readContent(content: Json | undefined): Json | undefined {
  if (!isList(content)) return content
  const texts = content.filter(isObject).map(getPartText)
  return texts.filter((text) => typeof text === 'string').join('')
}

function readUsage(usage: Json | undefined): TokenUsage | null {
  if (!isObject(usage)) return null
  const input = toCount(usage.prompt_tokens)
  const output = toCount(usage.completion_tokens)
  if (input === null && output === null) return null
  const details = usage.prompt_tokens_details
  const cached = isObject(details) ? toCount(details.cached_tokens) : null
  return {
    input: input ?? 0,
    output: output ?? 0,
    // DeepSeek's name for cached tokens.
    cached: cached ?? toCount(usage.prompt_cache_hit_tokens),
  }
}
