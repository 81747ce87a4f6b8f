import type { Memory } from './memory.ts'
import { indexTerms } from './terms.ts'

/** What keyword search reads of a memory: its content and its key. Every store indexes exactly this. */
export function searchableTerms(memory: Pick<Memory, 'content' | 'key'>): readonly string[] {
  const terms = indexTerms(memory.content)
  return memory.key === null ? terms : [...terms, ...indexTerms(memory.key)]
}
