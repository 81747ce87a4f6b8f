/**
 * Attributes of a person that usually have one value at a time, and the phrases that set them.
 *
 * A wrong replacement loses a true statement, so a phrase must match the whole statement and its value must have the right
 * form: "I work at Google" sets an attribute, "I work at night" and "I live in constant fear" do not.
 */
import { execPattern } from '../../text/regex-prefilter.ts'
import { getPlaceSize } from './places.ts'

/**
 * Whether a second value replaces the first: always (`one`: a home, a name), only if the statement announces a change
 * (`usually one`: a manager), or never (`many`: dogs). Equal values always mean the same.
 */
type AttributeCardinality = 'one' | 'usually one' | 'many'

export type Attribute = {
  readonly name: string
  readonly value: string
  readonly cardinality: AttributeCardinality
}

type Rule = {
  readonly name: string
  /** Matches a statement in plain wording. The group `of` becomes part of the attribute name. */
  readonly phrase: RegExp
  readonly isValue: (value: string) => boolean
  readonly cardinality: AttributeCardinality
}

/** A proper name in a language that capitalizes names: capitalized words, and particles between them. */
const isName = (value: string) =>
  /^\p{Lu}[\p{L}\p{M}'.-]*(?: (?:\p{Lu}[\p{L}\p{M}'.-]*|am|an|der|de|da|do|del|la|las|los|di|of|on|upon|the|sur|and|und|van|von|y|e)(?=$| )){0,3}$/u.test(
    value,
  ) && !/ \p{Ll}+$/u.test(value)
/** Capitalized words that are no names: nationalities, languages, religions, months, acronyms. */
const isCommonCapitalized = (value: string) =>
  /(?:ish|ese|ian|ean|ican|^german|^french|^dutch|^greek|^swiss|^czech|^thai|^catholic|^muslim|^(?:januar|februar)y|^march|^april|^may|^ju(?:ne|ly)|^august|ember|^october)$/iu.test(
    value,
  ) || /^\p{Lu}{2,}$/u.test(value)
const isGermanName = (value: string) =>
  isName(value) &&
  !/(?:ung|heit|keit|schaft|licht|schein|^miete|^untermiete|^angst|^armut|^frieden|^sorge|^not|^nacht|^regen|^schnee|^stress)$/iu.test(
    value,
  )
/** A place or company in a script without capitals: short, and no word for a time, a home or a relation. */
const isShortName = (value: string) =>
  /^[\p{L}\p{N}]{1,10}$/u.test(value) &&
  !/[はがもの]|家|晚上|早上|上午|下午|周末|白天|附近|公司|这里|那里|一起|夜|朝|毎/u.test(value)
