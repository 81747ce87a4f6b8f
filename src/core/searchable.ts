import type { Memory } from './memory.ts'
import { indexTerms } from './terms.ts'

type Searchable = Pick<Memory, 'content' | 'key' | 'provenance'>

/** What keyword search reads of a memory: its content, its key and who said it. Every store indexes exactly this. */
export function searchableTerms({ content, key, provenance }: Searchable): readonly string[] {
  const terms = [content, key, provenance.speaker].map((text) =>
    text === null ? [] : indexTerms(text),
  )
  return terms.flat()
}

/** Whether a memory that was replaced by another version must be indexed again. */
export function isReworded(before: Searchable, after: Searchable): boolean {
  return (
    before.content !== after.content ||
    before.key !== after.key ||
    before.provenance.speaker !== after.provenance.speaker
  )
}
