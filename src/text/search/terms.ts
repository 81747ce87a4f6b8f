/**
 * Tokenization for keyword search: text → terms.
 *
 * Every store indexes and looks up exactly these terms, so all stores find the same documents and no query syntax of an
 * engine is ever reachable. A term contains no white space, control character, lone surrogate or upper-case ASCII
 * letter; it may contain anything else.
 *
 * The query terms of a text are always among its index terms: any text that is not blank finds itself. The work is
 * linear in the length of any text.
 */
import {
  addCjkTerms,
  addPlainCjkTerms,
  PLAIN_CJK,
  PLAIN_CJK_LETTERS,
  PLAIN_CJK_MARKS,
  renderPlainCjkTerms,
  UNSPACED_RUNS,
  UNSPACED_SCRIPT,
} from './cjk-terms.ts'
import { stem } from './stemming.ts'
import { getAmbiguousStopWords, STOP_WORDS } from './stopwords.ts'
import { CONTENT, clipTerm, MINOR, STOP, type Term, type TermRank } from './term.ts'

/** Distinct terms per query. Of a longer query the most specific terms are kept. */
export const QUERY_TERMS_MAX = 32

/** All terms of a text in order, with repetitions: the content of the index. */
export function extractTerms(text: string): readonly string[] {
  const terms: string[] = []
  for (const piece of splitText(text))
    for (const term of getPieceTerms(piece)) terms.push(term.text)
  return terms.length > 0 ? terms : extractCodePointTerms(text)
}

/** Terms separated by spaces, and their number. */
export type TermText = { readonly terms: string; readonly count: number }

/** The terms of `extractTerms` as one text, in half the time, because cached pieces need not be taken apart. */
export function extractTermText(text: string): TermText {
  const parts: string[] = []
  let count = 0
  for (const piece of splitText(text)) {
    const isRun = piece.length > RUN_CHARACTERS_MIN && PLAIN_CJK.test(piece)
    const rendered = isRun ? renderPlainCjkTerms(piece) : pieceCache.get(piece)
    if (rendered.count === 0) continue
    parts.push(rendered.text)
    count += rendered.count
  }
  if (count > 0) return { terms: parts.join(' '), count }
  const terms = extractCodePointTerms(text)
  return { terms: terms.join(' '), count: terms.length }
}

/** The distinct terms to look up, at most QUERY_TERMS_MAX. Stop words are dropped unless nothing else is left. */
export function extractQueryTerms(text: string): readonly string[] {
  const ranks = new Map<string, TermRank>()
  for (const piece of splitText(text)) {
    for (const term of getPieceTerms(piece)) {
      const rank = ranks.get(term.text)
      if (rank === undefined || term.rank < rank) ranks.set(term.text, term.rank)
    }
  }
  if (ranks.size === 0) return [...new Set(extractCodePointTerms(text))].slice(0, QUERY_TERMS_MAX)
  for (const word of getAmbiguousStopWords([...ranks.keys()])) {
    const term = stem(word)
    if (ranks.has(term)) ranks.set(term, STOP)
  }
  const selected: string[] = []
  for (const rank of [CONTENT, MINOR, STOP]) {
    if (selected.length === QUERY_TERMS_MAX || (rank === STOP && selected.length > 0)) break
    const terms = [...ranks.keys()].filter((term) => ranks.get(term) === rank)
    selected.push(...selectMostSpecific(terms, QUERY_TERMS_MAX - selected.length))
  }
  return selected
}

/**
 * Selects the longest terms, because long words are rare; among terms of equal length, such as bigrams, an even spread
 * over the text. With queries cut to a few terms this raised MRR on LoCoMo from 0.38 (first four terms) to 0.43, helped
 * Japanese and Korean, and changed little elsewhere. `room` is at least one.
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

// Zero-width space and control characters separate words; a term must not contain them anyway.
const SEPARATORS = /[\s\u0000-\u001f\u007f-\u009f\u200b]+/

/** All separators except space and line feed. Most texts have none, and split three times as fast. */
const RARE_SEPARATORS =
  /[\t\v\f\r\u0000-\u0008\u000e-\u001f\u007f-\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]/
