/**
 * The small notation the language tables are written in: a blank stands for any run of blanks, and `{name}`
 * for the fragment of that name. It keeps the tables readable; it adds no power to regular expressions.
 */
import type { PatternCategory, PatternCue } from './types.ts'

export type Fragments = Readonly<Record<string, string>>

/** 1 … 10. Who somebody is outlasts what they are about to do. */
const IMPORTANCE: Readonly<Record<PatternCategory, number>> = {
  fact: 7,
  relationship: 7,
  preference: 6,
  decision: 6,
  event: 5,
  pattern: 5,
}

/** For names, allergies and the like: getting these wrong offends or harms. */
export const CRITICAL_IMPORTANCE = 9

export const NEVER_MATCHING = /(?!)/u

/**
 * The letters of the languages written with blanks. `\p{L}` is what is meant, but rules full of it compile
 * so slowly that the first call took a second.
 */
const LETTER = 'a-z\\u00aa-\\u024f'

/** No word goes on here. A rule may end in a blank or look ahead at a word that begins right after it. */
const WORD_END = `(?!(?<=[${LETTER}\\d])[${LETTER}\\d])`

export type GrammarNotation = {
  /** Matches at the beginning of a text, up to the end of a word. */
  readonly opening: (...sources: readonly string[]) => RegExp
  /** Matches whole words anywhere in a text. */
  readonly anywhere: (...sources: readonly string[]) => RegExp
  readonly cue: (category: PatternCategory, source: string, importance?: number) => PatternCue
}

/** Notation for languages that put blanks between words. */
export function createSpacedNotation(fragments: Fragments): GrammarNotation {
  return notation(fragments, 'i', `(?<![${LETTER}\\d])`, WORD_END)
}

/** Notation for languages that do not: there is no word end to insist on. */
export function createUnspacedNotation(fragments: Fragments): GrammarNotation {
  return notation(fragments, 'iu', '', '')
}

function notation(
  fragments: Fragments,
  flags: string,
  before: string,
  after: string,
): GrammarNotation {
  const opening = (...sources: readonly string[]) =>
    new RegExp(`^(?:${expand(sources, fragments)})${after}`, flags)
  return {
    opening,
    anywhere: (...sources) =>
      new RegExp(`${before}(?:${expand(sources, fragments)})${after}`, flags),
    cue: (category, source, importance = IMPORTANCE[category]) => ({
      category,
      importance,
      pattern: opening(source),
    }),
  }
}

function expand(sources: readonly string[], fragments: Fragments): string {
  let source = sources.join('|')
  // Fragments may use fragments declared before them, never themselves, so this ends.
  for (const [name, value] of Object.entries(fragments).reverse()) {
    source = source.replaceAll(`{${name}}`, `(?:${value})`)
  }
  return source
    .replaceAll(' ', '\\s+')
    .replace(/\[[^\]]*\]|\\p\{L\}/gu, (part) =>
      part.startsWith('[') ? part.replaceAll('\\p{L}', LETTER) : `[${LETTER}]`,
    )
}
