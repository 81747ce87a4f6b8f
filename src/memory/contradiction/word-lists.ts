/**
 * Word lists for comparing statements: fillers, negations, synonyms, times and signs of change, in the languages of pattern
 * extraction.
 */

/** Negations. French negates with two words; `PARTIAL_NEGATIONS` lists the first one, which callers drop. */
export const NEGATIONS =
  /(?<![\p{L}\p{N}])(?:no longer|not|never|nothing|(?<!(?:moro|trabalho|estou|estudo|fica|nasci|vive|mora) )no|nicht mehr|nicht|keine?[nmrs]?|nie|niemals|nunca|jamás|ya no|já não|não|jamais|pas|ne|(?<=(?<![\p{L}])n(?:e |')[\p{L}' ]{1,40})(?:plus|rien|aucune?))(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])n'(?=\p{L})|从来不|从不|没有|不再|(?<![特差区性级])别(?!人)|不(?![但仅过错同])|没|ではありません|じゃありません|ありません|ではない|じゃない|くない(?<!少くない)|ません|なかった|(?<!もったい|少)ない/gu
export const PARTIAL_NEGATIONS = setOf("ne n'")

/** Words without meaning, also in a negated statement. */
const EMPTY =
  'a an the do does did really actually please that am is are be being s any such also definitely truly ' +
  'j je ich yo eu ein eine einen einem einer wirklich echt eigentlich auch ist bin también el la los las un una realmente ' +
  'le les une des vraiment aussi também l d o os um uma で す ま 的 也'
/** Words without meaning in an affirmative statement only: "I'm not very hungry" is not "I'm not hungry". */
const DEGREES =
  'very just quite usually generally normally typically currently simply absolutely totally ' +
  'sehr ganz normalerweise muy mucho normalmente beaucoup très muito'
export const FILLERS = setOf(`${EMPTY} ${DEGREES}`)
export const NEGATION_FILLERS = setOf(EMPTY)

export const NOW_WORDS = setOf(
  'now nowadays jetzt inzwischen mittlerweile ahora maintenant désormais agora atualmente',
)
export const LIKE_VERBS = setOf(
  'like love enjoy adore mag liebe gusta encanta aime adore gosto amo adoro',
)
export const DISLIKE_VERBS = setOf('hate dislike detest loathe hasse odio déteste odeio')

/** Synonyms in every context, one set per line; the first word represents the set. */
export const SYNONYMS: ReadonlyMap<string, string> = new Map(
  [
    'child kid kids children',
    'mother mum mom mummy mommy',
    'father dad daddy',
    'grandmother grandma granny',
    'grandfather grandpa granddad',
    'bicycle bike',
    'car automobile',
    'afraid scared frightened',
    'refrigerator fridge',
    'film movie',
    'tv television telly',
    'phone telephone',
    'flat apartment',
    'holiday vacation',
    'doctor physician',
    'start begin',
    'big large',
    'ill sick',
    'buy purchase',
    'bought purchased',
    'have has possess possesse',
    'airplane aeroplane',
    'photo photograph',
    'university uni',
    'mutter mama mutti',
    'vater vati',
    'oma großmutter',
    'opa großvater',
    'madre mamá',
    'coche carro',
    'móvil celular',
    'ordenador computadora',
    'mère maman',
    'vélo bicyclette',
    'mãe mamãe',
    'pai papai',
  ].flatMap((line) => {
    const [first = '', ...others] = line.split(' ')
    return others.map((other) => [other, first] as const)
  }),
)

/** Ordinals, each line in order, mapped to a sign that differs from the number. */
export const ORDINALS: ReadonlyMap<string, string> = new Map(
  [
    'first second third fourth fifth sixth seventh eighth ninth tenth',
    '1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th',
    ...['e', 'en', 'er', 'es', 'em'].map((ending) =>
      'erst zweit dritt viert fünft sechst siebt acht neunt zehnt'
        .split(' ')
        .map((stem) => stem + ending)
        .join(' '),
    ),
    'primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo',
    'primera segunda tercera',
    'primer segundo tercer',
    'premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième',
    'première seconde',
    'primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono décimo',
    'primeira segunda terceira',
  ].flatMap((line) => line.split(' ').map((word, index) => [word, `${index + 1}.`] as const)),
)

export const CONJUNCTIONS = setOf('and or und oder y o et ou e')

