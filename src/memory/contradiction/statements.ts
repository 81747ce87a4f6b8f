import { type Attribute, canCoexist, findAttribute } from './attributes.ts'
import { cleanSurface } from './chat-statement.ts'
import { compareFrames } from './frames.ts'
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

/** `change`: one statement says that the other no longer holds. `verdict`: the adjudicator found the contradiction. */
export type Contradiction = 'negation' | 'number' | 'date' | 'value' | 'change' | 'verdict'
export type Comparison =
  | { readonly kind: 'same' }
  | { readonly kind: 'contradicts'; readonly reason: Contradiction }
  /** `isCertain`: both can be true. Otherwise rules cannot tell. */
  | { readonly kind: 'different'; readonly isCertain?: true }

const SAME: Comparison = { kind: 'same' }
const DIFFERENT: Comparison = { kind: 'different' }
const COMPATIBLE: Comparison = { kind: 'different', isCertain: true }

export function compareStatements(left: string, right: string): Comparison {
  return compareParsedStatements(parseStatement(left), parseStatement(right))
}

/** Compares parsed statements; parse a statement once when it is compared with many. */
export function compareParsedStatements(a: ParsedStatement, b: ParsedStatement): Comparison {
  if (a.isQuestion || b.isQuestion) return COMPATIBLE
  if (hasSimilarWords(a.words, b.words) || hasSimilarWords(a.timeless, b.timeless)) return SAME
  const byAttribute = compareAttributes(a, b)
  if (byAttribute !== null) return byAttribute
  if (isReplacedByChange(a, b) || isReplacedByChange(b, a)) {
    return { kind: 'contradicts', reason: 'change' }
  }
  if (hasSameClaim(a, b)) return SAME
  // "Today" is another day in each statement.
  if (a.isRelativeToDay || b.isRelativeToDay) return DIFFERENT
  const isPlain = a.isPlain && b.isPlain
  if (isPlain && a.isNegative !== b.isNegative && hasSimilarWords(a.claim, b.claim)) {
    return { kind: 'contradicts', reason: 'negation' }
  }
  const byNumbers = compareNumbers(a, b)
  if (byNumbers === DIFFERENT && isTimeless(a) && isTimeless(b)) {
    const byFrames = compareFrames(a.plain, b.plain)
    if (byFrames === 'same') return SAME
    if (byFrames !== null) return { kind: 'contradicts', reason: byFrames }
  }
  return byNumbers === DIFFERENT && setDifferentAttributes(a.attribute, b.attribute)
    ? COMPATIBLE
    : byNumbers
}

/** Whether a comparison can find a contradiction, at a fraction of its price. */
export function mayContradict(a: ParsedStatement, b: ParsedStatement): boolean {
  return (
    (a.attribute !== null && a.attribute.name === b.attribute?.name) ||
    a.abandoned.length > 0 ||
    b.abandoned.length > 0 ||
    (a.isPlain &&
      b.isPlain &&
      a.isNegative !== b.isNegative &&
      hasSimilarWords(a.claim, b.claim)) ||
    compareNumbers(a, b).kind === 'contradicts'
  )
}

export type ParsedStatement = {
  /** In order, without fillers; a negation is one sign in its place. */
  readonly words: readonly string[]
  /** The words without negations and particles, with every verb of liking or disliking as "like". */
  readonly claim: readonly string[]
  /** The number of items of a list at the end; two without commas. */
  readonly listItems: number
  readonly isNegative: boolean
  /** Whether it makes one claim. With two negations or two clauses, rules cannot tell what is negated. */
  readonly isPlain: boolean
  readonly isQuestion: boolean
  /** Whether it has subordinate clauses, or clauses in a sequence of time. */
  readonly isNested: boolean
  readonly isOrdered: boolean
  /** Whether the speaker is the subject. */
  readonly isOwn: boolean
  readonly isEvent: boolean
  /** Whether it refers to the day on which it is made, as "today" does. */
  readonly isRelativeToDay: boolean
  readonly isChange: boolean
  /** The words without "now" and the like. */
  readonly timeless: readonly string[]
  /** `timeless` with placeholders for numbers and dates. */
  readonly outline: readonly string[]
  /** What was given up for something else: vim in "I switched from vim to Helix". */
  readonly abandoned: readonly string[]
  readonly attribute: Attribute | null
  /** The statement in plain wording, with its case; empty for code. */
  readonly plain: string
}

const NEGATION = '¬'

/** Consecutive statements are often compared with the same memories, and parsing takes longer than comparing. */
const CACHED_STATEMENTS_MAX = 1_000
const cache = new Map<string, ParsedStatement>()

