/** Which tools a caller gets: those of the table, and on request further ones and those that users of other systems know. */
import type { Caller } from '../operations/authorization.ts'
import { OPERATIONS } from '../operations/index.ts'
import { compatibilityTools } from './compatibility/index.ts'
import { createExtendedTools } from './extended-tools.ts'
import { formatAsJson, RESULT_FORMATTERS } from './result-format.ts'
import { type ScopeChoice, type Tool, toTool } from './tool.ts'
import { addTurnLookup } from './turn-reader.ts'

export type ToolRegistry = {
  /** All of them, also those that the caller's role does not cover: calling one of these is answered, not unknown. */
  toolsFor(caller: Caller): ReadonlyMap<string, Tool>
}

/** What is offered only on request: every tool costs tokens with every request to a model. */
export type ToolSets = {
  /** What users of other systems have in their prompts. */
  readonly hasCompatibilityTools: boolean
  /** What can be done about conversations and upkeep besides. */
  readonly hasExtendedTools: boolean
}

/** Schemas are made once for each kind of caller, not for each request. */
export function createToolRegistry(sets: ToolSets): ToolRegistry {
  const made = new Map<string, ReadonlyMap<string, Tool>>()
  return {
    toolsFor: (caller) => {
      const latitude = scopeChoiceOf(caller)
      const kind = JSON.stringify(latitude)
      const known = made.get(kind)
      if (known !== undefined) return known
      const tools = makeTools(latitude, sets)
      made.set(kind, tools)
      return tools
    },
  }
}

/** The owner comes from the key, and so does the user where the key is one person's. */
function scopeChoiceOf({ role, user }: Caller): ScopeChoice {
  const namesOwner = role === 'superadmin'
  return { canChooseOwner: namesOwner, canChooseUser: namesOwner || user === undefined }
}

function makeTools(latitude: ScopeChoice, sets: ToolSets): ReadonlyMap<string, Tool> {
  const own = OPERATIONS.flatMap((operation) => {
    const { mcp } = operation
    if (mcp === undefined) return []
    const tool = toTool(operation, mcp, latitude, RESULT_FORMATTERS[mcp.tool] ?? formatAsJson)
    return [mcp.tool === 'memory_get' ? addTurnLookup(tool) : tool]
  })
  const further = sets.hasExtendedTools ? createExtendedTools(latitude) : []
  const others = sets.hasCompatibilityTools ? compatibilityTools(own) : []
  return new Map([...own, ...further, ...others].map((tool) => [tool.name, tool]))
}
