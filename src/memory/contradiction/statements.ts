/**
 * What a statement says, as far as rules can tell: its words, whether it denies, its numbers and dates, and the
 * attribute it sets (one has one name and one home).
 *
 * Likeness of wording never decides anything here. Two statements are the same only when nothing but wording that means
 * the same sets them apart, and contradict only when exactly one thing does: a negation, a number or date, or the value
 * of an attribute that can have one value. Everything else is left alone, because a wrong "same" loses a memory.
 */
import { LruCache } from '../../lib/lru-cache.ts'
import { type Attribute, canCoexist, findAttribute } from './attributes.ts'
import { findThirdPersonAttribute, rewriteToFirstPerson } from './persons.ts'
import { REWRITTEN_CHARACTERS_MAX, simplifyWording } from './plain-wording.ts'
import {
  CONJUNCTIONS,
  DISLIKE_VERBS,
  FILLERS,
  isCalendarWord,
  isChangeAnnouncement,
  isEventStatement,
  isRecurringDay,
  LIKE_VERBS,
  NEGATION_FILLERS,
  NEGATIONS,
  NOW_WORDS,
  ORDINALS,
  PARTIAL_NEGATIONS,
  PHRASE_LEADS,
  SAME_DAY_PATTERN,
  SEQUENCE_PATTERN,
  SUBORDINATION_PATTERN,
  SYNONYMS,
  TIME_LEADS,
} from './word-lists.ts'

export { isChangeAnnouncement as announcesChange } from './word-lists.ts'

/** `change`: one of the two says that something is no longer as the other says. `verdict`: someone else says so. */
export type Contradiction = 'negation' | 'number' | 'date' | 'value' | 'change' | 'verdict'
export type Comparison =
  | { readonly kind: 'same' }
  | { readonly kind: 'contradicts'; readonly because: Contradiction }
  /** `isCertain`: rules know that both can be true. Without it they only can't tell. */
  | { readonly kind: 'different'; readonly isCertain?: true }

const SAME: Comparison = { kind: 'same' }
const DIFFERENT: Comparison = { kind: 'different' }
const APART: Comparison = { kind: 'different', isCertain: true }

export function compareStatements(left: string, right: string): Comparison {
  return compareParsedStatements(parseStatement(left), parseStatement(right))
}

/** The same for one that is compared with many: it is read once. */
export function compareParsedStatements(a: ParsedStatement, b: ParsedStatement): Comparison {
  if (a.isAsked || b.isAsked) return APART
  if (hasSimilarWords(a.words, b.words) || hasSimilarWords(a.timeless, b.timeless)) return SAME
  const byAttribute = compareAttributes(a, b)
  if (byAttribute !== null) return byAttribute
  if (isReplacedByChange(a, b) || isReplacedByChange(b, a))
    return { kind: 'contradicts', because: 'change' }
  if (hasSameClaim(a, b)) return SAME
  // Said on two days, "today" is two days.
  if (a.isOfItsDay || b.isOfItsDay) return DIFFERENT
  const isPlain = a.isPlain && b.isPlain
  if (isPlain && a.isAgainst !== b.isAgainst && hasSimilarWords(a.claim, b.claim)) {
    return { kind: 'contradicts', because: 'negation' }
  }
  const byNumbers = compareNumbers(a, b)
  return byNumbers === DIFFERENT && hasOtherValue(a.attribute, b.attribute) ? APART : byNumbers
}

export type ParsedStatement = {
  /** In order, without filler; a denial stands as one sign where it was said. */
  readonly words: readonly string[]
  /** The words without denials and articles, with every liking and disliking as "like". */
  readonly claim: readonly string[]
  /** How many members a list at the end has; two where there is no comma. */
  readonly members: number
  readonly isAgainst: boolean
  /** Whether it makes one claim: with two denials or two clauses, nobody can tell by rules what is denied. */
  readonly isPlain: boolean
  readonly isAsked: boolean
  /** Whether one clause is under another, or at least stands before or after it. */
  readonly isNested: boolean
  readonly isOrdered: boolean
  /** Whether it is about the speaker. */
  readonly isOwn: boolean
  readonly isEvent: boolean
  /** Whether it speaks of the day on which it is said. */
  readonly isOfItsDay: boolean
  readonly isChange: boolean
  /** The words without "now" and the like. */
  readonly timeless: readonly string[]
  /** The same with numbers and dates blanked out. */
  readonly outline: readonly string[]
  /** What it says was given up for something else: "I switched from vim to Helix". */
  readonly left: readonly string[]
  readonly attribute: Attribute | null
}

