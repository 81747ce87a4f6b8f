/** The languages, and the order in which to try them on a text. */
import type { Grammar } from '../types.ts'
import { chinese } from './chinese-grammar.ts'
import { english } from './english-grammar.ts'
import { french } from './french-grammar.ts'
import { german } from './german-grammar.ts'
import { japanese } from './japanese-grammar.ts'
import { portuguese } from './portuguese-grammar.ts'
import { spanish } from './spanish-grammar.ts'

const GRAMMARS: readonly Grammar[] = [
  english,
  german,
  spanish,
  french,
  portuguese,
  chinese,
  japanese,
]

/** Most typical first: Spanish and Portuguese share whole sentences, Chinese and Japanese share characters. */
export function rankGrammars(speech: string): readonly Grammar[] {
  return GRAMMARS.map((grammar) => ({ grammar, count: countTypical(speech, grammar) }))
    .sort((one, other) => other.count - one.count)
    .map(({ grammar }) => grammar)
}

/** All of their rules, for warming up. */
export function patternRules(): readonly RegExp[] {
  return GRAMMARS.flatMap((grammar) => [
    ...Object.values(grammar).filter((value) => value instanceof RegExp),
    ...grammar.cues.map(({ pattern }) => pattern),
    ...Object.values(grammar.negation).filter((value) => value instanceof RegExp),
  ])
}

function countTypical(speech: string, grammar: Grammar): number {
  return [...speech.matchAll(grammar.typical)].length
}
