import type { Trust } from '../domain/memory.ts'
import { isAssistantInstruction } from '../text/prompt-injection.ts'

/** How far a statement is believed, whoever finds it: one that looks like an instruction waits for a person. */
export function assessTrust(statement: string, trust: Trust): Trust {
  return isAssistantInstruction(statement) ? 'suspect' : trust
}
