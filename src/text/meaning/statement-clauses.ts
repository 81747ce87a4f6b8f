/** Splits a claim or a message into clauses with the properties that decide whether one supports the other. */

import { maskQuotedSpeech, QUOTE_MASK } from '../speech/quoted-speech.ts'
import { splitSentences } from '../speech/sentences.ts'
import { foldWord, getConcepts, stemWord } from './concepts.ts'
import { getFields } from './fields.ts'
import { listQuantities } from './quantities.ts'

export type Word = {
  /** As written. */
  readonly text: string
  readonly folded: string
  readonly stem: string
  readonly concepts: ReadonlySet<number>
  readonly fields: ReadonlySet<number>
  /** Whether the word starts its sentence, where a capital marks no name. */
  readonly isFirst: boolean
}

/** Who a clause is about: the speaker, somebody else, or whoever the context names. */
export type Subject = 'self' | 'other' | 'unknown'

export type Clause = {
  readonly text: string
  /** The position of its sentence in the text. */
  readonly sentence: number
  readonly words: readonly Word[]
  /** The words that begin the clause, up to its verb; the candidates for its subject. */
  readonly isNegative: boolean
  /** The alternative that was not chosen: "instead of MongoDB". */
  readonly isRejected: boolean
  /** Folded words near a negation, which it may deny. */
  readonly denied: ReadonlySet<string>
  /** Hypothetical, wished or undecided: "if I won", "should I", "maybe". */
  readonly isIrrealis: boolean
  /** Only intended: "I want to learn Spanish". */
  readonly isIntent: boolean
  /** About a state that ended: "I used to work at Nestlé". */
  readonly isEnded: boolean
  /** Only about the past: "I was a nurse". */
  readonly isPast: boolean
  /** A question that does not speak of the user: "what is the capital of Australia?" */
  readonly isImpersonal: boolean
  readonly subject: Subject
  /** Folded names and relations that the clause begins with. */
  readonly subjectWords: readonly string[]
  /** Whether the subject is "he", "she" or "they". */
  readonly isPronoun: boolean
  /** The persons named last before, whom a pronoun may stand for. */
  readonly antecedents: readonly string[]
  /** What a transition leaves: Leeds in "moved from Leeds to Lisbon". */
  readonly left: ReadonlySet<string>
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
const WORD =
  /\d{1,3}(?:[.,\u00a0 ]\d{3})+(?!\d)|\d+(?:[.,:/-]\d+)*\p{L}*|[\p{L}\p{M}\p{N}]+(?:['’._@+#]+[\p{L}\p{M}\p{N}]+|-+\p{N}+)*[#+]*/gu

const CLAUSE_BREAK =
  /[,;:，、；：()（）]+(?=\s|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|$)|\s[-–—]+\s|(?<![\p{L}\p{N}])(?:but|and|while|which|that(?= (?:does|do|is|are|was|were|has|have|can|cannot|will|would)(?!\p{L}))|who|whereas|although|though|because|cause|cuz|so(?= (?:i|i['’]m|we|he|she|they|no|please|my|the|it|that)(?!\p{L}))|since(?= (?:i|we|he|she|my)(?!\p{L}))|aber|und|sondern|während|weil|obwohl|pero|y|e|aunque|porque|sino|mais|et|parce que|mas|embora|(?:rather |other )than|than|statt|anstatt|au lieu de|en vez de|em vez de|instead of)(?![\p{L}\p{N}])|但是|但|而且|而|不过|けど|が、|ですが/giu

const NEGATIVE =
  /(?<![\p{L}\p{N}])(?:no|not|never|none|nothing|nobody|neither|nor|without|cannot|\p{L}+n['’]t|dont|doesnt|didnt|cant|wont|isnt|arent|wasnt|nicht|kein\p{L}{0,2}|nie|niemals|ohne|weder|nein|nope|nunca|jamás|tampoco|ni|sin|ne|n['’](?=\p{L})|pas|jamais|aucune?|sans|non|não|nem|sem|any ?more|any longer)(?![\p{L}\p{N}])|不(?!错|过|仅|但)|没|別に|ない|ません|なかった|別(?!人)/giu
const NEGATIVE_VERBS =
  /(?<![\p{L}\p{N}])(?:hates?|hated|hating|dislikes?|disliked|detests?|loathes?|avoid(?:s|ed|ing)?|refuses?|allerg\p{L}+|\p{L}*intoleran\p{L}+|can['’]?t stand|unable|struggl(?:es?|ed|ing)|badly|barely|hardly|\p{L}{3,}[- ]free|quit|quits|stop(?:s|ped)?|gave up|gives? up|given up|no longer|less|against|opposed|opposes|gegen|contra|contre|hass(?:t|e)|hasse|meide[tn]?|vermeide[tn]?|\p{L}*allerg\p{L}+|odi[ao]|odei[ao]|detest[aeo]s?|déteste|evit[ao]|évite|alérgic[oa]s?)(?![\p{L}\p{N}])|讨厌|过敏|不耐|避免|嫌い|苦手|アレルギー|避け/giu
/** Negations that deny nothing about the rest of the clause. */
const IDLE_NEGATION =
  /(?<![\p{L}\p{N}])(?:no (?:problem|worries|idea|doubt|one else|big deal)|why not|not only|not just|can['’]?t wait|don['’]?t (?:forget|worry|mind)|if not|or not|isn['’]t it|ne t'inquiète pas|nicht nur|nicht wahr|kein problem|no sólo|no solo|não só|keine sorge|pas seulement)(?![\p{L}\p{N}])|不仅|不但|不客气|不好意思|かもしれない|忘れないで/giu

const IRREALIS =
  /(?<![\p{L}\p{N}])(?:(?:should|would|could|might|shall) (?:i|we)|(?:i|we|he|she|they|you)(?:['’]d| would| could| should| might)(?! (?:like|love|prefer|rather|say|be happy))|if (?:only|i ever|i won|i were|i had)|if [^.!?]{1,60}(?:['’]d|would|could)|would be|might|(?:maybe|perhaps|possibly)(?! \d)|wish|imagine|suppose|assuming|hypothetically|thinking (?:of|about)|considering|consider|wondering|undecided|not (?:decided|sure) (?:if|whether|yet)|dream(?:s|ing)? of|(?:wenn|falls) [^.!?]{1,60}(?:würde|hätte|könnte|wäre)|würden?|könnten?|hätten?|wären?|sollte[nst]? (?:ich|wir)|(?:ich|wir) sollten?|vielleicht|eventuell|überlege[nst]?|si [^.!?]{1,50}(?:ría|era)|debería(?:mos)?|podría|quizás?|tal vez|a lo mejor|ganara|tuviera|compraría|pensando en|devrais(?:-je)?|pourrais(?:-je)?|peut-être|j['’]envisage|serait|achèterais|si j['’](?:avais|étais)|se eu|se ele|deveria|poderia|talvez|compraria|ganhasse|tivesse)(?![\p{L}\p{N}])|如果|要是|该不该|要不要|应该.{0,12}吗|也许|或许|考虑|もし|べき|かもしれ|検討|迷って/giu
const INTENT =
  /(?<![\p{L}\p{N}])(?:want(?:s|ed)? to|would like|hop(?:e|es|ing) to|plan(?:s|ning)? (?:to|on)|intend(?:s|ing)? to|looking for|want(?:s)?|possible|interested|goal|aims?|target|ziel|objetivo|objectif|meta|(?:i['’]?ll|will)|möchten?|möchte|plan[et]|vorhat|will|quier[oe]|querr?ía|piens[oa]|planea|veux|voudrais|veut|souhaite|compte|quer[o]?|pretend[eo]|planej[ao]|tr(?:y|ies|ying)|attend)(?![\p{L}\p{N}])|想|打算|计划|希望|たい|つもり|予定/giu
const ENDED =
  /(?<![\p{L}\p{N}])(?:used to|formerly|former|previously|quit|resigned|stopped|gave up|i left|no longer|any ?more|ex(?:-\p{L}+|husband|wife|boyfriend|girlfriend|partner)?|früher|ehemals|ehemalige[rn]?|nicht mehr|gekündigt|kein\p{L}* .{1,30} mehr|antes(?! de)|ya no|solía|dejé|dej[oó]|exnovi[oa]|ancienne?|arrêté|já não|costumava|deixei|deixou|antig[oa]|cancell?ed|instead of|(?:handed|put) in (?:my|her|his|their) notice|gave notice|closed|got rid of|\p{L}+ed [^,.;]{0,20}until)(?![\p{L}\p{N}])|以前|曾经|离职|不再|戒|辞|やめ|昔|かつて/giu

const SELF =
  /(?<![\p{L}\p{N}])(?:i|i['’](?:m|ve|d|ll)|im|ive|we|we['’](?:re|ve|d|ll)|ich|wir|je|j['’](?=\p{L})|nous|yo|nosotros|eu|nós|mich|mir|me|moi|a gente)(?![\p{L}\p{N}])|我(?!的|女|儿|妈|爸|哥|姐|妹|弟|老|太|先|妻|丈|朋|同|爷|奶)|我们|私(?!の)|僕(?!の)|俺(?!の)/iu
/** Verb forms of the first person in languages that drop the pronoun. */
const SELF_VERB =
  /^(?:(?:no|não|nunca|ya no|já não|ahora|hoy|hoje|aktuell|só|solo|también|também|só) )*(?:soy|estoy|tengo|vivo|trabajo|como|bebo|odio|prefiero|quiero|uso|hablo|estudio|voy|moro|sou|estou|tenho|trabalho|pago|bebo|gosto|prefiro|quero|falo|vou|fiz|adoro|compro|corro|me|meu|minha|mi)(?![\p{L}\p{N}])/iu
const OTHER_PRONOUN =
  /^(?:(?:and|but|also|then|so|ok|okay|yes|no|und|aber|y|pero|et|mais|e|mas|,)\s*)*(?:he|she|they|he['’]s|she['’]s|they['’]re|his|her|their|er|sie|sein|seine|ihre?|él|ella|ellos|ellas|il|elle|ils|elles|son|sa|ele|ela|eles|elas)(?![\p{L}\p{N}])|^(?:他|她|他们|她们|彼女?|彼ら)/iu
/** "My sister …", "meine Schwester …": somebody of the speaker's as the subject. */
const RELATION =
  /^(?:(?:and|but|also|so|then|ok|und|aber|y|pero|et|mais|e|mas|ugh|oh|btw|well|hey)[,\s]+)*(?:my|our|meine?|unsere?|mi|mis|nuestr[oa]|mon|ma|mes|notre|(?:o |a )?(?:meu|minha|nosso|nossa)|the user['’]s|user['’]s|their)\s+(?:[\p{L}\p{N}-]+\s){0,2}?(?<who>\p{L}+)|^(?:the|der|die|das|el|la|le|o|a) (?:\p{L}+ )?(?<the>\p{L}+)|^(?:我的?|私の|用户的|ユーザーの)?(?<kin>女儿|儿子|妈妈|母亲|爸爸|父亲|妻子|老婆|太太|丈夫|老公|哥哥|姐姐|弟弟|妹妹|朋友|同事|爷爷|奶奶|孩子|老板|母|父|妻|夫|息子|娘|兄|弟|姉|妹|友達|同僚|祖母|祖父|上司)/iu

const PERSON_WORDS = new Set(
  (
    'partner wife husband girlfriend boyfriend mother mum mom father dad parents son daughter child kid kids baby brother ' +
    'sister grandmother grandma grandfather grandpa aunt uncle cousin friend colleague coworker boss manager neighbour ' +
    'neighbor landlord landlady roommate flatmate dog cat puppy kitten pet mann frau mutter vater sohn tochter kind bruder ' +
    'schwester oma opa tante onkel freund freundin kollege kollegin chef chefin nachbar nachbarin hund katze marido esposa ' +
    'mujer madre padre hijo hija hermano hermana abuela abuelo tio tia novio novia amigo amiga jefe jefa vecino perro gato mari ' +
    'femme mere pere fils fille frere soeur ami amie copain copine chien chat mae pai filho filha irmao irma avo mulher cao ' +
    'cachorro team client doctor dentist vet nephew niece twin twins triplets in-laws inlaws stepson stepdaughter stepfather stepmother ' +
    'godson goddaughter grandson granddaughter grandchild physio physiotherapist therapist teacher tutor trainer coach mate flatmate roommate crew staff ' +
    'laws fiance fiancee ex uncle aunt guest guests'
  ).split(' '),
)
const PERSON_CONCEPTS = new Set([...PERSON_WORDS].flatMap((word) => [...getConcepts(word)]))

/** Whether a word names a relative, a friend, a pet or the like. */
export function isPersonWord(word: Pick<Word, 'folded' | 'concepts'>): boolean {
  return (
    PERSON_WORDS.has(word.folded) ||
    (word.concepts.size > 0 && [...word.concepts].every((id) => PERSON_CONCEPTS.has(id)))
  )
}

const TRANSITION =
  /(?<![\p{L}\p{N}])(?:from|von|vom|de|del|du|do|da)\s+(?<left>[^,.;]{1,40}?)\s+(?:to|into|zum?|auf|nach|a|al|à|au|para|pour)\s|(?:from|von|aus|desde)\s+(?<origin>\p{L}+)|instead of\s+(?<instead>[^,.;]{1,30})|从(?<cjk>.{1,12}?)(?:搬|改|换|转)/giu
const TRANSITION_VERB =
  /(?<![\p{L}\p{N}])(?:moved?|moving|switch\p{L}*|chang\p{L}+|reschedul\p{L}*|slip\p{L}*|push\p{L}*|postpon\p{L}*|shift\p{L}*|relocat\p{L}*|umgezogen|gezogen|gewechselt|verschoben|verlegt|pasa|cambi\p{L}+|mud\p{L}+|passe|déménag\p{L}+|chang\p{L}+|pass(?:a|ou)|instead)(?![\p{L}\p{N}])|搬|改|换|転職|引っ越/iu

export type TextKind = 'claim' | 'message'

/** Clauses refer to each other, so that a text with thousands of them would take seconds. */
const PARSED_CHARACTERS_MAX = 4_000

/** "My sister, Amina, is …": the name belongs to the subject. */
const APPOSITION =
  /,( \p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?),( (?:is|are|was|has|lives|works|gets|will|ist|hat|es|vive|trabaja|est|a|travaille|é|mora|trabalha))(?!\p{L})/gu

/** The clauses of a text. Quoted, pasted and acted text of a message is left out. */
export function parseClauses(fullText: string, kind: TextKind): readonly Clause[] {
  const text = fullText.slice(0, PARSED_CHARACTERS_MAX)
  const own = (kind === 'claim' ? text : maskForeignText(text)).replace(APPOSITION, ' $1 $2')
  const clauses: Clause[] = []
  let antecedents: readonly string[] = []
  for (const [index, { start, end, isQuestion }] of splitSentences(own).entries()) {
    const sentence = own.slice(start, end)
    const isAsked = isQuestion && kind === 'message'
    let isIrrealis = false
    let isGoal = false
    let subject: Pick<Clause, 'subject' | 'subjectWords'> = { subject: 'unknown', subjectWords: [] }
    const wordsInSentence = tokenize(sentence, 0)
    for (const { piece, at, link } of splitPieces(sentence)) {
      if (/but|aber|pero|mais|mas|但|currently|now|aktuell|ahora|hoy|hoje|maintenant/iu.test(link))
        isIrrealis = false
      const words = wordsInSentence.filter((word) => word.at >= at && word.at < at + piece.length)
      isGoal = /[:：]/u.test(link) && isGoal
      if (words.length === 0) continue
      const trimmed = piece.trim()
      isIrrealis ||=
        (matches(IRREALIS, trimmed) && !isOpenQuestion(trimmed)) ||
        (kind === 'claim' && CONDITIONAL.test(trimmed)) ||
        (isAsked && isSelfQuestion(trimmed))
      const found = /who/iu.test(link)
        ? findAntecedent(clauses.at(-1))
        : findSubject(trimmed, words, kind)
      if (found.subject !== 'unknown') subject = found
      isGoal ||= matches(INTENT, trimmed)
      clauses.push({
        text: trimmed,
        sentence: index,
        words,
        isRejected: REJECTED.test(link),
        isNegative: REJECTED.test(link) ? true : isNegative(trimmed),
        isImpersonal:
          isAsked &&
          !/(?<!\p{L})(?:i|i'm|im|me|my|we|our|us|ich|mein\p{L}*|mir|mich|wir|uns|unser\p{L}*|yo|mi|mis|me|nos|nuestr\p{L}|je|j'|mon|ma|mes|moi|nous|notre|eu|meu|minha|nosso|nossa)(?!\p{L})|我|私|僕|うち/iu.test(
            sentence,
          ) &&
          matches(
            /(?:what|which|how|where|when|who|why|was|wie|wo|wer|qué|cómo|cuál|quién|que|quel|quoi|comment|qual|quem|什么|怎么|谁|何|どこ|誰)/giu,
            sentence,
          ),
        denied: REJECTED.test(link)
          ? new Set(words.map(({ folded }) => folded))
          : listDenied(trimmed),
        isIrrealis,
        isIntent: isGoal || matches(INTENT, trimmed) || (kind === 'claim' && LIKING.test(trimmed)),
        isEnded: matches(ENDED, trimmed),
        isPast: PAST_ONLY.test(trimmed) && !PRESENT.test(trimmed),
        ...(found.subject === 'unknown' ? subject : found),
        left: findLeft(trimmed, sentence),
        isPronoun: OTHER_PRONOUN.test(trimmed) || BENEFICIARY.test(trimmed),
        antecedents,
      })
      const named = listPersons(words)
      if (named.length > 0) antecedents = named
    }
  }
  return clauses
}

const CONDITIONAL =
  /(?<!\p{L})(?:would|could|might|may (?=be|have|want|need|go|move))(?!\p{L})(?! (?:like|prefer|love))/iu
const PAST_ONLY =
  /(?<!\p{L})(?:was|were|wasn['’]t|weren['’]t|used to|war|waren|era|eram|était|étaient|estava)(?!\p{L})(?! (?:born|diagnosed|raised|told|promoted|hired|wondering|hoping|thinking|geboren))/iu
const PRESENT =
  /(?<!\p{L})(?:is|are|am|i['’]?m|we['’]?re|now|still|has|have|ist|sind|bin|jetzt|es|soy|ahora|est|suis|maintenant|é|sou|agora)(?!\p{L})/iu

/** "Likes small hotels" may follow from a wish. */
const LIKING =
  /(?<!\p{L})(?:likes?|prefers?|enjoys?|interested|mag|bevorzugt|gusta[n]?|prefiere|aime|préfère|gosta|prefere)(?!\p{L})|喜欢|好き/iu

/** Introduces the alternative that is not chosen. */
const REJECTED = /instead|rather than|^than|statt|au lieu|vez de/iu

/** "Do I need …?", "soll ich …?" ask about what is not so yet. */
function isSelfQuestion(text: string): boolean {
  return /^(?:(?:so|and|ok|und|y|et|e)\s)?(?:do|am|can|shall|will|did|have|soll|kann|muss|darf|bin) (?:i|we|ich|wir)(?!\p{L})/iu.test(
    text,
  )
}

/** "What could I bake for his birthday?" presupposes the birthday. */
function isOpenQuestion(text: string): boolean {
  return (
    /^(?:(?:so|and|ok|then|also) )*(?:what|which|how|where|when|who|was|wie|wo|welche[rs]?|qué|cómo|dónde|que|quoi|comment|où|como|onde|怎么|什么|何|どこ)(?!\p{L})/iu.test(
      text,
    ) && !/(?<!\p{L})if(?!\p{L})/iu.test(text)
  )
}

function matches(pattern: RegExp, text: string): boolean {
  return text.search(pattern) >= 0 // `test` would keep the position of a global pattern
}

function isNegative(text: string): boolean {
  const plain = text.replace(IDLE_NEGATION, ' ')
  return matches(NEGATIVE, plain.replace(NEGATIVE_VERBS, ' ')) !== matches(NEGATIVE_VERBS, plain)
}

const DENIED_BEFORE = 4
const DENIED_AFTER = 7

/** "I never said that I was a teacher" denies all of it. */
const DISCLAIMED =
  /(?:never|n['’]t|not) (?:said|say|mean|meant|claim|claimed|think)|nie gesagt|nunca dije|jamais dit|nunca disse/iu

/** The words within reach of a negation; in scripts without spaces, all of them. */
function listDenied(text: string): ReadonlySet<string> {
  const words = tokenize(text, 0)
  if (UNSPACED.test(text) || DISCLAIMED.test(text))
    return new Set(words.map(({ folded }) => folded))
  const plain = text.replace(IDLE_NEGATION, (idle) => ' '.repeat(idle.length))
  const denied = new Set<string>()
  for (const pattern of [NEGATIVE, NEGATIVE_VERBS]) {
    for (const { index } of plain.matchAll(pattern)) {
      const at = words.findIndex((word) => word.at + word.text.length > index)
      const near = words.slice(Math.max(0, at - DENIED_BEFORE), at + DENIED_AFTER)
      for (const { folded } of near) denied.add(folded)
    }
  }
  return denied
}

/** Names and relations in a clause. */
function listPersons(words: readonly Word[]): readonly string[] {
  return words
    .filter(
      (word) =>
        isPersonWord(word) ||
        (!word.isFirst && isNameLike(word)) ||
        (word.isFirst &&
          isNameLike(word) &&
          !STARTERS.has(word.folded) &&
          word.concepts.size === 0),
    )
    .map(({ folded }) => folded)
}

function isNameLike({ text, concepts }: Word): boolean {
  return /^\p{Lu}\p{Ll}/u.test(text) && concepts.size === 0 && listQuantities(text).length === 0
}

/** "So gluten free for him". */
const BENEFICIARY = /(?<!\p{L})for (?:him|her|them)$/iu

function splitPieces(sentence: string) {
  const pieces: { piece: string; at: number; link: string }[] = []
  let at = 0
  let link = ''
  for (const match of sentence.matchAll(CLAUSE_BREAK)) {
    // "Tom and I" is one subject.
    if (isCoordinated(sentence.slice(at, match.index), match[0])) continue
    pieces.push({ piece: sentence.slice(at, match.index), at, link })
    at = match.index + match[0].length
    link = match[0]
  }
  pieces.push({ piece: sentence.slice(at), at, link })
  return pieces
}

function isCoordinated(piece: string, link: string): boolean {
  return /^(?:and|und|y|e|et)$/iu.test(link) && piece.trim().split(/\s+/u).length <= 2
}

type PlacedWord = Word & { readonly at: number }

export function tokenize(text: string, base: number): readonly PlacedWord[] {
  const words: PlacedWord[] = []
  for (const match of text.matchAll(WORD)) {
    const parts = UNSPACED.test(match[0]) ? segment(match[0]) : [match[0]]
    let at = match.index
    for (const part of parts) {
      const folded = foldWord(part)
      words.push({
        text: part,
        folded,
        stem: stemWord(folded),
        concepts: getConcepts(folded),
        fields: getFields(folded),
        isFirst: words.length === 0,
        at: base + at,
      })
      at += part.length
    }
  }
  return words
}

const segmenter = new Intl.Segmenter('ja', { granularity: 'word' })

/** Every segment holds a copy of the whole text that was segmented, so a long run takes quadratic memory. */
const SEGMENTED_CHARACTERS_MAX = 200

function segment(run: string): readonly string[] {
  const words: string[] = []
  for (let at = 0; at < run.length; at += SEGMENTED_CHARACTERS_MAX) {
    const part = run.slice(at, at + SEGMENTED_CHARACTERS_MAX)
    for (const { segment: word } of segmenter.segment(part)) words.push(word)
  }
  return words
}

const CONNECTORS = new Set(
  'and but also so then ok und aber y pero et mais e mas well oh the'.split(' '),
)
/** "Two of them deaf", "one is coeliac". */
const PART_OF_OTHERS =
  /^(?:and |but )?(?:one|two|three|both|some|another|the other|\d+) (?:(?:of (?:them|the))|is |has |hates |can)/iu

const SELF_AND_OTHER = /(?<!\p{L})(?:and i|and me|und ich|y yo|et moi|e eu)(?!\p{L})|和我|と私/iu
/** "My boss lets me work from home" may state something about the speaker. */
const SELF_OBJECT = /(?<!\p{L})(?:me|us|mich|mir|uns|nos|moi|nous)(?!\p{L})|[让给叫]我/iu
const THIRD_SUBJECT =
  /(?<!\p{L})(?:he|she|they|he['’]s|she['’]s|they['’]re|er|sie|él|ella|il|elle|ele|ela)(?!\p{L})|[他她]/iu

function findSubject(
  text: string,
  words: readonly Word[],
  kind: TextKind,
): Pick<Clause, 'subject' | 'subjectWords'> {
  const relation = RELATION.exec(text)?.groups
  const kin = relation?.who ?? relation?.the ?? relation?.kin
  const names = leadingNames(words, kind)
  const head0 = words.find(({ folded }) => !CONNECTORS.has(folded))
  if (head0 !== undefined && isPersonWord(head0) && words.length > 1 && !relation?.who) {
    return { subject: 'other', subjectWords: [head0.folded] }
  }
  const part = PART_OF_OTHERS.exec(text)?.[0]
  if (part !== undefined)
    return { subject: 'other', subjectWords: [part.trim().split(' ')[0]?.toLowerCase() ?? 'one'] }
  if (kin !== undefined && tokenize(kin, 0).some(isPersonWord)) {
    if (SELF_AND_OTHER.test(text)) return { subject: 'self', subjectWords: [] }
    if (SELF_OBJECT.test(text) && !THIRD_SUBJECT.test(text))
      return { subject: 'unknown', subjectWords: [] }
    const at = words.findIndex(({ folded }) => folded === foldWord(kin))
    const more: Word[] = []
    for (const word of words.slice(at + 1, at + 3)) {
      if (at < 0 || !/^\p{Lu}\p{Ll}/u.test(word.text)) break
      more.push(word)
    }
    return {
      subject: 'other',
      subjectWords: [foldWord(kin), ...names, ...more.map(({ folded }) => folded)],
    }
  }
  if (OTHER_PRONOUN.test(text) || BENEFICIARY.test(text))
    return { subject: 'other', subjectWords: [] }
  const head = text.slice(0, 40)
  if (SELF.test(head) || SELF_VERB.test(text)) return { subject: 'self', subjectWords: [] }
  const named =
    /^(?:[^、。]{0,8}の)?(?<name>[\p{Script=Han}\p{Script=Katakana}]{1,8})(?:さん|くん|ちゃん|氏)(?:は|が)/u.exec(
      text,
    )?.groups?.name
  if (named !== undefined) return { subject: 'other', subjectWords: [named] }
  const japanese = /^(?<topic>[\p{Script=Han}\p{Script=Katakana}]{1,8})(?:は|が)/u.exec(text)
    ?.groups?.topic
  if (japanese !== undefined && tokenize(japanese, 0).some(isPersonWord)) {
    return { subject: 'other', subjectWords: [japanese] }
  }
  if (names.length > 0) return { subject: 'other', subjectWords: names }
  const placed = PLACED_NAME.exec(text)?.groups?.name
  if (placed !== undefined && !STARTERS.has(foldWord(placed)))
    return { subject: 'other', subjectWords: [foldWord(placed)] }
  if (isJapanese(text) && !/^[^、]{1,12}(?:は|が)/u.test(text))
    return { subject: 'self', subjectWords: [] }
  return SELF.test(text)
    ? { subject: 'self', subjectWords: [] }
    : { subject: 'unknown', subjectWords: [] }
}

/** "Attends yoga classes" begins with a verb, "James plays tennis" with a name. */
function isLeadingVerb(first: string, second = ''): boolean {
  return /(?:s|ed|ing)$/u.test(first) && !/^(?:is|has|was|will|and|['’]s|\p{Ll}+s)$/u.test(second)
}

function isJapanese(text: string): boolean {
  return /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)
}

/** "Lucía in Quito". */
const PLACED_NAME = /^(?<name>\p{Lu}[\p{L}-]+) (?:in|at) \p{Lu}[\p{L}-]+$/u

/** "My neighbor Rosa, who is an interpreter" is about Rosa. */
function findAntecedent(before: Clause | undefined): Pick<Clause, 'subject' | 'subjectWords'> {
  const last =
    before?.words
      .slice(-3)
      .filter((word) => isPersonWord(word) || /^\p{Lu}\p{Ll}/u.test(word.text)) ?? []
  return { subject: 'other', subjectWords: last.map(({ folded }) => folded) }
}

/** Capitalized words that a clause begins with, followed by a verb in lower case. */
function leadingNames(words: readonly Word[], kind: TextKind): readonly string[] {
  const names: string[] = []
  for (const { text, folded, concepts, isFirst } of words.slice(0, 3)) {
    if (/^(?:and|my|our|the|a)$/u.test(folded)) continue
    if (listQuantities(text).length > 0) break
    if (!/^\p{Lu}\p{Ll}/u.test(text) || concepts.size > 0 || STARTERS.has(folded)) break
    if (
      isFirst &&
      /(?:[aei]mos|[éíoó]|ei|ando|endo)$/iu.test(text) &&
      words.some(({ folded: word }) => ROMANCE.has(word)) &&
      !/^\p{Lu}/u.test(words[1]?.text ?? '')
    )
      break
    if (isFirst && isLeadingVerb(text, words[1]?.text)) break
    names.push(folded)
  }
  const next = words[words.findIndex(({ folded }) => folded === names.at(-1)) + 1]
  return kind === 'claim' || (next !== undefined && FINITE_VERB.test(next.text)) ? names : []
}

/** What follows a name that is a subject. */
const FINITE_VERB =
  /^(?:is|was|has|had|will|can|can['’]t|won['’]t|isn['’]t|from|and|who|just|also|never|always|still|got|does|did|(?!yes$)\p{Ll}+(?:s|ed)|ist|hat|war|wird|\p{Ll}+t|es|está|tiene|va|y|est|et|\p{Ll}+e|é|tem|mora|vai|\p{Ll}+a|\p{Ll}+ó)$/u

const ROMANCE = new Set(
  'el la los las de del que con en un una no por y e do da dos das em no na um uma a'.split(' '),
)

const STARTERS = new Set(
  (
    'i im ive we the this that these those it its he she they you there here what when where who why how which is are do does did can ' +
    'could should would will got going getting please also yes no ok okay thanks thank hey hi hello well so and but or if since after ' +
    'before now today tomorrow yesterday just still actually btw ugh haha not perfect great remember don never always got new summarize ' +
    'ich wir der die das den dem ein eine es er sie du ja nein danke bitte wenn weil aktuell jetzt heute morgen gestern nachste nachstes ' +
    'yo el la los las un una ya si no que ahora hoy manana gracias soy tengo vivo trabajo tambien odio ' +
    'je le les une il elle on oui non merci maintenant aujourd hier demain mon ma mes ' +
    'eu o a os as um uma sim nao obrigado obrigada agora hoje amanha ontem moro tenho sou gosto minha meu minhas ela ele'
  ).split(' '),
)

function findLeft(text: string, sentence: string): ReadonlySet<string> {
  if (!TRANSITION_VERB.test(sentence)) return new Set()
  const left = new Set<string>()
  for (const { groups } of text.matchAll(TRANSITION)) {
    const words = groups?.left ?? groups?.origin ?? groups?.instead ?? groups?.cjk
    if (words !== undefined) for (const { folded } of tokenize(words, 0)) left.add(folded)
  }
  return left
}

/** Instructions to work on a text: what follows is not the user's own. */
const MATERIAL =
  /(?<!\p{L})(?:proofread|translate|summari[sz]e|sum up|rewrite|rephrase|reword|paraphrase|shorten|classify|fix the grammar|(?:correct|check|edit|improve|polish|review) (?:this|the following|my (?:text|letter|e?-?mail|essay|message|bio|cv|draft))|turn (?:this|it) into|übersetze?|korrigiere?|fasse|formuliere|lektoriere|corrige|traduce|traduis|traduisez|résume|reformule|reescribe|traduza|traduz|corrija|reescreva|revise)(?!\p{L})(?:[ ,]+[^\s:：]+){0,7}?\s?(?:[:：]|\n)|(?:翻译|改写|润色|总结|校对|訳して|翻訳して|添削して|要約して)[^\n：:]{0,20}(?:[:：]|\n)|^(?:from|subject|von|betreff|de|asunto|objet|assunto): /imu
const ACTING =
  /(?<![\p{L}\p{N}])(?:pretend|imagine (?:that )?(?:you|i|we)|role-?play|act as|let['’]s say|hypothetically|for the sake of|stell dir vor|tu so|rollenspiel|imagina que|finge|haz como|imagine que|fais comme si|faz de conta|suponha)(?![\p{L}\p{N}])|假装|假设|想象一下|扮演|ふりをして|仮に|演じて/iu
/** A quotation of a few words is a title or a name. */
const SHORT_QUOTE_WORDS = 4
const SHORT_QUOTE_CHARACTERS = 40

export function maskForeignText(text: string): string {
  if (ACTING.test(text)) return ' '.repeat(text.length)
  const material = MATERIAL.exec(text)
  const end = material === null ? text.length : material.index + material[0].length
  const rest = text.length - end
  const own = text.slice(0, end)
  return unmaskTitles(own, maskQuotedSpeech(own)) + ' '.repeat(rest)
}

function unmaskTitles(text: string, masked: string): string {
  return masked.replace(new RegExp(`${QUOTE_MASK}+`, 'gu'), (run, at: number) => {
    const quote = text.slice(at, at + run.length)
    const isShort =
      quote.length <= SHORT_QUOTE_CHARACTERS &&
      quote.trim().split(/\s+/u).length <= SHORT_QUOTE_WORDS &&
      !SELF.test(quote) &&
      !(UNSPACED.test(quote) && quote.length > 10)
    return isShort ? quote : ' '.repeat(run.length)
  })
}
