/** OpenAI's Responses API. */

import { joinTexts, readContentText, stripInjectedText } from '../../../domain/message-content.ts'
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
import { insertElement, setMember, wrapValue } from './json-edit.ts'
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
import { clipText } from './text-clip.ts'

export const responsesFormat: WireFormat = {
  name: 'responses',
  path: '/v1/responses',
  parseRequest,
  injectBlock,
  createAnswerReader: () => new ResponsesAnswerReader(),
}

function parseRequest(body: JsonObject): ModelRequest {
  const model = readModel(body)
  const { conversation } = body
  const input = readInput(body)
  return createLazyRequest(
    {
      model,
      isStreaming: body.stream === true,
      endUser: readEndUser(body),
      previousResponseId: toNonBlankText(body.previous_response_id),
      conversationId: toNonBlankText(isObject(conversation) ? conversation.id : conversation),
      outputTokensMax: toCount(body.max_output_tokens),
    },
    () => ({
      instructions: readInstructions(body),
      ...groupExchanges(toRequestParts(input)),
      characters: countCharacters(body),
    }),
  )
}

function readInstructions({ instructions, input }: JsonObject): string {
  const items = isList(input) ? input.filter(isObject).filter(isSystem) : []
  return joinTexts([instructions, ...items.map(({ content }) => content)].map(readText))
}

function readText(content: Json | undefined): string {
  return readContentText(content, getPartText)
}

/** Empty when a stored prompt names the model. */
function readModel({ model, prompt }: JsonObject): string {
  if (model === undefined || model === null || model === '') {
    if (isObject(prompt)) return ''
    throw openaiErrorFormat.missing('model')
  }
  if (typeof model !== 'string') throw openaiErrorFormat.wrongType('model', 'a string', model)
  return model
}

/** Empty when the request continues a stored conversation without new input. */
function readInput(body: JsonObject): string | readonly JsonObject[] {
  const { input } = body
  const isEmpty = input === undefined || input === null || input === ''
  if (isEmpty || (isList(input) && input.length === 0)) {
    if (!isContinuation(body)) throw createMissingInputError(input)
    return []
  }
  if (typeof input === 'string') return input
  if (!isList(input)) {
    throw openaiErrorFormat.wrongType('input', 'one of an array of objects or string', input)
  }
  return input.map(checkItem)
}

function toRequestParts(input: string | readonly JsonObject[]): readonly RequestPart[] {
  if (typeof input !== 'string') return readRecentParts(input, toRequestPart)
  const text = clipText(stripInjectedText(input))
  return text === '' ? [] : [{ kind: 'turn', text }]
}

/** Whether the request has something to answer besides its input. */
function isContinuation(body: JsonObject): boolean {
  return [body.previous_response_id, body.conversation, body.prompt].some(
    (value) => value !== undefined && value !== null,
  )
}

function createMissingInputError(input: Json | undefined) {
  if (input === undefined || input === null) return openaiErrorFormat.missing('input')
  return createRequestError(
    'input',
    `One of "input" or "previous_response_id" or 'prompt' or 'conversation' must be provided.`,
  )
}

function checkItem(item: Json, index: number): JsonObject {
  const at = `input[${index}]`
  if (!isObject(item)) throw openaiErrorFormat.wrongType(at, 'an object', item)
  if (item.type !== 'message' && !('role' in item)) return item
  const { role, content = null } = item
  if (role === undefined) throw openaiErrorFormat.missing(`${at}.role`)
  if (typeof role !== 'string') throw openaiErrorFormat.wrongType(`${at}.role`, 'a string', role)
  const isRead = role === 'user' || role === 'assistant'
  if (isRead && content !== null && typeof content !== 'string' && !isList(content)) {
    throw openaiErrorFormat.wrongType(
      `${at}.content`,
      'one of an array of objects or string',
      content,
    )
  }
  return item
}

function toRequestPart(item: JsonObject): readonly RequestPart[] {
  const { content, output } = item
  if (isUserItem(item)) return [{ kind: 'turn', text: readContentText(content, getPartText) }]
  if (isMessage(item)) {
    return item.role === 'assistant'
      ? [{ kind: 'answer', text: readContentText(content, getPartText) }]
      : []
  }
  // All kinds of tool results have such types: `function_call_output`, `custom_tool_call_output`, …
  const isResult = typeof item.type === 'string' && item.type.endsWith('_output')
  return isResult ? [{ kind: 'result', text: readContentText(output, getPartText) }] : []
}

const TEXT_TYPES: ReadonlySet<Json | undefined> = new Set(['input_text', 'output_text', 'text'])

function getPartText({ type, text, refusal }: JsonObject): Json | undefined {
  if (TEXT_TYPES.has(type)) return text
  return type === 'refusal' ? refusal : undefined
}

function isMessage({ type }: JsonObject): boolean {
  return type === undefined || type === 'message'
}

function isSystem(item: JsonObject): boolean {
  return isMessage(item) && (item.role === 'system' || item.role === 'developer')
}

function isUserItem(item: JsonObject): boolean {
  return isMessage(item) && item.role === 'user' && hasUserContent(item.content, getPartText)
}

