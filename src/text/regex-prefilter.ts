/**
 * Rules out regular expressions that cannot match a text, without running them.
 *
 * A prefilter is a necessary condition on the letters of a text: the literals of a pattern, as conjunctions of the parts
 * of a sequence and disjunctions of alternatives. Each literal is looked up by its runs of up to three letters in a bit
 * set of those of the text. Condition and pattern never disagree on a match: whatever is not understood counts as possible.
 *
 * Most patterns are not even looked at. Each has anchors, of which a text must hold one: a run of letters for each
 * alternative, of the most telling part of a sequence. An index from runs of letters to patterns and their alternatives
 * tells in one pass over a text which of all of them are possible.
 */

const GRAM_BITS = 14
const GRAM_MASK = (1 << GRAM_BITS) - 1
const GRAM_LETTERS = 3

/** Longer texts hold nearly every run of letters. */
const TEXT_CHARACTERS_MAX = 2_000

/** A group is tried as a whole, so deep nesting is cut off. */
const DEPTH_MAX = 40

/** How often texts hold a run of letters by chance, by its length, relative to one of three letters. */
const ANCHOR_COSTS: readonly number[] = [1_000, 1_000, 30, 1]

/** Fewer alternatives are evaluated one by one. */
const INDEXED_ALTERNATIVES_MIN = 4

/** Texts are looked at by many patterns in a row, and by few alternately. */
const KNOWN_TEXTS = 8

/** What a text must hold: `true` for anything. */
type Condition =
  | true
  | { readonly kind: 'grams'; readonly grams: readonly number[]; readonly letters: number }
  | { readonly kind: 'all'; readonly of: readonly Condition[] }
  | {
      readonly kind: 'any'
      readonly of: readonly Condition[]
      /** The place of the first alternative in the index, others follow; null for those that are few. */
      first: number | null
    }

/** `pattern.test(text)`, for patterns without the flags `g` and `y`. */
export function testPattern(pattern: RegExp, text: string): boolean {
  return mayMatch(pattern, text) && pattern.test(text)
}

/** `pattern.exec(text)`, for patterns without the flags `g` and `y`. */
export function execPattern(pattern: RegExp, text: string): RegExpExecArray | null {
  return mayMatch(pattern, text) ? pattern.exec(text) : null
}

export function matchesAnyPattern(patterns: readonly RegExp[], text: string): boolean {
  for (const pattern of patterns) if (testPattern(pattern, text)) return true
  return false
}

/** False only where none of the patterns matches. */
export function mayMatchAny(patterns: readonly RegExp[], text: string): boolean {
  return patterns.some((pattern) => mayMatch(pattern, text))
}

/** False only where a pattern does not match. */
export function mayMatch(pattern: RegExp, text: string): boolean {
  const { condition, number } = conditionOf(pattern)
  if (condition === true || text.length > TEXT_CHARACTERS_MAX) return true
  const analysis = analyze(text)
  return analysis.possible[number] === 1 && isMet(condition, analysis)
}

type IndexedPattern = {
  readonly condition: Condition
  /** Its place in the index. */
  readonly number: number
}

const patterns = new WeakMap<RegExp, IndexedPattern>()
/** The patterns and alternatives of which a run of letters is an anchor. */
const patternsByGram: (number[] | undefined)[] = new Array(1 << GRAM_BITS)
let patternCount = 0

function conditionOf(pattern: RegExp): IndexedPattern {
  const known = patterns.get(pattern)
  if (known !== undefined) return known
  const condition = new ConditionParser(pattern.source).parse()
  const indexed = { condition, number: condition === true ? -1 : patternCount++ }
  patterns.set(pattern, indexed)
  addToIndex(indexed.number, condition)
  indexAlternatives(condition)
  return indexed
}

function addToIndex(number: number, condition: Condition): void {
  for (const gram of new Set(listAnchors(condition).grams)) {
    const others = patternsByGram[gram]
    if (others === undefined) patternsByGram[gram] = [number]
    else others.push(number)
  }
}

function indexAlternatives(condition: Condition): void {
  if (condition === true || condition.kind === 'grams') return
  const { of } = condition
  if (condition.kind === 'any' && of.length >= INDEXED_ALTERNATIVES_MIN) {
    condition.first = patternCount
    patternCount += of.length
    for (const [index, part] of of.entries()) addToIndex(condition.first + index, part)
  }
  for (const part of of) indexAlternatives(part)
}

type Anchors = { readonly grams: readonly number[]; readonly cost: number }