const isShortTitle = (value: string) => /^[\p{L}\p{N}ー・]{1,16}$/u.test(value)
const isThing = (value: string) =>
  /^[\p{L}\p{M}\p{N}'.+#-]+(?: [\p{L}\p{M}\p{N}'.+#-]+){0,2}$/u.test(value) &&
  !/^(?:that|when|to|how|if|what|the one|not|still|always|being|having|que|quand|wenn|dass|cuando)(?! *$)/iu.test(
    value,
  )
const isTrade = (value: string) => /^\p{L}[\p{L}-]{2,}(?: \p{L}{3,}){0,2}$/u.test(value)
const isEmail = (value: string) => /^\S+@\S+\.\S+$/.test(value)
const isPhone = (value: string) => /^\+?[\d\s()./-]{5,}$/.test(value)
const isDate = (value: string) =>
  /^(?:\p{L}+ )?\d{1,2}(?:st|nd|rd|th|\.|º)?(?: (?:of |de |d')?\p{L}+)?(?:,? \d{4})?$/u.test(
    value,
  ) || /^\d{4}-\d{2}-\d{2}$/.test(value)
const isNumber = (value: string) => /^\d+$/.test(value)
const isDay = (value: string) =>
  isDate(value) || /^(?:mon|tues|wednes|thurs|fri|satur|sun)day$/iu.test(value)
const isClock = (value: string) => /^\d{1,2}:\d\d$/.test(value)
const isProperName = (value: string) =>
  isName(value) && !isCommonCapitalized(value) && !isDay(value)
const isAddress = (value: string) => /^\d{1,5} \p{Lu}[\p{L} .'-]+$/u.test(value)

/** The words for each marital status, by language and gender. */
const MARITAL_STATES: ReadonlyMap<string, string> = new Map(
  [
    'married verheiratet casado casada marié mariée 已婚 結婚 结婚',
    'single ledig soltero soltera célibataire solteiro solteira 单身 独身',
    'divorced geschieden divorciado divorciada divorcé divorcée 离婚 離婚',
    'widowed verwitwet viudo viuda veuf veuve viúvo viúva 丧偶',
    'engaged verlobt comprometido comprometida fiancé fiancée noivo noiva 订婚 婚約',
  ].flatMap((line) => {
    const [state = '', ...others] = line.split(' ')
    return [state, ...others].map((word): [string, string] => [word, state])
  }),
)
const MARITAL = 'marital state'
const maritalState = (value: string) => MARITAL_STATES.get(value.toLowerCase()) ?? ''
const isMaritalState = (value: string) => maritalState(value) !== ''

const RELATION = '(?<of>(?!favou?rite|name|email|phone|birthday|job)\\p{L}+(?: \\p{L}+)?)'

const RULES: readonly Rule[] = [
  buildRule(
    'name',
    /^(?:my (?:full )?name is(?: now)?|i am called|ich heiße|mein name ist|(?:yo )?me llamo|mi nombre es|je m'appelle|mon nom est|(?:eu )?me chamo|(?:o )?meu nome é) (?<value>.+?)(?: now)?$/iu,
    isName,
  ),
  buildRule('name', /^(?:我叫|我的名字是|我的名字叫)(?<value>.+)$/u, isShortName),
  buildRule('name', /^(?:私の)?名前は(?<value>.+?)(?:です)?$/u, isShortName),
  buildRule('name', /^(?<value>\p{L}{1,8})(?:といいます|と申します)$/u, isShortName),
  buildRule(
    'home',
    /^(?:i (?:now |currently )?live|i am (?:now |currently )?living|i (?:have )?moved|(?:yo )?(?:ahora )?vivo(?: ahora)?|j'habite(?: maintenant)?|je vis(?: maintenant)?|(?:eu )?(?:agora )?moro(?: agora)?) (?:in|to|en|à|a|em|no|na|au) (?<value>.+?)(?: now| ahora| agora| maintenant)?$/iu,
    isName,
  ),
  buildRule('home', /^ich (?:wohne|lebe) (?:jetzt )?in (?<value>.+)$/iu, isGermanName),
  buildRule('home', /^我(?:现在)?住在(?<value>.+)$/u, isShortName),
  buildRule('home', /^(?:今は)?(?<value>.+?)に住んでい(?:ます|る)$/u, isShortName),
  buildRule(
    'employer',
    /^(?:i (?:now |currently )?work|i am (?:now |currently )?working|je travaille(?: maintenant)?) (?:at|for|chez) (?<value>.+?)(?: now)?$/iu,
    isName,
  ),
  // German capitalizes every noun.
  buildRule(
    'employer',
    /^ich arbeite (?:jetzt )?(?:bei|für) (?<value>.+)$/iu,
    isGermanName,
    'usually one',
  ),
  // Here the phrase may name a company or a town.
  buildRule(
    'workplace',
    /^(?:(?:yo )?(?:ahora )?trabajo(?: ahora)?|(?:eu )?(?:agora )?trabalho(?: agora)?) (?:en|para|na|no|em) (?<value>.+)$/iu,
    isName,
    'usually one',
  ),
  buildRule('workplace', /^我(?:现在)?在(?<value>.+?)(?:工作|上班)$/u, isShortName, 'usually one'),
  buildRule(
    'workplace',
    /^(?:今は)?(?<value>.+?)で働いてい(?:ます|る)$/u,
    isShortName,
    'usually one',
  ),
  buildRule(
    'age',
    /^(?:(?:i am|ich bin) (?<value>\d\d?)(?: years old| jahre alt)?|(?:tengo|j'ai|(?:eu )?tenho) (?<value2>\d+) (?:años|ans|anos))$/iu,
    isNumber,
  ),
  buildRule('age', /^我今?年?(?<value>\d+) ?岁$/u, isNumber),
  buildRule('age', /^(?<value>\d+) ?歳(?:です)?$/u, isNumber),
  buildRule(
    'birthday',
    /^(?:my birthday is(?: on)?|i was born on|mein geburtstag ist(?: am)?|mi cumpleaños es(?: el)?|mon anniversaire est(?: le)?|(?:o )?meu aniversário é(?: em)?) (?<value>.+)$/iu,
    isDate,
  ),
  buildRule(
    MARITAL,
    /^(?:i am|i got|ich bin|(?:yo )?(?:estoy|soy)|je suis|(?:eu )?(?:estou|sou))(?: (?:now|jetzt|inzwischen|ahora|maintenant|agora))? (?<value>\p{L}+)(?: now)?$/iu,
    isMaritalState,
  ),
  buildRule(
    MARITAL,
    /^我(?:现在)?(?:是)?(?<value>已婚|单身|丧偶|结婚|离婚|订婚)(?:的|了)?$/u,
    isMaritalState,
  ),
  buildRule(
    MARITAL,
    /^(?:今は)?(?<value>独身|結婚|離婚|婚約)(?:です|だ|してい(?:ます|る)|しました|した)$/u,
    isMaritalState,
  ),
  buildRule('email', /^my e-?mail(?: address)? is (?:now )?(?<value>.+)$/iu, isEmail),
  buildRule('phone', /^my (?:phone|mobile)(?: number)? is (?:now )?(?<value>.+)$/iu, isPhone),
  buildRule('address', /^my address is (?:now )?(?<value>.+)$/iu, isAddress),
  buildRule('favourite', /^my favou?rite (?<of>[\p{L} ]+?) is (?:now )?(?<value>.+)$/iu, isThing),
  buildRule(
    'favourite',
    /^(?<value>.{1,40}) is (?:now )?my favou?rite (?<of>[\p{L} ]+)$/iu,
    isThing,
  ),
  buildRule(
    'favourite',
    /^mein(?:e|en)? lieblings(?<of>\p{L}+) ist (?:jetzt )?(?<value>.+)$/iu,
    isThing,
  ),
  buildRule(
    'favourite',
    /^(?<value>.{1,40}) ist (?:jetzt )?mein(?:e|en)? lieblings(?<of>\p{L}+)$/iu,
    isThing,
  ),
  buildRule(
    'favourite',
    /^mi (?<of>[\p{L} ]+?) (?:favorit[oa]|preferid[oa]) (?:ahora )?es (?:ahora )?(?<value>.+)$/iu,
    isThing,
  ),
  buildRule(
    'favourite',
    /^(?<value>.{1,40}) es (?:ahora )?mi (?<of>[\p{L} ]+?) (?:favorit[oa]|preferid[oa])$/iu,
    isThing,
  ),
  buildRule(
    'favourite',
    /^m(?:on|a) (?<of>[\p{L} ]+?) préférée? est (?:maintenant )?(?<value>.+)$/iu,
    isThing,
  ),
  buildRule(
    'favourite',
    /^(?<value>.{1,40}) est (?:maintenant )?m(?:on|a) (?<of>[\p{L} ]+?) préférée?$/iu,
    isThing,
  ),
  buildRule(
    'favourite',
    /^(?:o |a )?(?:meu|minha) (?<of>[\p{L} ]+?) (?:favorit[oa]|preferid[oa]) (?:agora )?é (?:agora )?(?<value>.+)$/iu,
    isThing,
  ),
  buildRule(
    'favourite',
    /^(?<value>.{1,40}) é (?:agora )?(?:o |a )?(?:meu|minha) (?<of>[\p{L} ]+?) (?:favorit[oa]|preferid[oa])$/iu,
    isThing,
  ),
  buildRule('favourite', /^我最喜欢的(?<of>.{1,6}?)是(?<value>.+)$/u, isShortTitle),
  buildRule('favourite', /^(?<value>.{1,16})是我最喜欢的(?<of>.{1,6})$/u, isShortTitle),
  buildRule(
    'favourite',
    /^(?:私の)?一番好きな(?<of>.{1,6}?)は(?<value>.+?)(?:です)?$/u,
    isShortTitle,
  ),
  buildRule('favourite', /^(?<value>.{1,16})が一番好きな(?<of>.{1,6}?)(?:です)?$/u, isShortTitle),
  buildRule(
    'trade',
    /^i (?:now |currently )?work as an? (?<value>.+?)(?: now)?$/iu,
    isTrade,
    'usually one',
  ),
  buildRule(
    'trade',
    /^my (?:job|profession|occupation) is (?:an? )?(?<value>.+)$/iu,
    isTrade,
    'usually one',
  ),
  buildRule('trade', /^i am an? (?<value>.+)$/iu, isTrade, 'many'),
  buildRule(
    'trade',
    /^ich arbeite (?:jetzt )?als (?<value>\p{Lu}\p{L}+)$/iu,
    isName,
    'usually one',
  ),
  buildRule('trade', /^ich bin (?:eine? )?(?<value>\p{L}+)$/iu, isName, 'many'),
  buildRule(
    'trade',
    /^(?:ahora trabajo|trabajo(?: ahora)?|je travaille(?: maintenant)?|agora trabalho|(?:eu )?trabalho(?: agora)?) (?:de|como|comme) (?<value>\p{L}+)$/iu,
    isTrade,
    'usually one',
  ),
  buildRule('trade', /^(?:(?:yo )?soy|je suis|(?:eu )?sou) (?<value>\p{L}+)$/iu, isTrade, 'many'),
  buildRule('trade', /^我的(?:职业|工作)是(?<value>.+)$/u, isShortName, 'usually one'),
  buildRule('trade', /^我是(?:一名|一个|个)?(?<value>.+)$/u, isShortName, 'many'),
  buildRule(
    'trade',
    /^(?:今は)?(?<value>.+?)として働いてい(?:ます|る)$/u,
    isShortName,
    'usually one',
  ),
  buildRule('trade', /^(?<value>\p{Script=Han}{2,6})です$/u, isShortName, 'many'),
  buildRule(
    'relation',
    new RegExp(
      `^(?:my|our|the) ${RELATION}(?:'s name is| is (?:now )?(?:called|named)) (?<value>.+)$`,
      'iu',
    ),
    isName,
    'usually one',
  ),
  buildRule(
    'relation',
    new RegExp(`^i have an? ${RELATION} (?:named|called) (?<value>.+)$`, 'iu'),
    isName,
    'many',
  ),
  buildRule(
    'relation',
    new RegExp(`^(?:my|our) ${RELATION} is (?:now )?(?<value>.+)$`, 'iu'),
    isProperName,
    'usually one',
  ),
  buildRule(
    'relation',
    new RegExp(`^(?<value>\\p{L}[\\p{L} .'-]{0,40}) is (?:now )?my ${RELATION}$`, 'iu'),
    isName,
    'usually one',
  ),
  buildRule('relation', /^i am (?:now )?(?<of>married) to (?<value>.+)$/iu, isName, 'usually one'),
  buildRule(
    'relation',
    /^(?:meine?|unsere?) (?<of>\p{L}+) (?:heißt|ist(?= (?:jetzt )?(?:Herr|Frau|Dr) ))(?: jetzt)? (?<value>.+)$/iu,
    isName,
    'usually one',
  ),
  buildRule(
    'relation',
    /^ich habe eine?n? (?<of>\p{L}+)(?: namens |,? d(?:er|ie|as) )(?<value>\p{L}+)(?: heißt)?$/iu,
    isName,
    'many',
  ),
  buildRule(
    'relation',
    /^(?:mi|nuestr[oa]) (?<of>\p{L}+) se llama (?<value>.+)$/iu,
    isName,
    'usually one',
  ),
  buildRule(
    'relation',
    /^tengo una? (?<of>\p{L}+) (?:que se llama|llamad[oa]) (?<value>.+)$/iu,
    isName,
    'many',
  ),
  buildRule(
    'relation',
    /^(?:mon|ma|notre) (?<of>\p{L}+) s'appelle (?<value>.+)$/iu,
    isName,
    'usually one',
  ),
  buildRule(
    'relation',
    /^j'ai une? (?<of>\p{L}+) (?:qui s'appelle|appelée?|nommée?) (?<value>.+)$/iu,
    isName,
    'many',
  ),
  buildRule(
    'relation',
    /^(?:[oa] )?(?:meu|minha|noss[oa]) (?<of>\p{L}+) se chama (?<value>.+)$/iu,
    isName,
    'usually one',
  ),
  buildRule(
    'relation',
    /^tenho uma? (?<of>\p{L}+) (?:que se chama|chamad[oa]) (?<value>.+)$/iu,
    isName,
    'many',
  ),
  buildRule('relation', /^我的?(?<of>[^有的]{1,4}?)叫(?<value>.+)$/u, isShortName, 'usually one'),
  buildRule(
    'relation',
    /^我有一?[只个条位]叫(?<value>.{1,8})的(?<of>.{1,4})$/u,
    isShortName,
    'many',
  ),
  buildRule(
    'relation',
    /^(?<of>.{1,4})の名前は(?<value>.+?)(?:です)?$/u,
    isShortName,
    'usually one',
  ),
  buildRule(
    'relation',
    /^(?<value>.{1,8})という(?<of>.{1,4})(?:を飼っている|がいます|がいる)$/u,
    isShortName,
    'many',
  ),
  buildRule(
    'place of',
    /^(?:my|our|the) (?<of>\p{L}+(?: \p{L}+)?) is (?:now )?in (?<value>.+?)(?: now)?$/iu,
    isProperName,
    'usually one',
  ),
  buildRule(
    'day of',
    /^(?:my|our|the) (?<of>\p{L}+(?: \p{L}+){0,2}) is (?:now )?(?:on )?(?<value>.+?)(?: now)?$/iu,
    isDay,
    'usually one',
  ),
  buildRule(
    'time of',
    /^(?:my|our|the) (?<of>\p{L}+(?: \p{L}+){0,2}) is (?:now )?(?:at |on )?(?<value>.+?)(?: now)?$/iu,
    isClock,
    'usually one',
  ),
]

/** Preferences between two things. Both names, sorted, form the attribute, so the opposite preference contradicts. */
const PREFERENCES: readonly RegExp[] = [
  /^i (?:now )?prefer (?<better>.{1,60}?) over (?<worse>.{1,60})$/iu,
  /^ich (?:mag|trinke|esse|nutze|nehme) (?<better>.{1,40}?) lieber als (?<worse>.{1,40})$/iu,
  /^ich (?:bevorzuge|mag) (?<better>.{1,40}?) (?:gegenüber|mehr als) (?<worse>.{1,40})$/iu,
  /^(?:yo )?prefiero (?<better>.{1,40}?) (?:antes que|al|a) (?<worse>.{1,40})$/iu,
  /^je préfère (?<better>.{1,40}?) (?:à|au|aux) (?<worse>.{1,40})$/iu,
  /^(?:eu )?prefiro (?<better>.{1,40}?) (?:a|ao|à|do que) (?<worse>.{1,40})$/iu,
  /^比起(?<worse>.{1,10}?)[，,]?我更喜欢(?<better>.{1,10})$/u,
  /^(?<worse>.{1,12}?)より(?<better>.{1,12}?)(?:の方)?が好き(?:です)?$/u,
]

/** Longer statements make more than one claim. */
const ATTRIBUTE_CHARACTERS_MAX = 120

/** The attribute that a statement in plain wording (with its case) sets, or null. */
export function findAttribute(statement: string): Attribute | null {
  if (statement.length > ATTRIBUTE_CHARACTERS_MAX) return null
  const bare = statement.replace(/[.!。！\s]+$/u, '')
  for (const { name, phrase, isValue, cardinality } of RULES) {
    const groups = execPattern(phrase, bare)?.groups
    const value = stripArticle((groups?.value ?? groups?.value2 ?? '').trim())
    if (value === '' || !isValue(value)) continue
    const of = groups?.of?.toLowerCase()
    return {
      name: of === undefined ? name : `${name} ${SPOUSES.has(of) ? 'spouse' : of}`,
      value: name === MARITAL ? maritalState(value) : value.toLowerCase(),
      cardinality,
    }
  }
  return findPreference(bare)
}

/** All patterns, for `pattern-warmup.ts`. */
export function listAttributePatterns(): readonly RegExp[] {
  return [...RULES.map(({ phrase }) => phrase), ...PREFERENCES]
}

/**
 * Search terms for statements that set the same attribute in other words: "I moved to Lyon" and "I live in Berlin" share
 * only the pronoun.
 */
export function getSearchHints(attribute: Attribute | null): readonly string[] {
  return getSearchHintsByName(attribute?.name ?? '')
}

export function getSearchHintsByName(name: string): readonly string[] {
  const hint = HINTS.get(name)
  return hint === undefined ? [] : [hint]
}

/** Words that introduce the value of an attribute and are no values themselves. */
export function listLeadingWords(): readonly string[] {
  return [...HINTS.values()].flatMap((hint) => hint.split(' '))
}

const WORK =
  'work works job employed arbeite arbeitet trabajo trabaja travaille trabalho trabalha 工作 上班 职业 働いています 働いている'
const HINTS: ReadonlyMap<string, string> = new Map([
  [
    'home',
    'live lives living moved wohne wohnt lebe lebt gezogen vivo vive mudé mudó habite vis vit déménagé moro mora mudei mudou 住在 搬到 住んでいます 住んでいる 引っ越しました',
  ],
  ['employer', WORK],
  ['workplace', WORK],
  ['trade', WORK],
  [
    'name',
    'name called heiße heißt llamo llama nombre appelle nom chamo chama nome 名字 我叫 名前',
  ],
  [MARITAL, [...MARITAL_STATES.keys()].join(' ')],
  ['age', 'years old jahre alt años ans anos 岁 歳'],
])

/** Whether two values of an attribute can both be true, as a town and its country, or "Ada" and "Ada Byron". */
export function canCoexist(name: string, value: string, other: string): boolean {
  // Divorced, widowed and engaged people may also call themselves single.
  if (name === MARITAL)
    return [value, other].includes('single') && ![value, other].includes('married')
  if (/^(?:home|place of|workplace)/.test(name) && getPlaceSize(value) !== getPlaceSize(other))
    return true
  return isSubvalue(value, other) || isSubvalue(other, value)
}

function isSubvalue(part: string, whole: string): boolean {
  return ` ${whole} `.includes(` ${part} `)
}

function findPreference(bare: string): Attribute | null {
  for (const phrase of PREFERENCES) {
    const groups = phrase.exec(bare)?.groups
    if (groups?.better === undefined || groups.worse === undefined) continue
    const better = stripArticle(groups.better).toLowerCase()
    const worse = stripArticle(groups.worse).toLowerCase()
    const name = `preference ${[better, worse].sort().join(' or ')}`
    return { name, value: better, cardinality: 'one' }
  }
  return null
}

const SPOUSES: ReadonlySet<string> = new Set(['husband', 'wife', 'spouse', 'married'])

function stripArticle(value: string): string {
  return value.replace(
    /^(?:(?:the|an?|der|die|das|dem|den|el|la|los|las|le|les|un|une|una|uma?|os?|as?|eine?n?|now|definitely|really|still|simply) |l')+(?=.)/iu,
    '',
  )
}

function buildRule(
  name: string,
  phrase: RegExp,
  isValue: Rule['isValue'],
  cardinality: AttributeCardinality = 'one',
): Rule {
  return { name, phrase, isValue, cardinality }
}
