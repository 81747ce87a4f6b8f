/**
 * Text → terms, the only place where words are made for keyword search.
 *
 * Every store indexes exactly these terms and looks up exactly these terms, so all of them find the same
 * things and no syntax of an engine is ever reached. A term holds no white space, no control character, no
 * half of a surrogate pair and no upper-case ASCII letter; anything else may be in it.
 *
 * The terms of a query are always among the terms of the same text when indexed: whatever is not blank finds
 * itself. The work is linear in the length of the text, whatever it holds.
 */
import { stem } from './stemming.ts'
import { ambiguousStopWords, STOP_PAIRS, STOP_WORDS } from './stopwords.ts'

/** Longer names, links and the like are found by their beginning. */
export const TERM_CHARACTERS_MAX = 64

/** What a query makes of a term. Lower ranks are kept first. */
const SOUGHT = 0

/** Pairs of hiragana, mostly endings and particles: looked up while there is room. */
const MINOR = 1

/** Looked up only when there is nothing else. */
const STOP = 2

/** Covered by longer terms of the same text, so that only other queries need it. */
const INDEX_ONLY = 3

type TermRank = typeof SOUGHT | typeof MINOR | typeof STOP | typeof INDEX_ONLY

type Term = { readonly text: string; readonly rank: TermRank }

/** Every term of a text in order, repetitions included: what the index holds. */
export function extractTerms(text: string): readonly string[] {
  const terms: string[] = []
  for (const piece of splitText(text))
    for (const term of getPieceTerms(piece)) terms.push(term.text)
  return terms.length > 0 ? terms : extractCodePointTerms(text)
}

/** Terms with a space between each, and how many they are. */
export type TermText = { readonly terms: string; readonly count: number }

/** The same as `indexTerms` in one text, which takes half of the time: only what was never met is taken apart. */
export function extractTermText(text: string): TermText {
  const parts: string[] = []
  let count = 0
  for (const piece of splitText(text)) {
    const isRun = piece.length > RUN_CHARACTERS_MIN && PLAIN_EAST_ASIAN.test(piece)
    const made = isRun ? runsText(piece) : knownPieces.of(piece)
    if (made.count === 0) continue
    parts.push(made.text)
    count += made.count
  }
  if (count > 0) return { terms: parts.join(' '), count }
  const terms = extractCodePointTerms(text)
  return { terms: terms.join(' '), count: terms.length }
}

/** The distinct terms to look for: stop words dropped while something else remains, at most QUERY_TERMS_MAX. */
export function extractQueryTerms(text: string): readonly string[] {
  const ranks = new Map<string, TermRank>()
  for (const piece of splitText(text)) {
    for (const term of getPieceTerms(piece)) {
      const rank = ranks.get(term.text)
      if (rank === undefined || term.rank < rank) ranks.set(term.text, term.rank)
    }
  }
  if (ranks.size === 0) return [...new Set(extractCodePointTerms(text))].slice(0, QUERY_TERMS_MAX)
  for (const word of ambiguousStopWords([...ranks.keys()])) {
    const term = stem(word)
    if (ranks.has(term)) ranks.set(term, STOP)
  }
  const kept: string[] = []
  for (const rank of [SOUGHT, MINOR, STOP]) {
    if (kept.length === QUERY_TERMS_MAX || (rank === STOP && kept.length > 0)) break
    const terms = [...ranks.keys()].filter((term) => ranks.get(term) === rank)
    kept.push(...selectMostSpecific(terms, QUERY_TERMS_MAX - kept.length))
  }
  return kept
}

/**
 * Of too many terms the longest, because long words are rare; among equals, such as pairs of characters, an
 * even spread over the text. With queries cut to a few terms this found clearly more in conversations (MRR
 * 0.43 against 0.38 for the first four terms on LoCoMo), Japanese and Korean, and about as much elsewhere.
 * `room` is at least one.
 */
function selectMostSpecific(terms: readonly string[], room: number): readonly string[] {
  if (terms.length <= room) return terms
  const lengths = terms.map((term) => term.length).sort((a, b) => b - a)
  const shortest = lengths[room - 1] ?? 0
  const longer = terms.filter((term) => term.length > shortest)
  const equal = terms.filter((term) => term.length === shortest)
  const left = room - longer.length
  const isSpread = (_: string, index: number) =>
    Math.floor(((index + 1) * left) / equal.length) > Math.floor((index * left) / equal.length)
  return [...longer, ...equal.filter(isSpread)]
}

