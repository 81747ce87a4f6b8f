/** Which tools a caller gets: those of the table, and on request further ones and those that users of other systems know. */
import type { Caller } from '../operations/authorization.ts'
import { OPERATIONS } from '../operations/index.ts'
import { compatibilityTools } from './compatibility/index.ts'
import { furtherTools } from './extended-tools.ts'
import { TELLING, tellAsJson } from './result-format.ts'
import { type Latitude, type Tool, toTool } from './tool.ts'
import { readingTurns } from './turn-reader.ts'

export type ToolBox = {
  /** All of them, also those that the caller's role does not cover: calling one of these is answered, not unknown. */
  toolsFor(caller: Caller): ReadonlyMap<string, Tool>
}

/** What is offered only on request: every tool costs tokens with every request to a model. */
export type ToolSets = {
  /** What users of other systems have in their prompts. */
  readonly compatibility: boolean
  /** What can be done about conversations and upkeep besides. */
  readonly further: boolean
}

/** Schemas are made once for each kind of caller, not for each request. */
export function createToolBox(sets: ToolSets): ToolBox {
  const made = new Map<string, ReadonlyMap<string, Tool>>()
  return {
    toolsFor: (caller) => {
      const latitude = latitudeOf(caller)
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
function latitudeOf({ role, user }: Caller): Latitude {
  const namesOwner = role === 'superadmin'
  return { namesOwner, namesUser: namesOwner || user === undefined }
}

function makeTools(latitude: Latitude, sets: ToolSets): ReadonlyMap<string, Tool> {
  const own = OPERATIONS.flatMap((operation) => {
    const { mcp } = operation
    if (mcp === undefined) return []
    const tool = toTool(operation, mcp, latitude, TELLING[mcp.tool] ?? tellAsJson)
    return [mcp.tool === 'memory_get' ? readingTurns(tool) : tool]
  })
  const further = sets.further ? furtherTools(latitude) : []
  const others = sets.compatibility ? compatibilityTools(own) : []
  return new Map([...own, ...further, ...others].map((tool) => [tool.name, tool]))
}
