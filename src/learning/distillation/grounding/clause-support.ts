/** Whether one clause of a claim follows from clauses that the user said. */

import { implies, isRelational, UNSPACED_CONCEPT_WORDS } from '../../../text/meaning/concepts.ts'
import { isSameQuantity, listQuantities, type Quantity } from '../../../text/meaning/quantities.ts'
import {
  type Clause,
  isPersonWord,
  tokenize,
  type Word,
} from '../../../text/meaning/statement-clauses.ts'
import {
  DECISIVE_WORDS,
  DETERMINER,
  GENERIC_WORDS,
  isFrameWord,
  isQuantityWord,
  LINKING,
  PREPOSITION,
  SOFT_WORDS,
} from '../../../text/meaning/word-classes.ts'
import type { Claim, UngroundedReason } from './claim.ts'
import { findVeto } from './claim-vetoes.ts'
import type { ClaimSimilarity } from './similarity.ts'
import { isNameGiven, isSelfNaming } from './user-introduction.ts'

/** A clause of the user with the index of its turn. */
export type EvidenceClause = Clause & { readonly turn: number }

export type ClaimClause = {
  readonly clause: Clause
  readonly subject: 'user' | 'other' | 'unknown'
  readonly subjectWords: readonly string[]
  readonly words: readonly Word[]
}

