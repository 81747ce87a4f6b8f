/**
 * Grounding: checks every statement of a model against the transcript, without another model call. A statement is
 * grounded when the user's own words support it: its names, numbers and dates, the words for what it claims, who it is
 * about, and its polarity. Whatever these rules cannot confirm is not trusted; it waits for review.
 */

import { foldWord } from '../../../text/meaning/concepts.ts'
import {
  isSameQuantity,
  listImpliedDates,
  listQuantities,
  type Quantity,
} from '../../../text/meaning/quantities.ts'
import {
  type Clause,
  maskForeignText,
  parseClauses,
  tokenize,
} from '../../../text/meaning/statement-clauses.ts'
import { isInadmissible } from './admissibility.ts'
import type { Claim, Grounding, GroundingTurn, UngroundedReason } from './claim.ts'
import {
  type ClaimSubject,
  checkClause,
  type EvidenceClause,
  parseClaimClause,
} from './clause-support.ts'
import { type ClaimSimilarity, NO_SIMILARITY } from './similarity.ts'

export type GroundingOptions = {
  /** Names of the user that are known beside the transcript. */
  readonly userNames?: readonly string[]
}

const CORRECTION_CHARACTERS_MAX = 200

export class Transcript {
  readonly turns: readonly GroundingTurn[]
  readonly userNames: ReadonlySet<string>
  readonly #evidence = new Map<number, readonly EvidenceClause[]>()

  constructor(turns: readonly GroundingTurn[], { userNames = [] }: GroundingOptions = {}) {
    this.turns = turns
    const speakers = turns.flatMap(({ role, speaker }) =>
      role === 'user' && speaker ? [speaker] : [],
    )
    this.userNames = new Set(
      [...userNames, ...speakers].flatMap((name) => name.split(/\s+/u)).map(foldWord),
    )
  }

  /** The indexes of the user's turns. */
  get userTurns(): readonly number[] {
    return this.turns.filter(({ role }) => role === 'user').map(({ index }) => index)
  }

  /** `similarity` comes from `measureSimilarity`. */
  ground(claim: Claim, similarity: ClaimSimilarity = NO_SIMILARITY): Grounding {
    if (isInadmissible(claim.content)) return ungrounded('inadmissible')
    if (claim.turns.length > 0 && !this.turns.some(({ index }) => claim.turns.includes(index))) {
      return ungrounded('source')
    }
    const users = this.turns.filter(({ role }) => role === 'user')
    const cited = users.filter(({ index }) => claim.turns.includes(index))
    const answering = cited.length > 0 ? cited : this.#findAnswers(claim.turns)
    const first =
      answering.length === 0
        ? ungrounded('source')
        : this.#check(claim, answering, users, similarity)
    if (first.isGrounded) return first
    // Models often cite a neighboring turn.
    const other = this.#check(claim, users, users, similarity)
    // Words of several turns that no model put together may support what nobody said.
    const isScattered = other.isGrounded && claim.turns.length === 0 && other.turns.length > 1
    return other.isGrounded && !isScattered ? other : first
  }

