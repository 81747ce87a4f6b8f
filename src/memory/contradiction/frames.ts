/**
 * Compares statements by what they say rather than by how: their words as concepts, their numbers, dates and names, and
 * their polarity, whatever their order. It is asked only where the rules for wordings cannot tell.
 */

import { implies } from '../../text/meaning/concepts.ts'
import { isSameQuantity, listQuantities, type Quantity } from '../../text/meaning/quantities.ts'
import {
  type Clause,
  isPersonWord,
  parseClauses,
  type Word,
} from '../../text/meaning/statement-clauses.ts'
import { isFrameWord, isQuantityWord, SOFT_WORDS } from '../../text/meaning/word-classes.ts'

export type FrameComparison = 'same' | 'number' | 'date' | null

type Frame = {
  readonly words: readonly Word[]
  readonly quantities: readonly Quantity[]
  readonly isNegative: boolean
  readonly isUnreal: boolean
  /** Who is named first: "Tom owes me" is not "I owe Tom". */
  readonly subject: string
  /** Words that restrict when or how far it holds. */
  readonly qualifiers: string
}

/** Longer texts make several statements. */
const FRAME_CHARACTERS_MAX = 200
const WORDS_MAX = 12
/** A single shared word relates nothing. */
const WORDS_MIN = 1

export function compareFrames(left: string, right: string): FrameComparison {
  if (left.length > FRAME_CHARACTERS_MAX || right.length > FRAME_CHARACTERS_MAX) return null
  const [a, b] = [readFrame(left), readFrame(right)]
  if (a === null || b === null || a.isUnreal || b.isUnreal) return null
  if (hasOtherIdentifier(left, right)) return null
  const [onlyLeft, onlyRight] = [listUnheld(a.words, b.words), listUnheld(b.words, a.words)]
  const [extra, lacking] = [dropImplied(onlyLeft, onlyRight), dropImplied(onlyRight, onlyLeft)]
  // "My rent is 850", "I pay 850 in rent": a light word on one side changes nothing.
  if ([...extra, ...lacking].some(({ folded }) => !LIGHT.has(folded))) return null
  if (a.words.length <= extra.length || b.words.length <= lacking.length) return null
  if (!hasSameOrder(a.words, b.words) || a.isNegative !== b.isNegative) return null
  if (a.subject !== b.subject || a.qualifiers !== b.qualifiers) return null
  const [onlyA, onlyB] = [listMissing(a, b), listMissing(b, a)]
  if (onlyA.length === 0 && onlyB.length === 0) {
    return a.words.length + a.quantities.length > WORDS_MIN ? 'same' : null
  }
  const [one] = onlyA
  const [other] = onlyB
  if (one === undefined || other === undefined || onlyA.length !== onlyB.length) return null
  if (a.words.length <= WORDS_MIN || toKind(one) !== toKind(other)) return null
  return one.isDate || other.isDate ? 'date' : 'number'
}

/** Whether two statements are likely about the same, by the words that state something. */
export function sharesTopic(left: string, right: string, announcesChange: boolean): boolean {
  if (left.length > FRAME_CHARACTERS_MAX || right.length > FRAME_CHARACTERS_MAX) return false
  const [a, b] = [readFrame(left), readFrame(right)]
  if (a === null || b === null) return false
  const shared = a.words.length - listUnheld(a.words, b.words).length
  const isHalf = shared * 2 >= Math.min(a.words.length, b.words.length)
  return announcesChange ? shared >= 1 : shared >= 2 && isHalf
}

function readFrame(content: string): Frame | null {
  const clauses = parseClauses(content, 'claim')
  const words = clauses.flatMap(listContent)
  if (words.length === 0 || words.length > WORDS_MAX) return null
  return {
    words,
    quantities: listQuantities(content),
    isNegative: clauses.some(({ isNegative }) => isNegative),
    subject: findSubject(clauses),
    qualifiers: listQualifiers(clauses),
    isUnreal: clauses.some(
      (each) => each.isIrrealis || each.isIntent || each.isPast || each.isEnded,
    ),
  }
}

const SELF = /^(?:i|im|we|ich|wir|yo|je|eu)$/u
const OBJECT = /^(?:me|us|mir|mich|uns|moi|nous|mim)$/u

const QUALIFIERS = new Set(
  'during when while until before after only without if both most week weeks weekend weekends weekdays night nights usually often sometimes first last next'.split(
    ' ',
  ),
)

function listQualifiers(clauses: readonly Clause[]): string {
  const words = clauses.flatMap((clause) => clause.words.map(({ folded }) => folded))
  return words
    .filter((word) => QUALIFIERS.has(word))
    .sort()
    .join(' ')
}

