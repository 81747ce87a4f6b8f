/**
 * Selects the tools of a caller: the standard set and, on request, the extended and compatibility
 * sets.
 */
import type { Caller } from '../operations/authorization.ts'
import { OPERATIONS } from '../operations/index.ts'
import { compatibilityTools } from './compatibility/index.ts'
import { createExtendedTools } from './extended-tools.ts'
import { formatAsJson, RESULT_FORMATTERS } from './result-format.ts'
import { type ScopeChoice, type Tool, toTool } from './tool.ts'
import { addTurnLookup } from './turn-reader.ts'

export type ToolRegistry = {
  /**
   * All tools, including those beyond the caller's role: calling one is a permission error, not an
   * unknown tool.
   */
  toolsFor(caller: Caller): ReadonlyMap<string, Tool>
}

/** Optional sets: each listed tool costs tokens in every model request. */
export type ToolSets = {
  /** Tools with the names of other systems. */
  readonly hasCompatibilityTools: boolean
  /** Tools for conversations and maintenance. */
  readonly hasExtendedTools: boolean
}

/** Schemas are built once per combination of scope choices. */
export function createToolRegistry(sets: ToolSets): ToolRegistry {
  const cache = new Map<string, ReadonlyMap<string, Tool>>()
  return {
    toolsFor: (caller) => {
      const choice = scopeChoiceOf(caller)
      const cacheKey = JSON.stringify(choice)
      const known = cache.get(cacheKey)
      if (known !== undefined) return known
      const tools = makeTools(choice, sets)
      cache.set(cacheKey, tools)
      return tools
    },
  }
}

/** The owner comes from the key, and so does the user for single-user keys. */
function scopeChoiceOf({ role, user }: Caller): ScopeChoice {
  const namesOwner = role === 'superadmin'
  return { canChooseOwner: namesOwner, canChooseUser: namesOwner || user === undefined }
}

function makeTools(choice: ScopeChoice, sets: ToolSets): ReadonlyMap<string, Tool> {
  const own = OPERATIONS.flatMap((operation) => {
    const { mcp } = operation
    if (mcp === undefined) return []
    const tool = toTool(operation, mcp, choice, RESULT_FORMATTERS[mcp.tool] ?? formatAsJson)
    return [mcp.tool === 'memory_get' ? addTurnLookup(tool) : tool]
  })
  const extended = sets.hasExtendedTools ? createExtendedTools(choice) : []
  const compatible = sets.hasCompatibilityTools ? compatibilityTools(own) : []
  return new Map([...own, ...extended, ...compatible].map((tool) => [tool.name, tool]))
}