/** Runs of letters of which a text must hold at least one. */
function listAnchors(condition: Condition): Anchors {
  if (condition === true) return { grams: [], cost: Number.POSITIVE_INFINITY }
  if (condition.kind === 'grams') {
    const { grams } = condition
    const gram = grams[grams.length >> 1] as number // a literal has at least one
    return { grams: [gram], cost: ANCHOR_COSTS[condition.letters] ?? 1 }
  }
  const parts = condition.of.map(listAnchors)
  if (condition.kind === 'all') {
    return parts.reduce((best, each) => (each.cost < best.cost ? each : best))
  }
  return {
    grams: parts.flatMap(({ grams }) => grams),
    cost: parts.reduce((sum, { cost }) => sum + cost, 0),
  }
}

function isMet(condition: Condition, analysis: TextAnalysis): boolean {
  if (condition === true) return true
  if (condition.kind === 'grams') return hasGrams(analysis.grams, condition.grams)
  if (condition.kind === 'all') return condition.of.every((part) => isMet(part, analysis))
  const { of, first } = condition
  for (let index = 0; index < of.length; index++) {
    if (first !== null && analysis.possible[first + index] === 0) continue
    if (isMet(of[index] ?? true, analysis)) return true
  }
  return false
}

function hasGrams(grams: Uint32Array, wanted: readonly number[]): boolean {
  for (const gram of wanted) if (!hasGram(grams, gram)) return false
  return true
}

function hasGram(grams: Uint32Array, gram: number): boolean {
  return ((grams[gram >>> 5] as number) & (1 << (gram & 31))) !== 0 // a gram is below the number of bits
}

/* The letters of a text */

type TextAnalysis = {
  text: string
  /** The number of patterns when it was analyzed. */
  patterns: number
  readonly grams: Uint32Array
  /** 1 for each pattern that may match. */
  possible: Uint8Array
}

const analyses: readonly TextAnalysis[] = Array.from({ length: KNOWN_TEXTS }, () => ({
  text: '',
  patterns: 0,
  grams: new Uint32Array(1 << (GRAM_BITS - 5)),
  possible: new Uint8Array(),
}))
let latest = analyses[0] as TextAnalysis // there are several
let oldest = 0

function analyze(text: string): TextAnalysis {
  if (latest.text !== text) latest = findAnalysis(text)
  if (latest.patterns !== patternCount) findGrams(latest)
  return latest
}

function findAnalysis(text: string): TextAnalysis {
  for (const analysis of analyses) if (analysis.text === text) return analysis
  const analysis = analyses[oldest] as TextAnalysis // a position below their number
  oldest = (oldest + 1) % KNOWN_TEXTS
  analysis.text = text
  analysis.patterns = -1
  return analysis
}

function findGrams(analysis: TextAnalysis): void {
  const { text, grams } = analysis
  analysis.patterns = patternCount
  grams.fill(0)
  if (analysis.possible.length < patternCount) analysis.possible = new Uint8Array(patternCount * 2)
  else analysis.possible.fill(0)
  let [first, second] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const third = fold(text.charCodeAt(at))
    add(analysis, gramOf(0, 0, third))
    if (at > 0) add(analysis, gramOf(0, second, third))
    if (at > 1) add(analysis, gramOf(first, second, third))
    first = second
    second = third
  }
}

function add({ grams, possible }: TextAnalysis, gram: number): void {
  if (hasGram(grams, gram)) return
  const word = gram >>> 5
  grams[word] = (grams[word] as number) | (1 << (gram & 31)) // a gram is below the number of bits
  const found = patternsByGram[gram]
  if (found !== undefined) for (const number of found) possible[number] = 1
}

function gramOf(first: number, second: number, third: number): number {
  const mixed =
    Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(third, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 15)) & GRAM_MASK
}

/** Letters outside of ASCII that equal another one when case is ignored, besides their own other case. */
const FOLDED: ReadonlyMap<number, number> = new Map([
  [0x17f, 0x73], // long s
  [0x212a, 0x6b], // the sign for kelvin
  [0x212b, 0xe5], // the sign for ångström
  [0x1e9e, 0xdf], // capital sharp s
  [0x3bc, 0xb5], // micro
  [0x39c, 0xb5],
])

function fold(code: number): number {
  if (code < 0x80) return code >= 0x41 && code <= 0x5a ? code + 0x20 : code
  if (code >= 0x3000 && code <= 0x9fff) return code
  const folded = FOLDED.get(code)
  if (folded !== undefined) return folded
  const lower = String.fromCharCode(code).toLowerCase()
  return lower.length === 1 ? lower.charCodeAt(0) : code
}

/* The condition of a pattern */

/** Latin letters, and scripts without case. */
function isFoldable(code: number): boolean {
  return code < 0x250 || (code >= 0x2010 && code <= 0x203a) || (code >= 0x3000 && code <= 0x9fff)
}

/** A position behind every source: the whole pattern counts as possible. */
const NOT_UNDERSTOOD = 2 ** 40

