/** What whole and streamed answers of OpenAI's Responses have in common. */
import { filterObjects, isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { type ToolCall, type ToolRound, toText } from './tool-dialect.ts'
import { sumUsage } from './usage-sum.ts'

const CALLS: readonly Json[] = ['function_call', 'custom_tool_call']

export function isFunctionCall({ type }: JsonObject): boolean {
  return CALLS.includes(type ?? null)
}

export function isMemoryFunctionCall(item: JsonObject, own: ReadonlySet<string>): boolean {
  return item.type === 'function_call' && own.has(toText(item.name))
}

export function parseFunctionCall({
  call_id,
  name,
  arguments: given,
  input,
}: JsonObject): ToolCall {
  return { id: toText(call_id), name: toText(name), arguments: toText(given ?? input) }
}

export function parseResponsesRound(
  items: readonly JsonObject[],
  own: ReadonlySet<string>,
  isWhole: boolean,
): ToolRound {
  const calls = items.filter(isFunctionCall).map(parseFunctionCall)
  return {
    memoryCalls: calls.filter(({ name }) => own.has(name)),
    clientCalls: calls.filter(({ name }) => !own.has(name)),
    parts: items,
    isComplete: isWhole,
  }
}

/** What is told of a response besides its output: without our tools, and with what the rounds before used. */
export function mergeResponses(
  response: JsonObject,
  own: ReadonlySet<string>,
  usageBefore: Json,
): JsonObject {
  const tools = filterObjects(response.tools)
  const shown = tools.filter((tool) => !(tool.type === 'function' && own.has(toText(tool.name))))
  return {
    ...response,
    ...(shown.length === tools.length ? {} : { tools: shown }),
    ...(isObject(response.usage) ? { usage: sumUsage(usageBefore, response.usage) } : {}),
  }
}

export function hasMemoryToolData(response: JsonObject, own: ReadonlySet<string>): boolean {
  return filterObjects(response.tools).some(({ name }) => own.has(toText(name)))
}
