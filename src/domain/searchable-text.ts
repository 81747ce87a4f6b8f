import { extractTerms, extractTermText, type TermText } from '../text/search/terms.ts'
import type { Memory } from './memory.ts'

type Searchable = Pick<Memory, 'content' | 'key' | 'provenance'>

/** What keyword search reads of a document: its content, its key and who said it. Every store indexes exactly this. */
export function listSearchTerms({ content, key, provenance }: Searchable): readonly string[] {
  return collectTerms([content, key, provenance.speaker])
}

/** The same as one text. */
export function buildSearchText({ content, key, provenance }: Searchable): TermText {
  const texts = [content, key, provenance.speaker]
    .flatMap((text) => (text === null ? [] : extractTermText(text)))
    .filter(({ count }) => count > 0)
  return {
    terms: texts.map(({ terms }) => terms).join(' '),
    count: texts.reduce((sum, { count }) => sum + count, 0),
  }
}

function collectTerms(texts: readonly (string | null)[]): readonly string[] {
  const terms: string[] = []
  for (const text of texts) {
    if (text === null) continue
    for (const term of extractTerms(text)) terms.push(term)
  }
  return terms
}

/** Whether a memory that was replaced by another version must be indexed again. */
export function hasSearchTextChanged(before: Searchable, after: Searchable): boolean {
  return (
    before.content !== after.content ||
    before.key !== after.key ||
    before.provenance.speaker !== after.provenance.speaker
  )
}