// Zero-width space and control characters separate words; a term may not hold them anyway.
const SEPARATORS = /[\s\u0000-\u001f\u007f-\u009f\u200b]+/

/** All separators but the space and the line break. Most texts have none, and are split three times as fast. */
const RARE_SEPARATORS =
  /[\t\v\f\r\u0000-\u0008\u000e-\u001f\u007f-\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]/
const COMMON_SEPARATORS = /[ \n]+/

function splitText(text: string): readonly string[] {
  if (RARE_SEPARATORS.test(text)) return text.split(SEPARATORS)
  return text.includes('\n') ? text.split(COMMON_SEPARATORS) : text.split(' ')
}

/** A text of invisible characters only still finds itself, by their numbers. */
function extractCodePointTerms(text: string): readonly string[] {
  return Array.from(
    text.replace(/\s+/g, ''),
    (character) => `u+${(character.codePointAt(0) ?? 0).toString(16)}`,
  )
}

/**
 * Most words of a text were met before. What was made of them is remembered in two halves: when the newer one is full,
 * the older one goes, and with it what was not met since. V8 makes substrings of 13 and more characters views of their
 * text, and one remembered word would keep 50,000 characters alive, so those are copied.
 */
class TextCache<Value> {
  #newer = new Map<string, Value>()
  #older = new Map<string, Value>()
  readonly #make: (text: string) => Value

  constructor(make: (text: string) => Value) {
    this.#make = make
  }

  of(text: string): Value {
    if (text.length > REMEMBERED_CHARACTERS_MAX) return this.#make(text)
    const known = this.#newer.get(text)
    if (known !== undefined) return known
    const own = text.length < VIEWED_CHARACTERS_MIN ? text : text.split('').join('')
    const value = this.#older.get(own) ?? this.#make(own)
    if (this.#newer.size >= REMEMBERED_TEXTS_MAX) {
      this.#older = this.#newer
      this.#newer = new Map()
    }
    this.#newer.set(own, value)
    return value
  }
}

const REMEMBERED_CHARACTERS_MAX = 16

/** Runs without spaces are hardly ever met again as a whole. To remember them would push out words that are. */
const RUN_CHARACTERS_MIN = 4
const REMEMBERED_TEXTS_MAX = 32_768
const VIEWED_CHARACTERS_MIN = 13

/** What a piece is made of, and the same as text. */
type PieceTerms = { readonly terms: readonly Term[]; readonly text: string; readonly count: number }

const knownPieces = new TextCache(buildPieceTerms)
const knownWords = new TextCache(wordTerms)

function getPieceTerms(piece: string): readonly Term[] {
  return knownPieces.of(piece).terms
}

function buildPieceTerms(piece: string): PieceTerms {
  const terms: Term[] = []
  if (IS_ASCII.test(piece)) addTerms(piece, terms)
  else if (PLAIN_EAST_ASIAN.test(piece)) addRuns(piece, terms)
  else for (const part of splitText(foldText(piece))) addTerms(part, terms)
  return { terms, text: terms.map(({ text }) => text).join(' '), count: terms.length }
}

/**
 * Ideographs and kana that folding leaves as they are, and marks that end a run of them. Most of a Chinese or Japanese text
 * is such, and takes a quarter of the time without folding it and looking for names.
 */
const PLAIN_LETTERS = '\\u4e00-\\u9fff\\u3041-\\u3096\\u30a1-\\u30fa'
const PLAIN_MARKS = '，。、：；（）「」！？'

/** A letter comes first. */
const PLAIN_EAST_ASIAN = new RegExp(`^[${PLAIN_LETTERS}][${PLAIN_LETTERS}\\u30fc${PLAIN_MARKS}]*$`)
const PLAIN_RUN = new RegExp(`^[${PLAIN_LETTERS}\\u30fc]+$`)
const EAST_ASIAN_MARKS = new RegExp(`[${PLAIN_MARKS}]+`)

function addRuns(piece: string, terms: Term[]): void {
  for (const run of piece.split(EAST_ASIAN_MARKS)) addPlainRun(run, terms)
}

/** What `addRun` adds, where every character stands for itself. */
function addPlainRun(run: string, terms: Term[]): void {
  for (let at = 0; at < run.length; at++) {
    terms.push({ text: run.charAt(at), rank: run.length > 1 ? INDEX_ONLY : SOUGHT })
    if (at + 1 === run.length) break
    const isMinor = isHiragana(run.charCodeAt(at)) && isHiragana(run.charCodeAt(at + 1))
    const pair = run.slice(at, at + 2)
    terms.push({ text: pair, rank: rankPair(pair, isMinor) })
  }
}

