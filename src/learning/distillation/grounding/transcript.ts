/**
 * Grounding: checks every statement of a model against the transcript, without another model call. A statement is
 * grounded when the user's own words support it: its names, numbers and dates, the words for what it claims, who it is
 * about, and its polarity. Whatever these rules cannot confirm is not trusted; it waits for review.
 */

import {
  type Clause,
  isPersonWord,
  maskForeignText,
  parseClauses,
  tokenize,
  type Word,
} from './clauses.ts'
import { foldWord, isRelational, UNSPACED_CONCEPT_WORDS } from './concepts.ts'
import { listImpliedDates, listQuantities, type Quantity } from './quantities.ts'

export type GroundingTurn = {
  readonly index: number
  readonly role: string
  readonly speaker?: string | null
  readonly content: string
  /** When it was said; null when unknown, which allows no computed dates. */
  readonly saidAt: number | null
}

export type Claim = {
  readonly content: string
  /** Indexes of the turns that the model names as sources. */
  readonly turns: readonly number[]
  /** Whom the claim is about, when it is not the user. */
  readonly about?: string
}

export type UngroundedReason =
  /** A placeholder, a remark about the transcript, or a claim of rights over the assistant. */
  | 'inadmissible'
  /** No cited turn exists or is the user's, and no other turn of the user supports the claim. */
  | 'source'
  | 'name'
  | 'number'
  | 'polarity'
  /** Supported only as a wish, a question or an assumption, or as a state that ended. */
  | 'modality'
  | 'subject'
  | 'words'

export type Grounding =
  | {
      readonly isGrounded: true
      /** Turns of the user that support the claim, among the cited ones where those do. */
      readonly turns: readonly number[]
      /** Whether the user said it about themself in the first person. */
      readonly isFirstPerson: boolean
    }
  | { readonly isGrounded: false; readonly reason: UngroundedReason }

export type GroundingOptions = {
  /** Names of the user that are known beside the transcript. */
  readonly userNames?: readonly string[]
}

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

  /** `similarity` is that of the claim to the best sentence of its sources, from `measureSimilarity`. */
  ground(claim: Claim, similarity = 0): Grounding {
    if (isInadmissible(claim.content)) return ungrounded('inadmissible')
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
    return other.isGrounded ? other : first
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
    similarity: number,
  ): Grounding {
    const { content } = claim
    const evidence = sources.flatMap((turn) => this.#getEvidence(turn))
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

  /** The question of the assistant that a turn answers; its words may complete a short answer. */
  #getQuestion(turn: GroundingTurn): readonly Clause[] {
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
    const evidence = [...answered, ...own]
    this.#evidence.set(turn.index, evidence)
    return evidence
  }
}

type EvidenceClause = Clause & { readonly turn: number }

function ungrounded(reason: UngroundedReason): Grounding {
  return { isGrounded: false, reason }
}

const YES =
  /^\W*(?:yes|yeah|yep|yup|sure|exactly|right|correct|absolutely|definitely|of course|ja|genau|stimmt|klar|sí|si|claro|exacto|oui|exactement|bien sûr|sim|claro|isso|对|是|是的|没错|嗯|はい|うん|そう)(?!\p{L})/iu
const NO =
  /^\W*(?:no|nope|nah|not|never|nein|nee|non|não|nunca|不|没有|没|不是|いいえ|いや|ううん)(?!\p{L})/iu

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

