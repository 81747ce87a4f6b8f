/** What whole and streamed answers of OpenAI's Responses have in common. */
import { isObject, type Json, type JsonObject, objectsIn } from '../../../../lib/json.ts'
import { type Round, type ToolCall, textOf } from './tool-dialect.ts'
import { sumUsage } from './usage-sum.ts'

const CALLS: readonly Json[] = ['function_call', 'custom_tool_call']

export function isCall({ type }: JsonObject): boolean {
  return CALLS.includes(type ?? null)
}

export function isOwnCall(item: JsonObject, own: ReadonlySet<string>): boolean {
  return item.type === 'function_call' && own.has(textOf(item.name))
}

export function toCall({ call_id, name, arguments: given, input }: JsonObject): ToolCall {
  return { id: textOf(call_id), name: textOf(name), arguments: textOf(given ?? input) }
}

export function toRound(
  items: readonly JsonObject[],
  own: ReadonlySet<string>,
  isWhole: boolean,
): Round {
  const calls = items.filter(isCall).map(toCall)
  return {
    own: calls.filter(({ name }) => own.has(name)),
    others: calls.filter(({ name }) => !own.has(name)),
    parts: items,
    isWhole,
  }
}

/** What is told of a response besides its output: without our tools, and with what the rounds before used. */
export function asOneAnswer(
  response: JsonObject,
  own: ReadonlySet<string>,
  usageBefore: Json,
): JsonObject {
  const tools = objectsIn(response.tools)
  const shown = tools.filter((tool) => !(tool.type === 'function' && own.has(textOf(tool.name))))
  return {
    ...response,
    ...(shown.length === tools.length ? {} : { tools: shown }),
    ...(isObject(response.usage) ? { usage: sumUsage(usageBefore, response.usage) } : {}),
  }
}

export function tellsOfOwn(response: JsonObject, own: ReadonlySet<string>): boolean {
  return objectsIn(response.tools).some(({ name }) => own.has(textOf(name)))
}