/** "self" where the speaker acts on somebody with a name, that name where they act on the speaker. */
function findSubject(clauses: readonly Clause[]): string {
  const words = clauses.flatMap((clause) => clause.words)
  const name = words.find(
    (word) =>
      isName(word) ||
      (word.isFirst &&
        /^\p{Lu}/u.test(word.text) &&
        words.some(({ folded }) => OBJECT.test(folded))),
  )
  if (name === undefined) return ''
  if (words.some(({ folded }) => OBJECT.test(folded))) return name.folded
  return words.some(({ folded }) => SELF.test(folded)) ? 'self' : ''
}

/** Words that state something: no grammar, no numbers, no "the user". */
function listContent({ words }: Clause): readonly Word[] {
  return words.filter(
    ({ folded, text, concepts }) =>
      (QUALITIES.has(folded) || !isFrameWord(folded, text)) &&
      !isQuantityWord(text) &&
      (isPersonWord({ folded, concepts }) || !SOFT_WORDS.has(folded)) &&
      !ASIDES.has(folded),
  )
}

/** Ordinary words that tell two statements apart. */
const QUALITIES = new Set(
  'new old other another own part team people person very quite really again'.split(' '),
)

const ASIDES = new Set(
  'i im ive my me mine we our us am here there every each also btw lol haha ich mein meine mi mis mon ma mes meu minha own owns have has'.split(
    ' ',
  ),
)

/** Verbs and nouns that go without saying beside the words that they stand with. */
const LIGHT = new Set(
  'pay pays drive drives live lives house home cup cups place time times call calls go goes use uses play plays take takes'.split(
    ' ',
  ),
)

function listUnheld(words: readonly Word[], others: readonly Word[]): readonly Word[] {
  return words.filter((word) => !others.some((other) => isSameMeaning(word, other)))
}

/** Without the words that one of the other side implies: "my car is a Polo", "I drive a Polo". */
function dropImplied(words: readonly Word[], others: readonly Word[]): readonly Word[] {
  return words.filter(
    (word) => !others.some((other) => implies(word, other) || implies(other, word)),
  )
}

const SHARED_CHARACTERS_MIN = 3
const INFLECTION = /^(?:s|es|ed|d|ing|n|en|e|er|st|t|te|tic|ic)$/u

/** "Run" and "runs", "asthma" and "asthmatic". Stems would equate "universe" and "university". */
function isInflected(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (short.length < SHARED_CHARACTERS_MIN) return false
  const root = short.endsWith('e') ? short.slice(0, -1) : short
  return long.startsWith(root) && INFLECTION.test(long.slice(root.length))
}

function isSameMeaning(a: Word, b: Word): boolean {
  if (a.folded === b.folded) return true
  if (isName(a) || isName(b)) return a.folded === b.folded
  if (isInflected(a.folded, b.folded)) return true
  if (a.stem === b.stem) return false
  return [...a.concepts].some((id) => b.concepts.has(id))
}

function isName({ text, isFirst }: Word): boolean {
  return !isFirst && /^\p{Lu}/u.test(text)
}

/** "Tea rather than coffee": words of one field keep their order, and so do relatives. */
function hasSameOrder(a: readonly Word[], b: readonly Word[]): boolean {
  const ordered = (words: readonly Word[]) =>
    words
      .filter((word) => word.fields.size > 0 || /^\p{Lu}/u.test(word.text))
      .map(({ folded }) => folded)
  const [one, other] = [ordered(a), ordered(b)]
  const isOrdered = one.filter((word) => other.includes(word)).length >= 2
  return !isOrdered || one.join(' ') === other.join(' ')
}

/** "Shelf 28 holds", "room 12 is": the number says which one is meant, not how many. */
const IDENTIFIER =
  /^\s*(?:(?:the|my|our)\s+)?(?!\d)[\p{L}]+\s+(?:no\.?\s*|#)?(?<number>\d+)\s+(?:is|are|was|has|have|had|holds?|contains?|needs?|opens?|leaves?|belongs?)(?!\p{L})/iu

function hasOtherIdentifier(left: string, right: string): boolean {
  const [one, other] = [left, right].map((text) => IDENTIFIER.exec(text)?.groups?.number)
  return one !== undefined && other !== undefined && one !== other
}

function listMissing(a: Frame, b: Frame): readonly Quantity[] {
  return a.quantities.filter(
    (quantity) => !b.quantities.some((other) => isSameQuantity(quantity, other)),
  )
}

function toKind({ key, isDate, unit }: Quantity): string {
  return /^[twm]/u.test(key) ? key.charAt(0) : isDate ? 'date' : (unit ?? 'number')
}
