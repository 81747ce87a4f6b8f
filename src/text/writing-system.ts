/**
 * Which writing a text is in, as far as it tells who can read it. Where pages are there in several languages, or quote
 * another one, the words of a question are often in all of them; whoever asks should get the one in their language.
 */

/** What texts in other writings count beside those in that of the question. */
export const OTHER_SCRIPT_WEIGHT = 0.9

/** Of a text's letters, so many make it one of a writing. A page in English may well name somebody in Chinese. */
const TELLING_SHARE = 0.05

/** Of a long text, about so many are looked at, all over it. */
const SAMPLE_CHARACTERS = 400

type Letters = {
  readonly kana: number
  readonly han: number
  readonly hangul: number
  /** Of any script. */
  readonly all: number
}

/** `shared` is what only Chinese characters are in: Chinese, or a Japanese heading. */
export type WritingSystem = 'spaced' | 'shared' | 'kana' | 'hangul'

export function detectWritingSystem(text: string): WritingSystem {
  const { kana, han, hangul, all } = countLetters(text)
  const least = all * TELLING_SHARE
  if (hangul > least) return 'hangul'
  if (kana > least) return 'kana'
  return han > least ? 'shared' : 'spaced'
}

/** Whether whoever has asked in one writing can read a text that is in another. */
export function isReadableFrom(question: WritingSystem, text: WritingSystem): boolean {
  return question === text || (question === 'shared' && text === 'kana')
}

/** In writing without spaces pairs of characters are looked up, and so many of them stand inside of a word. */
const PAIRS_IN_WORDS = 0.6

/** How well a text fits that holds a share of what a question is made of, from 0 to 1. */
export function scoreCoverage(coverage: number, question: WritingSystem): number {
  return Math.min(1, question === 'spaced' ? coverage : coverage / PAIRS_IN_WORDS)
}

function countLetters(text: string): Letters {
  let [kana, han, hangul, all] = [0, 0, 0, 0]
  const step = Math.max(1, Math.floor(text.length / SAMPLE_CHARACTERS))
  for (let at = 0; at < text.length; at += step) {
    const unit = text.charCodeAt(at)
    if (isLatin(unit)) all++
    else if (unit < 0x3041) continue
    else if (unit <= 0x30ff) kana++
    else if (unit >= 0x4e00 && unit <= 0x9fff) han++
    else if (unit >= 0xac00 && unit <= 0xd7a3) hangul++
  }
  return { kana, han, hangul, all: all + kana + han + hangul }
}

/** Latin, Greek and Cyrillic, which are written in words with spaces between them. */
function isLatin(unit: number): boolean {
  if (unit < 0x80) return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a)
  return unit >= 0xc0 && unit <= 0x52f
}