const PLACEHOLDER =
  /(?<!\p{L})(?:john doe|jane doe|max mustermann|erika mustermann|juan pérez|fulano|jean dupont|joão ninguém|张三|李四|山田太郎|unknown|unnamed|anonymous|n\/a|tbd|xxx+|lorem ipsum|not (?:specified|provided|mentioned|given|stated|known|disclosed)|unspecified|nicht (?:angegeben|bekannt|genannt)|unbekannt|no (?:especificad|mencionad)[oa]|desconocid[oa]|non (?:précisée?|spécifiée?)|inconnue?|não (?:informad|especificad|mencionad)[oa]|desconhecid[oa])(?!\p{L})|[[<{](?:your |user['’]?s? |the )?(?:name|user|company|city|email|date|value|insert|placeholder|first)[^\]>}]{0,30}[\]>}]|example\.(?:com|org)|未知|不明|未提供|未提及|没有提(?:到|供)|(?:did|does|has)(?: not|n['’]t) (?:mention|provide|say|state|share|specif|disclos)/iu
const PRIVILEGE =
  /(?<!\p{L})(?:(?:administrator|admin|root|sudo|superuser|developer|elevated|full|unrestricted|special|system)[ -](?:access|rights?|privileges?|permissions?|mode|clearance|authori[sz]ation)|(?:is|are|am) (?:the |an? )?(?:administrators?|admin|superuser|root user|system owner|verified (?:user|developer|employee|admin)|trusted (?:user|admin))(?! (?:assistant|at|in|for|bei|chez))|(?:the|a) (?:developer|creator|owner|operator) of (?:the|this) (?:assistant|system|model|ai|chatbot|bot)|(?:author[iz|is]ed|allowed|permitted|entitled|cleared|exempt)(?: to| from)?(?!.{0,40}(?:park|drive|eat|work))|bypass|without (?:any )?(?:restrictions?|filters?|confirmations?|limits)|administratorrechte|adminrechte|adminzugriff|root-?zugriff|berechtigt|befugt|derechos de administrador|permisos? de administrador|acceso (?:root|total)|autorizad[oa]|droits? d['’]administrateur|accès (?:root|total)|autorisée?|direitos de administrador|permiss(?:ão|ões) de administrador|acesso (?:root|total))(?!\p{L})|管理员权限|超级用户|开发者权限|管理者権限|ルート権限/iu
/** Standing orders to the assistant that are phrased as facts. */
const ORDER =
  /(?<!\p{L})(?:the assistant|assistant|the ai|der assistent|el asistente|l['’]assistant|o assistente) (?:must|should|shall|has to|is to|may|can|muss|soll|darf|debe|doit|deve)(?!\p{L})|助手(?:必须|应该)|アシスタントは/iu

function isInadmissible(content: string): boolean {
  return PLACEHOLDER.test(content) || PRIVILEGE.test(content) || ORDER.test(content)
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

/** "Three hours" supports no age of three. */
function isSameQuantity(a: Quantity, b: Quantity): boolean {
  return a.key === b.key && (a.unit === null || b.unit === null || a.unit === b.unit)
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

type ClaimClause = {
  readonly clause: Clause
  readonly subject: 'user' | 'other' | 'unknown'
  readonly subjectWords: readonly string[]
  readonly words: readonly Word[]
}

const USER =
  /^(?:(?:the )?users?(?!['’]s)|(?:der|die) (?:be)?nutzer(?:in)?|(?:a )?(?:el usuario|la usuaria)|al usuario|l['’]utilisat(?:eur|rice)|(?:o|a) (?:usuári[oa]|utilizador[a]?)|i|ich|je|yo|eu)(?![\p{L}'’])|^(?:该|这位)?(?:用户|使用者)(?!的)|^ユーザー(?!の)|^(?:他们|she|he|they)(?!\p{L})/iu
const OF_USER =
  /(?:users?['’]s?|(?:des|der) (?:be)?nutzer(?:s|in)?|del usuario|de la usuaria|de l['’]utilisat(?:eur|rice)|d[oa] (?:usuári[oa]|utilizador[a]?))(?!\p{L})|(?:用户|ユーザー)(?:的|の)/iu

type ClaimSubject = Pick<ClaimClause, 'subject' | 'subjectWords'>

function parseClaimClause(
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

/** The subject that a clause of a claim names; null when it names none. */
function findClaimSubject(
  clause: Clause,
  userNames: ReadonlySet<string>,
  isLead: boolean,
): ClaimSubject | null {
  const { text, words } = clause
  const [first] = words
  const isNamed = first !== undefined && userNames.has(first.folded) && !/^\S+['’]s/u.test(text)
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

/** Words of claims that state nothing: the user, articles, auxiliaries, and how it was said. */
const FRAME_WORDS = new Set(
  (
    'the a an of in on at to for with by from and or as is are was were be been being has have had having do does did will would can could ' +
    'user users their theirs they them his her hers him he she it its this that these those who whom whose which there where when while ' +
    'also currently now already still just only very really quite own new about into over than then so such both each other another ' +
    'mention mentions mentioned say says said state states stated report reports reported ask asks asked express expresses expressed note notes noted ' +
    'indicate indicates described describes plus per via during since until around approximately about roughly between within again soon here ' +
    'some any one someone person people thing something time times because due instead up out off ago am pm uhr oclock clock ' +
    'a.m p.m euros euro eur dollars dollar usd km kilometers kilometres year years old month months week weeks day days part team called name named ' +
    'get gets got getting make makes made take takes took goes go went come comes came set sets put keep keeps kept give gives ' +
    'der die das den dem des ein eine einen einem einer eines und oder im in am an auf zu zum zur bei mit von vom fur seit nach vor um als ist sind war ' +
    'hat haben wird werden nutzer nutzerin nutzers benutzer benutzerin sein seine seinen seiner ihr ihre ihren ihrer er sie es sich auch nur jetzt aktuell derzeit schon noch dass ' +
    'heißt jahre jahr jahren gern gerne etwas viel kann selbst dort da wo so sehr ' +
    'el la los las un una unos unas de del al en con por para y e o que se su sus le les es son esta estan ser fue usuario usuaria tambien ahora ya como desde hace anos ano lo muy actualmente llama ' +
    'le la les un une des du de d l au aux en dans avec pour par et ou que qui se son sa ses leur leurs il elle est sont etre a ont utilisateur utilisatrice aussi maintenant actuellement comme depuis ans an y ce s n ' +
    'o a os as um uma uns de do da dos das no na nos nas ao em com por para e que se seu sua seus suas ele ela esta sao ser foi usuario usuaria utilizador utilizadora tambem agora ja como desde ha anos chama chama-se ' +
    "ne pas non no not nicht kein keine keinen nie nao n never longer anymore mehr plus cannot can't don't doesn't won't isn't"
  )
    .split(/\s+/u)
    .map(foldWord),
)
const CJK_FRAME =
  /^(?:用户|使用者|ユーザー|さん|的|了|在|是|有|和|与|他|她|它|也|都|就|会|能|要|对|把|被|让|从|到|为|于|中|上|下|里|一|个|一个|一家|家|位|名|今年|现在|目前|平时|岁|年|月|日|の|は|が|を|に|で|と|も|へ|や|から|まで|より|です|ます|だ|である|でし|まし|た|て|い|いる|いて|して|し|する|おり|ある|なる|なり|って|という|こと|もの|ん|ない|ません|不|没|没有|食|べ|られ|れ|せ|ば|な|お|ご|ね|よ)$/u

/** Days, months and numbers, which are checked as quantities. */
function isQuantityWord(text: string): boolean {
  return /^\p{Script=Latin}/u.test(text) && listQuantities(text).length > 0
}

export function isFrameWord(folded: string, text: string): boolean {
  if (/^\d/u.test(folded)) return /^\d+(?:[.,:/-]\d+)*(?:\p{L}{0,2})$/u.test(folded)
  return FRAME_WORDS.has(folded) || CJK_FRAME.test(text) || folded === ''
}

type ClauseSupport = { readonly turns: readonly number[]; readonly isFirstPerson: boolean }

/** Nouns and verbs that add nothing to the words beside them: "celiac disease", "wants answers in English". */
const SOFT_WORDS = new Set(
  (
    'want wants would like disease condition city town country appointment place person problem issue matter topic kind type ' +
    'eat eats eating drink drinks use uses using isst trinkt come bebe mange boit nutzt usa utilise ' +
    'preference prefers need needs plan plans intend intends call called decision status currently based known ' +
    'mochte stadt land krankheit termin quiere ciudad pais cita souhaite veut ville pays quer cidade'
  ).split(' '),
)

/** Matched words per missing word that a clause needs. */
const COVERAGE_RATIO = 2

/** The relative similarity above which other words say the same. Calibrated on the development part of the eval. */
const REPHRASED_SIMILARITY_MIN = 0.64

const PREPOSITION = new Set(
  (
    'for as at with without to against because after in on during by despite from into about before since through over under and or ' +
    'für als bei mit ohne zu gegen wegen nach in auf während durch trotz aus von vor seit um und ' +
    'para como en con sin contra por tras desde sobre antes durante y pour comme avec sans contre par après dans depuis avant pendant et ' +
    'com sem contra após em desde sobre antes durante e'
  )
    .split(' ')
    .map(foldWord),
)

/** Whether a phrase such as "for a charity" has no supported word: a detail that the model added. */
function hasUnsupportedPhrase({ words }: Clause, isAbsent: (word: Word) => boolean): boolean {
  let phrase: Word[] | null = null
  for (const word of [...words, null]) {
    if (word === null || PREPOSITION.has(word.folded)) {
      if (
        phrase?.some(isAbsent) &&
        phrase.every(
          (each) =>
            isAbsent(each) || isFrameWord(each.folded, each.text) || GENERIC_WORDS.has(each.folded),
        )
      )
        return true
      phrase = []
    } else phrase?.push(word)
  }
  return false
}

function isLeftOnly(word: Word, holders: readonly Clause[], clause: Clause): boolean {
  return holders.length > 0 && holders.every((each) => isLeft(word, each, clause))
}

/** Words of everyday language that a paraphrase may add, when enough specific words are the user's own. */
const GENERIC_WORDS = new Set(
  (
    'live lives lived living stay stays place current present work works working worked job main topic topics goal goals simple native use uses used own owns ' +
    'able far top regular regularly usual usually often personal daily different several various many few certain main particular special ' +
    'group kind sort part number amount level area field service activity activities activity experience interest interests interested ' +
    'attracted important serious great good nice bad better best big small long short early late old young happy ' +
    'help helps helped plan planned planning visit visits visited travel travels join joined keep keeps bring brings find finds ' +
    'think thinks feel feels know knows learn see sees look looks tell tells told talk talks enjoy enjoys try tries tried start started begin began ' +
    'spend spends pay pays cost costs buy buys bought change changed changes move moved attend attends include includes involve involves ' +
    'lebt wohnt arbeitet macht geht kommt nutzt findet braucht bekommt derzeitige aktuelle wichtig gut neu groß klein vive trabaja hace tiene usa ' +
    'actual importante bueno buena nuevo nueva habite travaille fait utilise actuelle important bon bonne nouveau nouvelle mora trabalha faz usa atual bom boa novo nova ' +
    '目前 现在 工作 使用 学习 认为 感到 现 使う 思う 現在'
  )
    .split(' ')
    .map(foldWord),
)

function checkClause(
  claim: ClaimClause,
  evidence: readonly EvidenceClause[],
  context: readonly EvidenceClause[],
  asked: readonly Clause[],
  content: string,
  similarity: number,
): ClauseSupport | UngroundedReason {
  const { clause, subjectWords, words } = claim
  const all = [...context, ...evidence]
  const predicate = words.filter(({ folded }) => !subjectWords.includes(folded))
  if (!isSubjectKnown(claim, all)) return 'name'
  if (isSelfNaming(content) && !isNameGiven(content, all)) return 'name'
  const scored = all.map((each) => ({ each, score: scoreClause(each, predicate) }))
  const best = Math.max(0, ...scored.map(({ score }) => score))
  const heads = best === 0 ? [] : scored.filter(({ score }) => score === best)
  const last = heads.at(-1)?.each
  const head = heads.findLast(({ each }) => findFault(claim, each, predicate) === null)?.each
  const fault = last === undefined ? null : findFault(claim, last, predicate)
  if (last !== undefined && (head === undefined || fault === 'polarity')) return fault ?? 'words'
  const used = new Set<number>(head === undefined ? [] : [head.turn])
  const isNamed = (word: string) =>
    !all.some((each) => each.words.some(({ text }) => text === word))
  const numbers = listQuantities(clause.text).length
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
    const holders = all.filter((each) => findWord(each, word))
    const supporting = holders.filter(
      (each) =>
        !isLeft(word, each, clause) &&
        !isOwnedByUser(claim, each, word) &&
        (!isRelational(word.concepts) || head === undefined || isBeside(each, head)) &&
        (each === head || canSupport(claim, each, word)),
    )
    if (supporting.length > 0) {
      if (isSubstituted(word, claim, head)) return 'name'
      matched++
      if (!isName(word, clause) || GERMAN.test(clause.text)) specific++
      const turn = supporting.find(({ turn: at }) => used.has(at)) ?? supporting.at(-1)
      if (turn !== undefined) used.add(turn.turn)
    } else if (isName(word, clause)) return holders.length > 0 ? 'modality' : 'name'
    else if (isLeftOnly(word, holders, clause)) return 'modality'
    else if (holders.length > 0 && isRelational(word.concepts)) generic++
    else if (holders.length > 0) blocked++
    else if (SOFT_WORDS.has(word.folded) && predicate.length > 1) continue
    else if (word.fields.size > 0 || CJK.test(word.text)) return 'words'
    else if (GENERIC_WORDS.has(word.folded) || asked.some((each) => findWord(each, word))) generic++
    else {
      missing++
      absentWords.add(word)
    }
  }
  if (hasUnsupportedPhrase(clause, (word) => absentWords.has(word))) return 'words'
  const isRephrased = specific > 0 && similarity >= REPHRASED_SIMILARITY_MIN
  if (blocked > 0 && matched < 2 && !isRephrased) return 'modality'
  if (specific === 0 && generic + missing > 0) return 'words'
  const absent = missing + generic / 2 + blocked / 2
  if (!isRephrased && predicate.length > 0 && matched + numbers < absent * COVERAGE_RATIO) {
    return 'words'
  }
  if (used.size === 0) {
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
  return subjectWords.every((name) => all.some((each) => mentionsWord(each, name)))
}

const NAMING_VERB =
  /(?<!\p{L})(?:called|named|name is|heißt|namens|se llama|s'appelle|nommée?|se chama|chama-se)(?!\p{L})|叫|名前/iu

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
  return null
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

function scoreClause(each: Clause, words: readonly Word[]): number {
  let score = 0
  for (const word of words) if (findWord(each, word)) score += word.concepts.size > 0 ? 1 : 2
  return score
}

function isSubjectMismatch(claim: ClaimClause, each: Clause): boolean {
  const { subject, subjectWords, clause } = claim
  if (subject === 'user') {
    if (each.subject !== 'other') return false
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
  // A pronoun, or a name for the relative that the claim is about.
  if (each.subjectWords.length === 0) return false
  if (subjectWords.some((word) => each.subjectWords.some((other) => isSameSubject(word, other))))
    return false
  const [own, others] = [splitSubject(subjectWords), splitSubject(each.subjectWords)]
  if (own.names.length > 0 && others.names.length > 0) return true
  return own.relations.length > 0 === others.relations.length > 0
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
function findWord(each: Clause, word: Word): boolean {
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
  return each.words.some((candidate) => isSameWord(candidate, word))
}

export function isSameWord(a: Word, b: Word): boolean {
  if (a.folded === b.folded || a.stem === b.stem) return true
  if (a.concepts.size > 0 && b.concepts.size > 0)
    return [...a.concepts].some((id) => b.concepts.has(id))
  if (isCapitalized(a) && isCapitalized(b) && a.folded.length < 6) return false
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
  if (/\p{L}/u.test(text) && /[\p{N}@#_]/u.test(text)) return true
  return /^\p{Lu}/u.test(text) && !(isFirst && concepts.size > 0) && clause.words.length > 0
}

const SELF_NAME =
  /^(?:(?:the )?user['’]?s? (?:first |last |full )?name is|(?:the )?user (?:is called|is named|goes by|calls? (?:themsel\p{L}+|himself|herself))|name of the user is|der name des (?:be)?nutzers|(?:der|die) (?:be)?nutzer(?:in)? heißt|el usuario se llama|la usuaria se llama|el nombre del usuario|l['’]utilisat(?:eur|rice) s['’]appelle|o (?:usuário|utilizador) (?:se chama|chama-se)|a (?:usuária|utilizadora) (?:se chama|chama-se)|用户(?:的名字)?(?:叫|是)|ユーザーの名前は)/iu

function isSelfNaming(content: string): boolean {
  return SELF_NAME.test(content)
}

const NAMING =
  /(?<!\p{L})(?:(?:my|me)(?: \p{L}+)? name(?: is|['’]s)|name['’]?s|i['’]?m|i am|call me|this is|ich bin|ich heiße|heiße|mein name ist|nenn mich|me llamo|soy|mi nombre es|je m['’]appelle|je suis|appelle-moi|(?:me chamo|chamo-me)|sou|meu nome é|i go by)(?: (?:called|actually|der|die|el|la|o|a|le))? $|(?:我叫|我是|我的名字(?:叫|是)|私は|名前は|僕は)$/iu

/** Whether the user introduces themself by the name in a claim such as "The user's name is Ada". */
function isNameGiven(content: string, clauses: readonly Clause[]): boolean {
  const name = content.replace(SELF_NAME, '').replace(/^[\s:"“]+|[\s."”。です]+$/gu, '')
  const [first = name] = name.split(/[\s,]+/u)
  return clauses.some(({ text }) => {
    const at = text.toLowerCase().indexOf(first.toLowerCase())
    return at >= 0 && NAMING.test(text.slice(0, at))
  })
}
