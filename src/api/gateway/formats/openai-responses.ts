/** OpenAI's Responses. */

import { joinSaid, said, wordsOf } from '../../../domain/message-content.ts'
import type { Answer, Asked, Placement, Usage } from '../../../domain/model-call.ts'
import { countIn, isList, isObject, type Json, type JsonObject } from '../../../lib/json.ts'
import { parseData, Words } from './answer-text.ts'
import { placeAfter, placeBefore } from './block-placement.ts'
import { openai, refusal } from './error-body.ts'
import type { AnswerReader, Format } from './format.ts'
import { insertElement, setMember, surround } from './json-edit.ts'
import { askedWith, countCharacters, fold, isOwn, nameIn, type Piece } from './request-text.ts'

export const responses: Format = {
  name: 'responses',
  path: '/v1/responses',
  read,
  inject,
  createReader: () => new ResponsesReader(),
}

function read(body: JsonObject): Asked {
  const model = modelOf(body)
  const { conversation } = body
  const input = inputOf(body)
  return askedWith(
    {
      model,
      streams: body.stream === true,
      endUser: nameIn(body.user),
      previous: nameIn(body.previous_response_id),
      conversation: nameIn(isObject(conversation) ? conversation.id : conversation),
      outputTokensMax: countIn(body.max_output_tokens),
    },
    () => ({
      instructions: instructionsOf(body),
      ...fold(piecesOf(input)),
      characters: countCharacters(body),
    }),
  )
}

function instructionsOf({ instructions, input }: JsonObject): string {
  const items = isList(input) ? input.filter(isObject).filter(isSystem) : []
  return joinSaid([instructions, ...items.map(({ content }) => content)].map(textIn))
}

function textIn(content: Json | undefined): string {
  return wordsOf(content, textOf)
}

/** Empty where a prompt that the provider keeps says which model to ask. */
function modelOf({ model, prompt }: JsonObject): string {
  if (model === undefined || model === null || model === '') {
    if (isObject(prompt)) return ''
    throw openai.missing('model')
  }
  if (typeof model !== 'string') throw openai.wrongType('model', 'a string', model)
  return model
}

/** Empty where the conversation goes on without it. */
function inputOf(body: JsonObject): string | readonly JsonObject[] {
  const { input } = body
  const isEmpty = input === undefined || input === null || input === ''
  if (isEmpty || (isList(input) && input.length === 0)) {
    if (!goesOn(body)) throw noInput(input)
    return []
  }
  if (typeof input === 'string') return input
  if (!isList(input)) {
    throw openai.wrongType('input', 'one of an array of objects or string', input)
  }
  return input.map(checkItem)
}

function piecesOf(input: string | readonly JsonObject[]): readonly Piece[] {
  if (typeof input !== 'string') return input.flatMap(pieceOf)
  const text = said(input)
  return text === '' ? [] : [{ kind: 'turn', text }]
}

/** Whether there is something to answer besides the input. */
function goesOn(body: JsonObject): boolean {
  return [body.previous_response_id, body.conversation, body.prompt].some(
    (given) => given !== undefined && given !== null,
  )
}

function noInput(input: Json | undefined) {
  if (input === undefined || input === null) return openai.missing('input')
  return refusal(
    'input',
    `One of "input" or "previous_response_id" or 'prompt' or 'conversation' must be provided.`,
  )
}

function checkItem(item: Json, index: number): JsonObject {
  const at = `input[${index}]`
  if (!isObject(item)) throw openai.wrongType(at, 'an object', item)
  if (item.type !== 'message' && !('role' in item)) return item
  const { role, content = null } = item
  if (role === undefined) throw openai.missing(`${at}.role`)
  if (typeof role !== 'string') throw openai.wrongType(`${at}.role`, 'a string', role)
  const isRead = role === 'user' || role === 'assistant'
  if (isRead && content !== null && typeof content !== 'string' && !isList(content)) {
    throw openai.wrongType(`${at}.content`, 'one of an array of objects or string', content)
  }
  return item
}

function pieceOf(item: JsonObject): readonly Piece[] {
  const { content, output } = item
  if (isTurn(item)) return [{ kind: 'turn', text: wordsOf(content, textOf) }]
  if (isMessage(item)) {
    return item.role === 'assistant' ? [{ kind: 'answer', text: wordsOf(content, textOf) }] : []
  }
  // All kinds of tools name what they returned like this: `function_call_output`, `custom_tool_call_output`, …
  const isResult = typeof item.type === 'string' && item.type.endsWith('_output')
  return isResult ? [{ kind: 'result', text: wordsOf(output, textOf) }] : []
}

const TEXTS: ReadonlySet<Json | undefined> = new Set(['input_text', 'output_text', 'text'])

function textOf({ type, text, refusal: refused }: JsonObject): Json | undefined {
  if (TEXTS.has(type)) return text
  return type === 'refusal' ? refused : undefined
}

function isMessage({ type }: JsonObject): boolean {
  return type === undefined || type === 'message'
}

function isSystem(item: JsonObject): boolean {
  return isMessage(item) && (item.role === 'system' || item.role === 'developer')
}

function isTurn(item: JsonObject): boolean {
  return isMessage(item) && item.role === 'user' && isOwn(item.content, textOf)
}

