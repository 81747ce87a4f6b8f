/** Reasons why a clause with the words of a claim does not state it: the roles of the words differ. */

import { listQuantities } from '../../../text/meaning/quantities.ts'
import type { Clause, Word } from '../../../text/meaning/statement-clauses.ts'
import {
  DETERMINER,
  GENERIC_WORDS,
  isFrameWord,
  isQuantityWord,
  SOFT_WORDS,
} from '../../../text/meaning/word-classes.ts'
import type { UngroundedReason } from './claim.ts'

export type VetoContext = {
  /** The clause of the claim. */
  readonly claimed: Clause
  /** Whom it is about. */
  readonly subject: 'user' | 'other' | 'unknown'
  /** The clause that it rests on. */
  readonly head: Clause
  /** The verb of the claim, where it says more than "is" or "has". */
  readonly verb: Word | undefined
  /** All clauses of the same turn. */
  readonly beside: readonly Clause[]
  readonly isSame: (one: Word, other: Word) => boolean
}

/** Null when the words play the same roles. */
export function findVeto(context: VetoContext): UngroundedReason | null {
  if (isRoleOnlySought(context)) return 'modality'
  if (isQuestionOfDoing(context)) return 'modality'
  if (isJobOver(context) || isMoveAhead(context)) return 'modality'
  if (isHomeUnsaid(context)) return 'words'
  if (isGivenAway(context)) return 'modality'
  if (isOtherWeek(context)) return 'number'
  if (isPossessionAbsent(context) || isReversed(context) || isOtherModifier(context)) return 'words'
  if (isOtherCount(context)) return 'number'
  return null
}

const ROLE = /^(?:the )?user (?:is|works as|became) (?:an?|the) /iu
const SELF_ROLE =
  /(?<!\p{L})(?:i['’]?m|i am|we['’]?re|we are|as an?|became|become|becoming|been|was|started|work\p{L}*|being|job|hired|promoted|here|my|me)(?!\p{L})/iu
const SOUGHT_ROLE =
  /(?<!\p{L})(?:to (?:be|become)|apply\p{L}* (?:as|for)|want\p{L}* to be) (?:an?|the) /iu
const SEEKING =
  /(?<!\p{L})(?:apply|applying|applied|want|wants|hopes?|plans?|would|becoming|training)(?!\p{L})/iu

/** "Applying to be a ranger" and "she's the designer" state no role of the user. */
function isRoleOnlySought({ claimed, head, subject }: VetoContext): boolean {
  if (subject !== 'user' || !ROLE.test(claimed.text)) return false
  if (SOUGHT_ROLE.test(head.text)) return !SEEKING.test(claimed.text)
  return (
    !SELF_ROLE.test(head.text) && (head.subject === 'other' || /^(?:an?|the)\s/iu.test(head.text))
  )
}

const ASKED_DOING =
  /(?<!\p{L})(?:how (?:do|can|could|should|would|might)|should|shall|could|can|is it (?:ok|okay|fine|worth|safe|possible|bad)(?: for (?:me|us))?|do you think)\s+(?:i|we|to)\s+(?:\p{L}+\s+){0,2}/iu

/** "How do I tell my manager?" and "is it ok to review on weekends?" ask about what is not done yet. */
function isQuestionOfDoing({ claimed, head, verb, isSame }: VetoContext): boolean {
  if (verb === undefined || claimed.isIrrealis || claimed.isIntent) return false
  const asked = ASKED_DOING.exec(head.text)
  if (asked === null || OPEN_QUESTION.test(head.text)) return false
  return head.words.some((word) => isSame(word, verb))
}

/** "What can I cook on Saturday?" presupposes that the user cooks. */
const OPEN_QUESTION = /^(?:so |and |ok )?(?:what|which|where|when|who)(?!\p{L})/iu

const RESIGNED =
  /(?<!\p{L})(?:in my notice|gave (?:my )?notice|resigned|i (?:just )?quit(?! \p{L}+ing)|got (?:fired|laid off)|was (?:fired|laid off)|left my job|gekündigt|renuncié|démissionn\p{L}+|pedi demissão)(?!\p{L})|离职|辞职|退職|辞めました/iu
const EMPLOYED =
  /(?<!\p{L})(?:works|is employed|job is|is an?|arbeitet|ist|trabaja|travaille|trabalha)(?!\p{L})|工作|働/iu