function rankPair(pair: string, isMinor: boolean): TermRank {
  if (STOP_PAIRS.has(pair)) return STOP
  return isMinor ? MINOR : SOUGHT
}

/** What `addRuns` adds, as text. */
function runsText(piece: string): { readonly text: string; readonly count: number } {
  const terms: string[] = []
  for (const run of piece.split(EAST_ASIAN_MARKS)) {
    const last = run.length - 1
    for (let at = 0; at < last; at++) terms.push(run.charAt(at), run.slice(at, at + 2))
    if (last >= 0) terms.push(run.charAt(last))
  }
  return { text: terms.join(' '), count: terms.length }
}

function isHiragana(unit: number): boolean {
  return unit >= 0x3041 && unit <= 0x3096
}

const IS_ASCII = /^[\u0000-\u007f]*$/
const LATIN_OR_GREEK_ACCENTS = /([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu
// The breve stays: it makes the separate letter й, where the two dots of ё are usually left out.
const CYRILLIC_ACCENTS = /(\p{Script=Cyrillic})[\u0300-\u0305\u0307-\u036f]+/gu
// Vowel points and the like, which Arabic and Hebrew are usually written without.
const OPTIONAL_POINTS =
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]/g

/** Text of which only marks change, and those. */
const ONLY_MARKS_CHANGE = new RegExp(`^[\\u0000-\\u007f${PLAIN_LETTERS}\\u30fc${PLAIN_MARKS}]*$`)
const WIDE_MARKS = /[，：；（）！？]/g
const WIDTH_OF_MARKS = 0xfee0

/** Width, ligatures and accents folded; case is kept, because `camelCase` is still to be taken apart. */
function foldText(text: string): string {
  if (ONLY_MARKS_CHANGE.test(text)) {
    return text.replace(WIDE_MARKS, (mark) =>
      String.fromCharCode(mark.charCodeAt(0) - WIDTH_OF_MARKS),
    )
  }
  return text
    .normalize('NFKD')
    .replace(/\p{Cs}/gu, '\ufffd')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(LATIN_OR_GREEK_ACCENTS, '$1')
    .replace(CYRILLIC_ACCENTS, '$1')
    .replace(OPTIONAL_POINTS, '')
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/\u2010/g, '-')
    .normalize('NFC')
}

/**
 * A name begins and ends with a letter or digit and holds no comma, bracket or quotation mark. Around it stay
 * the marks that make another name of it: `.net`, `--flag`, `#tag`, `/usr`, `c++`, `c#`, `5%`.
 */