export function parseStatement(content: string): ParsedStatement {
  if (content.length > REWRITTEN_CHARACTERS_MAX) return parseUncached(content)
  const cached = cache.get(content)
  if (cached !== undefined) return cached
  if (cache.size >= CACHED_STATEMENTS_MAX) cache.clear()
  const statement = parseUncached(content)
  cache.set(content, statement)
  return statement
}

function parseUncached(content: string): ParsedStatement {
  const spaced = content
    .normalize('NFKC')
    .replace(/[’‘`´]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
  const isCode = CODE.test(spaced)
  // A long text makes several statements, which is beyond these rules.
  const isLong = spaced.length > REWRITTEN_CHARACTERS_MAX
  const own = rewriteToFirstPerson(
    stripAnswer(isCode || isLong ? spaced : cleanSurface(spaced).text),
  )
  const plain = isCode ? own : simplifyWording(own)
  const folded = normalizeWord(plain)
  const words = tokenize(folded, isCode)
  const negations = words.filter((word) => word === NEGATION).length
  const dislikes = words.filter((word) => DISLIKE_VERBS.has(word)).length
  const timeless = words.filter((word) => !NOW_WORDS.has(word))
  return {
    words,
    plain: isCode ? '' : plain,
    claim: timeless
      .filter((word) => word !== NEGATION && !PARTICLES.has(word))
      .map((word) => (DISLIKE_VERBS.has(word) || LIKE_VERBS.has(word) ? 'like' : word)),
    listItems: isLong ? 2 : countListItems(folded),
    isNegative: negations > 0 || dislikes > 0,
    isPlain:
      negations + dislikes <= 1 &&
      !/[,;:，、；：](?!\d)|(?<!\p{L})(?:but|aber|pero|mais|mas|que)(?!\p{L})|但/u.test(folded),
    isQuestion: /[?？]\s*$/.test(spaced),
    isNested: isLong || SUBORDINATION_PATTERN.test(folded),
    isOrdered: isLong || SEQUENCE_PATTERN.test(folded),
    isOwn: !isLong && OWN.test(folded),
    isEvent: isLong || isEventStatement(folded),
    isRelativeToDay: SAME_DAY_PATTERN.test(folded),
    isChange: isChangeAnnouncement(spaced),
    timeless,
    outline: timeless.map((word) =>
      NUMBER.test(word) || ORDINAL.test(word) ? '#' : isCalendarWord(word) ? '@' : word,
    ),
    abandoned: isCode || isLong ? [] : getAbandonedClaim(folded),
    attribute:
      isCode || negations > 0 ? null : (findAttribute(plain) ?? findThirdPersonAttribute(plain)),
  }
}

function compareAttributes(
  { attribute: a, ...one }: ParsedStatement,
  { attribute: b, ...other }: ParsedStatement,
) {
  if (a === null || a.name !== b?.name) return null
  if (a.value === b.value) return SAME
  if (canCoexist(a.name, a.value, b.value)) return COMPATIBLE
  if (a.cardinality === 'one' && b.cardinality === 'one') {
    return { kind: 'contradicts', reason: 'value' } as const
  }
  const isReplaceable = a.cardinality !== 'many' && b.cardinality !== 'many'
  return isReplaceable && one.isChange !== other.isChange
    ? ({ kind: 'contradicts', reason: 'change' } as const)
    : null
}

/** Whether a statement tells no event; "is called" sounds like one. */
function isTimeless({ isEvent, plain }: ParsedStatement): boolean {
  return !isEvent || /(?<!\p{L})(?:is|are|am) (?:now )?(?:called|named)(?!\p{L})/iu.test(plain)
}

/** Whether two statements set different attributes: my home and my sister's, a home and a name. */
function setDifferentAttributes(a: Attribute | null, b: Attribute | null): boolean {
  if (a === null || b === null || a.name === b.name) return false
  // In some languages the same phrase names a company, a town or a profession.
  return ![a, b].every(({ name }) => /^(?:employer|workplace|trade)/.test(name))
}

/** Whether `newer` gives up what `older` uses: "I use vim", "I switched from vim to Helix". */
function isReplacedByChange(older: ParsedStatement, newer: ParsedStatement): boolean {
  const verb = older.words.findIndex((word) => USE_VERBS.has(word))
  const hasSameSubject = verb === 0 || (verb === 1 && older.words[0] === newer.words[0])
  return hasSameSubject && hasSimilarWords(older.words.slice(verb + 1), newer.abandoned)
}

/** The same claim with the same polarity, or the same words with a time or the items of a list in another order. */
function hasSameClaim(a: ParsedStatement, b: ParsedStatement): boolean {
  if (a.isNegative !== b.isNegative || a.isNested || b.isNested) return false
  if (a.isPlain && b.isPlain && hasSimilarWords(normalizeOpinion(a), normalizeOpinion(b)))
    return true
  if (isReordered(a.words, b.words) || isReordered(b.words, a.words)) return true
  if (a.isOrdered || b.isOrdered) return false
  const [one, other] = [sortWords(a), sortWords(b)]
  return hasSimilarWords(one.rest, other.rest) && hasSameWords(one.times, other.times)
}

/** Whether a phrase at the end of `a` is at the beginning of `b`: "before breakfast I run". */
function isReordered(a: readonly string[], b: readonly string[]): boolean {
  return a.some(
    (word, index) =>
      index > 0 &&
      PHRASE_LEADS.has(word) &&
      hasSimilarWords([...a.slice(index), ...a.slice(0, index)], b),
  )
}

/** One verb for every liking, negated for every disliking: "hate" is "not like". */
function normalizeOpinion({ words }: ParsedStatement): readonly string[] {
  return words.flatMap((word) =>
    DISLIKE_VERBS.has(word) ? [NEGATION, 'like'] : LIKE_VERBS.has(word) ? ['like'] : [word],
  )
}

function compareNumbers(a: ParsedStatement, b: ParsedStatement): Comparison {
  if (countDifferences(a.timeless, b.timeless) !== 1 || !hasSameWords(a.outline, b.outline))
    return DIFFERENT
  if (!hasSubject(a.outline)) return DIFFERENT
  const place = a.timeless.findIndex((word, index) => word !== b.timeless[index])
  const isDate = [place - 1, place, place + 1].some((index) => a.outline[index] === '@')
  // Events may happen several times, and a person may do something on several days.
  if (a.isEvent || b.isEvent || isNumbered(a, place)) return COMPATIBLE
  if (isDate && (a.isOwn || a.timeless.some(isRecurringDay) || b.timeless.some(isRecurringDay))) {
    return COMPATIBLE
  }
  return { kind: 'contradicts', reason: isDate ? 'date' : 'number' }
}

/** Whether a number identifies the subject: "room 12", "fact number 12", "第3章", "my second child". */
function isNumbered({ timeless }: ParsedStatement, place: number): boolean {
  if (ORDINAL.test(timeless[place] ?? '')) return place <= 1
  return place === 0 || (NUMBERED.has(timeless[place - 1] ?? '') && place <= 3)
}

/** An ordinal as `ORDINALS` writes it. */
const ORDINAL = /^\d+\.$/
/** A number alone. "s3" and "mp3" are names. */
const NUMBER = /^[-+]?\p{N}+(?:[.,:]\p{N}+)*$/u

/** Nouns that are followed by an identifying number. */
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

/** Verbs whose object can be replaced by another. */
const USE_VERBS: ReadonlySet<string> = new Set(
  'use drive ride take drink play run nutze benutze verwende fahre uso usamos conduzco utilise utilisons conduis dirijo'.split(
    ' ',
  ),
)

/** First-person statements. In languages that drop pronouns, the verb form tells. */
const OWN =
  /(?<!\p{L})(?:i|we|ich|wir|je|j'|nous|yo|me|nosotros|eu|nós)(?![\p{L}])|^(?:no|não|nunca|ya no|já não) (?:\p{L}+o|soy|estoy|voy|doy|sou|estou|vou|dou)(?!\p{L})|^(?:\p{L}{3,}o|soy|estoy|voy|sou|estou|vou)(?= |$)|我|^(?!.*は)(?=.*\p{Script=Hiragana})|好き|嫌い/u

/** Particles without a meaning of their own; ignored when claims of different polarity are compared. */
const PARTICLES: ReadonlySet<string> = new Set('de du は が を も'.split(' '))

/** Characters of scripts without spaces are words of their own, except days of the week. */
const WORDS =
  /¬|星期[一二三四五六日]|[月火水木金土日]曜日?|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]|(?:(?<![\p{L}\p{N}])[-+](?=\p{N}))?\p{N}+(?::\p{N}+)+|(?:(?<![\p{L}\p{N}])[-+](?=\p{N}))?[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[.+#_-]+[\p{L}\p{N}]+)*[+#]*/gu

/** In code, commands and paths every mark is significant: `a && b` is not `a || b`. */
const CODE = /[<>{}=\\|&$%*~^`[\]_/]/
const PIECES = /\S+/g

function tokenize(folded: string, isCode: boolean): readonly string[] {
  const marked = folded.replace(NEGATIONS, (word) =>
    PARTIAL_NEGATIONS.has(word) ? ' ' : ` ${NEGATION} `,
  )
  const isNegated = marked.includes(NEGATION)
  const fillers = isNegated ? NEGATION_FILLERS : FILLERS
  const words = (marked.match(isCode ? PIECES : WORDS) ?? [])
    .filter((word) => !fillers.has(word))
    .map((word) => ORDINALS.get(word) ?? toSingular(word))
    .map((word) => SYNONYMS.get(word) ?? word)
  // Japanese marks the object of a negated verb as the topic.
  return isNegated ? words.map((word) => (word === 'を' ? 'は' : word)) : words
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
      // A number and its counter are two words, even without a space.
      .replace(/(\p{N})(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/gu, '$1 ')
      .replace(/([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])(?=\p{N})/gu, '$1 ')
      // "Left-handed" is also written as two words.
      .replace(/(?<=\p{L})-(?=\p{L})(?!feira)/gu, ' ')
      // "Not … anymore" is one negation.
      .replace(/ any ?more\b/g, '')
      .trim()
  )
}

/** Names are often written without accents. */
const ACCENTED_NAME = /(?<!\p{L})\p{Lu}[\p{L}\p{M}]{4,}/gu

/** "No, I don't" is one negation; the first word only answers. */
function stripAnswer(text: string): string {
  return text
    .replace(/^(?:no|nope|nein|não|non|yes|yeah|ja|sí|sim|oui|不|是的)[,.!;:，。] */iu, '')
    .replace(/, (?:no|nope|nein|não|non)[.!]*$/iu, '')
}

/** The words of what is given up: MySQL in "from MySQL to PostgreSQL". */
function getAbandonedClaim(folded: string): readonly string[] {
  for (const phrase of SWITCHES) {
    const abandoned = phrase.exec(folded)?.groups?.left
    if (abandoned !== undefined) return tokenize(abandoned, false)
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

/** Separates the times from the words, and sorts the items of a list. */
function sortWords({ words, listItems }: ParsedStatement) {
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
    rest: sortListItems(rest, listItems),
    times: words.filter((_, index) => isTime[index]),
  }
}

function countListItems(folded: string): number {
  const listed = /(?:\p{L}+, )+\p{L}+,? \p{L}+ \p{L}+(?=[.!]*$)/u.exec(folded)?.[0]
  return listed === undefined ? 2 : (listed.match(/\p{L}, /gu)?.length ?? 0) + 2
}

/**
 * Sorts list items: "I speak Spanish and German" is "I speak German and Spanish". Two clauses about the speaker are sorted,
 * too. Only a subject and a verb may precede a list of nouns: in "green tea and coffee" only the tea is green.
 */
function sortListItems(words: readonly string[], listItems: number): readonly string[] {
  const conjunctions = words.flatMap((word, index) => (CONJUNCTIONS.has(word) ? [index] : []))
  const [conjunction] = conjunctions
  if (conjunction === undefined || conjunctions.length > 1) return words
  const head = conjunction - listItems + 1
  if (conjunction === words.length - 2 && (head === 1 || head === 2)) {
    const items = words.slice(head).filter((_, index) => index !== conjunction - head)
    return [...words.slice(0, head), ...items.sort()]
  }
  if (words[0] !== 'i' && words[0] !== 'we') return words
  const clauses = [words.slice(1, conjunction), words.slice(conjunction + 1)].map((clause) =>
    clause.join(' '),
  )
  return [words[0], ...clauses.sort()]
}

/** Whether an outline has enough words: another number cannot contradict a number alone. */
function hasSubject(outline: readonly string[]): boolean {
  return outline.filter((word) => word !== '#' && word !== '@').length >= 2
}

/** The number of differing words of statements of equal length; -1 for different lengths. */
function countDifferences(a: readonly string[], b: readonly string[]): number {
  if (a.length !== b.length) return -1
  let differences = 0
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) differences++
  return differences
}

/** The Jaccard index of the words of two statements. */
export function computeWordOverlap(a: ParsedStatement, b: ParsedStatement): number {
  const [one, other] = [new Set(a.words), new Set(b.words)]
  const shared = [...one].filter((word) => other.has(word)).length
  const all = one.size + other.size - shared
  return all === 0 ? 0 : shared / all
}

/** "likes" is "like". Stems would be too coarse: they equate "universe" and "university". */
function toSingular(word: string): string {
  if (isCalendarWord(word)) return word
  return /^[a-z]{2,}[^s]s$/.test(word) ? word.slice(0, -1) : word
}

function hasSameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index])
}

/** The same words in the same order; "living" equals "live", "lived" does not. */
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