const CALENDAR = setOf(
  [
    'monday tuesday wednesday thursday friday saturday sunday weekday weekend',
    'january february march april may june july august september october november december',
    'today tomorrow yesterday morning afternoon evening night noon',
    'montag dienstag mittwoch donnerstag freitag samstag sonntag',
    'januar februar märz mai juni juli oktober dezember heute morgen gestern',
    'lunes martes miércoles jueves viernes sábado domingo hoy mañana ayer',
    'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
    'lundi mardi mercredi jeudi vendredi samedi dimanche',
    'janvier février mars avril juin juillet août septembre octobre novembre décembre',
    'segunda-feira terça-feira quarta-feira quinta-feira sexta-feira',
    'janeiro fevereiro março maio junho julho setembro outubro novembro dezembro hoje amanhã',
  ].join(' '),
)
/** Plurals of days: habits. */
const REPEATED =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun|week)days|weekends|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|sábados|domingos|\p{L}+-feiras)$/u
const DAY_OF_WEEK = /^(?:(?:星期|周|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?)$/u

export function isCalendarWord(word: string): boolean {
  return CALENDAR.has(word) || REPEATED.test(word) || DAY_OF_WEEK.test(word)
}

export function isRecurringDay(word: string): boolean {
  return REPEATED.test(word)
}

/** Words that introduce a time. */
export const TIME_LEADS = setOf(
  'on in at every each since until by this next last am im um seit bis jeden jede en desde hasta le les los las el ' +
    'depuis chaque à às aos ao na nas no nos em toda todas',
)

/** Words that introduce a phrase that may begin or end a statement. */
export const PHRASE_LEADS = setOf(
  'on in at every each since until by during before after for with from nach vor seit bis im am um bei mit jeden jede ' +
    'en desde hasta antes después durante con depuis avant après pendant avec chaque à às aos na nas no nos em com',
)

/** Words that introduce subordinate clauses, which make the reference of a phrase ambiguous. */
export const SUBORDINATION_PATTERN =
  /(?<!\p{L})(?:that|when|while|if|because|than|who|which|said|told|but|dass|wenn|weil|als|aber|que|cuando|porque|si|pero|quand|parce|mais|quando|mas)(?!\p{L})|但|如果|因为|から|とき|けど/u
/** Words that put two events in a sequence. */
export const SEQUENCE_PATTERN =
  /(?<!\p{L})(?:before|after|until|then|bevor|nachdem|bis|antes|después|hasta|avant|après|depois|até)(?!\p{L})|之前|之后|前に|後で/u

export const SAME_DAY_PATTERN =
  /(?<!\p{L})(?:today|tonight|yesterday|tomorrow|this (?:morning|afternoon|evening|week|month|year)|last night|right now|heute|gestern|gerade|hoy|ayer|aujourd'hui|hier|hoje|ontem)(?!\p{L})|今天|昨天|明天|今日|昨日|明日/u

/** Events that happen once. */
const ONCE =
  /(?<!\p{L})(?:born|built|founded|died|established|invented|geboren|gebaut|gegründet|gestorben|nació|nací|construid[oa]|murió|née?|construite?|fondée?|morte?|nasci|nasceu|construíd[oa]|morreu)(?!\p{L})|出生|建于|成立|生まれ|建てられ/u
const PAST =
  /(?<!\p{L})(?:was|were|had|went|ran|met|saw|bought|paid|ate|drank|spent|took|gave|got|made|wrote|read|won|lost|slept|swam|drove|flew|came|sold|sent|left|lent|told|taught|brought|caught|chose|drew|fell|felt|found|forgot|held|heard|kept|led|rode|sang|sat|spoke|stole|stood|threw|thought|woke|wore|(?!need|speed|feed|seed|hundred|indeed|bleed)\p{L}{2,}ed|(?:bin|habe|haben|ist|hat|sind) .*(?:ge\p{L}{2,}(?:t|en)|\p{L}{3,}iert)|(?:he|ha|hemos|han) \p{L}+(?:ado|ido|cho|sto)|\p{L}{2,}(?:(?<!caf|beb)é|í|ió|aron|ieron)|(?:j'ai|je suis|nous avons|il a|elle a) \p{L}+(?:é|ée|i|u|us)|\p{L}{3,}(?:ei|aram|eram|iram)|corri|fui)(?!\p{L})|了\d|[了过]|ました|だった|った(?:。|$)/u

/** Whether a statement reports an event that may happen again. */
export function isEventStatement(text: string): boolean {
  return PAST.test(text) && !ONCE.test(text)
}

const CHANGE_CUES =
  /(?<![\p{L}\p{N}])(?:now|nowadays|no longer|any ?more|switched|these days|(?:have |has )?moved to|(?:was|been|got) (?:moved|postponed|rescheduled|changed)|(?:my|our|the) new|jetzt|inzwischen|nicht mehr|keine?[nmrs]? .{1,40} mehr|mittlerweile|gezogen|ahora|ya no|me mudé|maintenant|désormais|ai déménagé|agora|já não|não .{1,40} mais|me mudei)(?![\p{L}\p{N}])|现在|不再|改为|改成|搬到|不.{1,20}了[。！]?$|今は|今では|もう.{1,30}(?:ない|ません)|引っ越し/u

/** Whether a statement announces a change. */
export function isChangeAnnouncement(content: string): boolean {
  return CHANGE_CUES.test(content.toLowerCase())
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}
