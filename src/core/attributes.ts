/**
 * Attributes of a person that have one value at a time, and the phrases that set them. A second value replaces
 * the first instead of standing beside it.
 */
type Attribute = { readonly name: string; readonly value: string }

/** Each phrase has one group for the value; a group called `of` makes the attribute more particular. */
const PHRASES: readonly (readonly [name: string, phrase: RegExp])[] = [
  [
    'name',
    /^(?:my (?:full )?name is|i am called|call me(?! (?:at|on|in|if|when|after|before|back|later|maybe|tomorrow|today)(?![\p{L}]))|ich heiße|mein name ist|me llamo|mi nombre es|je m'appelle|mon nom est|(?:eu )?me chamo|(?:o )?meu nome é) (?<value>.+)$/u,
  ],
  ['name', /^(?:我叫|我的名字是|我的名字叫)(?<value>.+)$/u],
  ['name', /^私の名前は(?<value>.+?)(?:です|だ)?$/u],
  [
    'home',
    /^(?:i (?:now |currently )?lives?|i am (?:now |currently )?living|i (?:have )?moved|ich (?:wohne|lebe)(?: jetzt)?|(?:yo )?(?:ahora )?vivo(?: ahora)?|j'habite|j'habite maintenant|je vis(?: maintenant)?|(?:eu )?(?:agora )?moro(?: agora)?) (?:in|to|en|à|a|em|no|na) (?<value>.+?)(?: now)?$/u,
  ],
  ['home', /^我(?:现在)?住在(?<value>.+)$/u],
  ['home', /^(?:私は)?(?<value>.+?)に住んでい(?:ます|る)$/u],
  [
    'employer',
    /^(?:i (?:now |currently )?works?|i am (?:now |currently )?working|ich arbeite(?: jetzt)?|je travaille(?: maintenant)?|(?:yo )?trabajo(?: ahora)?|(?:eu )?trabalho(?: agora)?) (?:at|for|bei|für|chez|en|para|na|no|em) (?<value>.+?)(?: now)?$/u,
  ],
  ['employer', /^我(?:现在)?在(?<value>.+?)(?:工作|上班)$/u],
  ['employer', /^(?:私は)?(?<value>.+?)で働いてい(?:ます|る)$/u],
  [
    'occupation',
    /^(?:i (?:now |currently )?works? as|my (?:job|profession|occupation|job title) is|ich arbeite als|trabajo como|je travaille comme|trabalho como) (?<value>.+)$/u,
  ],
  [
    'age',
    /^(?:i am|ich bin|tengo|j'ai|(?:eu )?tenho) (?<value>\d+) (?:years old|jahre alt|años|ans|anos)$/u,
  ],
  ['age', /^我今?年?(?<value>\d+)岁$/u],
  ['age', /^(?:私は)?(?<value>\d+)歳(?:です)?$/u],
  [
    'birthday',
    /^(?:my birthday is(?: on)?|i was born on|mein geburtstag ist(?: am)?|mi cumpleaños es(?: el)?|mon anniversaire est(?: le)?|(?:o )?meu aniversário é(?: em)?) (?<value>.+)$/u,
  ],
  [
    'contact',
    /^my (?<of>e-?mail(?: address)?|phone(?: number)?|mobile(?: number)?|address|time ?zone|home ?town|nationality|native language|mother tongue) is (?<value>.+)$/u,
  ],
  ['favourite', /^my favou?rite (?<of>.+?) (?:is|are) (?<value>.+)$/u],
  ['favourite', /^mein(?:e|en)? lieblings(?<of>\p{L}+) (?:ist|sind) (?<value>.+)$/u],
  ['favourite', /^mi (?<of>.+?) (?:favorit[oa]|preferid[oa]) es (?<value>.+)$/u],
  ['favourite', /^m(?:on|a) (?<of>.+?) préférée? est (?<value>.+)$/u],
  [
    'favourite',
    /^(?:o |a )?(?:meu|minha) (?<of>.+?) (?:favorit[oa]|preferid[oa]) é (?<value>.+)$/u,
  ],
  ['favourite', /^我最喜欢的(?<of>.+?)是(?<value>.+)$/u],
  ['favourite', /^(?:私の)?一番好きな(?<of>.+?)は(?<value>.+?)(?:です|だ)?$/u],
]

/** Longer statements say more than one thing. */
const ATTRIBUTE_CHARACTERS_MAX = 200

/** The attribute a folded statement sets, or null. */
export function findAttribute(folded: string): Attribute | null {
  if (folded.length > ATTRIBUTE_CHARACTERS_MAX) return null
  const bare = folded.replace(/[.!。！\s]+$/u, '')
  for (const [name, phrase] of PHRASES) {
    const groups = phrase.exec(bare)?.groups
    const value = groups?.value?.trim()
    if (value === undefined || value === '') continue
    // "I moved to Paris in 2010" tells of the past, not of where one lives.
    if (name === 'home' && /\p{N}/u.test(value)) continue
    return { name: groups?.of === undefined ? name : `${name} ${groups.of}`, value }
  }
  return null
}