function injectBlock(
  text: string,
  body: JsonObject,
  block: string,
  placement: BlockPlacement,
): string | null {
  const { input } = body
  if (placement === 'system' || placement === 'system-merged') {
    return injectInstructions(text, body.instructions, block)
  }
  if (typeof input === 'string') return injectIntoString(text, input, block, placement)
  if (!isList(input)) return null
  const index = input.findLastIndex((item) => isObject(item) && isUserItem(item))
  const turn = input[index]
  if (!isObject(turn)) return null
  if (placement === 'message') return insertElement(text, ['input'], index, itemJson(block))
  const content = { path: ['input', index, 'content'], value: turn.content }
  const place = placement === 'turn-end' ? appendBlock : prependBlock
  return place(text, content, block, partJson(block))
}

function injectInstructions(
  text: string,
  instructions: Json | undefined,
  block: string,
): string | null {
  if (instructions === undefined || instructions === null) {
    return setMember(text, [], 'instructions', JSON.stringify(block))
  }
  return typeof instructions === 'string'
    ? prependBlock(text, { path: ['instructions'], value: instructions }, block, '')
    : null
}

function injectIntoString(
  text: string,
  input: string,
  block: string,
  placement: BlockPlacement,
): string | null {
  if (stripInjectedText(input) === '') return null
  const content = { path: ['input'], value: input }
  if (placement === 'turn-end') return appendBlock(text, content, block, '')
  if (placement === 'turn-start') return prependBlock(text, content, block, '')
  return wrapValue(text, ['input'], `[${itemJson(block)},${ITEM_OPENING}`, `${ITEM_CLOSING}]`)
}

const ITEM_OPENING = '{"type":"message","role":"user","content":'
const ITEM_CLOSING = '}'

function itemJson(content: string): string {
  return ITEM_OPENING + JSON.stringify(content) + ITEM_CLOSING
}

function partJson(text: string): string {
  return JSON.stringify({ type: 'input_text', text })
}

class ResponsesAnswerReader implements AnswerReader {
  readonly #text = new AnswerText()
  #id: string | null = null
  #usage: TokenUsage | null = null
  #isCompleted = false
  #isOverLength = false
  #hasFailed = false
  #hasToolCalls = false

  readEvent({ name, data }: { readonly name: string; readonly data: string }): void {
    const event = parseEventData(data)
    if (event === null) return
    const type = toNonBlankText(event.type) ?? name
    const isFailure = FAILED_STATUSES.has(type.replace('response.', ''))
    if (isFailure || isObject(event.error)) this.#hasFailed = true
    if (type === 'response.completed') this.#isCompleted = true
    if (type === 'response.output_text.delta' || type === 'response.refusal.delta') {
      this.#text.add(`${event.output_index}/${event.content_index}`, event.delta)
    }
    this.#hasToolCalls ||= isClientToolCall(event.item) || CALL_ARGUMENTS_EVENT.test(type)
    if (isObject(event.response)) this.readBody(event.response)
  }

  /** Events also carry the response so far; the last event carries all of it. */
  readBody(body: unknown): void {
    if (!isObject(body)) return
    this.#id ??= toNonBlankText(body.id)
    this.#usage = readUsage(body.usage) ?? this.#usage
    this.#isCompleted ||= body.status === 'completed'
    if (isObject(body.error) || FAILED_STATUSES.has(body.status)) this.#hasFailed = true
    const { status, incomplete_details: details } = body
    this.#isOverLength ||=
      status === 'incomplete' && isObject(details) && details.reason === 'max_output_tokens'
    this.#hasToolCalls ||= isList(body.output) && body.output.some(isClientToolCall)
    const texts = readTexts(body.output)
    if (texts.length === 0) return
    this.#text.clear()
    for (const [index, text] of texts.entries()) this.#text.add(`${index}`, text)
  }

  isEnded(): boolean {
    return this.#isCompleted || this.#isOverLength || this.#hasFailed
  }

  getAnswer(): ModelAnswer {
    return {
      id: this.#id,
      text: this.#text.text(),
      isComplete: this.#isCompleted && !this.#hasFailed && !this.#text.isTruncated,
      isTruncated: this.#isOverLength,
      hasToolCalls: this.#hasToolCalls,
      usage: this.#usage,
    }
  }
}

/** Calls that the client runs. The provider runs those of its own tools, such as web search. */
const CLIENT_CALL_TYPES: ReadonlySet<Json | undefined> = new Set([
  'function_call',
  'custom_tool_call',
  'computer_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'mcp_approval_request',
])

const CALL_ARGUMENTS_EVENT = /^response\.(?:function_call_arguments|custom_tool_call_input)\./

function isClientToolCall(item: Json | undefined): boolean {
  return isObject(item) && CLIENT_CALL_TYPES.has(item.type)
}

const FAILED_STATUSES: ReadonlySet<Json | undefined> = new Set([
  'error',
  'failed',
  'incomplete',
  'cancelled',
])

function readTexts(output: Json | undefined): readonly (Json | undefined)[] {
  if (!isList(output)) return []
  return output
    .filter(isObject)
    .filter(({ type }) => type === 'message')
    .flatMap(({ content }) => (isList(content) ? content.filter(isObject).map(getPartText) : []))
}

function readUsage(usage: Json | undefined): TokenUsage | null {
  if (!isObject(usage)) return null
  const input = toCount(usage.input_tokens)
  const output = toCount(usage.output_tokens)
  if (input === null && output === null) return null
  const details = usage.input_tokens_details
  return {
    input: input ?? 0,
    output: output ?? 0,
    cached: isObject(details) ? toCount(details.cached_tokens) : null,
  }
}