  /** The turns of the user that answer a cited turn of the assistant. */
  #findAnswers(indexes: readonly number[]): readonly GroundingTurn[] {
    return this.turns.filter(
      ({ role }, at) => role === 'user' && indexes.includes(this.turns[at - 1]?.index ?? -1),
    )
  }

  #check(
    claim: Claim,
    sources: readonly GroundingTurn[],
    users: readonly GroundingTurn[],
    similarity: ClaimSimilarity,
  ): Grounding {
    const { content } = claim
    const evidence = sources.flatMap((turn) => [
      ...this.#getAgreed(turn, claim.turns),
      ...this.#getEvidence(turn),
    ])
    const context = users.flatMap((turn) => (sources.includes(turn) ? [] : this.#getEvidence(turn)))
    const clauses = parseClauses(content, 'claim')
    const asked = sources.flatMap((turn) => this.#getQuestion(turn))
    const used = new Set<number>()
    let isFirstPerson = false
    if (!checkQuantities(content, sources, users)) return ungrounded('number')
    if (namesLeftDate(content, clauses, evidence)) return ungrounded('modality')
    let subject: ClaimSubject | null = null
    for (const clause of clauses) {
      const parsed = parseClaimClause(clause, claim, this.userNames, subject)
      subject = parsed
      const result = checkClause(parsed, evidence, context, asked, content, similarity)
      if (typeof result === 'string') return ungrounded(result)
      for (const index of result.turns) used.add(index)
      isFirstPerson ||= result.isFirstPerson
    }
    if (used.size === 0) return ungrounded('words')
    return { isGrounded: true, turns: [...used].sort((a, b) => a - b), isFirstPerson }
  }

  /** What the assistant said, where a claim cites it and the user agreed: "Then let's go with oak." – "Perfect." */
  #getAgreed(turn: GroundingTurn, cited: readonly number[]): readonly EvidenceClause[] {
    const before = this.turns[this.turns.indexOf(turn) - 1]
    if (before?.role !== 'assistant' || ![before, turn].every(({ index }) => cited.includes(index)))
      return []
    if (!AGREED.test(turn.content) || HEDGED.test(turn.content)) return []
    const said = before.content.slice(-AGREED_CHARACTERS_MAX)
    return parseClauses(said, 'claim').map((clause) => ({
      ...clause,
      ...(clause.subject === 'other' ? {} : { subject: 'self' as const, subjectWords: [] }),
      isIrrealis: false,
      isIntent: false,
      turn: turn.index,
    }))
  }

  /** Without the clauses that the next turn of the user corrects. */
  #dropCorrected(at: number, own: readonly EvidenceClause[]): readonly EvidenceClause[] {
    const next = this.turns.slice(at + 1).find(({ role }) => role === 'user')
    if (next === undefined || !CORRECTION.test(next.content)) return own
    const starts = new Set(
      tokenize(next.content.slice(0, CORRECTION_CHARACTERS_MAX), 0)
        .filter(({ text }) => /^[\p{Lu}\d]/u.test(text))
        .map(({ folded }) => folded.slice(0, 3)),
    )
    return own.filter(
      ({ words }) =>
        !words.some(
          ({ text, folded, isFirst }) =>
            !isFirst && /^[\p{Lu}\d]/u.test(text) && starts.has(folded.slice(0, 3)),
        ),
    )
  }

  /** The question of the assistant that a turn answers; its words may complete a short answer. */
  #getQuestion(turn: GroundingTurn): readonly Clause[] {
    if (HEDGED.test(turn.content)) return []
    const before = this.turns[this.turns.indexOf(turn) - 1]
    const question = before?.role === 'assistant' ? findQuestion(before.content) : null
    return question === null ? [] : parseClauses(question, 'claim')
  }

  #getEvidence(turn: GroundingTurn): readonly EvidenceClause[] {
    const known = this.#evidence.get(turn.index)
    if (known !== undefined) return known
    const own = parseClauses(turn.content, 'message').map((clause) => ({
      ...clause,
      turn: turn.index,
    }))
    const at = this.turns.indexOf(turn)
    const before = this.turns[at - 1]
    const answered = before?.role === 'assistant' ? readAnswer(before, turn) : []
    const evidence = this.#dropCorrected(at, [...answered, ...inheritSubject(own, before)])
    this.#evidence.set(turn.index, evidence)
    return evidence
  }
}

/** "Near York", after "Where does he live?", is not about the user. */
function inheritSubject(
  own: readonly EvidenceClause[],
  before: GroundingTurn | undefined,
): readonly EvidenceClause[] {
  const question = before?.role === 'assistant' ? findQuestion(before.content) : null
  if (question === null || !ASKED_OF_OTHERS.test(question)) return own
  const [first, ...rest] = own
  if (first === undefined || first.subject !== 'unknown') return own
  return [{ ...first, subject: 'other', subjectWords: [], isPronoun: true }, ...rest]
}

function ungrounded(reason: UngroundedReason): Grounding {
  return { isGrounded: false, reason }
}

const YES =
  /^\W*(?:yes|yeah|yep|yup|sure|exactly|right|correct|absolutely|definitely|of course|ja|genau|stimmt|klar|sí|si|claro|exacto|oui|exactement|bien sûr|sim|claro|isso|对|是|是的|没错|嗯|はい|うん|そう)(?!\p{L})/iu