function inject(
  text: string,
  body: JsonObject,
  block: string,
  placement: Placement,
): string | null {
  const { input } = body
  if (placement === 'system' || placement === 'system-merged') {
    return instruct(text, body.instructions, block)
  }
  if (typeof input === 'string') return intoString(text, input, block, placement)
  if (!isList(input)) return null
  const index = input.findLastIndex((item) => isObject(item) && isTurn(item))
  const turn = input[index]
  if (!isObject(turn)) return null
  if (placement === 'message') return insertElement(text, ['input'], index, itemJson(block))
  const content = { path: ['input', index, 'content'], value: turn.content }
  const place = placement === 'turn-end' ? placeAfter : placeBefore
  return place(text, content, block, partJson(block))
}

function instruct(text: string, instructions: Json | undefined, block: string): string | null {
  if (instructions === undefined || instructions === null) {
    return setMember(text, [], 'instructions', JSON.stringify(block))
  }
  return typeof instructions === 'string'
    ? placeBefore(text, { path: ['instructions'], value: instructions }, block, '')
    : null
}

function intoString(
  text: string,
  input: string,
  block: string,
  placement: Placement,
): string | null {
  if (said(input) === '') return null
  const content = { path: ['input'], value: input }
  if (placement === 'turn-end') return placeAfter(text, content, block, '')
  if (placement === 'turn-start') return placeBefore(text, content, block, '')
  return surround(text, ['input'], `[${itemJson(block)},${ITEM_OPENING}`, `${ITEM_CLOSING}]`)
}

const ITEM_OPENING = '{"type":"message","role":"user","content":'
const ITEM_CLOSING = '}'

function itemJson(content: string): string {
  return ITEM_OPENING + JSON.stringify(content) + ITEM_CLOSING
}

function partJson(text: string): string {
  return JSON.stringify({ type: 'input_text', text })
}

class ResponsesReader implements AnswerReader {
  readonly #words = new Words()
  #id: string | null = null
  #usage: Usage | null = null
  #isCompleted = false
  #isCutOff = false
  #hasFailed = false
  #callsTools = false

  event({ name, data }: { readonly name: string; readonly data: string }): void {
    const event = parseData(data)
    if (event === null) return
    const type = nameIn(event.type) ?? name
    const isBad = ENDED_BADLY.has(type.replace('response.', ''))
    if (isBad || isObject(event.error)) this.#hasFailed = true
    if (type === 'response.completed') this.#isCompleted = true
    if (type === 'response.output_text.delta' || type === 'response.refusal.delta') {
      this.#words.add(`${event.output_index}/${event.content_index}`, event.delta)
    }
    this.#callsTools ||= isClientCall(event.item) || CALL_ARGUMENTS.test(type)
    if (isObject(event.response)) this.whole(event.response)
  }

  /** Also for the answer that events carry as far as it has come: the last of them has all of it. */
  whole(body: unknown): void {
    if (!isObject(body)) return
    this.#id ??= nameIn(body.id)
    this.#usage = usageIn(body.usage) ?? this.#usage
    this.#isCompleted ||= body.status === 'completed'
    if (isObject(body.error) || ENDED_BADLY.has(body.status)) this.#hasFailed = true
    const { status, incomplete_details: why } = body
    this.#isCutOff ||=
      status === 'incomplete' && isObject(why) && why.reason === 'max_output_tokens'
    this.#callsTools ||= isList(body.output) && body.output.some(isClientCall)
    const texts = textsIn(body.output)
    if (texts.length === 0) return
    this.#words.clear()
    for (const [index, text] of texts.entries()) this.#words.add(`${index}`, text)
  }

  isEnded(): boolean {
    return this.#isCompleted || this.#isCutOff || this.#hasFailed
  }

  answer(): Answer {
    return {
      id: this.#id,
      text: this.#words.text(),
      isComplete: this.#isCompleted && !this.#hasFailed && !this.#words.isOverfull,
      isCutOff: this.#isCutOff,
      callsTools: this.#callsTools,
      usage: this.#usage,
    }
  }
}

/** Calls that the client answers; the provider answers those of its own tools, such as web search. */
const CLIENT_CALLS: ReadonlySet<Json | undefined> = new Set([
  'function_call',
  'custom_tool_call',
  'computer_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'mcp_approval_request',
])

const CALL_ARGUMENTS = /^response\.(?:function_call_arguments|custom_tool_call_input)\./

function isClientCall(item: Json | undefined): boolean {
  return isObject(item) && CLIENT_CALLS.has(item.type)
}

const ENDED_BADLY: ReadonlySet<Json | undefined> = new Set([
  'error',
  'failed',
  'incomplete',
  'cancelled',
])

function textsIn(output: Json | undefined): readonly (Json | undefined)[] {
  if (!isList(output)) return []
  return output
    .filter(isObject)
    .filter(({ type }) => type === 'message')
    .flatMap(({ content }) => (isList(content) ? content.filter(isObject).map(textOf) : []))
}

function usageIn(usage: Json | undefined): Usage | null {
  if (!isObject(usage)) return null
  const input = countIn(usage.input_tokens)
  const output = countIn(usage.output_tokens)
  if (input === null && output === null) return null
  const details = usage.input_tokens_details
  return {
    input: input ?? 0,
    output: output ?? 0,
    cached: isObject(details) ? countIn(details.cached_tokens) : null,
  }
}
