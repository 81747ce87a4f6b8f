/** Adding memory tools to requests, and the tool dialect of each API. */

import type { ApiFormat } from '../../../../domain/model-call.ts'
import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { insertElements, LIST_END, setMember } from '../json-edit.ts'
import { CHAT_TOOLS } from './chat-tools.ts'
import { GEMINI_TOOLS } from './gemini-tools.ts'
import { MESSAGES_TOOLS } from './messages-tools.ts'
import { RESPONSES_TOOLS } from './responses-tools.ts'
import { MEMORY_TOOLS, type MemoryTool } from './tool-definitions.ts'
import type { ToolDialect } from './tool-dialect.ts'

export const TOOL_DIALECTS: Readonly<Record<ApiFormat, ToolDialect>> = {
  chat: CHAT_TOOLS,
  responses: RESPONSES_TOOLS,
  messages: MESSAGES_TOOLS,
  gemini: GEMINI_TOOLS,
}

/** Tool choices that let the model select the tool. */
const FREE_CHOICES: readonly Json[] = ['auto', 'any', 'required']

/**
 * Whether memory tools can be added to a request. Not when the client forbids tools or demands a certain one, uses the
 * legacy `functions`, asks for several answers or runs the request in the background.
 */
export function canAddTools(dialect: ToolDialect, body: JsonObject): boolean {
  if (dialect.canAddTools !== undefined) return dialect.canAddTools(body)
  const { tools = null, tool_choice: choice = null, n = null } = body
  if (tools !== null && !Array.isArray(tools)) return false
  if ([body.functions, body.function_call].some((each) => each !== undefined && each !== null)) {
    return false
  }
  if ((n !== null && n !== 1) || body.background === true) return false
  if (choice === null) return true
  // The provider rejects a choice without tools, and the client should see that error.
  const hasTools = Array.isArray(tools) && tools.length > 0
  return hasTools && FREE_CHOICES.includes(isObject(choice) ? (choice.type ?? null) : choice)
}

/** The tools to offer, without those whose names the client uses itself. */
export function selectOfferedTools(
  dialect: ToolDialect,
  body: JsonObject,
  names: readonly string[],
): readonly MemoryTool[] {
  const tools: readonly Json[] = Array.isArray(body.tools) ? body.tools : []
  const taken = tools.flatMap(dialect.getToolNames)
  return MEMORY_TOOLS.filter(({ name }) => names.includes(name) && !taken.includes(name))
}

/** Adds memory tools after the client's tools. */
export function addTools(
  dialect: ToolDialect,
  text: string,
  body: JsonObject,
  tools: readonly MemoryTool[],
): string {
  if (dialect.addTools !== undefined) return dialect.addTools(text, body, tools)
  const offered = tools.map(dialect.toTool)
  return Array.isArray(body.tools)
    ? insertElements(text, ['tools'], LIST_END, offered)
    : (setMember(text, [], 'tools', JSON.stringify(offered)) ?? text)
}

/** The request that the model must answer without calling memory tools. */
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
