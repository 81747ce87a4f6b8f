/**
 * Reads statements as people type them: lower case, missing apostrophes, emoji, "Update:", trailing asides. The result is
 * compared with other results and never shown or stored.
 */
import { mayMatch, testPattern } from '../../text/regex-prefilter.ts'
import { rewriteToFirstPerson } from './persons.ts'

/** Who or what a clause is about. */
export type Subject =
  | { readonly kind: 'self' }
  /** "He", "they", or no subject that can be recognized. */
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'other'
      readonly names: readonly string[]
      readonly isPerson: boolean
      readonly isPossessive?: boolean
    }

export type Clause = {
  readonly text: string
  readonly subject: Subject
  /** The speaker is part of the subject: "Tom and I split up". */
  readonly isShared: boolean
}

export type ChatStatement = {
  readonly text: string
  readonly clauses: readonly Clause[]
  /** Stems of the words that carry meaning. */
  readonly words: ReadonlySet<string>
  /** Whether it says that something is different now. */
  readonly isChange: boolean
  /** Whether it adds to what is known: "also", "both". */
  readonly isAdditive: boolean
  /** Whether it speaks of a wish, a plan or a possibility. */
  readonly isHedged: boolean
  /** Whether it speaks of something that no longer holds, or that holds for a while. */
  readonly isPast: boolean
  readonly isTemporary: boolean
  readonly isQuestion: boolean
  readonly isEastAsian: boolean
  /** What rules derived from the statement, by the number of the rule: in a prompt, each line is compared with all others. */
  readonly derived: unknown[]
}

/** Longer texts make several statements. */
export const CHAT_CHARACTERS_MAX = 240

const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u

export function readChatStatement(content: string): ChatStatement | null {
  if (content.length > CHAT_CHARACTERS_MAX) return null
  const { text: clean, framing } = cleanSurface(content)
  const text = rewriteToFirstPerson(clean)
    .toLowerCase()
    .replace(/[(（][^)）]{0,120}[)）]/gu, ' ')
    .replace(/[.!。！\s]+$/u, '')
  if (text === '') return null
  const isEastAsian = EAST_ASIAN.test(text)
  return {
    text,
    clauses: isEastAsian ? readEastAsianClauses(text) : readClauses(text),
    words: new Set(isEastAsian ? [] : listContentStems(text)),
    isChange: testPattern(CHANGE, `${framing} ${text}`) || CHANGE_FRAMING.test(framing),
    isAdditive: testPattern(ADDITION, text) || /\balso\b/.test(framing),
    isHedged: testPattern(HEDGE, text),
    isPast: testPattern(PAST_STATE, text),
    isTemporary: testPattern(TEMPORARY, text),
    isQuestion: /[?？]\s*$/.test(content),
    isEastAsian,
    derived: [],
  }
}

