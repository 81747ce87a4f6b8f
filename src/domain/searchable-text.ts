import { extractTerms, extractTermText, type TermText } from '../text/search/terms.ts'
import type { Memory } from './memory.ts'

type Searchable = Pick<Memory, 'content' | 'key' | 'provenance'>

/** The terms of a document in the keyword index. Every store indexes exactly these: content, key and speaker. */
export function listSearchTerms(document: Searchable): readonly string[] {
  const terms: string[] = []
  for (const text of getSearchableTexts(document)) {
    for (const term of extractTerms(text)) terms.push(term)
  }
  return terms
}

/** The same terms as one text. */
export function buildSearchText(document: Searchable): TermText {
  const texts = getSearchableTexts(document)
    .map(extractTermText)
    .filter(({ count }) => count > 0)
  return {
    terms: texts.map(({ terms }) => terms).join(' '),
    count: texts.reduce((sum, { count }) => sum + count, 0),
  }
}

function getSearchableTexts({ content, key, provenance }: Searchable): readonly string[] {
  return [content, key, provenance.speaker].filter((text) => text !== null)
}

/** Whether a new version of a memory must be indexed again. */
export function hasSearchTextChanged(before: Searchable, after: Searchable): boolean {
  return (
    before.content !== after.content ||
    before.key !== after.key ||
    before.provenance.speaker !== after.provenance.speaker
  )
}
