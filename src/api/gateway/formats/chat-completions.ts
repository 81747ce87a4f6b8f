/** OpenAI's chat completions, which most other providers speak too. */

import { joinSaid, wordsOf } from '../../../domain/message-content.ts'
import type { Answer, Asked, Placement, Usage } from '../../../domain/model-call.ts'
import { countIn, isList, isObject, type Json, type JsonObject } from '../../../lib/json.ts'
import { parseData, Words } from './answer-text.ts'
import { placeAfter, placeBefore } from './block-placement.ts'
import { openai, refusal } from './error-body.ts'
import type { AnswerReader, Format } from './format.ts'
import { insertElement } from './json-edit.ts'
import { askedWith, countCharacters, fold, isOwn, nameIn, type Piece } from './request-text.ts'

export const chat: Format = {
  name: 'chat',
  path: '/v1/chat/completions',
  read,
  inject,
  createReader: () => new ChatReader(),
}

function read(body: JsonObject): Asked {
  const model = modelOf(body)
  const messages = messagesOf(body)
  return askedWith(
    {
      model,
      streams: body.stream === true,
      endUser: nameIn(body.user),
      previous: null,
      conversation: null,
      outputTokensMax: countIn(body.max_completion_tokens) ?? countIn(body.max_tokens),
    },
    () => ({
      instructions: joinSaid(
        messages.filter(isSystem).map(({ content }) => wordsOf(content, textOf)),
      ),
      ...fold(messages.flatMap(pieceOf)),
      characters: countCharacters(body),
    }),
  )
}

function modelOf({ model }: JsonObject): string {
  if (model === undefined || model === '') {
    throw refusal('model', 'you must provide a model parameter')
  }
  if (typeof model !== 'string') throw openai.wrongType('model', 'a string', model)
  return model
}

function messagesOf({ messages }: JsonObject): readonly JsonObject[] {
  if (messages === undefined) throw openai.missing('messages')
  if (!isList(messages)) throw openai.wrongType('messages', 'an array of objects', messages)
  if (messages.length === 0) throw openai.emptyList('messages')
  return messages.map(checkMessage)
}

function checkMessage(message: Json, index: number): JsonObject {
  const at = `messages[${index}]`
  if (!isObject(message)) throw openai.wrongType(at, 'an object', message)
  const { role, content = null } = message
  if (role === undefined) throw openai.missing(`${at}.role`)
  if (typeof role !== 'string') throw openai.wrongType(`${at}.role`, 'a string', role)
  const isRead = role === 'user' || role === 'assistant'
  if (isRead && content !== null && typeof content !== 'string' && !isList(content)) {
    throw openai.wrongType(`${at}.content`, 'one of a string or array of objects', content)
  }
  return message
}

function pieceOf(message: JsonObject): readonly Piece[] {
  const { role, content, refusal: refused } = message
  if (isTurn(message)) return [{ kind: 'turn', text: wordsOf(content, textOf) }]
  if (role === 'assistant') {
    const words = wordsOf(content, textOf)
    const text = typeof refused === 'string' ? joinSaid([words, refused]) : words
    return [{ kind: 'answer', text }]
  }
  const isResult = role === 'tool' || role === 'function'
  return isResult ? [{ kind: 'result', text: wordsOf(content, textOf) }] : []
}

function textOf({ type, text, refusal: refused }: JsonObject): Json | undefined {
  if (type === 'text') return text
  return type === 'refusal' ? refused : undefined
}

function isTurn({ role, content }: JsonObject): boolean {
  return role === 'user' && isOwn(content, textOf)
}

function isSystem(message: Json | undefined): message is JsonObject {
  return isObject(message) && (message.role === 'system' || message.role === 'developer')
}

