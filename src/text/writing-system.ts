/**
 * Detects the writing system of a text, as far as it tells who can read it. Where documents exist in several languages,
 * a query often matches all of them; readers should get the one in their language.
 */

/** The weight of texts in another writing system than the query. */
export const OTHER_SCRIPT_WEIGHT = 0.9

/** The share of a text's letters that makes it a text of a script. An English page may mention a Chinese name. */
const SCRIPT_SHARE_MIN = 0.05

/** Of a long text, about this many characters are sampled evenly. */
const SAMPLE_CHARACTERS = 400

type LetterCounts = {
  readonly kana: number
  readonly han: number
  readonly hangul: number
  /** Letters of any script. */
  readonly all: number
}

/** `shared` is text of ideographs only: Chinese, or a Japanese heading. */
export type WritingSystem = 'spaced' | 'shared' | 'kana' | 'hangul'

export function detectWritingSystem(text: string): WritingSystem {
  const { kana, han, hangul, all } = countLetters(text)
  const min = all * SCRIPT_SHARE_MIN
  if (hangul > min) return 'hangul'
  if (kana > min) return 'kana'
  return han > min ? 'shared' : 'spaced'
}

/** Whether a reader who asks in one writing system can read a text in another. */
export function isReadableFrom(question: WritingSystem, text: WritingSystem): boolean {
  return question === text || (question === 'shared' && text === 'kana')
}

/** The share of bigrams that lie inside a word, in scripts without spaces. */
const BIGRAMS_IN_WORDS = 0.6

/** Scales the coverage of a query to 0 … 1: bigrams across word boundaries need not match. */
export function scoreCoverage(coverage: number, question: WritingSystem): number {
  return Math.min(1, question === 'spaced' ? coverage : coverage / BIGRAMS_IN_WORDS)
}

function countLetters(text: string): LetterCounts {
  let [kana, han, hangul, all] = [0, 0, 0, 0]
  const step = Math.max(1, Math.floor(text.length / SAMPLE_CHARACTERS))
  for (let at = 0; at < text.length; at += step) {
    const unit = text.charCodeAt(at)
    if (isAlphabetic(unit)) all++
    else if (unit < 0x3041) continue
    else if (unit <= 0x30ff) kana++
    else if (unit >= 0x4e00 && unit <= 0x9fff) han++
    else if (unit >= 0xac00 && unit <= 0xd7a3) hangul++
  }
  return { kana, han, hangul, all: all + kana + han + hangul }
}

/** Latin, Greek and Cyrillic letters. */
function isAlphabetic(unit: number): boolean {
  if (unit < 0x80) return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a)
  return unit >= 0xc0 && unit <= 0x52f
}
