/** A piece of a text that shows where it says what was looked for. */

const WORD = /[\p{L}\p{M}\p{N}]{2,}/gu
/** How much stands before the word that was found: enough to know what it is about. */
const BEFORE_SHARE = 1 / 4

/** One line of at most so many characters, around the longest word of the query that the text has; else its beginning. */
export function extractExcerpt(content: string, query: string, charactersMax: number): string {
  const characters = [...content.replaceAll(/\s+/gu, ' ').trim()]
  if (characters.length <= charactersMax) return characters.join('')
  const room = charactersMax - 2 // for the marks of omission
  const at = Math.max(0, findWordIndex(characters, query) - Math.floor(room * BEFORE_SHARE))
  const start = Math.min(at, characters.length - room)
  const piece = characters.slice(start, start + room)
  const isCut = { before: start > 0, after: start + room < characters.length }
  return `${isCut.before ? '…' : ''}${piece.join('').trim()}${isCut.after ? '…' : ''}`
}

function findWordIndex(characters: readonly string[], query: string): number {
  // Letter by letter, because lower case can be longer: positions must stay those of the text.
  const text = characters.map((character) => character.toLowerCase().slice(0, character.length))
  const joined = text.join('')
  const words = [...new Set(query.toLowerCase().match(WORD) ?? [])]
  for (const word of words.sort((a, b) => b.length - a.length)) {
    const index = joined.indexOf(word)
    if (index >= 0) return [...joined.slice(0, index)].length
  }
  return 0
}
