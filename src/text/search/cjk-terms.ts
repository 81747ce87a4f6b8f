/**
 * Tokenizes Chinese, Japanese, Korean and other scripts without spaces between words: every pair of neighboring
 * characters (bigram) is a term, and every single character for queries of one character.
 *
 * Korean too, although it has spaces: its words carry their particles, and bigrams alone find more than bigrams with
 * whole words.
 */
import { STOP_PAIRS } from './stopwords.ts'
import { CONTENT, clipTerm, INDEX_ONLY, MINOR, STOP, type Term, type TermRank } from './term.ts'

export const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー〆]/u

/** Splits a word into runs of unspaced script and the rest. */
export const UNSPACED_RUNS = new RegExp(`((?:${UNSPACED_SCRIPT.source}\\p{M}*)+)`, 'u')

/**
 * Ideographs and kana that folding does not change, and the marks that end a run of them. Most Chinese and Japanese text
 * consists of these, and skipping folding and name detection takes a quarter of the time.
 */
export const PLAIN_CJK_LETTERS = '\\u4e00-\\u9fff\\u3041-\\u3096\\u30a1-\\u30fa'
export const PLAIN_CJK_MARKS = '，。、：；（）「」！？'

/** Begins with a letter. */
export const PLAIN_CJK = new RegExp(
  `^[${PLAIN_CJK_LETTERS}][${PLAIN_CJK_LETTERS}\\u30fc${PLAIN_CJK_MARKS}]*$`,
)
const PLAIN_RUN = new RegExp(`^[${PLAIN_CJK_LETTERS}\\u30fc]+$`)
const MARKS = new RegExp(`[${PLAIN_CJK_MARKS}]+`)
const HIRAGANA_ONLY = /^\p{Script=Hiragana}+$/u
/** A character with its combining marks. */
const CLUSTERS = /\P{M}\p{M}*/gu

/** Adds the terms of a text that matches `PLAIN_CJK`. */
export function addPlainCjkTerms(text: string, terms: Term[]): void {
  for (const run of text.split(MARKS)) addPlainRun(run, terms)
}

/** The terms of `addPlainCjkTerms` as text. */
export function renderPlainCjkTerms(text: string): {
  readonly text: string
  readonly count: number
} {
  const terms: string[] = []
  for (const run of text.split(MARKS)) {
    const last = run.length - 1
    for (let at = 0; at < last; at++) terms.push(run.charAt(at), run.slice(at, at + 2))
    if (last >= 0) terms.push(run.charAt(last))
  }
  return { text: terms.join(' '), count: terms.length }
}

/** Adds the terms of a run of unspaced script. */
export function addCjkTerms(run: string, terms: Term[]): void {
  if (PLAIN_RUN.test(run)) {
    addPlainRun(run, terms)
    return
  }
  const clusters = run.match(CLUSTERS) ?? []
  clusters.forEach((cluster, index) => {
    terms.push({ text: clipTerm(cluster), rank: clusters.length > 1 ? INDEX_ONLY : CONTENT })
    const next = clusters[index + 1]
    if (next === undefined) return
    const pair = cluster + next
    terms.push({ text: clipTerm(pair), rank: rankPair(pair, HIRAGANA_ONLY.test(pair)) })
  })
}

/** The same where every UTF-16 unit is a character of its own. */
function addPlainRun(run: string, terms: Term[]): void {
  for (let at = 0; at < run.length; at++) {
    terms.push({ text: run.charAt(at), rank: run.length > 1 ? INDEX_ONLY : CONTENT })
    if (at + 1 === run.length) break
    const isHiraganaPair = isHiragana(run.charCodeAt(at)) && isHiragana(run.charCodeAt(at + 1))
    const pair = run.slice(at, at + 2)
    terms.push({ text: pair, rank: rankPair(pair, isHiraganaPair) })
  }
}

function rankPair(pair: string, isHiraganaPair: boolean): TermRank {
  if (STOP_PAIRS.has(pair)) return STOP
  return isHiraganaPair ? MINOR : CONTENT
}

function isHiragana(unit: number): boolean {
  return unit >= 0x3041 && unit <= 0x3096
}