const COMMON_SEPARATORS = /[ \n]+/

function splitText(text: string): readonly string[] {
  if (RARE_SEPARATORS.test(text)) return text.split(SEPARATORS)
  return text.includes('\n') ? text.split(COMMON_SEPARATORS) : text.split(' ')
}

/** Code points as terms, so that a text of invisible characters still finds itself. */
function extractCodePointTerms(text: string): readonly string[] {
  return Array.from(
    text.replace(/\s+/g, ''),
    (character) => `u+${(character.codePointAt(0) ?? 0).toString(16)}`,
  )
}

/**
 * Caches values by short text in two generations: when the newer one is full, the older one is dropped with everything
 * that was not used since. V8 makes substrings of 13 and more characters views of their text, so one cached word would
 * keep 50,000 characters alive; those are copied.
 */
class TextCache<Value> {
  #newer = new Map<string, Value>()
  #older = new Map<string, Value>()
  readonly #compute: (text: string) => Value

  constructor(compute: (text: string) => Value) {
    this.#compute = compute
  }

  get(text: string): Value {
    if (text.length > CACHED_CHARACTERS_MAX) return this.#compute(text)
    const cached = this.#newer.get(text)
    if (cached !== undefined) return cached
    const copy = text.length < VIEW_CHARACTERS_MIN ? text : text.split('').join('')
    const value = this.#older.get(copy) ?? this.#compute(copy)
    if (this.#newer.size >= CACHED_TEXTS_MAX) {
      this.#older = this.#newer
      this.#newer = new Map()
    }
    this.#newer.set(copy, value)
    return value
  }
}

const CACHED_CHARACTERS_MAX = 16
const CACHED_TEXTS_MAX = 32_768
const VIEW_CHARACTERS_MIN = 13

/** Longer runs without spaces hardly ever recur. Caching them would evict words that do. */
const RUN_CHARACTERS_MIN = 4

type PieceTerms = { readonly terms: readonly Term[]; readonly text: string; readonly count: number }

const pieceCache = new TextCache(buildPieceTerms)
const wordCache = new TextCache(buildWordTerms)

function getPieceTerms(piece: string): readonly Term[] {
  return pieceCache.get(piece).terms
}

function buildPieceTerms(piece: string): PieceTerms {
  const terms: Term[] = []
  if (IS_ASCII.test(piece)) addTerms(piece, terms)
  else if (PLAIN_CJK.test(piece)) addPlainCjkTerms(piece, terms)
  else for (const part of splitText(foldText(piece))) addTerms(part, terms)
  return { terms, text: terms.map(({ text }) => text).join(' '), count: terms.length }
}

