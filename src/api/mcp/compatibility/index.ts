/** Compatibility tools: names that users of other systems have in their prompts. */
import type { Tool } from '../tool.ts'
import { assistantTools } from './assistant-tools.ts'
import { fileTools } from './file-tools.ts'
import { graphTools } from './graph-tools.ts'
import { gatewayTools } from './omniroute-tools.ts'

/** Our tools that accept more fields in this set. */
export function compatibilityTools(own: readonly Tool[] = []): readonly Tool[] {
  return [...gatewayTools(), ...assistantTools(), ...fileTools(own), ...graphTools()]
}