function inject(
  text: string,
  { messages }: JsonObject,
  block: string,
  placement: Placement,
): string | null {
  if (!isList(messages)) return null
  if (placement === 'system') return addSystem(text, messages, block)
  if (placement === 'system-merged') {
    return mergeSystem(text, messages, block) ?? addSystem(text, messages, block)
  }
  const index = messages.findLastIndex((message) => isObject(message) && isTurn(message))
  const turn = messages[index]
  if (!isObject(turn)) return null
  if (placement === 'message') {
    return insertElement(text, ['messages'], index, messageJson('user', block))
  }
  const content = { path: ['messages', index, 'content'], value: turn.content }
  const place = placement === 'turn-end' ? placeAfter : placeBefore
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
  return placeBefore(text, content, block, partJson(block))
}

function messageJson(role: string, content: string): string {
  return JSON.stringify({ role, content })
}

function partJson(text: string): string {
  return JSON.stringify({ type: 'text', text })
}

/** The answer is not whole, though it ended in good order. */
const UNFINISHED: ReadonlySet<string> = new Set(['length', 'content_filter', 'error'])

class ChatReader implements AnswerReader {
  readonly #words = new Words()
  #id: string | null = null
  #usage: Usage | null = null
  #finish: string | null = null
  #hasFailed = false
  #callsTools = false

  event({ name, data }: { readonly name: string; readonly data: string }): void {
    if (name === 'error') this.#hasFailed = true
    this.#take(parseData(data), 'delta')
  }

  whole(body: unknown): void {
    this.#take(isObject(body) ? body : null, 'message')
  }

  isEnded(): boolean {
    return this.#finish !== null || this.#hasFailed
  }

  answer(): Answer {
    // Its reason to finish is the model's last word; `[DONE]` after it is the server's, and not every server has one.
    const isEnded = this.#finish !== null && !this.#hasFailed
    const isWhole = !UNFINISHED.has(this.#finish ?? '') && !this.#words.isOverfull
    return {
      id: this.#id,
      text: this.#words.text(),
      isComplete: isEnded && isWhole,
      isCutOff: isEnded && this.#finish === 'length',
      callsTools: this.#callsTools,
      usage: this.#usage,
    }
  }

  #take(body: JsonObject | null, saidIn: 'delta' | 'message'): void {
    if (body === null) return
    if (body.error !== undefined && body.error !== null) this.#hasFailed = true
    this.#id ??= nameIn(body.id)
    // The usage comes with the last chunk, or after it in one without choices; a few send it with each and add up.
    this.#usage = usageIn(body.usage) ?? this.#usage
    const choice = firstChoice(body.choices)
    if (choice === undefined) return
    this.#finish = nameIn(choice.finish_reason) ?? this.#finish
    const spoken = choice[saidIn]
    if (!isObject(spoken)) return
    this.#callsTools ||= isObject(spoken.function_call) || isFilled(spoken.tool_calls)
    this.#words.add('content', contentIn(spoken.content))
    this.#words.add('refusal', spoken.refusal)
  }
}

function isFilled(list: Json | undefined): boolean {
  return isList(list) && list.length > 0
}

/** Of several answers to the same request the first one counts. */
function firstChoice(choices: Json | undefined): JsonObject | undefined {
  if (!isList(choices)) return undefined
  return choices.filter(isObject).find(({ index = 0 }) => index === 0)
}

/** A few providers answer with parts. */
function contentIn(content: Json | undefined): Json | undefined {
  if (!isList(content)) return content
  const texts = content.filter(isObject).map(textOf)
  return texts.filter((text) => typeof text === 'string').join('')
}

function usageIn(usage: Json | undefined): Usage | null {
  if (!isObject(usage)) return null
  const input = countIn(usage.prompt_tokens)
  const output = countIn(usage.completion_tokens)
  if (input === null && output === null) return null
  const details = usage.prompt_tokens_details
  const cached = isObject(details) ? countIn(details.cached_tokens) : null
  return {
    input: input ?? 0,
    output: output ?? 0,
    // The second is how DeepSeek says it.
    cached: cached ?? countIn(usage.prompt_cache_hit_tokens),
  }
}
