/** What is asked of `qmd`: a question in words, and nothing that it would take for syntax. Pure. */

import { STOP_WORDS } from '../../text/search/stopwords.ts'
import { trimLoneSurrogate } from '../../text/well-formed-text.ts'

/** `search` goes by words, `vsearch` by meaning, `query` by both and a model that ranks. */
export const QMD_MODES = ['search', 'vsearch', 'query'] as const
export type QmdMode = (typeof QMD_MODES)[number]

const QUERY_CHARACTERS_MAX = 1_000
const TYPED_LINE = /^(lex|vec|hyde|expand|intent):/i
const AROUND_WORD = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu

/** On one line; no quotes, no words that begin with a minus, no name of a kind of search before it. */
export function toPlainQuery(text: string, mode: QmdMode): string {
  const plain = text
    .replace(/[\p{C}\s"]+/gu, ' ')
    .replace(/(^|\s)-+/g, '$1')
    .trim()
    .replace(TYPED_LINE, '$1 ')
  const asked = mode === 'search' ? selectContentTerms(plain) : plain
  return trimLoneSurrogate(asked.slice(0, QUERY_CHARACTERS_MAX)).trim()
}

/** It looks for files that hold all words, so those that say nothing would hide what is meant. */
function selectContentTerms(text: string): string {
  const words = text.split(' ').map((word) => word.replace(AROUND_WORD, ''))
  const some = words.filter((word) => word !== '')
  const rest = some.filter((word) => !STOP_WORDS.has(word.toLowerCase().replace(/['’]/g, '')))
  return (rest.length > 0 ? rest : some).join(' ')
}

/** Nothing that is asked can become an option, as it stands behind the end of all options. */
export function buildSearchArguments(
  mode: QmdMode,
  query: string,
  limit: number,
  collections: readonly { readonly name: string }[],
): readonly string[] {
  const among = collections.flatMap(({ name }) => ['-c', name])
  return [mode, '--json', '-n', String(limit), ...among, '--', query]
}
