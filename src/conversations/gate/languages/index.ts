/** The languages that a message may be in. */
import type { CueTable } from '../types.ts'
import { chinese } from './chinese-cues.ts'
import { english } from './english-cues.ts'
import { french } from './french-cues.ts'
import { german } from './german-cues.ts'
import { japanese } from './japanese-cues.ts'
import { portuguese } from './portuguese-cues.ts'
import { spanish } from './spanish-cues.ts'

const SPACED: readonly CueTable[] = [english, german, spanish, french, portuguese]

const LATIN = /\p{Script=Latin}/u
const HAN = /\p{Script=Han}/u
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u

/**
 * Told by script only: people mix languages, and cues are long enough to be told apart by themselves. Kana make
 * a text Japanese, without which it may be either.
 */
export function findTables(sentences: readonly string[]): readonly CueTable[] {
  const isIn = (script: RegExp) => sentences.some((sentence) => script.test(sentence))
  return [
    ...(isIn(LATIN) ? SPACED : []),
    ...(isIn(HAN) && !isIn(KANA) ? [chinese] : []),
    ...(isIn(HAN) || isIn(KANA) ? [japanese] : []),
  ]
}
