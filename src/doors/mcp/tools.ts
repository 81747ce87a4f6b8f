/** Which tools a caller gets: those of the table, and on request those that users of other systems know. */
import type { Caller } from '../../operations/access.ts'
import { OPERATIONS } from '../../operations/index.ts'
import { compatibilityTools } from './compatibility/index.ts'
import { TELLING, tellAsJson } from './telling.ts'
import { type Latitude, type Tool, toTool } from './tool.ts'

export type ToolBox = {
  /** All of them, also those that the caller's role does not cover: calling one of these is answered, not unknown. */
  toolsFor(caller: Caller): ReadonlyMap<string, Tool>
}

/** Schemas are made once for each kind of caller, not for each request. */
export function createToolBox(options: { readonly compatibility: boolean }): ToolBox {
  const made = new Map<string, ReadonlyMap<string, Tool>>()
  return {
    toolsFor: (caller) => {
      const latitude = latitudeOf(caller)
      const kind = JSON.stringify(latitude)
      const known = made.get(kind)
      if (known !== undefined) return known
      const tools = makeTools(latitude, options.compatibility)
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

function makeTools(latitude: Latitude, compatibility: boolean): ReadonlyMap<string, Tool> {
  const own = OPERATIONS.flatMap((operation) =>
    operation.mcp === undefined
      ? []
      : [toTool(operation, latitude, TELLING[operation.mcp.tool] ?? tellAsJson)],
  )
  const others = compatibility ? compatibilityTools(own) : []
  return new Map([...own, ...others].map((tool) => [tool.name, tool]))
}
