/**
 * Attributes of a person that have one value at a time, and the phrases that set them. A second value replaces
 * the first instead of standing beside it.
 *
 * Replacing wrongly loses something true, so a phrase must be all there is and its value must look like one:
 * "I work at Google" sets an attribute, "I work at night" and "I live in constant fear" do not.
 */
type Attribute = { readonly name: string; readonly value: string }
type Rule = {
  readonly name: string
  /** On the statement as it was written, folded only in spacing; a group called `of` makes it more particular. */
  readonly phrase: RegExp
  readonly looksRight: (value: string) => boolean
}

/** A proper name in a language that capitalises them: up to three words, the first with a capital. */
const isName = (value: string) => /^\p{Lu}[\p{L}\p{M}'.-]*(?: [\p{L}\p{M}'.-]+){0,2}$/u.test(value)
/** A place or firm in a script without capitals: short, and no word for a time, a home or a relation. */
const isShortName = (value: string) =>
  /^[\p{L}\p{N}]{1,10}$/u.test(value) &&
  !/[はがもの]|家|晚上|早上|上午|下午|周末|白天|附近|公司|这里|那里|一起|夜|朝|毎/u.test(value)
const isThing = (value: string) =>
  /^[\p{L}\p{M}\p{N}'.+#-]+(?: [\p{L}\p{M}\p{N}'.+#-]+){0,2}$/u.test(value) &&
  !/^(?:that|when|to|how|if|what|the one|not|still|always|being|having|que|quand|wenn|dass|cuando)(?! *$)/iu.test(
    value,
  )
const isEmail = (value: string) => /^\S+@\S+\.\S+$/.test(value)
const isPhone = (value: string) => /^\+?[\d\s()./-]{5,}$/.test(value)
const isDate = (value: string) =>
  /^(?:\p{L}+ )?\d{1,2}(?:st|nd|rd|th|\.|º)?(?: (?:of |de |d')?\p{L}+)?(?:,? \d{4})?$/u.test(
    value,
  ) || /^\d{4}-\d{2}-\d{2}$/.test(value)
const isNumber = (value: string) => /^\d+$/.test(value)

const RULES: readonly Rule[] = [
  rule(
    'name',
    /^(?:my (?:full )?name is|i am called|ich heiße|mein name ist|(?:yo )?me llamo|mi nombre es|je m'appelle|mon nom est|(?:eu )?me chamo|(?:o )?meu nome é) (?<value>.+)$/iu,
    isName,
  ),
  rule('name', /^(?:我叫|我的名字是|我的名字叫)(?<value>.+)$/u, isShortName),
  rule('name', /^私の名前は(?<value>.+?)(?:です|だ)?$/u, isShortName),
  rule(
    'home',
    /^(?:i (?:now |currently )?live|i am (?:now |currently )?living|i (?:have )?moved|ich (?:wohne|lebe)(?: jetzt)?|(?:yo )?(?:ahora )?vivo(?: ahora)?|j'habite(?: maintenant)?|je vis(?: maintenant)?|(?:eu )?(?:agora )?moro(?: agora)?) (?:in|to|en|à|a|em|no|na) (?<value>.+?)(?: now| ahora| agora| maintenant)?$/iu,
    isName,
  ),
  rule('home', /^我(?:现在)?住在(?<value>.+)$/u, isShortName),
  rule('home', /^(?:私は)?(?<value>.+?)に住んでい(?:ます|る)$/u, isShortName),
  rule(
    'employer',
    /^(?:i (?:now |currently )?work|i am (?:now |currently )?working|ich arbeite(?: jetzt)?|je travaille(?: maintenant)?|(?:yo )?trabajo(?: ahora)?|(?:eu )?trabalho(?: agora)?) (?:at|for|bei|für|chez|en|para|na|no|em) (?<value>.+?)(?: now)?$/iu,
    isName,
  ),
  rule('employer', /^我(?:现在)?在(?<value>.+?)(?:工作|上班)$/u, isShortName),
  rule('employer', /^(?:私は)?(?<value>.+?)で働いてい(?:ます|る)$/u, isShortName),
  rule(
    'age',
    /^(?:i am|ich bin|tengo|j'ai|(?:eu )?tenho) (?<value>\d+) (?:years old|jahre alt|años|ans|anos)$/iu,
    isNumber,
  ),
  rule('age', /^我今?年?(?<value>\d+)岁$/u, isNumber),
  rule('age', /^(?:私は)?(?<value>\d+)歳(?:です)?$/u, isNumber),
  rule(
    'birthday',
    /^(?:my birthday is(?: on)?|i was born on|mein geburtstag ist(?: am)?|mi cumpleaños es(?: el)?|mon anniversaire est(?: le)?|(?:o )?meu aniversário é(?: em)?) (?<value>.+)$/iu,
    isDate,
  ),
  rule('e-mail', /^my e-?mail(?: address)? is (?<value>.+)$/iu, isEmail),
  rule('phone', /^my (?:phone|mobile)(?: number)? is (?<value>.+)$/iu, isPhone),
  rule('favourite', /^my favou?rite (?<of>[\p{L} ]+?) is (?<value>.+)$/iu, isThing),
  rule('favourite', /^mein(?:e|en)? lieblings(?<of>\p{L}+) ist (?<value>.+)$/iu, isThing),
  rule(
    'favourite',
    /^mi (?<of>[\p{L} ]+?) (?:favorit[oa]|preferid[oa]) es (?<value>.+)$/iu,
    isThing,
  ),
  rule('favourite', /^m(?:on|a) (?<of>[\p{L} ]+?) préférée? est (?<value>.+)$/iu, isThing),
  rule(
    'favourite',
    /^(?:o |a )?(?:meu|minha) (?<of>[\p{L} ]+?) (?:favorit[oa]|preferid[oa]) é (?<value>.+)$/iu,
    isThing,
  ),
  rule('favourite', /^我最喜欢的(?<of>.{1,6}?)是(?<value>.+)$/u, isShortName),
  rule('favourite', /^(?:私の)?一番好きな(?<of>.{1,6}?)は(?<value>.+?)(?:です|だ)?$/u, isShortName),
]

/** Longer statements say more than one thing. */
const ATTRIBUTE_CHARACTERS_MAX = 120

/** The attribute a statement sets, or null. The statement has its spacing folded, but not its case. */
export function findAttribute(statement: string): Attribute | null {
  if (statement.length > ATTRIBUTE_CHARACTERS_MAX) return null
  const bare = statement.replace(/[.!。！\s]+$/u, '')
  for (const { name, phrase, looksRight } of RULES) {
    const groups = phrase.exec(bare)?.groups
    const value = groups?.value?.trim()
    if (value === undefined || !looksRight(value)) continue
    const of = groups?.of?.toLowerCase()
    return { name: of === undefined ? name : `${name} ${of}`, value: value.toLowerCase() }
  }
  return null
}

function rule(name: string, phrase: RegExp, looksRight: Rule['looksRight']): Rule {
  return { name, phrase, looksRight }
}
