/** Answers of Anthropic's messages. */
import type Anthropic from '@anthropic-ai/sdk'
import {
  type AskedBody,
  argumentsOf,
  type Event,
  INPUT_TOKENS,
  OUTPUT_TOKENS,
  type Said,
  steps,
  type ToolCall,
} from './wire-parts.ts'

/** Typed by the client library, so that an answer has every field of its API's version. */
function messageUsage(output: number): Anthropic.Usage {
  return {
    input_tokens: INPUT_TOKENS,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 8,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    inference_geo: null,
    output_tokens: output,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
  }
}

function messageOf({ model = 'claude-test' }: AskedBody, { id = 'msg_1' }: Said) {
  return {
    id,
    type: 'message' as const,
    role: 'assistant' as const,
    model,
    container: null,
    diagnostics: null,
    stop_details: null,
    stop_sequence: null,
  }
}

function textBlock(text: string): Anthropic.TextBlock {
  return { type: 'text', text } as Anthropic.TextBlock // citations are left out where there are none
}

function callBlock(call: ToolCall): Anthropic.ToolUseBlock {
  const { id, name, arguments: input } = call
  return { type: 'tool_use', id, name, input, caller: { type: 'direct' } }
}

function stopReason({ toolCalls = [] }: Said): Anthropic.StopReason {
  return toolCalls.length > 0 ? 'tool_use' : 'end_turn'
}

export function wholeMessage(asked: AskedBody, said: Said): Anthropic.Message {
  const { text, toolCalls = [] } = said
  return {
    ...messageOf(asked, said),
    content: [...(text === undefined ? [] : [textBlock(text)]), ...toolCalls.map(callBlock)],
    stop_reason: stopReason(said),
    usage: messageUsage(OUTPUT_TOKENS),
  }
}

type StreamEvent = Anthropic.RawMessageStreamEvent | { readonly type: 'ping' }

export function messageEvents(asked: AskedBody, said: Said): readonly Event[] {
  const { text, toolCalls = [] } = said
  const blocks = [
    ...(text === undefined
      ? []
      : [
          {
            block: textBlock(''),
            deltas: steps(text, said).map((piece) => ({
              type: 'text_delta' as const,
              text: piece,
            })),
          },
        ]),
    ...toolCalls.map((call) => ({
      block: callBlock({ ...call, arguments: {} }),
      deltas: ['', ...steps(argumentsOf(call), said)].map((piece) => ({
        type: 'input_json_delta' as const,
        partial_json: piece,
      })),
    })),
  ]
  const { cache_creation, inference_geo, service_tier, speed, ...usage } =
    messageUsage(OUTPUT_TOKENS)
  const events: readonly StreamEvent[] = [
    {
      type: 'message_start',
      message: {
        ...messageOf(asked, said),
        content: [],
        stop_reason: null,
        usage: messageUsage(1),
      },
    },
    ...blocks.flatMap(({ block, deltas }, index): readonly StreamEvent[] => [
      { type: 'content_block_start', index, content_block: block },
      ...(index === 0 ? [{ type: 'ping' as const }] : []),
      ...deltas.map((delta) => ({ type: 'content_block_delta' as const, index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: {
        container: null,
        stop_details: null,
        stop_reason: stopReason(said),
        stop_sequence: null,
      },
      usage,
    },
    { type: 'message_stop' },
  ]
  return events.map((data) => ({ name: data.type, data }))
}
