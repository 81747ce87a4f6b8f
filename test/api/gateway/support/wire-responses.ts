/** Answers of OpenAI's Responses. */
import {
  type AskedBody,
  argumentsOf,
  CREATED,
  type Event,
  INPUT_TOKENS,
  OUTPUT_TOKENS,
  type Said,
  steps,
  type ToolCall,
  type Typed,
} from './wire-parts.ts'

const RESPONSE_USAGE = {
  input_tokens: INPUT_TOKENS,
  input_tokens_details: { cached_tokens: 8 },
  output_tokens: OUTPUT_TOKENS,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
}

function textItem(id: string, text: string, status: string): Item {
  const content = [{ type: 'output_text', annotations: [], logprobs: [], text }]
  return {
    id,
    type: 'message',
    status,
    role: 'assistant',
    content: status === 'completed' ? content : [],
  }
}

function callItem(call: ToolCall, status: string): Item {
  const done = status === 'completed' ? argumentsOf(call) : ''
  return {
    id: `fc_${call.id}`,
    type: 'function_call',
    status,
    call_id: call.id,
    name: call.name,
    arguments: done,
  }
}

type Item = { readonly id: string; readonly [field: string]: unknown }

function responseOf(asked: AskedBody, said: Said, status: string, output: readonly Item[]): object {
  return {
    id: said.id ?? 'resp_1',
    object: 'response',
    created_at: CREATED,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: asked.model ?? 'gpt-test',
    output,
    parallel_tool_calls: true,
    previous_response_id: asked.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: true,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: status === 'completed' ? RESPONSE_USAGE : null,
    user: null,
    metadata: {},
  }
}

export function wholeResponse(asked: AskedBody, said: Said): object {
  const { text, toolCalls = [] } = said
  return responseOf(asked, said, 'completed', [
    ...(text === undefined ? [] : [textItem('msg_1', text, 'completed')]),
    ...toolCalls.map((call) => callItem(call, 'completed')),
  ])
}

export function responseEvents(asked: AskedBody, said: Said): readonly Event[] {
  const { text, toolCalls = [] } = said
  const items = [
    ...(text === undefined ? [] : [textEvents(text, said)]),
    ...toolCalls.map((call) => callEvents(call, said)),
  ]
  const whole = wholeResponse(asked, said)
  const begun = responseOf(asked, said, 'in_progress', [])
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap((fields, output_index) => fields.map((each) => ({ ...each, output_index }))),
    { type: 'response.completed', response: whole },
  ]
  return events.map((fields, sequence_number) => ({
    name: fields.type,
    data: { ...fields, sequence_number },
  }))
}

function textEvents(text: string, said: Said): readonly Typed[] {
  const done = textItem('msg_1', text, 'completed')
  const where = { item_id: done.id, content_index: 0 }
  const part = { type: 'output_text', annotations: [], logprobs: [], text: '' }
  return [
    { type: 'response.output_item.added', item: textItem('msg_1', '', 'in_progress') },
    { type: 'response.content_part.added', ...where, part },
    ...steps(text, said).map((delta) => ({
      type: 'response.output_text.delta',
      ...where,
      delta,
      logprobs: [],
      obfuscation: 'wq3',
    })),
    { type: 'response.output_text.done', ...where, text, logprobs: [] },
    { type: 'response.content_part.done', ...where, part: { ...part, text } },
    { type: 'response.output_item.done', item: done },
  ]
}

function callEvents(call: ToolCall, said: Said): readonly Typed[] {
  const done = callItem(call, 'completed')
  return [
    { type: 'response.output_item.added', item: callItem(call, 'in_progress') },
    ...steps(argumentsOf(call), said).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      item_id: done.id,
      delta,
      obfuscation: 'wq3',
    })),
    {
      type: 'response.function_call_arguments.done',
      item_id: done.id,
      arguments: argumentsOf(call),
    },
    { type: 'response.output_item.done', item: done },
  ]
}
