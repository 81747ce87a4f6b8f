import type { Trust } from '../domain/memory.ts'
import { looksLikeInstruction } from '../text/prompt-injection.ts'

/** How far a statement is believed, whoever finds it: one that looks like an instruction waits for a person. */
export function trustIn(statement: string, trust: Trust): Trust {
  return looksLikeInstruction(statement) ? 'suspect' : trust
}
