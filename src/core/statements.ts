/**
 * What a statement says, as far as rules can tell: its words, whether it denies, its numbers and dates, and the
 * single-valued attribute it sets (one has one name and one home).
 *
 * Likeness of wording never decides anything here. Two statements are the same only when nothing but filler sets
 * them apart, and contradict only when exactly one thing does: a negation, a number or date, or the value of an
 * attribute that can have one value. Everything else is left alone, because a wrong "same" loses a memory.
 */
import { findAttribute } from './attributes.ts'
import { stem } from './stemming.ts'

export type Contradiction = 'negation' | 'number' | 'date' | 'value'
export type Comparison =
  | { readonly kind: 'same' }
  | { readonly kind: 'contradicts'; readonly because: Contradiction }
  | { readonly kind: 'different' }

const SAME: Comparison = { kind: 'same' }
const DIFFERENT: Comparison = { kind: 'different' }

export function compareStatements(left: string, right: string): Comparison {
  const a = readStatement(left)
  const b = readStatement(right)
  if (a.isAsked || b.isAsked) return DIFFERENT
  if (equal(a.words, b.words)) return SAME
  if (a.attribute !== null && a.attribute.name === b.attribute?.name) {
    return a.attribute.value === b.attribute.value
      ? SAME
      : { kind: 'contradicts', because: 'value' }
  }
  const isPlain = a.isPlain && b.isPlain
  if (isPlain && a.isAgainst !== b.isAgainst && equal(a.claim, b.claim)) {
    return { kind: 'contradicts', because: 'negation' }
  }
  if (
    differences(a.timeless, b.timeless) === 1 &&
    equal(a.outline, b.outline) &&
    hasSubject(a.outline)
  ) {
    return { kind: 'contradicts', because: a.outline.includes('#') ? 'number' : 'date' }
  }
  return DIFFERENT
}

/** Whether a statement says of itself that something has changed. */
export function announcesChange(content: string): boolean {
  return CHANGE_CUES.test(content.toLowerCase())
}

type Statement = {
  /** In order, without filler; a denial stands as one sign where it was said. */
  readonly words: readonly string[]
  /** The stems without denials, with every liking and disliking as "like". */
  readonly claim: readonly string[]
  readonly isAgainst: boolean
  /** Whether it makes one claim: with two denials or two clauses, nobody can tell by rules what is denied. */
  readonly isPlain: boolean
  readonly isAsked: boolean
  /** The words without "now" and the like. */
  readonly timeless: readonly string[]
  /** The same with numbers and dates blanked out. */
  readonly outline: readonly string[]
  readonly attribute: { readonly name: string; readonly value: string } | null
}

const DENIAL = '¬'