const NO =
  /^\W*(?:no|nope|nah|not|never|nein|nee|non|não|nunca|不|没有|没|不是|いいえ|いや|ううん)(?!\p{L})/iu

/** "Yeah, probably should." */
const HEDGED =
  /^[^.!?\n]{0,20}(?:probably|maybe|perhaps|might|should|i guess|i suppose|wahrscheinlich|vielleicht|quizás?|tal vez|peut-être|talvez)(?!\p{L})/iu

const AGREED =
  /^\W*(?:yes|yeah|yep|yup|perfect|great|deal|exactly|correct|right|agreed|sounds (?:good|great|perfect)|that['’]s (?:right|it|correct)|let['’]s (?:do|go)|ok(?:ay)?,? (?:let['’]s|do|good|great|perfect|deal)|i['’]ll (?:do|take|go with) (?:that|it)|love it|ja|genau|perfekt|passt|sí|perfecto|vale|oui|parfait|d['’]accord|sim|perfeito|combinado)(?!\p{L})|^(?:好的?|可以|没问题|对|はい|いいですね|それで)/iu
const AGREED_CHARACTERS_MAX = 600

/** "Where does he live?" */
const ASKED_OF_OTHERS =
  /(?<!\p{L})(?:he|she|they|his|her|their|er|ihr|él|ella|il|elle|ele|ela)(?!\p{L})|[他她彼]/iu
/** A corrected slip: "sorry typo, I meant Bathurst". */
const CORRECTION =
  /^\W*(?:sorry|oops|wait|ups|perdón|pardon|desculpa|no)?[^.!?\n]{0,20}(?<!\p{L})(?:i meant?|typo|correction|meinte|quise decir|je voulais dire|quis dizer)(?!\p{L})|打错|間違え/iu

function findQuestion(text: string): string | null {
  const question = text.match(/[^.!?。！？\n]+[?？]/gu)?.at(-1)
  return question === undefined ? null : question.replace(/[?？¿]/gu, '')
}

/** "Do you eat fish?" – "No": the question is stated with the polarity of the answer. */
function readAnswer(asked: GroundingTurn, answer: GroundingTurn): readonly EvidenceClause[] {
  const isYes = YES.test(answer.content)
  if (!isYes && !NO.test(answer.content)) return []
  const question = findQuestion(asked.content)
  if (question === null) return []
  if (HEDGED.test(answer.content)) return []
  return parseClauses(question, 'claim').map((clause) => ({
    ...clause,
    isNegative: isYes ? clause.isNegative : !clause.isNegative,
    denied: isYes ? clause.denied : new Set(clause.words.map(({ folded }) => folded)),
    subject: 'self',
    subjectWords: [],
    isIrrealis: false,
    turn: answer.index,
  }))
}

/** Whether every number and date of a claim is in the user's words, or follows from a relative time and when it was said. */
function checkQuantities(
  content: string,
  sources: readonly GroundingTurn[],
  users: readonly GroundingTurn[],
): boolean {
  const wanted = listQuantities(content)
  if (wanted.length === 0) return true
  const read = (turns: readonly GroundingTurn[]) =>
    turns.flatMap((turn) => listQuantities(maskForeignText(turn.content)))
  const [near, far] = [read(sources), read(users)]
  const implied = new Set(
    sources.flatMap((turn) => [...listImpliedDates(maskForeignText(turn.content), turn.saidAt)]),
  )
  return wanted.every((quantity) => {
    const { key, isDate } = quantity
    const holds = (known: readonly Quantity[]) =>
      known.some((each) => isSameQuantity(each, quantity))
    if (holds(near) || (isDate && implied.has(key))) return true
    return isDate && holds(far)
  })
}

/** "Moved from Tuesday to Thursday" does not support Tuesday. */
function namesLeftDate(
  content: string,
  clauses: readonly Clause[],
  evidence: readonly Clause[],
): boolean {
  if (clauses.some(({ isEnded, left }) => isEnded || left.size > 0)) return false
  const left = new Set(
    evidence.flatMap((each) =>
      [...each.left].flatMap((word) => listQuantities(word).map(({ key }) => key)),
    ),
  )
  return listQuantities(content).some(({ key }) => left.has(key))
}