const USER =
  /^(?:(?:the )?users?(?!['’]s)|(?:der|die) (?:be)?nutzer(?:in)?|(?:a )?(?:el usuario|la usuaria)|al usuario|l['’]utilisat(?:eur|rice)|(?:o|a) (?:usuári[oa]|utilizador[a]?)|i|ich|je|yo|eu)(?![\p{L}'’])|^(?:该|这位)?(?:用户|使用者)(?!的)|^ユーザー(?!の)|^(?:他们|she|he|they)(?!\p{L})/iu
const OF_USER =
  /(?:users?['’]s?|(?:des|der) (?:be)?nutzer(?:s|in)?|del usuario|de la usuaria|de l['’]utilisat(?:eur|rice)|d[oa] (?:usuári[oa]|utilizador[a]?))(?!\p{L})|(?:用户|ユーザー)(?:的|の)/iu

export type ClaimSubject = Pick<ClaimClause, 'subject' | 'subjectWords'>

export function parseClaimClause(
  clause: Clause,
  { content, about }: Claim,
  userNames: ReadonlySet<string>,
  inherited: ClaimSubject | null,
): ClaimClause {
  const words = clause.words.filter(
    ({ folded, text }) =>
      !isFrameWord(folded, text) && !userNames.has(folded) && !isQuantityWord(text),
  )
  const own = findClaimSubject(clause, userNames, inherited === null && OF_USER.test(content))
  const subject = own ?? inherited ?? parseAbout(about) ?? guessSubject(clause, content)
  return { ...subject, clause, words }
}

/** "Ada is the user's daughter". */
const NAMED_RELATION =
  /^(?<name>\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?) (?:is|was) (?:the |one of the )?users?['’]/u

/** The subject that a clause of a claim names; null when it names none. */
function findClaimSubject(
  clause: Clause,
  userNames: ReadonlySet<string>,
  isLead: boolean,
): ClaimSubject | null {
  const { text, words } = clause
  const [first] = words
  const isNamed = first !== undefined && userNames.has(first.folded) && !/^\S+['’]s/u.test(text)
  const named = NAMED_RELATION.exec(text)?.groups?.name
  if (named !== undefined && !/^the$/iu.test(named)) {
    return { subject: 'other', subjectWords: tokenize(named, 0).map(({ folded }) => folded) }
  }
  if (USER.test(text) || isNamed) return { subject: 'user', subjectWords: [] }
  const names = clause.subjectWords.filter((word) => !isFrameWord(word, word))
  if (isLead && OF_USER.test(text)) {
    const persons = words.filter((word) => isPersonWord(word)).map(({ folded }) => folded)
    const subjectWords = [...persons.slice(0, 1), ...names]
    return subjectWords.length > 0
      ? { subject: 'other', subjectWords }
      : { subject: 'unknown', subjectWords }
  }
  return names.length > 0 ? { subject: 'other', subjectWords: names } : null
}

/** The person that the model names beside the claim. */
function parseAbout(about: string | undefined): ClaimSubject | null {
  if (about === undefined || about.trim() === '') return null
  const words = tokenize(about, 0).filter(({ folded, text }) => !isFrameWord(folded, text))
  const subjectWords = words
    .filter((word) => isPersonWord(word) || /^\p{Lu}/u.test(word.text))
    .map(({ folded }) => folded)
  return subjectWords.length > 0 ? { subject: 'other', subjectWords } : null
}

/** "Lives in Oslo" is about the user, "The launch is in June" about something else. */
function guessSubject({ words }: Clause, content: string): ClaimSubject {
  const [first] = words
  const isVerb =
    first !== undefined &&
    (first.concepts.size > 0 || /(?:s|ed|ing)$/u.test(first.text)) &&
    !/^(?:the|a|an|der|die|das|el|la|los|las|le|les|o|os|as|un|una|une|um|uma|ein|eine)\s/iu.test(
      content,
    )
  return {
    subject: isVerb && /^\p{Lu}\p{Ll}+(?:s|ed|ing)\b/u.test(content) ? 'user' : 'unknown',
    subjectWords: [],
  }
}

type ClauseSupport = { readonly turns: readonly number[]; readonly isFirstPerson: boolean }

/** Matched words per missing word that a clause needs. */
const COVERAGE_RATIO = 2

/** The same for a verb that the user did not use: "renovating" for "redoing". */
const VERB_SIMILARITY_MIN = 0.75

/** The relative similarity above which other words say the same. Calibrated on the development part of the eval. */
const REPHRASED_SIMILARITY_MIN = 0.64

/**
 * Whether a phrase such as "for a charity" or "a bakery" has no supported word: a detail that the model added. Verbs and
 * ordinary nouns are phrases of no weight.
 */
function hasUnsupportedPhrase({ words }: Clause, isAbsent: (word: Word) => boolean): boolean {
  let phrase: Word[] | null = null
  for (const word of [...words, null]) {
    if (word === null || PREPOSITION.has(word.folded) || DETERMINER.has(word.folded)) {
      if (
        phrase?.some(isAbsent) &&
        phrase.every(
          (each) =>
            isAbsent(each) || isFrameWord(each.folded, each.text) || GENERIC_WORDS.has(each.folded),
        )
      )
        return true
      phrase = word !== null && LINKING.has(word.folded) ? null : []
    } else if (/^users?$/u.test(word.folded)) phrase = null
    else phrase?.push(word)
  }
  return false
}

function isLeftOnly(word: Word, holders: readonly Clause[], clause: Clause): boolean {
  return holders.length > 0 && holders.every((each) => isLeft(word, each, clause))
}

export function checkClause(
  claim: ClaimClause,
  evidence: readonly EvidenceClause[],
  context: readonly EvidenceClause[],
  asked: readonly Clause[],
  content: string,
  { sentence: similarity, areSynonyms }: ClaimSimilarity,
): ClauseSupport | UngroundedReason {
  const { clause, subjectWords, words } = claim
  const all = [...context, ...evidence]
  const predicate = words.filter(({ folded }) => !subjectWords.includes(folded))
  if (!isSubjectKnown(claim, all)) return 'name'
  if (isSelfNaming(content) && !isNameGiven(content, all)) return 'name'
  const holds = (each: Clause, word: Word) => findWord(each, word, areSynonyms)
  const quantities = listQuantities(clause.text)
  const { head, fault } = findHead(claim, all, predicate, quantities, holds)
  if (fault !== null) return fault
  const used = new Set<number>(head === undefined ? [] : [head.turn])
  const isNamed = (word: string) =>
    !all.some((each) => each.words.some(({ text }) => text === word))
  const numbers = quantities.length
  const verb = findMainVerb(claim)
  if (head !== undefined) {
    const beside = all.filter(({ turn }) => turn === head.turn)
    const isSame = (one: Word, other: Word) =>
      isSameWord(one, other) || areSynonyms(one.folded, other.folded)
    const { subject } = claim
    const veto = findVeto({ claimed: clause, subject, head, verb, beside, isSame })
    if (veto !== null) return veto
  }
  if (!areQuantitiesAligned(claim, quantities, head, all, predicate, holds)) return 'number'
  let soft = 0
  let [matched, specific, generic, missing, blocked] = [
    0,
    // "Revenue has increased": a subject that is no name is a word like any other.
    numbers > 0 ? subjectWords.filter((word) => !isNamed(word)).length : 0,
    0,
    0,
    0,
  ]
  const absentWords = new Set<Word>()
  for (const word of predicate) {
    const holders = all.filter((each) => holds(each, word))
    const supporting = holders.filter(
      (each) =>
        !isLeft(word, each, clause) &&
        !isOwnedByUser(claim, each, word) &&
        (!isRelational(word.concepts) || head === undefined || isBeside(each, head)) &&
        (each === head || canSupport(claim, each, word) || isNamedBeside(word, each, head)),
    )
    const isGeneric =
      GENERIC_WORDS.has(word.folded) || asked.some((each) => findWord(each, word, areSynonyms))
    if (supporting.length > 0) {
      if (isSubstituted(word, claim, head)) return 'name'
      matched++
      if (!isName(word, clause) || GERMAN.test(clause.text)) specific++
      const turn = supporting.find(({ turn: at }) => used.has(at)) ?? supporting.at(-1)
      if (turn !== undefined) used.add(turn.turn)
    } else if (isName(word, clause)) return holders.length > 0 ? 'modality' : 'name'
    else if (isLeftOnly(word, holders, clause)) return 'modality'
    else if (SOFT_WORDS.has(word.folded)) soft++
    else if (head?.isNegative === true && ENDING_VERB.test(word.folded)) soft++
    else if (word === verb && holders.length > 0 && (!isGeneric || isOthers(holders))) {
      return 'subject'
    } else if (holders.length > 0 && isRelational(word.concepts)) generic++
    else if (holders.length > 0) blocked++
    else if (DECISIVE_WORDS.has(word.folded)) return 'words'
    else if (CJK.test(word.text) && isGeneric) generic++
    else if (CJK.test(word.text) || isExcluded(word, all)) return 'words'
    else if (isGeneric) generic++
    else if (word === verb && similarity < VERB_SIMILARITY_MIN) return 'words'
    else {
      missing++
      absentWords.add(word)
    }
  }
  if (hasUnsupportedPhrase(clause, (word) => absentWords.has(word))) return 'words'
  const isRephrased = specific > 0 && similarity >= REPHRASED_SIMILARITY_MIN
  if (blocked > 0 && matched < 2 && !isRephrased) return 'modality'
  const isSaidOfSelf =
    generic === 0 &&
    missing === 0 &&
    head?.subject === 'self' &&
    !isAddedAttitude(verb, head, holds)
  if (
    specific === 0 &&
    numbers === 0 &&
    generic + missing + soft > 0 &&
    !isSaidOfSelf &&
    !isResidence(claim, head)
  ) {
    return 'words'
  }
  const absent = missing + generic / 2 + blocked / 2
  const isAnswer = findAnswer(clause, evidence, predicate, asked, holds) !== undefined
  if (
    !isRephrased &&
    !isAnswer &&
    predicate.length > 0 &&
    matched + numbers < absent * COVERAGE_RATIO
  ) {
    return 'words'
  }
  if (used.size === 0) {
    const answer = findAnswer(clause, evidence, predicate, asked, holds)
    if (answer !== undefined) return { turns: [answer.turn], isFirstPerson: true }
    if (
      predicate.length === 0 &&
      numbers === 0 &&
      subjectWords.length === 0 &&
      !clause.isNegative
    ) {
      return { turns: [], isFirstPerson: false }
    }
    const named = evidence.findLast(
      (each) =>
        findFault(claim, each, predicate) === null &&
        (subjectWords.some((name) => mentionsWord(each, name)) || sharesQuantity(clause, each)),
    )
    if (named === undefined) return numbers > 0 || clause.isNegative ? 'words' : 'subject'
    return { turns: [named.turn], isFirstPerson: isSelfStatement(named) }
  }
  return { turns: [...used], isFirstPerson: isSelfStatement(head) }
}

const ATTITUDE = /^(?:like|love|prefer|enjoy|adore)[sd]?$/u

/** "Find me a hotel in Rome" does not say that the user likes Rome. */
function isAddedAttitude(verb: Word | undefined, head: Clause, holds: Holds): boolean {
  return verb !== undefined && ATTITUDE.test(verb.folded) && !holds(head, verb)
}

const RESIDENCE =
  /(?<!\p{L})(?:lives?|lived|living|based|resides?|located|is in|wohnt|lebt|vive|habite|vit|mora)(?!\p{L})/iu
const TRAVEL =
  /(?<!\p{L})(?:flights?|fly|flying|trips?|travel\p{L}*|visit\p{L}*|going|go|hotel|vacation|holiday|layover|train|drive|ran|run|race|marathon|meet\p{L}*|conference|from)(?!\p{L})/iu

/** "I'm in Tucson", "Pavel in Brno" and "Oslo" after a question say where somebody lives; "flying to Oslo" does not. */
function isResidence({ clause }: ClaimClause, head: EvidenceClause | undefined): boolean {
  return head !== undefined && RESIDENCE.test(clause.text) && !TRAVEL.test(head.text)
}

const ENDING_VERB = /^(?:stop(?:s|ped)?|quits?|end(?:s|ed)?|cease[sd]?|gave|avoids?|refuses?)$/u

/** Whether the user named something else of the field of a word: "guitar" where a claim has "piano". */
function isExcluded({ fields }: Word, all: readonly Clause[]): boolean {
  return all.some(({ words }) =>
    words.some((each) => [...each.fields].some((id) => fields.has(id))),
  )
}

/** Whether clauses speak of somebody else only: "Mireille fixed it". */
function isOthers(holders: readonly Clause[]): boolean {
  return holders.every(({ subject }) => subject === 'other')
}

/** "What is your credit score?" – "742": a short answer with the number, to a question that has the words of the claim. */
function findAnswer(
  clause: Clause,
  evidence: readonly EvidenceClause[],
  predicate: readonly Word[],
  asked: readonly Clause[],
  holds: Holds,
): EvidenceClause | undefined {
  const isAsked = (word: Word) => asked.some((each) => holds(each, word))
  if (
    predicate.length === 0 ||
    !predicate.some(isAsked) ||
    !predicate.every((word) => isAsked(word) || SOFT_WORDS.has(word.folded))
  )
    return undefined
  return evidence.find(
    (each, at) => at <= 1 && each.words.length <= ANSWER_WORDS_MAX && sharesQuantity(clause, each),
  )
}

const ANSWER_WORDS_MAX = 6

/** "We adopted a greyhound, his name's Biscuit". */
function isNamedBeside(
  word: Word,
  each: EvidenceClause,
  head: EvidenceClause | undefined,
): boolean {
  return (
    head !== undefined &&
    each.turn === head.turn &&
    Math.abs(each.sentence - head.sentence) <= 1 &&
    /^\p{Lu}/u.test(word.text) &&
    NAMING_VERB.test(each.text)
  )
}

type Holds = (each: Clause, word: Word) => boolean

/** Clauses that hold this share of what the best one holds may be what a claim rests on, when the best one is at fault. */
const HEAD_SHARE_MIN = 0.75

/** The clause that a claim rests on: the last of those with most of its words and numbers. */
function findHead(
  claim: ClaimClause,
  all: readonly EvidenceClause[],
  predicate: readonly Word[],
  quantities: readonly Quantity[],
  holds: Holds,
): { readonly head: EvidenceClause | undefined; readonly fault: UngroundedReason | null } {
  const faultOf = (each: EvidenceClause) => findFault(claim, each, predicate)
  const scored = all.map((each) => ({
    each,
    score: scoreClause(each, predicate, quantities, holds),
  }))
  const best = Math.max(0, ...scored.map(({ score }) => score))
  if (best === 0) return { head: undefined, fault: null }
  const heads = scored.filter(({ score }) => score === best)
  const last = heads.at(-1)?.each
  const fault = last === undefined ? null : faultOf(last)
  if (fault === 'polarity') return { head: undefined, fault }
  const head = heads.findLast(({ each }) => faultOf(each) === null)?.each
  if (head !== undefined) return { head, fault: null }
  const next = scored.filter(({ score }) => score >= best * HEAD_SHARE_MIN)
  const other = next.findLast(({ each }) => faultOf(each) === null)?.each
  return { head: other, fault: other === undefined ? (fault ?? 'words') : null }
}

/** The verb of a claim about the user, where it says more than that somebody is or has something. */
function findMainVerb({ clause, subject }: ClaimClause): Word | undefined {
  if (subject !== 'user') return undefined
  const at = clause.words.findIndex(({ folded }) => /^users?$/u.test(folded))
  const next = clause.words.slice(at + 1).find(({ folded }) => !ADVERBS.has(folded))
  return at < 0 || next === undefined || isFrameWord(next.folded, next.text) ? undefined : next
}

const ADVERBS = new Set(
  'also currently now already still just only really often usually always recently previously'.split(
    ' ',
  ),
)

/**
 * Whether each number stands in the clause that the claim rests on, or in one that speaks of the same. "Rent 720, phone 18"
 * supports no phone for 720.
 */
function areQuantitiesAligned(
  { subjectWords }: ClaimClause,
  quantities: readonly Quantity[],
  head: EvidenceClause | undefined,
  all: readonly EvidenceClause[],
  predicate: readonly Word[],
  holds: Holds,
): boolean {
  if (head === undefined) return true
  const own = listQuantities(head.text)
  const keys = new Set(quantities.map(({ key }) => key))
  return quantities.every((quantity) => {
    if (own.some((each) => isSameQuantity(each, quantity))) return true
    // Another value of the same kind stands where this one should.
    if (own.some((each) => isSameKind(each, quantity) && !keys.has(each.key))) return false
    const holders = all.filter((each) =>
      listQuantities(each.text).some((other) => isSameQuantity(other, quantity)),
    )
    return (
      holders.length === 0 ||
      holders.some(
        (each) =>
          isBeside(each, head) ||
          each.turn !== head.turn ||
          listContent(each).length <= 1 ||
          REFERRING.test(each.text) ||
          predicate.some((word) => holds(each, word)) ||
          subjectWords.some((word) => mentionsWord(each, word)),
      )
    )
  })
}

/** Pronouns by which a clause speaks of what the one before it named. */
const REFERRING =
  /(?<!\p{L})(?:it|its|it['’]s|that|they|them|he|she|his|her|es|ihn|sie|er|lo|la|le|il|elle|ele|ela)(?!\p{L})/iu

function listContent({ words }: Clause): readonly Word[] {
  return words.filter(({ folded, text }) => !isFrameWord(folded, text) && !isQuantityWord(text))
}

function isSameKind(a: Quantity, b: Quantity): boolean {
  const kindOf = ({ key, isDate, unit }: Quantity) =>
    /^[twm]/u.test(key) ? key.charAt(0) : isDate ? 'date' : (unit ?? 'number')
  return kindOf(a) === kindOf(b)
}

/** Nouns have capitals in German, which mark no names there. */
const GERMAN = /(?<!\p{L})(?:der|die|das|den|dem|des|ist|hat|und|heißt|nutzer\p{L}*)(?!\p{L})/iu

/** Whether two clauses are of one sentence. */
function isBeside(each: EvidenceClause, head: EvidenceClause): boolean {
  return each.turn === head.turn && each.sentence === head.sentence
}

function sharesQuantity(clause: Clause, each: Clause): boolean {
  const keys = new Set(listQuantities(each.text).map(({ key }) => key))
  return listQuantities(clause.text).some(({ key }) => keys.has(key))
}

function isSubjectKnown({ subjectWords }: ClaimClause, all: readonly Clause[]): boolean {
  return subjectWords.every(
    (name) => COMMON_SUBJECTS.has(name) || all.some((each) => mentionsWord(each, name)),
  )
}

/** Subjects for whom the user may have another word. */
const COMMON_SUBJECTS = new Set(
  'somebody someone team tutor teacher doctor company anniversary wedding phone party family children kids guests desk'.split(
    ' ',
  ),
)

const NAMING_VERB =
  /(?<!\p{L})(?:called|named|name is|name['’]?s|heißt|namens|se llama|s'appelle|nommée?|se chama|chama-se)(?!\p{L})|叫|名前/iu

/** Why a clause cannot state a claim, whatever their common words. */
function findFault(
  claim: ClaimClause,
  each: EvidenceClause,
  predicate: readonly Word[],
): UngroundedReason | null {
  const { clause } = claim
  if (isSubjectMismatch(claim, each)) return 'subject'
  const isNaming =
    !clause.isNegative &&
    NAMING_VERB.test(clause.text) &&
    predicate.every((word) => isName(word, clause))
  if (each.isImpersonal || (each.isRejected && !clause.isRejected && clause.isNegative))
    return 'modality'
  if (!isNaming && isPolarityMismatch(clause, each, predicate)) return 'polarity'
  if (each.isIrrealis && !clause.isIrrealis && !clause.isIntent) return 'modality'
  if (each.isIntent && !clause.isIntent && !clause.isIrrealis && !isFuture(clause.text)) {
    return 'modality'
  }
  if (each.isEnded && !clause.isEnded && !clause.isNegative && !isPast(clause.text))
    return 'modality'
  if (each.isPast && isPresentState(clause.text) && !isPast(clause.text)) return 'modality'
  return null
}

const PRESENT_STATE =
  /(?<!\p{L})(?:(?:nutzer(?:in)? (?:arbeitet|ist|wohnt|lebt|hat|fährt|spielt)|usuari[oa] (?:trabaja|es|vive|tiene|trabalha|é|mora|tem)|utilisat(?:eur|rice) (?:travaille|est|vit|habite|a))|(?:user|users?['’]s \p{L}+|they) (?:is|are|works|lives|has|takes|drives|uses|plays|costs|pays|earns)|^\p{L}+ (?:is|costs|lives|works)|(?:rent|price|dose|salary|budget|launch|deadline|appointment|meeting|interview) is)(?!\p{L})(?! (?:been|had|born))/iu

/** "Was on 100 mcg" does not support "takes 100 mcg". */
function isPresentState(text: string): boolean {
  return PRESENT_STATE.test(text)
}

/** "Since my burnout" says nothing about a burnout of somebody else. */
function isOwnedByUser({ subject, clause }: ClaimClause, each: Clause, word: Word): boolean {
  if (subject !== 'other' || /user['’]s|nutzer|usuari|utilisateur|utilizador/iu.test(clause.text))
    return false
  return MINE.test(wordBefore(each, word))
}

/** Whether the user speaks of themself: "I live in Oslo", "my name is Ada". */
function isSelfStatement(each: Clause | undefined): boolean {
  if (each === undefined || each.subject === 'other') return false
  return each.subject === 'self' || each.words.some(({ folded }) => MINE.test(folded))
}

function wordBefore(each: Clause, word: Word): string {
  const at = each.words.findIndex((candidate) => isSameWord(candidate, word))
  return each.words[at - 1]?.folded ?? ''
}

const MINE = /^(?:my|meine?[nmrs]?|mi|mis|mon|ma|mes|meu|minha)$/u

/** Whether a clause beside the head may contribute a word. */
function canSupport(claim: ClaimClause, each: EvidenceClause, word: Word): boolean {
  const { clause } = claim
  const isOwn = claim.subject === 'user' && MINE.test(wordBefore(each, word))
  if (!isOwn && isSubjectMismatch(claim, each)) return false
  const isName = each.subjectWords.includes(word.folded) && !isPersonWord(word)
  if (!isName && isPolarityMismatch(clause, each, [word])) return false
  if (each.isImpersonal) return false
  return !each.isIrrealis || clause.isIrrealis || clause.isIntent
}

/** Whether a word names what a transition leaves: Leeds in "moved from Leeds to Lisbon". */
function isLeft({ folded }: Word, each: Clause, clause: Clause): boolean {
  return each.left.has(folded) && !clause.isEnded && !clause.left.has(folded)
}

/** "I write Python at work" does not support "writes Rust at work", whatever was said about Rust elsewhere. */
function isSubstituted(word: Word, { clause }: ClaimClause, head: Clause | undefined): boolean {
  if (head === undefined || !isCapitalized(word) || word.isFirst || findWord(head, word))
    return false
  return head.words.some(
    (other) =>
      isCapitalized(other) &&
      !other.isFirst &&
      other.concepts.size === 0 &&
      other.text.length > 1 &&
      !clause.words.some((candidate) => isSameWord(candidate, other)),
  )
}

const PAST =
  /(?<!\p{L})(?:was|were|had|worked|lived|used|previously|formerly|former|war|hatte|arbeitete|wohnte|früher|trabajó|trabajaba|vivía|vivió|travaillait|habitait|trabalhava|morava|trabalhou)(?!\p{L})|以前|曾/iu

function isPast(text: string): boolean {
  return PAST.test(text)
}

/** Whether a claim and a clause disagree about what a negation denies. */
function isPolarityMismatch(claim: Clause, each: Clause, words: readonly Word[]): boolean {
  if (claim.isNegative === each.isNegative || isContextual(each)) return false
  if (claim.isNegative) return true
  // "I can't afford that on a nurse's pay" denies nothing about the nurse.
  return each.words.some(
    (candidate) =>
      each.denied.has(candidate.folded) && words.some((word) => isSameWord(candidate, word)),
  )
}

/** A clause without a predicate of its own, such as "since 2019", takes the polarity of its neighbor. */
function isContextual({ words, denied }: Clause): boolean {
  return words.length <= 1 && denied.size === 0
}

const FUTURE =
  /(?<!\p{L})(?:will|going|plans?|upcoming|next|wird|werden|va a|ir[áa]|va|vai|próxim|prochain|visit|train|prepar)|将|予定|要|つもり/iu

function isFuture(text: string): boolean {
  return FUTURE.test(text)
}

function scoreClause(
  each: Clause,
  words: readonly Word[],
  quantities: readonly Quantity[],
  holds: Holds,
): number {
  let score = 0
  for (const word of words) if (holds(each, word)) score += word.concepts.size > 0 ? 1 : 2
  if (score === 0 || quantities.length === 0) return score
  const own = listQuantities(each.text)
  for (const quantity of quantities) {
    if (own.some((other) => isSameQuantity(other, quantity))) score += 2
  }
  return score
}

function isSubjectMismatch(claim: ClaimClause, each: Clause): boolean {
  const { subject, subjectWords, clause } = claim
  if (subject === 'user') {
    if (each.subject !== 'other') return false
    if (each.isPronoun && each.antecedents.length > 0 && !isNamedIn(each.antecedents, clause)) {
      return true
    }
    // "The user has a puppy called Biscuit": "her name is Biscuit".
    if (each.subjectWords.length === 0) {
      return !clause.words.some((word) => isPersonWord(word) && !findWord(each, word))
    }
    return !each.subjectWords.some((word) =>
      clause.words.some(
        (candidate) => isSameText(candidate, word) || sharesConcept(candidate, word),
      ),
    )
  }
  if (subject !== 'other' || subjectWords.length === 0) return false
  const isMentioned = subjectWords.some((word) => mentionsWord(each, word))
  if (isMentioned || each.subject === 'unknown') return false
  if (each.subject === 'self') return !ABOUT_OTHERS.test(each.text)
  if (each.isPronoun && isOtherThan(subjectWords, each.antecedents)) return true
  // A pronoun, or a name for the relative that the claim is about.
  if (each.subjectWords.length === 0) return false
  if (subjectWords.some((word) => each.subjectWords.some((other) => isSameSubject(word, other))))
    return false
  const [own, others] = [splitSubject(subjectWords), splitSubject(each.subjectWords)]
  if (own.names.length > 0 && others.names.length > 0) return true
  return own.relations.length > 0 === others.relations.length > 0
}

function isNamedIn(names: readonly string[], clause: Clause): boolean {
  return names.some((name) =>
    clause.words.some((word) => isSameText(word, name) || sharesConcept(word, name)),
  )
}

/** Whether a pronoun that may stand for the antecedents stands for none of the subjects. */
function isOtherThan(subjectWords: readonly string[], antecedents: readonly string[]): boolean {
  if (antecedents.length === 0) return false
  if (subjectWords.some((word) => antecedents.some((other) => isSameSubject(word, other))))
    return false
  const [own, others] = [splitSubject(subjectWords), splitSubject(antecedents)]
  if (own.names.length > 0) return others.names.length > 0
  return own.relations.length > 0 && others.relations.length > 0
}

function isSameSubject(word: string, other: string): boolean {
  const [parsed] = tokenize(word, 0)
  return parsed !== undefined && (isSameText(parsed, other) || sharesConcept(parsed, other))
}

function splitSubject(words: readonly string[]) {
  const isRelation = (word: string) => tokenize(word, 0).some(isPersonWord)
  return {
    relations: words.filter(isRelation),
    names: words.filter((word) => !isRelation(word)),
  }
}

const ABOUT_OTHERS =
  /(?<!\p{L})(?:we|both|his|her|hers|their|him|them|wir|ihre?[nrms]?|seine?[nrms]?|nous|leurs?|sa|son|nosotros|ambos|su|sus|nós|sua|seu|dele|dela)(?!\p{L})|我们|他|她|彼/iu

function mentionsWord(each: Clause, word: string): boolean {
  const [parsed] = tokenize(word, 0)
  return parsed !== undefined && findWord(each, parsed)
}

function sharesConcept(candidate: Word, word: string): boolean {
  const [parsed] = tokenize(word, 0)
  return parsed !== undefined && [...parsed.concepts].some((id) => candidate.concepts.has(id))
}

function isSameText(candidate: Word, folded: string): boolean {
  return (
    candidate.folded === folded ||
    candidate.folded === `${folded}s` ||
    `${candidate.folded}s` === folded
  )
}

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u

/** Whether a clause holds a word, one of the same stem, or one for the same concept. */
function findWord(
  each: Clause,
  word: Word,
  areSynonyms: ClaimSimilarity['areSynonyms'] = () => false,
): boolean {
  if (CJK.test(word.text)) {
    if (each.text.includes(word.text)) return true
    const root = word.text.replace(/[\p{Script=Hiragana}]+$/u, '')
    if (root.length > 0 && root !== word.text && each.text.includes(root)) return true
    return UNSPACED_CONCEPT_WORDS.some(
      (known) =>
        each.text.includes(known) &&
        tokenize(known, 0).some(({ concepts }) =>
          [...concepts].some((id) => word.concepts.has(id)),
        ),
    )
  }
  if (each.words.some((candidate) => isSameWord(candidate, word) || implies(candidate, word)))
    return true
  return each.words.some(
    (candidate) =>
      !areExclusive(candidate, word) &&
      !isCapitalizedName(candidate) &&
      areSynonyms(candidate.folded, word.folded),
  )
}

function isCapitalizedName({ text, isFirst }: Word): boolean {
  return !isFirst && /^\p{Lu}/u.test(text)
}

/** Different words of one field, or a word and its opposite: "happy" and "unhappy". */
function areExclusive(a: Word, b: Word): boolean {
  if ([...a.fields].some((id) => b.fields.has(id))) return true
  return isOppositeOf(a.folded, b.folded) || isOppositeOf(b.folded, a.folded)
}

function isOppositeOf(word: string, plain: string): boolean {
  return (
    /^(?:un|in|im|ir|il|dis|non|de)/u.test(word) &&
    word.replace(/^(?:un|in|im|ir|il|dis|non|de)-?/u, '') === plain
  )
}

export function isSameWord(a: Word, b: Word): boolean {
  if (a.folded === b.folded || a.stem === b.stem) return true
  if (a.concepts.size > 0 && b.concepts.size > 0)
    return [...a.concepts].some((id) => b.concepts.has(id))
  if (isCapitalized(a) && isCapitalized(b) && a.folded.length < 6) return false
  if ([...a.fields].some((id) => b.fields.has(id))) return false
  return isInflection(a.folded, b.folded) || isInflection(a.stem, b.stem)
}

function isCapitalized({ text }: Word): boolean {
  return /^\p{Lu}/u.test(text)
}

/** The same beginning, as in "wohnt" and "wohne"; or a compound, as in "Erdnuss" and "Erdnussallergie". */
function isInflection(a: string, b: string): boolean {
  let common = 0
  while (common < a.length && a[common] === b[common]) common++
  const longer = Math.max(a.length, b.length)
  if (common >= 4 && common >= longer * 0.65) return true
  if (
    a.length === b.length &&
    a.length >= 4 &&
    common === a.length - 1 &&
    /[aeo]$/u.test(a) &&
    /[aeo]$/u.test(b)
  )
    return true
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return short.length >= 5 && long.startsWith(short)
}

/** A capitalized word inside of a sentence, a code, or a first word that is no ordinary one. */
function isName({ text, isFirst, concepts }: Word, clause: Clause): boolean {
  if (concepts.size > 0 && GERMAN.test(clause.text)) return false
  if (/\p{L}/u.test(text) && /[\p{N}@#_]/u.test(text)) return true
  return /^\p{Lu}/u.test(text) && !(isFirst && concepts.size > 0) && clause.words.length > 0
}
