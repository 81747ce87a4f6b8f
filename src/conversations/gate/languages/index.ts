/** The languages that a message may be in. */
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
 * Told by script only: people mix languages, and cues are long enough to be told apart by themselves. Kana make
 * a text Japanese, without which it may be either.
 */
export function selectCueTables(sentences: readonly string[]): readonly CueTable[] {
  const isIn = (script: RegExp) => sentences.some((sentence) => script.test(sentence))
  return [
    ...(isIn(LATIN) ? SPACED : []),
    ...(isIn(HAN) && !isIn(KANA) ? [CHINESE_CUES] : []),
    ...(isIn(HAN) || isIn(KANA) ? [JAPANESE_CUES] : []),
  ]
}
