import { isLessTrusted, type Trust } from '../domain/memory.ts'
import { isAssistantInstruction } from '../text/prompt-injection.ts'

/** Whose words a statement holds. */
export const AUTHORS = ['person', 'model', 'tool', 'import'] as const

export type Author = (typeof AUTHORS)[number]

const TRUST_BY_AUTHOR: Readonly<Record<Author, Trust>> = {
  person: 'user',
  model: 'assistant',
  tool: 'tool',
  import: 'import',
}

/** The trust of a statement from any source: one that looks like an instruction waits for review. */
export function assessTrust(statement: string, trust: Trust): Trust {
  return isAssistantInstruction(statement) ? 'suspect' : trust
}

/**
 * The trust of what an author writes. A person decides about their own statements. Any other author can claim less trust
 * than it has, never more, and everything that it writes is examined: `texts` are the content and other text fields.
 */
export function assessAuthorship(author: Author, texts: readonly string[], claimed?: Trust): Trust {
  const own = TRUST_BY_AUTHOR[author]
  if (author === 'person') return claimed ?? own
  if (texts.some(containsInstruction)) return 'suspect'
  return claimed !== undefined && isLessTrusted(claimed, own) ? claimed : own
}

/** The detector reads a bounded part of a text, and an instruction may stand anywhere. */
const WINDOW_CHARACTERS = 4_000
const WINDOW_OVERLAP = 400

function containsInstruction(text: string): boolean {
  for (let start = 0; ; start += WINDOW_CHARACTERS - WINDOW_OVERLAP) {
    if (isAssistantInstruction(text.slice(start, start + WINDOW_CHARACTERS))) return true
    if (start + WINDOW_CHARACTERS >= text.length) return false
  }
}
