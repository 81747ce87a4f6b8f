/** What whole and streamed chat completions have in common. */
import { isObject, type Json, type JsonObject, objectsIn } from '../../../../lib/json.ts'
import { type Round, type ToolCall, textOf } from './tool-dialect.ts'

/** Between what the model said before and after a call of ours. */
export const BREAK = '\n\n'

/** Ways to end in which a call may be half of one. */
const CUT_OFF: readonly Json[] = ['length', 'content_filter']

export function isCutOff(finishReason: Json): boolean {
  return CUT_OFF.includes(finishReason)
}

/** Where all calls were ours, the client must not look for any. */
export function finishReasonFor(said: Json, hasCalls: boolean): Json {
  return said === 'tool_calls' && !hasCalls ? 'stop' : said
}

export function toRound(message: JsonObject, own: ReadonlySet<string>, isWhole: boolean): Round {
  const calls = objectsIn(message.tool_calls).map(toCall)
  return {
    own: calls.filter(({ name }) => own.has(name)),
    others: calls.filter(({ name }) => !own.has(name)),
    parts: [message],
    isWhole,
  }
}

export function toCall(call: JsonObject): ToolCall {
  const said = isObject(call.function) ? call.function : isObject(call.custom) ? call.custom : {}
  return {
    id: textOf(call.id),
    name: textOf(said.name),
    arguments: textOf(said.arguments ?? said.input),
  }
}
