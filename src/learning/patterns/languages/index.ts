/** The languages, and the order in which to try them on a text. */
import type { Grammar } from '../types.ts'
import { CHINESE_GRAMMAR } from './chinese-grammar.ts'
import { ENGLISH_GRAMMAR } from './english-grammar.ts'
import { FRENCH_GRAMMAR } from './french-grammar.ts'
import { GERMAN_GRAMMAR } from './german-grammar.ts'
import { JAPANESE_GRAMMAR } from './japanese-grammar.ts'
import { PORTUGUESE_GRAMMAR } from './portuguese-grammar.ts'
import { SPANISH_GRAMMAR } from './spanish-grammar.ts'

const GRAMMARS: readonly Grammar[] = [
  ENGLISH_GRAMMAR,
  GERMAN_GRAMMAR,
  SPANISH_GRAMMAR,
  FRENCH_GRAMMAR,
  PORTUGUESE_GRAMMAR,
  CHINESE_GRAMMAR,
  JAPANESE_GRAMMAR,
]

/** Most typical first: Spanish and Portuguese share whole sentences, Chinese and Japanese share characters. */
export function rankGrammars(speech: string): readonly Grammar[] {
  return GRAMMARS.map((grammar) => ({ grammar, count: countLanguageHints(speech, grammar) }))
    .sort((one, other) => other.count - one.count)
    .map(({ grammar }) => grammar)
}

const CUES: readonly RegExp[] = GRAMMARS.flatMap(({ cues }) => cues.map(({ pattern }) => pattern))

/** Of which a text must match one to state anything. */
export function listCues(): readonly RegExp[] {
  return CUES
}

/** All of their rules, for warming up. */
export function listGrammarPatterns(): readonly RegExp[] {
  return GRAMMARS.flatMap((grammar) => [
    ...Object.values(grammar).filter((value) => value instanceof RegExp),
    ...grammar.cues.map(({ pattern }) => pattern),
    ...Object.values(grammar.negation).filter((value) => value instanceof RegExp),
  ])
}

function countLanguageHints(speech: string, grammar: Grammar): number {
  return [...speech.matchAll(grammar.languageHint)].length
}