function readStatement(content: string): Statement {
  const spaced = content
    .normalize('NFKC')
    .replace(/[’‘`´]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
  const folded = fold(spaced)
  const marked = folded.replace(DENIALS, (word) => (HALF_DENIALS.has(word) ? ' ' : ` ${DENIAL} `))
  const words = (marked.match(CODE.test(folded) ? PIECES : WORDS) ?? [])
    .filter((word) => !FILLERS.has(word))
    .map(singular)
  const denials = words.filter((word) => word === DENIAL).length
  const stems = words.filter((word) => word !== DENIAL).map(stemmed)
  const dislikes = stems.filter((word) => DISLIKES.has(word)).length
  const isDenied = denials > 0
  const timeless = words.filter((word) => !NOW.has(word))
  return {
    words,
    claim: stems.map((word) => (DISLIKES.has(word) || LIKES.has(word) ? 'like' : word)),
    isAgainst: isDenied || dislikes > 0,
    isPlain:
      denials + dislikes <= 1 &&
      !/[,;:，、；：]|\b(?:but|aber|pero|mais|mas|que)\b|但/u.test(folded),
    isAsked: /[?？]\s*$/.test(spaced),
    timeless,
    outline: timeless.map((word) =>
      NUMBER.test(word) ? '#' : CALENDAR.has(stemmed(word)) ? '@' : word,
    ),
    attribute: isDenied ? null : findAttribute(withoutAnswer(asFirstPerson(spaced))),
  }
}

/** A bare number. "s3" and "mp3" are names. */
const NUMBER = /^[-+]?\p{N}+(?:[.,:]\p{N}+)*$/u

function fold(spaced: string): string {
  return (
    asFirstPerson(withoutAnswer(spaced.toLowerCase()))
      .replace(/\bcan't\b|\bcannot\b/g, 'can not')
      .replace(/\bwon't\b/g, 'will not')
      .replace(/(\p{L})n't\b/gu, '$1 not')
      .replace(/\b(do|does|did|is|are|was|ca|wo)nt\b/g, '$1 not')
      .replace(/\bi'm\b/g, 'i am')
      .replace(/\bi've\b/g, 'i have')
      .replace(/\bi'd\b/g, 'i would')
      // "Not … anymore" denies once.
      .replace(/ any ?more\b/g, '')
      .trim()
  )
}

/** "No, I don't" denies once; the first word only answers. */
function withoutAnswer(text: string): string {
  return text
    .replace(/^(?:no|nope|nein|não|non|yes|yeah|ja|sí|sim|oui|不|是的)[,.!;:，。] */iu, '')
    .replace(/, (?:no|nope|nein|não|non)[.!]*$/iu, '')
}

/** Extractors write about "the user"; people write about themselves. */
function asFirstPerson(text: string): string {
  return text.replace(/\b(?:the )?user's\b/gi, 'my').replace(/\b(?:the )?user (?=[\p{L}])/giu, 'i ')
}

/** Words that deny, in the languages that pattern extraction reads. */
const DENIALS =
  /(?<![\p{L}\p{N}])(?:no longer|not|never|nothing|no|nicht mehr|nicht|keine?[nmrs]?|nie|niemals|nunca|jamás|ya no|não|jamais|pas|ne|(?<=(?<![\p{L}])n(?:e |')[\p{L}' ]{1,40})(?:plus|rien|aucune?))(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])n'(?=\p{L})|从来不|从不|没有|不再|(?<![特差区性级])别(?!人)|不(?![但仅过错同])|没|ではありません|じゃありません|ありません|ではない|じゃない|くない(?<!少くない)|ません|なかった|(?<!もったい|少)ない/gu
/** French denies twice to say it once. */
const HALF_DENIALS = new Set(['ne', "n'"])

/** Letters of scripts without spaces stand alone; everything else goes by words. */
const WORDS =
  /¬|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?<![\p{L}\p{N}])[-+](?=\p{N}))?[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[.+#_-]+[\p{L}\p{N}]+)*[+#]*/gu

/** In code, commands and paths every mark means something: `a && b` is not `a || b`. */
const CODE = /[<>{}=\\|&$%*~^`[\]_/]/
const PIECES = /\S+/g

const FILLERS = new Set(
  'a an the do does did really very just actually quite please that am is are be s j je ich yo eu で す ま'.split(
    ' ',
  ),
)

const NOW = new Set('now nowadays jetzt inzwischen mittlerweile ahora maintenant agora'.split(' '))
const LIKES = new Set('like love enjoy ador mag lieb gusta encanta aime adore gosto amo'.split(' '))
const DISLIKES = new Set('hate dislik detest loath hass odio déteste'.split(' '))

const CALENDAR = new Set(
  [
    'monday tuesday wednesday thursday friday saturday sunday',
    'january february march april may june july august september october november december',
    'today tomorrow yesterday morning afternoon evening night',
    'montag dienstag mittwoch donnerstag freitag samstag sonntag',
    'lunes martes miércoles jueves viernes sábado domingo',
    'lundi mardi mercredi jeudi vendredi samedi dimanche',
  ]
    .join(' ')
    .split(' ')
    .map((word) => stemmed(word)),
)

const CHANGE_CUES =
  /(?<![\p{L}\p{N}])(?:now|nowadays|no longer|any ?more|switched|these days|jetzt|inzwischen|nicht mehr|mittlerweile|ahora|ya no|maintenant|désormais|agora|já não)(?![\p{L}\p{N}])|现在|不再|改为|改成|今は|今では/u

/** A bare number says nothing that another number could contradict. */
function hasSubject(outline: readonly string[]): boolean {
  return outline.filter((word) => word !== '#' && word !== '@').length >= 2
}

/** How many words differ between two statements of the same length. */
function differences(a: readonly string[], b: readonly string[]): number {
  return a.length === b.length ? a.filter((word, index) => word !== b[index]).length : -1
}

/** "likes" is "like", but "universe" is not "university": a stem is too coarse to call two statements the same. */
function singular(word: string): string {
  return /^[a-z]{3,}[^s]s$/.test(word) ? word.slice(0, -1) : word
}

function stemmed(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stem(word) : word
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return a.length > 0 && a.length === b.length && a.every((word, index) => word === b[index])
}
