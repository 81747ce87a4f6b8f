/** Translates answers of Bedrock's Converse API to those of OpenAI's chat API. Pure. */
import {
  filterObjects,
  getField,
  isObject,
  type JsonObject,
  parseJsonObject,
  toCount,
} from '../../../lib/json.ts'
import type { EventStreamMessage } from './event-stream.ts'

export type AnswerIdentity = {
  readonly id: string
  readonly model: string
  readonly createdSeconds: number
}

const FINISH_REASONS: { readonly [stopReason: string]: string } = {
  ...{ end_turn: 'stop', stop_sequence: 'stop', tool_use: 'tool_calls' },
  ...{ max_tokens: 'length', model_context_window_exceeded: 'length' },
  ...{ guardrail_intervened: 'content_filter', content_filtered: 'content_filter' },
}

function toFinishReason(stopReason: unknown): string {
  return FINISH_REASONS[String(stopReason)] ?? 'stop'
}

/** Converse counts what was read from or written to its cache beside the input. */
function toUsage(usage: unknown): object {
  const count = (name: string) => toCount(getField(usage, name)) ?? 0
  const cached = count('cacheReadInputTokens')
  const prompt = count('inputTokens') + cached + count('cacheWriteInputTokens')
  const completion = count('outputTokens')
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached === 0 ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
  }
}

export function toChatCompletion(answer: JsonObject, identity: AnswerIdentity): object {
  const blocks = filterObjects(getField(getField(answer.output, 'message'), 'content'))
  const texts = blocks.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  const calls = blocks.flatMap(({ toolUse }) => (isObject(toolUse) ? [toToolCall(toolUse)] : []))
  const message = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    refusal: null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  return {
    ...envelopeOf('chat.completion', identity),
    choices: [
      { index: 0, message, logprobs: null, finish_reason: toFinishReason(answer.stopReason) },
    ],
    usage: toUsage(answer.usage),
  }
}

function toToolCall({ toolUseId, name, input }: JsonObject): object {
  return {
    ...{ id: toolUseId, type: 'function' },
    function: { name, arguments: JSON.stringify(input ?? {}) },
  }
}

function envelopeOf(object: string, { id, model, createdSeconds }: AnswerIdentity): object {
  return { id: `chatcmpl-${id}`, object, created: createdSeconds, model }
}

/** The error of a provider in OpenAI's shape; `code` is the name that AWS gives it. */
export function toChatError(status: number, message: string, code: string | null): object {
  const type =
    status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  return { error: { message, type, param: null, code } }
}

/** The events of one streamed answer. Each message becomes any number of server-sent events. */
export class ChatStream {
  readonly #identity: AnswerIdentity
  readonly #hasUsage: boolean
  /** The index of a call among the calls, by the index of its block among all blocks. */
  readonly #calls = new Map<unknown, number>()
  #isEnded = false

  constructor(identity: AnswerIdentity, hasUsage: boolean) {
    this.#identity = identity
    this.#hasUsage = hasUsage
  }

  /** Whether the answer came to its end, or to an error that was passed on. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  read({ headers, payload }: EventStreamMessage): string {
    const value = parseJsonObject(payload.toString('utf8')) ?? {}
    if (headers[':message-type'] !== 'event') return this.#readError(headers, value)
    switch (headers[':event-type']) {
      case 'messageStart':
        return this.#chunk({ role: 'assistant', content: '' })
      case 'contentBlockStart':
        return this.#startBlock(value)
      case 'contentBlockDelta':
        return this.#continueBlock(value)
      case 'messageStop':
        this.#isEnded = true
        return this.#chunk({}, toFinishReason(value.stopReason))
      case 'metadata':
        return this.#hasUsage ? this.#event({ choices: [], usage: toUsage(value.usage) }) : ''
      default:
        return ''
    }
  }

  end(): string {
    return 'data: [DONE]\n\n'
  }

  #startBlock({ start, contentBlockIndex }: JsonObject): string {
    const toolUse = getField(start, 'toolUse')
    if (!isObject(toolUse)) return ''
    const index = this.#calls.size
    this.#calls.set(contentBlockIndex, index)
    const { toolUseId: id, name } = toolUse
    const call = { index, id, type: 'function', function: { name, arguments: '' } }
    return this.#chunk({ tool_calls: [call] })
  }

  #continueBlock({ delta, contentBlockIndex }: JsonObject): string {
    const text = getField(delta, 'text')
    if (typeof text === 'string') return this.#chunk({ content: text })
    const input = getField(getField(delta, 'toolUse'), 'input')
    const index = this.#calls.get(contentBlockIndex)
    if (typeof input !== 'string' || index === undefined) return ''
    return this.#chunk({ tool_calls: [{ index, function: { arguments: input } }] })
  }

  #readError(headers: EventStreamMessage['headers'], { message }: JsonObject): string {
    this.#isEnded = true
    const code = headers[':exception-type'] ?? headers[':error-code'] ?? null
    const told = typeof message === 'string' ? message : headers[':error-message']
    const status = code === 'throttlingException' ? 429 : code === 'validationException' ? 400 : 500
    return toEvent(toChatError(status, told ?? 'The model broke off.', code))
  }

  #chunk(delta: object, finishReason: string | null = null): string {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason }
    return this.#event({ choices: [choice] })
  }

  #event(rest: object): string {
    return toEvent({ ...envelopeOf('chat.completion.chunk', this.#identity), ...rest })
  }
}

function toEvent(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}