const IS_ASCII = /^[\u0000-\u007f]*$/
const LATIN_OR_GREEK_ACCENTS = /([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu
// The breve stays, because й is a letter of its own; the dots of ё are usually omitted in writing.
const CYRILLIC_ACCENTS = /(\p{Script=Cyrillic})[\u0300-\u0305\u0307-\u036f]+/gu
// Vowel points and the like, which Arabic and Hebrew are usually written without.
const OPTIONAL_POINTS =
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]/g

/** Text in which folding changes only the width of marks. */
const ONLY_MARKS_CHANGE = new RegExp(
  `^[\\u0000-\\u007f${PLAIN_CJK_LETTERS}\\u30fc${PLAIN_CJK_MARKS}]*$`,
)
const WIDE_MARKS = /[，：；（）！？]/g
const WIDE_MARK_OFFSET = 0xfee0

/** Folds width, ligatures and accents. Case is kept, because `camelCase` is split later. */
function foldText(text: string): string {
  if (ONLY_MARKS_CHANGE.test(text)) {
    return text.replace(WIDE_MARKS, (mark) =>
      String.fromCharCode(mark.charCodeAt(0) - WIDE_MARK_OFFSET),
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
 * A name begins and ends with a letter or digit and contains no comma, bracket or quotation mark. Marks around it that
 * make it another name belong to it: `.net`, `--flag`, `#tag`, `/usr`, `c++`, `c#`, `5%`.
 */
const NAMES =
  /(?:(?<!\.)\.|--?|[@#$_]|~?\/)?[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}'._:/\\@#$%&+~-]*[\p{L}\p{N}\p{M}])?(?:\+\+?|#|%)?/gu
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}']*/gu
// `well-known` is two words to a reader; as a name of its own it would count three times (worse on SciFact).
const COMPOUND = /^[\p{L}\p{M}'][\p{L}\p{M}'-]*$/u
const THOUSANDS = /(?<=\d),(?=\d{3}(?!\d))/g
const SYMBOLS = /(?![\u0000-\u007f])[\p{S}\p{Co}\p{Cn}]/gu

/** The same for ASCII, which most text is: classes of all letters take three times as long. */
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
    // Punctuation only. Ordinary marks match nothing while a query has words.
    const isOrdinary = /^([\u0000-\u007f\p{P}])\1*$/u.test(piece)
    terms.push({ text: clipTerm(piece), rank: isOrdinary ? STOP : CONTENT })
  }
  if (isAscii) return
  for (const symbol of piece.match(SYMBOLS) ?? []) {
    if (symbol !== piece) terms.push({ text: symbol, rank: CONTENT })
  }
}

/** `addName` for ASCII. */
function addAsciiName(name: string, terms: Term[]): void {
  const words = name.match(ASCII_WORDS) ?? []
  const isPlain = words.length === 1 && words[0]?.length === name.length
  if (!isPlain && !ASCII_COMPOUND.test(name)) {
    terms.push({ text: clipTerm(name.toLowerCase()), rank: CONTENT })
  }
  for (const word of words) addWord(word, terms)
}

function addName(name: string, terms: Term[]): void {
  const words = name.match(WORDS) ?? []
  const isPlain = words.length === 1 && words[0]?.length === name.length
  if (!isPlain && !COMPOUND.test(name) && !UNSPACED_SCRIPT.test(name)) {
    terms.push({ text: clipTerm(toLowerCase(name)), rank: CONTENT })
  }
  for (const word of words) {
    if (IS_ASCII.test(word)) addWord(word, terms)
    else
      for (const run of word.split(UNSPACED_RUNS)) {
        if (UNSPACED_SCRIPT.test(run)) addCjkTerms(run, terms)
        else addWord(run, terms)
      }
  }
}

const CLITIC = /^(.+)'(?:s|m|d|re|ve|ll)$/i
const NEGATION = /n't$/i
// At least two letters on one side of the boundary: `mRNA`, `PhD` and `URLs` are words, `userID` is two.
const CAMEL = /(?<=[a-z0-9]{2})(?=[A-Z])|(?<=[a-z0-9A-Z])(?=[A-Z][a-z]{2})/

function addWord(word: string, terms: Term[]): void {
  for (const term of wordCache.get(word)) terms.push(term)
}

function buildWordTerms(word: string): readonly Term[] {
  const terms: Term[] = []
  const bare = CLITIC.exec(word)?.[1] ?? word
  addPlainWord(bare.replaceAll("'", ''), terms)
  if (NEGATION.test(bare)) return terms
  const parts = bare.split("'").flatMap((part) => part.split(CAMEL))
  if (parts.length > 1) for (const part of parts) addPlainWord(part, terms)
  return terms
}

function addPlainWord(word: string, terms: Term[]): void {
  // Only an apostrophe is left where a quotation begins inside a Korean word.
  if (word === '') return
  const plain = clipTerm(toLowerCase(word))
  const rank = STOP_WORDS.has(plain) ? STOP : CONTENT
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
