/** The compatibility set: names that users of other systems have in their prompts. */
import type { Tool } from '../tool.ts'
import { assistantTools } from './assistants.ts'
import { gatewayTools } from './gateway.ts'
import { graphTools } from './graph-tools.ts'

export function compatibilityTools(): readonly Tool[] {
  return [...gatewayTools(), ...assistantTools(), ...graphTools()]
}
