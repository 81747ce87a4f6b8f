/**
 * Streams in the shapes in which the three services send them, with what is easily forgotten: comments, pings, chunks
 * without choices, thoughts with their signatures, fields that nobody announced.
 */
import type { PathFormat } from './wire-format.ts'

function chatChunk(choices: readonly object[], more: object = {}): string {
  const chunk = {
    id: 'chatcmpl-CJx4Tg7',
    object: 'chat.completion.chunk',
    created: 1_767_225_600,
    model: 'gpt-5-2025-08-07',
    service_tier: 'default',
    system_fingerprint: 'fp_560af6e559',
    choices,
    usage: null,
    obfuscation: 'wX2p9',
    ...more,
  }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

function chatDelta(delta: object, finish: string | null = null): string {
  return chatChunk([{ index: 0, delta, logprobs: null, finish_reason: finish }])
}

function namedEvent(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

const MESSAGE = {
  id: 'msg_68af',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'Jasmin – 茉莉花茶 ☕️' }],
}
const RESPONSE = { id: 'resp_68af', object: 'response', created_at: 1_767_225_600, model: 'gpt-5' }
const PART = { item_id: 'msg_68af', output_index: 1, content_index: 0 }

export const RECORDED: { readonly [Format in PathFormat]: string } = {
  chat: [
    ': OPENROUTER PROCESSING\n\n',
    chatDelta({ role: 'assistant', content: '', refusal: null }),
    chatDelta({ content: 'Jasmin – ' }),
    ':\n\n',
    chatDelta({ content: '茉莉花茶' }),
    chatDelta({ content: ' ☕️' }),
    chatDelta({}, 'stop'),
    chatChunk([], {
      usage: {
        prompt_tokens: 19,
        completion_tokens: 12,
        total_tokens: 31,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, accepted_prediction_tokens: 0 },
      },
    }),
    'data: [DONE]\n\n',
  ].join(''),
  responses: [
    namedEvent('response.created', {
      sequence_number: 0,
      response: { ...RESPONSE, status: 'in_progress', output: [], usage: null },
    }),
    namedEvent('response.output_item.added', {
      ...{ sequence_number: 1, output_index: 0 },
      item: { id: 'rs_68af', type: 'reasoning', summary: [] },
    }),
    namedEvent('response.output_item.done', {
      ...{ sequence_number: 2, output_index: 0 },
      item: { id: 'rs_68af', type: 'reasoning', summary: [] },
    }),
    namedEvent('response.output_item.added', {
      ...{ sequence_number: 3, output_index: 1 },
      item: { ...MESSAGE, status: 'in_progress', content: [] },
    }),
    namedEvent('response.content_part.added', { ...PART, sequence_number: 4 }),
    ': keep-alive\n\n',
    ...['Jasmin – ', '茉莉花茶', ' ☕️'].map((delta, index) =>
      namedEvent('response.output_text.delta', {
        ...PART,
        ...{ sequence_number: 5 + index, delta, logprobs: [], obfuscation: 'k3' },
      }),
    ),
    namedEvent('response.output_text.done', {
      ...PART,
      ...{ sequence_number: 8, text: MESSAGE.content[0]?.text },
    }),
    namedEvent('response.output_item.done', { sequence_number: 9, output_index: 1, item: MESSAGE }),
    namedEvent('response.completed', {
      sequence_number: 10,
      response: {
        ...RESPONSE,
        status: 'completed',
        output: [{ id: 'rs_68af', type: 'reasoning', summary: [] }, MESSAGE],
        usage: {
          input_tokens: 19,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 12,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 31,
        },
      },
    }),
  ].join(''),
  messages: [
    namedEvent('message_start', {
      message: {
        ...{ id: 'msg_01XF', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' },
        ...{ content: [], stop_reason: null, stop_sequence: null },
        usage: { input_tokens: 19, cache_read_input_tokens: 0, output_tokens: 1 },
      },
    }),
    namedEvent('content_block_start', {
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    }),
    namedEvent('ping', {}),
    namedEvent('content_block_delta', {
      index: 0,
      delta: { type: 'thinking_delta', thinking: 'Tea, then – 茶.' },
    }),
    namedEvent('content_block_delta', {
      index: 0,
      delta: { type: 'signature_delta', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h==' },
    }),
    namedEvent('content_block_stop', { index: 0 }),
    namedEvent('content_block_start', { index: 1, content_block: { type: 'text', text: '' } }),
    ...['Jasmin – ', '茉莉花茶', ' ☕️'].map((text) =>
      namedEvent('content_block_delta', { index: 1, delta: { type: 'text_delta', text } }),
    ),
    namedEvent('ping', {}),
    namedEvent('content_block_stop', { index: 1 }),
    namedEvent('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 12 },
    }),
    namedEvent('message_stop', {}),
  ].join(''),
}
