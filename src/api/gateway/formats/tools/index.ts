/** Memory as tools, the pure part: what is offered, and the words of each API for it. */

import type { ApiFormat } from '../../../../domain/model-call.ts'
import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { setMember } from '../json-edit.ts'
import { CHAT_TOOLS } from './chat-tools.ts'
import { insertElements, LIST_END } from './list-edit.ts'
import { MESSAGES_TOOLS } from './messages-tools.ts'
import { RESPONSES_TOOLS } from './responses-tools.ts'
import { MEMORY_TOOLS, type MemoryTool } from './tool-definitions.ts'
import type { ToolDialect } from './tool-dialect.ts'

export { MEMORY_TOOL_NAMES, type MemoryToolName } from './tool-definitions.ts'

export type {
  AnsweredToolRound as AnsweredRound,
  ProviderError as Fault,
  StreamMerger as Stitcher,
  ToolCall,
  ToolDialect,
  ToolRound as Round,
} from './tool-dialect.ts'

export const TOOL_DIALECTS: Readonly<Record<ApiFormat, ToolDialect>> = {
  chat: CHAT_TOOLS,
  responses: RESPONSES_TOOLS,
  messages: MESSAGES_TOOLS,
}

/** Choices that leave it to the model which tool it calls. */
const FREE_CHOICES: readonly Json[] = ['auto', 'any', 'required']

/**
 * Whether a request has room for tools of ours. Not when the client forbids tools, or wants a certain one; not in older
 * requests, which call them functions; and not when there will be several answers, or none that anybody waits for.
 */
export function canAddTools(body: JsonObject): boolean {
  const { tools = null, tool_choice: choice = null, n = null } = body
  if (tools !== null && !Array.isArray(tools)) return false
  if ([body.functions, body.function_call].some((each) => each !== undefined && each !== null)) {
    return false
  }
  if ((n !== null && n !== 1) || body.background === true) return false
  if (choice === null) return true
  // A choice without tools is refused, and the client should hear so.
  const hasTools = Array.isArray(tools) && tools.length > 0
  return hasTools && FREE_CHOICES.includes(isObject(choice) ? (choice.type ?? null) : choice)
}

/** Of the tools that may be offered, those whose names the client doesn't use itself. */
export function selectOfferedTools(
  dialect: ToolDialect,
  body: JsonObject,
  names: readonly string[],
): readonly MemoryTool[] {
  const tools: readonly Json[] = Array.isArray(body.tools) ? body.tools : []
  const taken = tools.map(dialect.getToolName)
  return MEMORY_TOOLS.filter(({ name }) => names.includes(name) && !taken.includes(name))
}

/** The request with tools of ours behind the client's own. */
export function addTools(
  dialect: ToolDialect,
  text: string,
  body: JsonObject,
  tools: readonly MemoryTool[],
): string {
  const offered = tools.map(dialect.toTool)
  return Array.isArray(body.tools)
    ? insertElements(text, ['tools'], LIST_END, offered)
    : (setMember(text, [], 'tools', JSON.stringify(offered)) ?? text)
}

/** The request that the model must answer without calling any tool of ours. */
export function forbidTools(
  dialect: ToolDialect,
  text: string,
  body: JsonObject,
  tools: readonly MemoryTool[],
): string {
  const hasTools = Array.isArray(body.tools) && body.tools.length > 0
  if (hasTools || !dialect.needsTools) return text
  const offered = addTools(dialect, text, body, tools)
  return setMember(offered, [], 'tool_choice', '{"type":"none"}') ?? offered
}