const NEW_JOB =
  /(?<!\p{L})(?:start\p{L}*|join\p{L}*|new job|now|since|fange|jetzt|empiezo|ahora|commence|maintenant|começo|agora)(?!\p{L})|现在|今/iu

/** What somebody did for eleven years before they handed in their notice is no longer their job. */
function isJobOver({ claimed, head, beside, subject }: VetoContext): boolean {
  return (
    subject === 'user' &&
    EMPLOYED.test(claimed.text) &&
    !claimed.isEnded &&
    !claimed.isNegative &&
    !claimed.isPast &&
    beside.some(({ text }) => RESIGNED.test(text)) &&
    !NEW_JOB.test(head.text)
  )
}

const LIVES = /(?<!\p{L})(?:lives?|based|resides?|wohnt|lebt|vive|habite|mora)(?!\p{L})/iu
const MOVING =
  /(?<!\p{L})(?:relocating|moving|will|['’]ll|going to|plan\p{L}*|ziehen|ziehe|werde[n]?|voy a|vamos a|va a|vou|vamos|vais|allons|déménage|on cherche)(?!\p{L})/iu

/** Who is about to move does not live there yet. */
function isMoveAhead({ claimed, head }: VetoContext): boolean {
  return (
    LIVES.test(claimed.text) &&
    !claimed.isIntent &&
    !claimed.isIrrealis &&
    MOVING.test(head.text) &&
    !/(?<!\p{L})will(?!\p{L})/iu.test(claimed.text)
  )
}

const RESIDING =
  /(?<!\p{L})(?:live[sd]?|living|based|reside[sd]?|moved?|relocated|settled|grew up|home|stay\p{L}*|stuck|been (?:here|in)|here|(?:i['’]?m|we['’]?re|i am|we are|he['’]?s|she['’]?s|they['’]?re|me|is|are)(?: \p{L}+){0,3} (?:in|at|near|from)|wohn\p{L}*|leb\p{L}*|umgezogen|gezogen|viv\p{L}*|resid\p{L}*|mud\p{L}+|estoy en|habit\p{L}*|vi[st]|déménag\p{L}*|suis à|mor\p{L}*|estou em|tô em|bin (?:in|aus))(?!\p{L})|住|搬|暮ら|引っ越/iu
const PLACE_WORDS_MAX = 4

/** Studying or having a house somewhere does not mean to live there. */
function isHomeUnsaid({ claimed, head }: VetoContext): boolean {
  return (
    LIVES.test(claimed.text) &&
    !claimed.isNegative &&
    head.words.length > PLACE_WORDS_MAX &&
    !RESIDING.test(head.text)
  )
}

const OWNS = /(?<!\p{L})(?:owns|besitzt|posee|possède|possui)(?!\p{L})/iu
const POSSESSION =
  /(?<!\p{L})(?:my|mine|our|ours|own\p{L}*|have|has|had|got|['’]ve|bought|buy|inherit\p{L}*|adopted|sold|mein\p{L}*|unser\p{L}*|habe|hab|haben|gekauft|mi|mis|nuestr\p{L}+|tengo|tenemos|compr\p{L}+|mon|ma|mes|notre|j['’]ai|avons|acheté|meu|minha|noss[oa]|tenho|temos)(?!\p{L})/iu

/** "Started at a small studio" states no ownership; nor does "we've a slow cooker" of another one. */
function isPossessionAbsent({ claimed, head }: VetoContext): boolean {
  return OWNS.test(claimed.text) && !POSSESSION.test(head.text)
}

const WEEK =
  /(?<!\p{L})(?<which>this|next|last) (?<unit>week|month|year|weekend|summer|winter|spring)(?!\p{L})/giu

/** "On call this week" supports no next week. */
function isOtherWeek({ claimed, head }: VetoContext): boolean {
  const said = [...head.text.toLowerCase().matchAll(WEEK)]
  return [...claimed.text.toLowerCase().matchAll(WEEK)].some(
    ({ groups }) =>
      said.some((each) => each.groups?.unit === groups?.unit) &&
      !said.some((each) => each[0] === `${groups?.which} ${groups?.unit}`),
  )
}

const DIRECTION = /(?<from>\p{Lu}[\p{L}-]+) (?:to|into|nach|a|à|para) (?<to>\p{Lu}[\p{L}-]+)/u

const HOLDS =
  /(?<!\p{L})(?:owns|has|drives|uses|rides|plays)(?! (?:sold|paid|left|given))(?!\p{L})/iu
const GIVEN_AWAY =
  /(?<!\p{L})(?:sold|gave away|got rid of|paid off|scrapped|traded in|verkauft|vendí|vendi|vendu)(?!\p{L})|卖了|売った/iu

/** "Sold the Golf" does not support "drives a Golf". */
function isGivenAway({ claimed, head }: VetoContext): boolean {
  return HOLDS.test(claimed.text) && GIVEN_AWAY.test(head.text) && !GIVEN_AWAY.test(claimed.text)
}

/** "From Munich to Graz" is not "from Graz to Munich". */
function isReversed({ claimed, head }: VetoContext): boolean {
  const [one, other] = [DIRECTION.exec(claimed.text)?.groups, DIRECTION.exec(head.text)?.groups]
  if (one !== undefined && one.from === other?.to && one.to === other?.from) return true
  const claimedLeft = [...claimed.left]
  return (
    claimedLeft.length > 0 &&
    head.left.size > 0 &&
    !claimedLeft.some((word) => head.left.has(word)) &&
    claimedLeft.some((word) => head.words.some(({ folded }) => folded === word))
  )
}

/** "A pressure cooker" where the user has a slow one, "a Dutch passport" where they have an Indian one. */
function isOtherModifier({ claimed, head, beside, isSame }: VetoContext): boolean {
  return claimed.words.some((word, at) => {
    const noun = claimed.words[at + 1]
    if (noun === undefined || !isContent(word) || !isContent(noun)) return false
    const modifiers = [head, ...beside].flatMap((clause) =>
      clause.words.flatMap((each, place) => {
        const before = clause.words[place - 1]
        return isSame(each, noun) && before !== undefined
          ? [{ clause, place: place - 1, before }]
          : []
      }),
    )
    if (modifiers.some(({ before }) => isSame(before, word))) return false
    return modifiers.some(
      ({ clause, place, before }) =>
        !claimed.words.some((each) => isSame(each, before)) &&
        ((isProperAdjective(word) && isProperAdjective(before)) ||
          [...word.fields].some((id) => before.fields.has(id)) ||
          (isModifier(claimed, at) &&
            isModifier(clause, place) &&
            !head.words.some((each) => isSame(each, word)))),
    )
  })
}

function isProperAdjective({ text, isFirst }: Word): boolean {
  return !isFirst && /^\p{Lu}\p{Ll}/u.test(text)
}

/** An ordinary word between an article and a noun. */
function isModifier({ words }: Clause, at: number): boolean {
  const word = words[at]
  const before = words[at - 1]
  return (
    word !== undefined &&
    before !== undefined &&
    DETERMINER.has(before.folded) &&
    isContent(word) &&
    word.concepts.size === 0 &&
    /^\p{Ll}/u.test(word.text) &&
    !SOFT_WORDS.has(word.folded) &&
    !GENERIC_WORDS.has(word.folded)
  )
}

/** "Six bakeries" where the user has six employees. */
function isOtherCount({ claimed, head, isSame }: VetoContext): boolean {
  const counted = listCounted(head)
  return listCounted(claimed).some(({ key, noun }) => {
    const same = counted.filter((each) => each.key === key)
    return (
      same.length > 0 &&
      head.words.some((each) => isSame(each, noun)) &&
      same.every(
        (each) =>
          !isSame(each.noun, noun) && !claimed.words.some((word) => isSame(word, each.noun)),
      )
    )
  })
}

/** Numbers with the noun directly behind them. */
function listCounted(clause: Clause): readonly { readonly key: string; readonly noun: Word }[] {
  return clause.words.flatMap((word, at) => {
    const noun = clause.words[at + 1]
    const [quantity] = listQuantities(word.text)
    return quantity === undefined || quantity.isDate || noun === undefined || !isContent(noun)
      ? []
      : [{ key: quantity.key, noun }]
  })
}

function isContent({ folded, text }: Word): boolean {
  return !isFrameWord(folded, text) && !isQuantityWord(text)
}
