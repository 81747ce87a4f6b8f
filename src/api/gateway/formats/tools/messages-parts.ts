/** What whole and streamed messages of Anthropic's have in common. */
import type { Json, JsonObject } from '../../../../lib/json.ts'
import { type ToolCall, type ToolRound, toText } from './tool-dialect.ts'

/** The one way to end in which the model waits for results. */
export const TOOL_USE_STOP_REASON = 'tool_use'

/** Where all calls were ours, the client must not look for any. */
export function rewriteStopReason(said: Json, hasCalls: boolean): Json {
  return said === TOOL_USE_STOP_REASON && !hasCalls ? 'end_turn' : said
}

export function isToolUse({ type }: JsonObject): boolean {
  return type === 'tool_use'
}

export function isMemoryToolUse(block: JsonObject, own: ReadonlySet<string>): boolean {
  return isToolUse(block) && own.has(toText(block.name))
}

export function parseToolUse({ id, name, input }: JsonObject): ToolCall {
  return { id: toText(id), name: toText(name), arguments: JSON.stringify(input ?? {}) }
}

export function parseMessagesRound(
  blocks: readonly JsonObject[],
  own: ReadonlySet<string>,
  stopReason: Json,
): ToolRound {
  const calls = blocks.filter(isToolUse).map(parseToolUse)
  return {
    memoryCalls: calls.filter(({ name }) => own.has(name)),
    clientCalls: calls.filter(({ name }) => !own.has(name)),
    parts: blocks,
    isComplete: stopReason === TOOL_USE_STOP_REASON,
  }
}
