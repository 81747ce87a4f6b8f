/** A text with the words of a search marked. */

/** Shorter words are everywhere. */
const WORD_CHARACTERS_MIN = 2

export function Highlight({ text, query }: { text: string; query: string }) {
  const pattern = patternOf(query)
  if (pattern === null) return text
  return text.split(pattern).map((part, index) =>
    // Splitting by a group leaves the matches at odd places.
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity
      <mark key={index}>{part}</mark>
    ) : (
      part
    ),
  )
}

function patternOf(query: string): RegExp | null {
  const words = query
    .split(/[\s,;.!?"'()]+/u)
    .filter((word) => word.length >= WORD_CHARACTERS_MIN)
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  return words.length === 0 ? null : new RegExp(`(${words.join('|')})`, 'giu')
}
