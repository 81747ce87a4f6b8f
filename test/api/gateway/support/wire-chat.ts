/** Answers of OpenAI's chat completions. */
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
} from './wire-parts.ts'

const CHAT_USAGE = {
  prompt_tokens: INPUT_TOKENS,
  completion_tokens: OUTPUT_TOKENS,
  total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
  prompt_tokens_details: { cached_tokens: 8, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
}

function chatCall(call: ToolCall): object {
  return {
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: argumentsOf(call) },
  }
}

function chatFinish({ toolCalls = [] }: Said): string {
  return toolCalls.length > 0 ? 'tool_calls' : 'stop'
}

export function wholeChat({ model = 'gpt-test' }: AskedBody, said: Said): object {
  const { text, toolCalls = [], id = 'chatcmpl-1' } = said
  return {
    id,
    object: 'chat.completion',
    created: CREATED,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(chatCall) }),
          refusal: null,
          annotations: [],
        },
        logprobs: null,
        finish_reason: chatFinish(said),
      },
    ],
    usage: CHAT_USAGE,
    service_tier: 'default',
    system_fingerprint: 'fp_memory',
  }
}

export function chatEvents(
  { model = 'gpt-test', stream_options }: AskedBody,
  said: Said,
): readonly Event[] {
  const { text = '', toolCalls = [], id = 'chatcmpl-1' } = said
  const hasUsage = stream_options?.include_usage === true
  const chunk = (choices: readonly object[], usage: object | null = null): Event => ({
    name: null,
    data: {
      id,
      object: 'chat.completion.chunk',
      created: CREATED,
      model,
      service_tier: 'default',
      system_fingerprint: 'fp_memory',
      choices,
      ...(hasUsage ? { usage } : {}),
      obfuscation: 'wq3',
    },
  })
  const delta = (fields: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: fields, logprobs: null, finish_reason: finish }])
  return [
    delta({
      role: 'assistant',
      content: toolCalls.length > 0 && text === '' ? null : '',
      refusal: null,
    }),
    ...steps(text, said).map((content) => delta({ content })),
    ...toolCalls.flatMap((call, index) => [
      delta({
        tool_calls: [
          {
            index,
            ...chatCall({ ...call, arguments: {} }),
            function: { name: call.name, arguments: '' },
          },
        ],
      }),
      ...steps(argumentsOf(call), said).map((piece) =>
        delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    delta({}, chatFinish(said)),
    ...(hasUsage ? [chunk([], CHAT_USAGE)] : []),
    { name: null, data: '[DONE]' },
  ]
}
