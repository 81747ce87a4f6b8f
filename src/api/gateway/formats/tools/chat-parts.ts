/** What whole and streamed chat completions have in common. */
import { filterObjects, isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { type ToolCall, type ToolRound, toText } from './tool-dialect.ts'

/** Between what the model said before and after a call of ours. */
export const ROUND_SEPARATOR = '\n\n'

/** Ways to end in which a call may be half of one. */
const CUT_OFF: readonly Json[] = ['length', 'content_filter']

export function isTruncatedAnswer(finishReason: Json): boolean {
  return CUT_OFF.includes(finishReason)
}

/** Where all calls were ours, the client must not look for any. */
export function rewriteFinishReason(said: Json, hasCalls: boolean): Json {
  return said === 'tool_calls' && !hasCalls ? 'stop' : said
}

export function parseChatRound(
  message: JsonObject,
  own: ReadonlySet<string>,
  isWhole: boolean,
): ToolRound {
  const calls = filterObjects(message.tool_calls).map(parseChatToolCall)
  return {
    memoryCalls: calls.filter(({ name }) => own.has(name)),
    clientCalls: calls.filter(({ name }) => !own.has(name)),
    parts: [message],
    isComplete: isWhole,
  }
}

export function parseChatToolCall(call: JsonObject): ToolCall {
  const said = isObject(call.function) ? call.function : isObject(call.custom) ? call.custom : {}
  return {
    id: toText(call.id),
    name: toText(said.name),
    arguments: toText(said.arguments ?? said.input),
  }
}
