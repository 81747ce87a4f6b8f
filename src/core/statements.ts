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
  const isSameDenial = a.denials === b.denials
  if (isSameDenial && equal(a.words, b.words)) return SAME
  if (
    !a.isDenied &&
    !b.isDenied &&
    a.attribute !== null &&
    a.attribute.name === b.attribute?.name
  ) {
    if (a.attribute.value === b.attribute.value) return SAME
    // "Berlin" and "Berlin during the week" may both hold.
    const isRefined =
      a.attribute.value.includes(b.attribute.value) || b.attribute.value.includes(a.attribute.value)
    return isRefined ? DIFFERENT : { kind: 'contradicts', because: 'value' }
  }
  if (a.isAgainst !== b.isAgainst && equal(a.claim, b.claim)) {
    return { kind: 'contradicts', because: 'negation' }
  }
  if (isSameDenial && equal(a.outline, b.outline) && hasSubject(a.outline)) {
    return { kind: 'contradicts', because: a.hasNumber ? 'number' : 'date' }
  }
  return DIFFERENT
}

/** Whether a statement says of itself that something has changed. */
export function announcesChange(content: string): boolean {
  return CHANGE_CUES.test(fold(content))
}

type Statement = {
  /** Stems in order, without filler and negations. */
  readonly words: readonly string[]
  /** How many words deny it. Two are not none: people deny twice to be clear. */
  readonly denials: number
  /** The words with every liking as "like" and every disliking as a denied "like". */
  readonly claim: readonly string[]
  readonly isAgainst: boolean
  /** The words with numbers and dates blanked out. */
  readonly outline: readonly string[]
  readonly hasNumber: boolean
  readonly attribute: { readonly name: string; readonly value: string } | null
}

function readStatement(content: string): Statement {
  const folded = fold(content)
  const [positive, denials] = withoutDenials(folded)
  const words = (positive.match(CODE.test(positive) ? PIECES : WORDS) ?? [])
    .filter((word) => !FILLERS.has(word))
    .map(stemmed)
  const dislikes = words.filter((word) => DISLIKES.has(word)).length
  return {
    words,
    denials,
    claim: words.map((word) => (DISLIKES.has(word) || LIKES.has(word) ? 'like' : word)),
    // "I don't hate it" is not for it, but not against it either: only one of the two counts.
    isAgainst: denials > 0 !== dislikes > 0,
    outline: words.map((word) => (/\p{N}/u.test(word) ? '#' : CALENDAR.has(word) ? '@' : word)),
    hasNumber: words.some((word) => /\p{N}/u.test(word)),
    attribute: denials > 0 ? null : findAttribute(folded),
  }
}

function fold(content: string): string {
  return (
    content
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[’‘`´]/g, "'")
      .replace(/\s+/g, ' ')
      // "No, I don't" denies once; the first word only answers.
      .replace(/^(?:no|nope|nein|não|non|yes|yeah|ja|sí|sim|oui)[,.!;:] */, '')
      .replace(/, (?:no|nope|nein|não|non)[.!]*$/, '')
      .replace(/\bcan't\b|\bcannot\b/g, 'can not')
      .replace(/\bwon't\b/g, 'will not')
      .replace(/(\p{L})n't\b/gu, '$1 not')
      .replace(/\b(do|does|did|is|are|was|ca|wo)nt\b/g, '$1 not')
      .replace(/\bi'm\b/g, 'i am')
      .replace(/\bi've\b/g, 'i have')
      .replace(/\b(?:the )?user's\b/g, 'my')
      .replace(/\b(?:the )?user\b/g, 'i')
      .trim()
  )
}

/** Words that deny, in the languages that pattern extraction reads. */
const DENIALS =
  /(?<![\p{L}\p{N}])(?:no longer|not any ?more|not|never|nothing|no|nicht mehr|nicht|keine?[nmrs]?|nie|niemals|nunca|jamás|ya no|não|jamais|pas|n'|ne|(?<=(?<![\p{L}])n(?:e |')[\p{L}' ]{1,40})(?:plus|rien|aucune?))(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])n'(?=\p{L})|从不|从来不|没有|不再|[不没别]|ではありません|じゃありません|ありません|ではない|じゃない|くない|ません|なかった|ない/gu
/** French denies twice to say it once. */
const HALF_DENIALS = new Set(['ne', "n'"])

function withoutDenials(text: string): readonly [string, number] {
  let denials = 0
  const positive = text.replace(DENIALS, (word) => {
    if (!HALF_DENIALS.has(word)) denials++
    return ' '
  })
  return [positive, denials]
}

/** Letters of scripts without spaces stand alone; everything else goes by words. */
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?<![\p{L}\p{N}])[-+](?=\p{N}))?[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[.+#_-]+[\p{L}\p{N}]+)*[+#]*/gu

/** In code, commands and paths every mark means something: `a && b` is not `a || b`. */
const CODE = /[<>{}=\\|&$%*~^`[\]_/]/
const PIECES = /\S+/g

const FILLERS = new Set(
  'a an the do does did really very just also quite actually so too please still that much any more am is are be been now s j je ich yo eu です ます'.split(
    ' ',
  ),
)

const LIKES = new Set('like love enjoy ador mag lieb gusta encanta aime adore gosto amo'.split(' '))
const DISLIKES = new Set('hate dislik detest loath avoid hass odio déteste'.split(' '))

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
  /(?<![\p{L}\p{N}])(?:now|nowadays|no longer|any ?more|instead|since|switched|changed|moved|these days|jetzt|inzwischen|nicht mehr|stattdessen|mittlerweile|ahora|ya no|en lugar|maintenant|désormais|ne .{1,40} plus|agora|já não|em vez)(?![\p{L}\p{N}])|现在|不再|改为|改成|今は|もう|今では/u

/** A bare number says nothing that another number could contradict. */
function hasSubject(outline: readonly string[]): boolean {
  return outline.filter((word) => word !== '#' && word !== '@').length >= 2
}

function stemmed(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stem(word) : word
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return a.length > 0 && a.length === b.length && a.every((word, index) => word === b[index])
}