const DENIAL = '¬'

/** Neighbours of one statement are often those of the next as well, and reading takes longer than comparing. */
const REMEMBERED_MAX = 1_000
const remembered = new LruCache<string, ParsedStatement>({ entriesMax: REMEMBERED_MAX })

export function parseStatement(content: string): ParsedStatement {
  if (content.length > REWRITTEN_CHARACTERS_MAX) return parseUncached(content)
  return remembered.getOrCreate(content, () => parseUncached(content))
}

function parseUncached(content: string): ParsedStatement {
  const spaced = content
    .normalize('NFKC')
    .replace(/[’‘`´]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
  const isCode = CODE.test(spaced)
  // A long one says many things, and what they are about is beyond these rules.
  const isLong = spaced.length > REWRITTEN_CHARACTERS_MAX
  const own = rewriteToFirstPerson(stripAnswer(spaced))
  const plain = isCode ? own : simplifyWording(own)
  const folded = normalizeWord(plain)
  const words = tokenize(folded, isCode)
  const denials = words.filter((word) => word === DENIAL).length
  const dislikes = words.filter((word) => DISLIKE_VERBS.has(word)).length
  const timeless = words.filter((word) => !NOW_WORDS.has(word))
  return {
    words,
    claim: timeless
      .filter((word) => word !== DENIAL && !PARTICLES.has(word))
      .map((word) => (DISLIKE_VERBS.has(word) || LIKE_VERBS.has(word) ? 'like' : word)),
    members: isLong ? 2 : countListMembers(folded),
    isAgainst: denials > 0 || dislikes > 0,
    isPlain:
      denials + dislikes <= 1 &&
      !/[,;:，、；：](?!\d)|(?<!\p{L})(?:but|aber|pero|mais|mas|que)(?!\p{L})|但/u.test(folded),
    isAsked: /[?？]\s*$/.test(spaced),
    isNested: isLong || SUBORDINATION_PATTERN.test(folded),
    isOrdered: isLong || SEQUENCE_PATTERN.test(folded),
    isOwn: !isLong && OWN.test(folded),
    isEvent: isLong || isEventStatement(folded),
    isOfItsDay: SAME_DAY_PATTERN.test(folded),
    isChange: isChangeAnnouncement(spaced),
    timeless,
    outline: timeless.map((word) =>
      NUMBER.test(word) || ORDINAL.test(word) ? '#' : isCalendarWord(word) ? '@' : word,
    ),
    left: isCode || isLong ? [] : getAbandonedClaim(folded),
    attribute:
      isCode || denials > 0 ? null : (findAttribute(plain) ?? findThirdPersonAttribute(plain)),
  }
}

function compareAttributes(
  { attribute: a, ...one }: ParsedStatement,
  { attribute: b, ...other }: ParsedStatement,
) {
  if (a === null || a.name !== b?.name) return null
  if (a.value === b.value) return SAME
  if (canCoexist(a.name, a.value, b.value)) return APART
  if (a.cardinality === 'one' && b.cardinality === 'one') {
    return { kind: 'contradicts', because: 'value' } as const
  }
  const isReplacing = a.cardinality !== 'many' && b.cardinality !== 'many'
  return isReplacing && one.isChange !== other.isChange
    ? ({ kind: 'contradicts', because: 'change' } as const)
    : null
}

/** Whether two statements set different things: where one lives and where one's sister does, a home and a name. */
function hasOtherValue(a: Attribute | null, b: Attribute | null): boolean {
  if (a === null || b === null || a.name === b.name) return false
  // In some languages the same words name a firm, a town or a trade.
  return ![a, b].every(({ name }) => /^(?:employer|workplace|trade)/.test(name))
}

/** Whether `newer` says that what `older` uses was given up: "I use vim", "I switched from vim to Helix". */
function isReplacedByChange(older: ParsedStatement, newer: ParsedStatement): boolean {
  const verb = older.words.findIndex((word) => USES.has(word))
  const hasSameSubject = verb === 0 || (verb === 1 && older.words[0] === newer.words[0])
  return hasSameSubject && hasSimilarWords(older.words.slice(verb + 1), newer.left)
}

/** The same claim for or against, or the same words with a time or the members of a list in another place. */
function hasSameClaim(a: ParsedStatement, b: ParsedStatement): boolean {
  if (a.isAgainst !== b.isAgainst || a.isNested || b.isNested) return false
  if (a.isPlain && b.isPlain && hasSimilarWords(normalizeOpinion(a), normalizeOpinion(b)))
    return true
  if (isReordered(a.words, b.words) || isReordered(b.words, a.words)) return true
  if (a.isOrdered || b.isOrdered) return false
  const [one, other] = [sortWords(a), sortWords(b)]
  return hasSimilarWords(one.rest, other.rest) && hasSameWords(one.times, other.times)
}

/** Whether a phrase at the end of the one stands at the beginning of the other: "before breakfast I run". */
function isReordered(a: readonly string[], b: readonly string[]): boolean {
  return a.some(
    (word, index) =>
      index > 0 &&
      PHRASE_LEADS.has(word) &&
      hasSimilarWords([...a.slice(index), ...a.slice(0, index)], b),
  )
}

/** One word for every liking, and for every disliking what it denies: "hate" is "not like". */
function normalizeOpinion({ words }: ParsedStatement): readonly string[] {
  return words.flatMap((word) =>
    DISLIKE_VERBS.has(word) ? [DENIAL, 'like'] : LIKE_VERBS.has(word) ? ['like'] : [word],
  )
}

function compareNumbers(a: ParsedStatement, b: ParsedStatement): Comparison {
  if (countDifferences(a.timeless, b.timeless) !== 1 || !hasSameWords(a.outline, b.outline))
    return DIFFERENT
  if (!hasSubject(a.outline)) return DIFFERENT
  const place = a.timeless.findIndex((word, index) => word !== b.timeless[index])
  const isDate = [place - 1, place, place + 1].some((index) => a.outline[index] === '@')
  // What happened on two days, or happens on both, or happens to someone on one of them, may all be true.
  if (a.isEvent || b.isEvent || isNumbered(a, place)) return APART
  if (isDate && (a.isOwn || a.timeless.some(isRecurringDay) || b.timeless.some(isRecurringDay))) {
    return APART
  }
  return { kind: 'contradicts', because: isDate ? 'date' : 'number' }
}

/** Whether a number tells which one is spoken of: "room 12", "fact number 12", "第3章", "my second child". */
function isNumbered({ timeless }: ParsedStatement, place: number): boolean {
  if (ORDINAL.test(timeless[place] ?? '')) return place <= 1
  return place === 0 || (NUMBERED.has(timeless[place - 1] ?? '') && place <= 3)
}

/** As words for it are read. */
const ORDINAL = /^\d+\.$/
/** A bare number. "s3" and "mp3" are names. */
const NUMBER = /^[-+]?\p{N}+(?:[.,:]\p{N}+)*$/u

/** Nouns whose number is a name. */
const NUMBERED: ReadonlySet<string> = new Set(
  (
    'number no nr fact item point room chapter page line step day week part volume lesson unit level floor version ' +
    'ticket issue task episode season question exercise problem flight gate bus table route apartment ' +
    'nummer fakt punkt zimmer raum kapitel seite zeile schritt tag woche teil band lektion frage aufgabe folge ' +
    'número dato punto sala habitación capítulo página línea paso día semana parte lección pregunta ' +
    'numéro fait salle chambre chapitre ligne étape jour semaine partie leçon ' +
    'fato facto quarto linha etapa dia lição pergunta 第 号'
  ).split(' '),
)

/** Verbs whose object can be exchanged for another. */
const USES: ReadonlySet<string> = new Set(
  'use drive ride take drink play run nutze benutze verwende fahre uso usamos conduzco utilise utilisons conduis dirijo'.split(
    ' ',
  ),
)

/** Whoever speaks of themselves knows best, and last. In languages without pronouns the verb tells, after a denial. */
const OWN =
  /(?<!\p{L})(?:i|we|ich|wir|je|j'|nous|yo|me|nosotros|eu|nós)(?![\p{L}])|^(?:no|não|nunca|ya no|já não) (?:\p{L}+o|soy|estoy|voy|doy|sou|estou|vou|dou)(?!\p{L})|^(?:\p{L}{3,}o|soy|estoy|voy|sou|estou|vou)(?= |$)|我|^(?!.*は)(?=.*\p{Script=Hiragana})|好き|嫌い/u

/** What joins words in other languages without a meaning of its own. Only for claims that one of two denies. */
const PARTICLES: ReadonlySet<string> = new Set('de du は が を も'.split(' '))

/** Letters of scripts without spaces stand alone, but days of the week; everything else goes by words. */
const WORDS =
  /¬|星期[一二三四五六日]|[月火水木金土日]曜日?|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]|(?:(?<![\p{L}\p{N}])[-+](?=\p{N}))?\p{N}+(?::\p{N}+)+|(?:(?<![\p{L}\p{N}])[-+](?=\p{N}))?[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[.+#_-]+[\p{L}\p{N}]+)*[+#]*/gu

/** In code, commands and paths every mark means something: `a && b` is not `a || b`. */
const CODE = /[<>{}=\\|&$%*~^`[\]_/]/
const PIECES = /\S+/g

function tokenize(folded: string, isCode: boolean): readonly string[] {
  const marked = folded.replace(NEGATIONS, (word) =>
    PARTIAL_NEGATIONS.has(word) ? ' ' : ` ${DENIAL} `,
  )
  const isDenied = marked.includes(DENIAL)
  const fillers = isDenied ? NEGATION_FILLERS : FILLERS
  const words = (marked.match(isCode ? PIECES : WORDS) ?? [])
    .filter((word) => !fillers.has(word))
    .map((word) => ORDINALS.get(word) ?? toSingular(word))
    .map((word) => SYNONYMS.get(word) ?? word)
  // Japanese marks what is denied as its topic.
  return isDenied ? words.map((word) => (word === 'を' ? 'は' : word)) : words
}

function normalizeWord(plain: string): string {
  return (
    plain
      .replace(ACCENTED_NAME, (name) => name.normalize('NFD').replace(/[\u0300\u0301\u0303]/g, ''))
      .normalize('NFC')
      .toLowerCase()
      .replace(/\bcan't\b|\bcannot\b/g, 'can not')
      .replace(/\bwon't\b/g, 'will not')
      .replace(/(\p{L})n't\b/gu, '$1 not')
      .replace(/\b(do|does|did|is|are|was|ca|wo)nt\b/g, '$1 not')
      // A number and what it counts are two words, also where no space stands between them.
      .replace(/(\p{N})(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/gu, '$1 ')
      .replace(/([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])(?=\p{N})/gu, '$1 ')
      // "Left-handed" is written in two words as well.
      .replace(/(?<=\p{L})-(?=\p{L})(?!feira)/gu, ' ')
      // "Not … anymore" denies once.
      .replace(/ any ?more\b/g, '')
      .trim()
  )
}

/** Names are often written without their accents. */
const ACCENTED_NAME = /(?<!\p{L})\p{Lu}[\p{L}\p{M}]{4,}/gu

/** "No, I don't" denies once; the first word only answers. */
function stripAnswer(text: string): string {
  return text
    .replace(/^(?:no|nope|nein|não|non|yes|yeah|ja|sí|sim|oui|不|是的)[,.!;:，。] */iu, '')
    .replace(/, (?:no|nope|nein|não|non)[.!]*$/iu, '')
}

/** What is given up, in words: of "from MySQL to PostgreSQL" the first. */
function getAbandonedClaim(folded: string): readonly string[] {
  for (const phrase of SWITCHES) {
    const left = phrase.exec(folded)?.groups?.left
    if (left !== undefined) return tokenize(left, false)
  }
  return []
}

const SWITCHES: readonly RegExp[] = [
  /^(?:i|we) (?:have )?(?:switched|changed|moved|migrated|went) from (?<left>.{1,40}?) to /u,
  /^(?:ich bin|wir sind) von (?<left>.{1,40}?) (?:auf|zu) .{1,40} (?:umgestiegen|gewechselt)/u,
  /^(?:he cambiado|hemos cambiado|cambié|cambiamos) de (?<left>.{1,40}?) a /u,
  /^(?:je suis passée?|nous sommes passés) de (?<left>.{1,40}?) à /u,
  /^(?:mudei|mudamos|troquei|trocamos) (?:de )?(?<left>.{1,40}?) (?:para|por) /u,
]

/** The words with the members of a list in alphabetical order, and without the times, which stand apart. */
function sortWords({ words, members }: ParsedStatement) {
  const isTime = words.map(
    (word, index) =>
      isCalendarWord(word) ||
      /^(?:\d{1,2}:\d\d|(?:1[89]|20)\d\d)$/.test(word) ||
      (NUMBER.test(word) &&
        [words[index - 1], words[index + 1]].some(
          (near) => near !== undefined && isCalendarWord(near),
        )),
  )
  for (let index = words.length - 2; index >= 0; index--) {
    if (isTime[index + 1] && TIME_LEADS.has(words[index] ?? '')) isTime[index] = true
  }
  const rest = words.filter((_, index) => !isTime[index])
  return {
    rest: sortListMembers(rest, members),
    times: words.filter((_, index) => isTime[index]),
  }
}

function countListMembers(folded: string): number {
  const listed = /(?:\p{L}+, )+\p{L}+,? \p{L}+ \p{L}+(?=[.!]*$)/u.exec(folded)?.[0]
  return listed === undefined ? 2 : (listed.match(/\p{L}, /gu)?.length ?? 0) + 2
}

/**
 * "I speak Spanish and German" is "I speak German and Spanish", and so are two things that I do. Before a list of nouns
 * only a subject and a verb may stand: in "green tea and coffee" the tea is green.
 */
function sortListMembers(words: readonly string[], members: number): readonly string[] {
  const joints = words.flatMap((word, index) => (CONJUNCTIONS.has(word) ? [index] : []))
  const [joint] = joints
  if (joint === undefined || joints.length > 1) return words
  const head = joint - members + 1
  if (joint === words.length - 2 && (head === 1 || head === 2)) {
    const listed = words.slice(head).filter((_, index) => index !== joint - head)
    return [...words.slice(0, head), ...listed.sort()]
  }
  if (words[0] !== 'i' && words[0] !== 'we') return words
  const clauses = [words.slice(1, joint), words.slice(joint + 1)].map((clause) => clause.join(' '))
  return [words[0], ...clauses.sort()]
}

/** A bare number says nothing that another number could contradict. */
function hasSubject(outline: readonly string[]): boolean {
  return outline.filter((word) => word !== '#' && word !== '@').length >= 2
}

/** How many words differ between two statements of the same length. */
function countDifferences(a: readonly string[], b: readonly string[]): number {
  return a.length === b.length ? a.filter((word, index) => word !== b[index]).length : -1
}

/** The share of the distinct words of two statements that are in both. */
export function computeWordOverlap(a: ParsedStatement, b: ParsedStatement): number {
  const [one, other] = [new Set(a.words), new Set(b.words)]
  const shared = [...one].filter((word) => other.has(word)).length
  const all = one.size + other.size - shared
  return all === 0 ? 0 : shared / all
}

/** "likes" is "like", but "universe" is not "university": a stem is too coarse to call two statements the same. */
function toSingular(word: string): string {
  if (isCalendarWord(word)) return word
  return /^[a-z]{2,}[^s]s$/.test(word) ? word.slice(0, -1) : word
}

function hasSameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index])
}

/** The same words in the same order; "live" and "living" are the same, "live" and "lived" are not. */
function hasSimilarWords(a: readonly string[], b: readonly string[]): boolean {
  return (
    a.length > 0 &&
    a.length === b.length &&
    a.every((word, index) => word === b[index] || isSameVerb(word, b[index] ?? ''))
  )
}

function isSameVerb(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (!/^[a-z]{2,}ing$/.test(long) || short.length < 2) return false
  const rest = long.slice(0, -3)
  return rest === short || `${rest}e` === short || rest === short + short.at(-1)
}
