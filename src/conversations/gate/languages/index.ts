/** Selects the cue tables for a message. */
import type { CueTable } from '../types.ts'
import { CHINESE_CUES } from './chinese-cues.ts'
import { ENGLISH_CUES } from './english-cues.ts'
import { FRENCH_CUES } from './french-cues.ts'
import { GERMAN_CUES } from './german-cues.ts'
import { JAPANESE_CUES } from './japanese-cues.ts'
import { PORTUGUESE_CUES } from './portuguese-cues.ts'
import { SPANISH_CUES } from './spanish-cues.ts'

const SPACED: readonly CueTable[] = [
  ENGLISH_CUES,
  GERMAN_CUES,
  SPANISH_CUES,
  FRENCH_CUES,
  PORTUGUESE_CUES,
]

const LATIN = /\p{Script=Latin}/u
const HAN = /\p{Script=Han}/u
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u

/**
 * Selects by script only: people mix languages, and cues are long enough not to collide. Kana make a text Japanese; Han
 * characters alone may be Chinese or Japanese.
 */
export function selectCueTables(sentences: readonly string[]): readonly CueTable[] {
  const isIn = (script: RegExp) => sentences.some((sentence) => script.test(sentence))
  return [
    ...(isIn(LATIN) ? SPACED : []),
    ...(isIn(HAN) && !isIn(KANA) ? [CHINESE_CUES] : []),
    ...(isIn(HAN) || isIn(KANA) ? [JAPANESE_CUES] : []),
  ]
}