class ConditionParser {
  readonly #source: string
  #at = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  parse(): Condition {
    const condition = this.#parseAlternatives()
    return this.#at === this.#source.length ? condition : true
  }

  #parseAlternatives(): Condition {
    const alternatives = [this.#parseSequence()]
    while (this.#peek() === '|') {
      this.#at++
      alternatives.push(this.#parseSequence())
    }
    if (alternatives.includes(true)) return true
    return alternatives.length === 1
      ? (alternatives[0] as Condition) // there is one
      : { kind: 'any', of: alternatives, first: null }
  }

  #parseSequence(): Condition {
    const parts: Condition[] = []
    let literal: number[] = []
    const flush = () => {
      if (literal.length > 0) parts.push(toCondition(literal))
      literal = []
    }
    while (this.#at < this.#source.length && !'|)'.includes(this.#peek())) {
      const atom = this.#parseAtom()
      const minimum = this.#parseQuantifier()
      if (atom.kind === 'assertion') {
        if (atom.condition !== true && minimum !== 0) parts.push(atom.condition)
        continue
      }
      if (atom.kind === 'letter' && minimum === null) {
        literal.push(atom.code)
        continue
      }
      if (minimum === 0) {
        flush()
        continue
      }
      if (atom.kind === 'letter') literal.push(atom.code)
      flush()
      if (atom.kind === 'group' && atom.condition !== true) parts.push(atom.condition)
    }
    flush()
    if (parts.length === 0) return true
    return parts.length === 1 ? (parts[0] as Condition) : { kind: 'all', of: parts } // there is one
  }

  #parseAtom(): Atom {
    const character = this.#source.charAt(this.#at++)
    switch (character) {
      case '(':
        return this.#parseGroup()
      case '[':
        return this.#skipClass()
      case '\\':
        return this.#parseEscape()
      case '.':
        return ANY
      case '^':
      case '$':
        return { kind: 'assertion', condition: true }
      default:
        return toLetter(character.charCodeAt(0))
    }
  }

  #parseGroup(): Atom {
    const [opening = ''] =
      /^\?(?:[:=!]|<[=!]|<[^>]+>)/.exec(this.#source.slice(this.#at, this.#at + 60)) ?? []
    this.#at += opening.length
    this.#depth++
    const isKnown = this.#depth <= DEPTH_MAX && this.#peek() !== '?'
    const condition = isKnown ? this.#parseAlternatives() : true
    this.#depth--
    if (!isKnown || this.#peek() !== ')') this.#at = NOT_UNDERSTOOD
    this.#at++
    if (opening === '?!' || opening === '?<!') return { kind: 'assertion', condition: true }
    return { kind: opening === '?=' || opening === '?<=' ? 'assertion' : 'group', condition }
  }

  #skipClass(): Atom {
    while (this.#at < this.#source.length && this.#peek() !== ']') {
      this.#at += this.#peek() === '\\' ? 2 : 1
    }
    this.#at++
    return ANY
  }

  #parseEscape(): Atom {
    const character = this.#source.charAt(this.#at++)
    if (character === 'b' || character === 'B') return { kind: 'assertion', condition: true }
    if (/[a-z0-9]/i.test(character)) {
      const [rest = ''] =
        /^(?:\{[^}]*\}|<[^>]*>|[0-9a-fA-F]{4}|[0-9a-fA-F]{2}|[a-zA-Z])/.exec(
          'pPukxc'.includes(character) ? this.#source.slice(this.#at, this.#at + 60) : '',
        ) ?? []
      this.#at += rest.length
      return ANY
    }
    return toLetter(character.charCodeAt(0))
  }

  /** The least number of repetitions; null without a quantifier. */
  #parseQuantifier(): number | null {
    const [quantifier] =
      /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(this.#source.slice(this.#at, this.#at + 20)) ?? []
    if (quantifier === undefined) return null
    this.#at += quantifier.length
    if (quantifier.startsWith('+')) return 1
    return quantifier.startsWith('{') ? Number.parseInt(quantifier.slice(1), 10) : 0
  }

  #peek(): string {
    return this.#source.charAt(this.#at)
  }
}

type Atom =
  | { readonly kind: 'letter'; readonly code: number }
  | { readonly kind: 'group' | 'assertion'; readonly condition: Condition }

const ANY: Atom = { kind: 'group', condition: true }

function toLetter(code: number): Atom {
  return isFoldable(code) ? { kind: 'letter', code: fold(code) } : ANY
}

/** All runs of letters of a literal, the most telling first. */
function toCondition(literal: readonly number[]): Condition {
  const letters = Math.min(GRAM_LETTERS, literal.length)
  const grams: number[] = []
  for (let at = letters - 1; at < literal.length; at++) {
    const [first = 0, second = 0, third = 0] = [
      letters > 2 ? literal[at - 2] : 0,
      letters > 1 ? literal[at - 1] : 0,
      literal[at],
    ]
    grams.push(gramOf(first, second, third))
  }
  return { kind: 'grams', grams, letters }
}