/** The statement without its packaging, and the packaging in front of it. Case is kept, because it marks names. */
export function cleanSurface(content: string): { readonly text: string; readonly framing: string } {
  // The patterns take more than linear time, and packaging surrounds short statements only.
  if (content.length > CLEANED_CHARACTERS_MAX) return { text: content, framing: '' }
  let plain = content
    .normalize('NFKC')
    .replace(/[’‘`´]/g, "'")
    .replace(/\p{Extended_Pictographic}|\u{FE0F}|\u{200D}/gu, ' ')
    .replace(/\s[:;]-?[()DPp/|]+(?=\s|$)/g, ' ')
    .replace(
      /[(（](?:as of|since|btw|by the way|fyi|lol|haha|just|if you|in case|stand|seit|übrigens)[^)）]{0,80}[)）]/giu,
      ' ',
    )
    .replace(/\s+/g, ' ')
    .trim()
  for (const [pattern, replacement] of EXPANSIONS) {
    if (mayMatch(pattern, plain)) plain = plain.replace(pattern, replacement)
  }
  const framing = FRAMING.exec(plain)?.[0] ?? ''
  const rest = plain.slice(framing.length)
  const lead = NOW_LEADS.exec(rest)?.[0] ?? ''
  const text = rest.slice(lead.length).replace(ASIDES, '').trim()
  return text === ''
    ? { text: content, framing: '' }
    : { text, framing: (framing + lead).toLowerCase() }
}

const CLEANED_CHARACTERS_MAX = 1_000

/** Words for the present in front of a statement that holds now. */
const NOW_LEADS =
  /^(?:(?:nowadays|these days|currently|at the moment|from (?:today|now)(?: on)?|as of (?:today|now)|starting today|since (?:\p{L}+day|last (?:week|month|year)|january|february|march|april|may|june|july|august|september|october|november|december)|seit (?:\p{L}+)|ab (?:heute|sofort)|desde \p{L}+|a partir de (?:hoy|ahora|hoje|agora)|depuis \p{L}+|à partir d'aujourd'hui),? )(?=\p{L})/iu

const EXPANSIONS: readonly (readonly [RegExp, string])[] = [
  [/\bi'?m\b/gi, 'I am'],
  [/\bi'?ve\b/gi, 'I have'],
  [/\bi'd\b/gi, 'I would'],
  [/\b(?:i'll)\b/gi, 'I will'],
  [/\b(we|they|you)'?re\b(?! (?:the|a)\b)/gi, '$1 are'],
  [/\b(we|they)'?ve\b/gi, '$1 have'],
  [/\b(he|she|that|there|who|what)'?s\b/gi, '$1 is'],
  [/\bit's\b/gi, 'it is'],
  [/\b(?:can'?t|cannot)\b/gi, 'can not'],
  [/\bwon't\b/gi, 'will not'],
  [/\b(do|does|did|is|are|was|were|has|have|had|would|could|should)n'?t\b/gi, '$1 not'],
  [/\bgonna\b/gi, 'going to'],
  [/\bwanna\b/gi, 'want to'],
  [/\bany more\b/gi, 'anymore'],
  [/\b(?:rn|atm)\b/gi, 'now'],
  [
    /(\p{L})'s (?=now|been|gone|home|going|in |at |on |over|done|good|fine|all |open|off|up |down|back|off|moved|called|finally|the new)/gu,
    '$1 is ',
  ],
]

/** Openings that are recognized as such only before a comma or the like: "no" may negate. */
const MARKED_OPENINGS =
  'nope|nah|no|yes|yeah|yep|right|just|wait|and|but|sorry|psa|edit|news|correction|update|reminder|note|small note|remember|new info|great news|bon|ben|bom|olha|bueno|pues|achtung|korrektur|neuigkeiten?|corrección|actualización|novedad(?:es)?|mise à jour|correção|atualização|novidade|nein|non|não|对了|更新|更正|訂正|是的|不'
const OPENINGS =
  '(?:(?:quick|small|big|little|important|life|status|sad|good|bad|great|some|kleines|petite) )?(?:update|correction|news|edit|mise à jour)|change of plans?|plot twist|fyi|btw|by the way|ok(?:ay)?(?: so)?|so|well|oh|ah|hey|hi|heads[- ]up|just so you know|jsyk|guess what|actually|finally|also|anyway|yay|woohoo|turns out(?: that)?|for the record|hm+|ugh|lol|haha|scratch that|forget (?:that|what i said)|not true|please note(?: that)?|übrigens|ach ja|na ja|naja|por cierto|au fait|alors|enfin|aliás|a propósito|顺便说一下|ちなみに|そういえば|実は|結局|ついに|やっと|终于|其实'
const FRAMING = new RegExp(
  `^(?:(?:${MARKED_OPENINGS}|${OPENINGS})\\s*[,:!.;，：、！。–—-]+\\s*|(?:${OPENINGS})\\s+|(?:ちなみに|そういえば|実は|結局|ついに|やっと|终于|其实))+(?=\\S)`,
  'iu',
)

const CHANGE_FRAMING =
  /update|correction|news|edit|change|twist|actually|finally|nope|nah|turns out|scratch|forget|not true|korrektur|neuigkeit|corrección|actualización|novedad|mise à jour|enfin|correção|atualização|novidade|更新|更正|訂正|ついに|やっと|终于|実は|其实|結局/u

const ASIDES =
  /(?:[,.;:!–—-]*\s*(?:lol|haha|btw|by the way|fyi|(?:just )?in case you (?:wonder(?:ed)?|care|ask|were wondering)|if (?:you (?:wonder|care|ask|must know)|anyone asks|that matters)|just so you know|you know|i guess|tho|though|anyway|as of \p{L}+(?: \d+)?|for what it is worth|fwiw|thanks?|thank you|übrigens|falls du dich fragst|nur so|por cierto|au fait|aliás|by the by))+[\s.!,;:)]*$/iu

const CHANGE =
  /(?<!\p{L})(?:now|nowadays|these days|no longer|anymore|again|since|from (?:today|now|monday|next|this)|as of|starting|switched|switching|changed?|new|instead|finally|moved?|turned|became|went (?:up|down)|back (?:to|in|at|from|on|home)|bumped|upped|raised|cut|extended|postponed|pushed|rescheduled|renamed|replaced|upgraded|got|just|not \p{L}+ but|corrected|rather than|jetzt|nun|inzwischen|mittlerweile|nicht mehr|kein\p{L}* .{0,30}mehr|wieder|seit|ab (?:heute|sofort|montag|nächste)|neue\p{L}*|umgezogen|gezogen|gewechselt|verschoben|geworden|ahora|ya no|desde|de nuevo|otra vez|a partir de|nuev[oa]s?|cambi\p{L}+|pas[óé] a|maintenant|désormais|ne .{1,30} plus|n'.{1,30} plus|depuis|de nouveau|à partir de|nouve(?:au|lle)|changé|passée?|reporté\p{L}*|agora|já não|não .{1,30} mais|desde|de novo|a partir de|nov[oa]s?|mud\p{L}+|troqu\p{L}+|adiad[oa])(?!\p{L})|现在|不再|改|换|新|搬|已经|了[。！]?$|从今|今は|今では|もう|新し|変更|になり|引っ越|やめ|辞め|乗り換え|から/u

const ADDITION =
  /(?<!\p{L})(?:also|too|as well|both|another|second|other|besides|in addition|on top of|plus|additional|extra|side (?:job|gig|project|hustle)|part of|auch|außerdem|zusätzlich|noch ein\p{L}*|zweite[nrs]?|beide|también|además|otr[oa]|segund[oa]|ambos|aussi|également|en plus|autre|deuxième|também|além|outr[oa])(?!\p{L})|也|还有|另一|另外|第二|以外|も(?=.*(?:ます|です|る|い))|他の|別の|二つ目/u

const HEDGE =
  /(?<!\p{L})(?:might|(?:i|we|he|she|they|it|you) may|maybe|perhaps|possibly|could|would|should|wish|hope|hoping|want|wants|wanted|thinking (?:about|of)|considering|consider|planning (?:to|on)|plan to|plans to|dream(?:ing|s)? of|if i|if we|one day|someday|eventually|interview|applied|applying|offer from|looking (?:at|into)|almost|nearly|about to|tempted|vielleicht|überlege|möchte|würde|könnte|will (?:vielleicht|mal)|bewerb\p{L}+|quizás?|tal vez|quisiera|me gustaría|pensando en|podría|quiero|peut-être|j'aimerais|je voudrais|envisage|pourrais|talvez|gostaria|queria|pensando em|poderia|quero)(?!\p{L})|也许|可能|想|打算|考虑|如果|かもしれ|たい|つもり|考えて|検討/u

const PAST_STATE =
  /(?<!\p{L})(?:used to|formerly|previously|as a (?:kid|child|student|teen(?:ager)?)|grew up|years ago|back then|in (?:19|200|201)\d*|once (?:had|lived|worked)|when i was|früher|damals|als kind|antes|de niñ[oa]|solía|avant|autrefois|quand j'étais|antigamente|quando eu era|costumava)(?!\p{L})|以前|小时候|曾经|曾|昔|子供の頃/u

const TEMPORARY =
  /(?<!\p{L})(?:visit(?:ed|ing|s)?|for (?:the|a) (?:weekend|week|night|day|few days|conference|visit|meeting|wedding|month)|this (?:weekend|week)|on (?:a )?(?:business )?trip|rented|rental|borrowed?|borrowing|lent|temporar(?:y|ily)|for now|until \p{L}+day|besuch\p{L}*|übers wochenende|für (?:ein wochenende|eine woche)|leihwagen|visit[éao]\p{L}*|fin de semana|visité\p{L}*|week-end|visit\p{L}+|fim de semana|alquil\p{L}+ un)(?!\p{L})|出差|旅行|参观|暂时|旅行|出張|一時/u

/** Splits at punctuation and conjunctions; a clause without a subject of its own continues the one before it. */
function readClauses(text: string): readonly Clause[] {
  const parts = text
    .replace(/(?<!\p{L})([\p{L}'-]+) (?:and|und|y|et|e) (?:i|me|ich|yo|moi|eu)(?!\p{L})/gu, '$1&i')
    .replace(/(?<!\p{L})(?:i|me|ich|yo|moi|eu) (?:and|und|y|et|e) ([\p{L}'-]+)(?!\p{L})/gu, '$1&i')
    .replace(
      /^([\p{L}'-]+) (?:and|und|y|et|e) ([\p{L}'-]+)(?= (?:are|have|got|were|split|broke|moved|had|sind|haben|se|ont|sont))/u,
      '$1&$2',
    )
    .split(
      /(?:[.!?;,:]+|\s[–—-]+)(?:\s+|$)|\s(?:and|but|so|then|because|und|aber|y|pero|et|mais|mas|porque|weil|car)\s/u,
    )
    .map((part) => part.trim())
    .filter((part) => part !== '')
  let last: Subject | null = null
  return parts.slice(0, 8).map((part): Clause => {
    const shared = /^([\p{L}'-]+)&i(?!\p{L})/u.exec(part)?.[1]
    if (shared !== undefined) {
      last = { kind: 'self' }
      return { text: part.replaceAll('&', ' and '), subject: last, isShared: true }
    }
    const couple = /^([\p{L}'-]+)&([\p{L}'-]+)/u.exec(part)?.slice(1)
    const subject: Subject =
      couple === undefined
        ? (readSubject(part) ?? last ?? { kind: 'self' })
        : toSubject(couple, false)
    last = subject
    return { text: part.replaceAll('&', ' and '), subject, isShared: false }
  })
}

const SELF =
  /^(?:i|we|ich|wir|je|j'|on|nous|yo|nosotros|eu|nós|me|ya no|ahora|agora|já não|maintenant|jetzt|bin|hab|habe|wurde|war|a gente)(?![\p{L}])|^j'/u
const LEADING =
  /^(?:(?:now|just|today|yesterday|tonight|recently|lately|currently|nowadays|these days|since (?:\p{L}+)|from (?:today|now)(?: on)?|as of (?:today|now|\p{L}+)|last (?:week|month|year|night|\p{L}+day)|this (?:week|month|year|morning)|on \p{L}+day|in (?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter)|finally|actually|still|then|seit \p{L}+|letzte (?:woche)|letzten (?:monat)|heute|gestern|seitdem|inzwischen|mittlerweile|jetzt|desde \p{L}+|ayer|hoy|la semana pasada|el mes pasado|ahora|hier|aujourd'hui|la semaine dernière|le mois dernier|depuis \p{L}+|maintenant|ontem|hoje|semana passada|na semana passada|mês passado|agora) )+/u
const POSSESSIVE =
  /^(?:my|our|mein(?:e|en|em|er)?|unser(?:e|en)?|mi|mis|nuestr[oa]s?|mon|ma|mes|notre|nos|(?:o |a )?(?:meu|minha|nosso|nossa)) /u
const DEFINITE =
  /^(?:the|this|that|der|die|das|el|la|los|las|le|les|l'|o|a|os|as|his|her|their|sein(?:e)?|ihr(?:e)?|su|sus|sa|seu|sua) |^l'/u
const PRONOUN =
  /^(?:he|she|they|it|er|sie|es|él|ella|ellos|il|elle|ils|elles|ele|ela|eles|that|this|there|nobody|everyone)(?!\p{L})/u
const VERBS =
  /^(?:is|are|was|were|am|be|been|has|have|had|will|can|does|do|did|not|got|gets|lives|works|likes|loves|hates|plays|studies|drives|uses|takes|eats|drinks|goes|went|moved|moves|left|joined|quit|started|starts|married|died|passed|became|turned|sold|bought|switched|retired|graduated|finished|stopped|wants|needs|says|said|owns|speaks|prefers|ist|sind|war|hat|haben|wird|wurde|heißt|wohnt|lebt|arbeitet|es|está|tiene|ha|fue|se|vive|trabaja|murió|est|sont|a|s'appelle|habite|travaille|é|tem|foi|mora|trabalha|morreu|'s|just|now|finally|also|recently)$/u

const PERSONS: ReadonlySet<string> = new Set(
  (
    'wife husband partner spouse girlfriend boyfriend fiancé fiancée fiance fiancee ex mother mom mum father dad parents sister brother sibling son daughter ' +
    'kid kids child children baby toddler teenager twins grandmother grandma nan granny grandfather grandpa grandad grandparents uncle aunt cousin nephew niece ' +
    'friend bestie roommate flatmate housemate neighbour neighbor boss manager colleague coworker landlord landlady teacher tutor therapist doctor dentist coach trainer ' +
    'mate bff buddy mentor supervisor advisor intern assistant client dog cat puppy kitten horse rabbit hamster parrot ' +
    'frau mann freund freundin mutter mama vater papa eltern schwester bruder sohn tochter kind oma opa onkel tante chef chefin nachbar hund katze ' +
    'esposa esposo marido mujer novia novio madre mamá padre papá padres hermana hermano hija hijo abuela abuelo tío tía jefe jefa amigo amiga perro gato perra gata ' +
    'femme mari copine copain mère père parents sœur soeur frère fille fils mamie papi oncle tante chef cheffe ami amie chien chat chatte ' +
    'mulher namorada namorado mãe pai irmã irmão filha filho avó avô tio tia chefe amigo amiga cachorro cachorra gata'
  ).split(' '),
)

function readSubject(clause: string): Subject | null {
  const text = clause.replace(LEADING, '')
  if (SELF.test(text)) return { kind: 'self' }
  if (PRONOUN.test(text)) return { kind: 'unknown' }
  const owned = POSSESSIVE.exec(text) ?? DEFINITE.exec(text)
  const rest = owned === null ? text : text.slice(owned[0].length)
  const tokens: readonly string[] = rest.match(/[\p{L}\p{N}'-]+/gu) ?? []
  const end = tokens.findIndex((token) => VERBS.test(token))
  if (owned !== null) {
    const phrase = (end < 0 ? tokens.slice(0, 2) : tokens.slice(0, end)).slice(0, 4)
    return toSubject(phrase, true)
  }
  const [first = ''] = tokens
  // "Tom moved", "Anna and Ben have …"; anything else that begins with a verb is about the speaker.
  if (end >= 1 && end <= 3 && !IMPLICIT.test(first)) {
    const names = tokens.slice(0, end)
    return toSubject(names, names.length > 1 || /\d/.test(first))
  }
  return null
}

/** Words that begin a clause about the speaker: "quit Nestlé", "no more coffee", "back home". */
const IMPLICIT =
  /^(?:\p{L}+(?:ed|ing)|quit|left|sold|bought|got|gave|went|broke|split|lost|found|met|won|ran|took|cut|put|made|became|back|no|not|never|done|out|off|over|single|married|divorced|engaged|pregnant|new|this|that|dejé|me|vendí|compré|ya|no|ne|vendu|parei|vendi|saí|comprei|troquei|kein\p{L}*|nicht|nie|neu\p{L}*|nuev[oa]|nouve\p{L}+|nov[oa])$/u

function toSubject(phrase: readonly string[], isThing: boolean): Subject {
  const names = phrase.map((word) => toStem(word.replace(/'s?$/u, '')))
  const isPerson = names.some((name) => PERSONS.has(name)) || !isThing
  // "Anna's flat" is about Anna's things.
  const isPossessive = phrase.slice(0, -1).some((word) => /'s$/.test(word))
  return { kind: 'other', names, isPerson: isPerson || isPossessive, isPossessive }
}

function readEastAsianClauses(text: string): readonly Clause[] {
  return text
    .split(/[。，、！!,.；;]+/u)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => ({ text: part, subject: readEastAsianSubject(part), isShared: false }))
}

const EAST_ASIAN_RELATIONS =
  /^(?:我|私の|僕の|俺の)?的?(妹妹|妹|姐姐|姐|哥哥|弟弟|兄|弟|姉|妈妈|爸爸|母亲|父亲|母|父|妻子|妻|丈夫|夫|老公|老婆|女儿|儿子|娘|息子|朋友|友達|同事|同僚|男朋友|女朋友|彼女|彼氏|奶奶|爷爷|祖母|祖父|邻居|室友)/u

function readEastAsianSubject(text: string): Subject {
  const relation = EAST_ASIAN_RELATIONS.exec(text)?.[1]
  // "My boss is called …" is about the name of the boss, "my sister works …" about the sister.
  return relation === undefined
    ? { kind: 'self' }
    : { kind: 'other', names: [relation], isPerson: true }
}

const WORDS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[.:'-][\p{L}\p{N}]+)*[+#]*/gu

export function listContentStems(text: string): readonly string[] {
  return (text.match(WORDS) ?? [])
    .map((word) => word.replace(/'s?$/u, ''))
    .filter((word) => !EMPTY.has(word))
    .map(toStem)
}

/** A light stem: plural and possessive endings. */
export function toStem(word: string): string {
  const synonym = SYNONYMS.get(word)
  if (synonym !== undefined) return synonym
  if (/^[a-z]{2,}ies$/.test(word)) return `${word.slice(0, -3)}y`
  return /^[a-z]{2,}[^siu]s$/.test(word) ? word.slice(0, -1) : word
}

const SYNONYMS: ReadonlyMap<string, string> = new Map(
  [
    'allergic allergy allergies',
    'mother mum mom',
    'father dad',
    'bike bicycle',
    'flat apartment',
    'kid kids child children',
    'favourite favorite',
    'grandmother grandma nan granny',
    'jefe jefa',
    'chef chefin cheffe',
    'amigo amiga',
    'novio novia',
    'grandfather grandpa grandad granddad',
  ].flatMap((line) => {
    const [first = '', ...others] = line.split(' ')
    return others.map((other) => [other, first] as const)
  }),
)

const EMPTY: ReadonlySet<string> = new Set(
  (
    'a an the this that these those my our your his her their its i me we us you he she they it am is are was were be been being have has had do does did ' +
    'will would can could of to in on at for from by with about into onto and or but so as than then just really very quite also too still already yet ever now ' +
    'finally actually currently recently lately again anymore nowadays today yesterday tomorrow last next week month year ago since until there here up down out off over back ' +
    'not no never new old some any all one got get gets getting go goes going went its who what when where which if because please thing things ' +
    'der die das den dem des ein eine einen einem einer mein meine meinen meinem meiner unser unsere ich wir mich mir uns du er sie es bin ist sind war habe hab hat haben wird wurde ' +
    'in im am an auf zu zum zur von vom mit für bei und oder aber auch noch jetzt nun nicht kein keine keinen mehr wieder seit letzte letzten woche monat ' +
    'el la los las un una unos unas mi mis nuestro nuestra yo me nos es son está estoy soy era fue he ha han de del en a al con por para y o pero también ahora ya no más semana pasada ' +
    'le les l un une des du mon ma mes notre je j on nous est sont suis ai a avons dans en à au aux avec pour et ou mais aussi maintenant ne n pas plus de d c s semaine dernière ' +
    'o os as um uma meu minha nosso nossa eu nós é são foi sou estou tenho em no na nos nas de do da dos das com por para e ou mas também agora já não mais semana passada que'
  ).split(' '),
)
