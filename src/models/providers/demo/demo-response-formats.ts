/** Renders the demo's answer in each API format, as JSON or as SSE. */
import type { ApiFormat } from '../../../domain/model-call.ts'
import type { DemoAnswer } from './demo-answer.ts'
import type { DemoRequest } from './demo-request.ts'

/** An answer with its ids and timestamps. */
export type DemoResponse = {
  readonly request: DemoRequest
  readonly answer: DemoAnswer
  /** Unique: sessions are resolved by it. */
  readonly id: string
  readonly createdSeconds: number
}

export type DemoResponseFormat = {
  whole(written: DemoResponse): object
  /** In the order of the stream. */
  events(written: DemoResponse): Iterable<string>
}

const chat: DemoResponseFormat = {
  whole: (written) => ({
    ...chatBase(written, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: textOf(written), refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: written.answer.isTruncated ? 'length' : 'stop',
      },
    ],
    usage: chatUsage(written),
  }),
  *events(written) {
    const { request, answer } = written
    const base = chatBase(written, 'chat.completion.chunk')
    const usage = request.includesUsage ? { usage: null } : {}
    const chunk = (delta: object, finish_reason: string | null) =>
      data({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...usage })
    yield chunk({ role: 'assistant', content: '', refusal: null }, null)
    for (const content of answer.pieces) yield chunk({ content }, null)
    yield chunk({}, answer.isTruncated ? 'length' : 'stop')
    if (request.includesUsage) yield data({ ...base, choices: [], usage: chatUsage(written) })
    yield 'data: [DONE]\n\n'
  },
}

function chatBase({ id, createdSeconds, request }: DemoResponse, object: string): object {
  const { model } = request
  return { id: `chatcmpl-${id}`, object, created: createdSeconds, model, system_fingerprint: null }
}

function chatUsage({ answer }: DemoResponse): object {
  const [input, output] = [answer.inputTokens, answer.pieces.length]
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  }
}

const messages: DemoResponseFormat = {
  whole: (written) => ({
    ...messageBase(written, written.answer.pieces.length),
    content: [{ type: 'text', text: textOf(written) }],
    stop_reason: stopReason(written),
  }),
  *events(written) {
    const { answer } = written
    yield event('message_start', { message: messageBase(written, 1) })
    const content_block = { type: 'text', text: '' }
    yield event('content_block_start', { index: 0, content_block })
    yield event('ping', {})
    for (const text of answer.pieces) {
      yield event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
    }
    yield event('content_block_stop', { index: 0 })
    yield event('message_delta', {
      delta: { stop_reason: stopReason(written), stop_sequence: null },
      usage: { input_tokens: answer.inputTokens, output_tokens: answer.pieces.length },
    })
    yield event('message_stop', {})
  },
}

function messageBase({ id, request, answer }: DemoResponse, outputTokens: number): object {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: answer.inputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: outputTokens,
    },
  }
}

function stopReason({ answer }: DemoResponse): string {
  return answer.isTruncated ? 'max_tokens' : 'end_turn'
}

const responses: DemoResponseFormat = {
  whole: (written) => responseOf(written, endStatus(written)),
  *events(written) {
    const item_id = itemId(written)
    const place = { item_id, output_index: 0, content_index: 0 }
    let sequence_number = 0
    const numbered = (name: string, fields: object) =>
      event(name, { sequence_number: sequence_number++, ...fields })
    yield numbered('response.created', { response: responseOf(written, 'in_progress') })
    yield numbered('response.in_progress', { response: responseOf(written, 'in_progress') })
    const begun = { ...itemOf(written, 'in_progress'), content: [] }
    yield numbered('response.output_item.added', { output_index: 0, item: begun })
    yield numbered('response.content_part.added', { ...place, part: partOf('') })
    for (const delta of written.answer.pieces) {
      yield numbered('response.output_text.delta', { ...place, delta, logprobs: [] })
    }
    const text = textOf(written)
    yield numbered('response.output_text.done', { ...place, text, logprobs: [] })
    yield numbered('response.content_part.done', { ...place, part: partOf(text) })
    const status = endStatus(written)
    const item = itemOf(written, status)
    yield numbered('response.output_item.done', { output_index: 0, item })
    yield numbered(`response.${status}`, { response: responseOf(written, status) })
  },
}

const gemini: DemoResponseFormat = {
  whole: (written) => geminiChunk(written, textOf(written), geminiFinish(written)),
  *events(written) {
    for (const text of written.answer.pieces) yield data(geminiChunk(written, text, null))
    yield data(geminiChunk(written, '', geminiFinish(written)))
  },
}

function geminiFinish({ answer }: DemoResponse): string {
  return answer.isTruncated ? 'MAX_TOKENS' : 'STOP'
}

function geminiChunk(written: DemoResponse, text: string, finishReason: string | null): object {
  const { request, answer, id } = written
  const [input, output] = [answer.inputTokens, answer.pieces.length]
  return {
    candidates: [
      {
        content: { role: 'model', parts: [{ text }] },
        ...(finishReason === null ? {} : { finishReason }),
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
    modelVersion: request.model,
    responseId: id,
  }
}

type Status = 'in_progress' | 'completed' | 'incomplete'

function endStatus({ answer }: DemoResponse): Status {
  return answer.isTruncated ? 'incomplete' : 'completed'
}

function itemId({ id }: DemoResponse): string {
  return `msg_${id}`
}

function itemOf(written: DemoResponse, status: Status): object {
  const content = [partOf(textOf(written))]
  return { id: itemId(written), type: 'message', status, role: 'assistant', content }
}

function partOf(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function responseOf(written: DemoResponse, status: Status): object {
  const { request, id, createdSeconds } = written
  const isOver = status !== 'in_progress'
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: createdSeconds,
    status,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: null,
    max_output_tokens: request.outputTokensMax,
    model: request.model,
    output: isOver ? [itemOf(written, status)] : [],
    parallel_tool_calls: false,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'none',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: isOver ? responseUsage(written) : null,
    metadata: {},
  }
}

function responseUsage({ answer }: DemoResponse): object {
  const [input, output] = [answer.inputTokens, answer.pieces.length]
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  }
}

export const DEMO_RESPONSE_FORMATS: Readonly<Record<ApiFormat, DemoResponseFormat>> = {
  chat,
  responses,
  messages,
  gemini,
}

function textOf({ answer }: DemoResponse): string {
  return answer.pieces.join('')
}

function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** Clients read the event name from either place. */
function event(name: string, fields: object): string {
  return `event: ${name}\n${data({ type: name, ...fields })}`
}