const NAMES =
  /(?:(?<!\.)\.|--?|[@#$_]|~?\/)?[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}'._:/\\@#$%&+~-]*[\p{L}\p{N}\p{M}])?(?:\+\+?|#|%)?/gu
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}']*/gu
const THOUSANDS = /(?<=\d),(?=\d{3}(?!\d))/g
const SYMBOLS = /(?![\u0000-\u007f])[\p{S}\p{Co}\p{Cn}]/gu

/** The same for plain ASCII, which most texts are: classes of all letters that there are take three times as long. */
const ASCII_NAMES =
  /(?:(?<!\.)\.|--?|[@#$_]|~?\/)?[A-Za-z0-9](?:[A-Za-z0-9'._:/\\@#$%&+~-]*[A-Za-z0-9])?(?:\+\+?|#|%)?/g
const ASCII_WORDS = /[A-Za-z0-9][A-Za-z0-9']*/g
const ASCII_COMPOUND = /^[A-Za-z'][A-Za-z'-]*$/

function addTerms(piece: string, terms: Term[]): void {
  if (piece === '') return
  const before = terms.length
  const isAscii = IS_ASCII.test(piece)
  const joined = piece.includes(',') ? piece.replace(THOUSANDS, '') : piece
  if (isAscii) for (const name of joined.match(ASCII_NAMES) ?? []) addAsciiName(name, terms)
  else for (const name of joined.match(NAMES) ?? []) addName(name, terms)
  if (terms.length === before) {
    // Nothing but marks. Ordinary ones are no reason to find a text while there are words to look for.
    const isOrdinary = /^([\u0000-\u007f\p{P}])\1*$/u.test(piece)
    terms.push({ text: clipTerm(piece), rank: isOrdinary ? STOP : SOUGHT })
  }
  if (isAscii) return
  for (const symbol of piece.match(SYMBOLS) ?? []) {
    if (symbol !== piece) terms.push({ text: symbol, rank: SOUGHT })
  }
}

// `well-known` is two words to a reader; as a name of its own it would count three times (worse on SciFact).
const COMPOUND = /^[\p{L}\p{M}'][\p{L}\p{M}'-]*$/u

/** What `addName` adds, of plain ASCII. */
function addAsciiName(name: string, terms: Term[]): void {
  const words = name.match(ASCII_WORDS) ?? []
  const isPlain = words.length === 1 && words[0]?.length === name.length
  if (!isPlain && !ASCII_COMPOUND.test(name)) {
    terms.push({ text: clipTerm(name.toLowerCase()), rank: SOUGHT })
  }
  for (const word of words) addWord(word, terms)
}

function addName(name: string, terms: Term[]): void {
  const words = name.match(WORDS) ?? []
  const isPlain = words.length === 1 && words[0]?.length === name.length
  if (!isPlain && !COMPOUND.test(name) && !UNSPACED_SCRIPT.test(name)) {
    terms.push({ text: clipTerm(toLowerCase(name)), rank: SOUGHT })
  }
  for (const word of words) {
    if (IS_ASCII.test(word)) addWord(word, terms)
    else
      for (const run of word.split(SCRIPT_RUNS)) {
        if (UNSPACED_SCRIPT.test(run)) addRun(run, terms)
        else addWord(run, terms)
      }
  }
}

// Scripts written without spaces between words (Korean has spaces, but joins particles to its words).
export const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー〆]/u
const SCRIPT_RUNS = new RegExp(`((?:${UNSPACED_SCRIPT.source}\\p{M}*)+)`, 'u')
const HIRAGANA_ONLY = /^\p{Script=Hiragana}+$/u
const CLUSTERS = /\P{M}\p{M}*/gu

/**
 * Pairs of neighbouring characters, and each character for queries of one character. Korean too: its words
 * carry their particles, and pairs alone find more than pairs with whole words.
 */
function addRun(run: string, terms: Term[]): void {
  if (PLAIN_RUN.test(run)) {
    addPlainRun(run, terms)
    return
  }
  const clusters = run.match(CLUSTERS) ?? []
  clusters.forEach((cluster, index) => {
    terms.push({ text: clipTerm(cluster), rank: clusters.length > 1 ? INDEX_ONLY : SOUGHT })
    const next = clusters[index + 1]
    if (next === undefined) return
    const pair = cluster + next
    terms.push({ text: clipTerm(pair), rank: rankPair(pair, HIRAGANA_ONLY.test(pair)) })
  })
}

const CLITIC = /^(.+)'(?:s|m|d|re|ve|ll)$/i
const NEGATION = /n't$/i
// Two letters on one side of the boundary at least: `mRNA`, `PhD` and `URLs` are words, `userID` is two.
const CAMEL = /(?<=[a-z0-9]{2})(?=[A-Z])|(?<=[a-z0-9A-Z])(?=[A-Z][a-z]{2})/

function addWord(word: string, terms: Term[]): void {
  for (const term of knownWords.of(word)) terms.push(term)
}

function wordTerms(word: string): readonly Term[] {
  const terms: Term[] = []
  const bare = CLITIC.exec(word)?.[1] ?? word
  pushWord(bare.replaceAll("'", ''), terms)
  if (NEGATION.test(bare)) return terms
  const parts = bare.split("'").flatMap((part) => part.split(CAMEL))
  if (parts.length > 1) for (const part of parts) pushWord(part, terms)
  return terms
}

function pushWord(word: string, terms: Term[]): void {
  // An apostrophe alone is left where a quotation begins inside a Korean word.
  if (word === '') return
  const plain = clipTerm(toLowerCase(word))
  const rank = STOP_WORDS.has(plain) ? STOP : SOUGHT
  terms.push({ text: /^[a-z]+$/.test(plain) ? stem(plain) : plain, rank })
}

const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
  ς: 'σ',
}

function toLowerCase(text: string): string {
  return text.toLowerCase().replace(/[ßæœøđðþłıς]/g, (letter) => LETTERS[letter] ?? letter)
}

function clipTerm(term: string): string {
  if (term.length <= TERM_CHARACTERS_MAX) return term
  return term.slice(0, TERM_CHARACTERS_MAX).replace(/[\ud800-\udbff]$/, '')
}

/** Distinct terms of a query that are looked up; the rarest kinds come first, see `core/terms.ts`. */
export const QUERY_TERMS_MAX = 32
