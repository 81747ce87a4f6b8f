/** Held-out pairs, `older | newer`, one per line: no rule was changed for any of them. */
export const UNSEEN = {
  en: {
    duplicate: `
      I'm a huge fan of board games | I love board games
      I work from home on Fridays | On Fridays I work from home
      The user's wife is a dentist | My wife is a dentist
      I go to bed at 11 pm | I usually go to bed at 23:00
      I need my answers in French | Please give me answers in French
      My grandma lives in Porto | My grandmother lives in Porto
      I play bass in a band | I'm a bass player in a band
      I have eleven cousins | I have 11 cousins
      I can't drive | I don't know how to drive
      My son goes to school in Leeds | My son is at school in Leeds
      I use a Mac | I'm using a Mac
      My team supports Arsenal | My team is an Arsenal supporter
      Our dog is three years old | Our dog is 3 years old
      I never eat breakfast | I don't eat breakfast
      The user is interested in astronomy | I am interested in astronomy
    `,
    update: `
      I live in Leeds | I've moved to York
      My boss is Karen | My boss is now Olivia
      I drive to work | I no longer drive to work
      My favourite drink is cola | My favourite drink is water now
      I use a Mac | I switched from a Mac to a PC
      Our meeting is at 11:00 | Our meeting has been moved to 13:00
      I play bass in a band | I don't play bass in a band anymore
    `,
    conflict: `
      The bridge is 300 m long | The bridge is 320 m long
      Tom speaks Welsh | Tom doesn't speak Welsh
      The store opens on Monday | The store opens on Tuesday
      Our dog is 3 years old | Our dog is 4 years old
      The car has airbags | The car does not have airbags
    `,
    unrelated: `
      I live in Leeds | I live in England
      I live in Leeds | I live alone
      I live in Leeds | I study in York
      My boss is Karen | My boss is now on leave
      My boss is Karen | My boss is Scottish
      I use a Mac | I use a PC at work
      I have 11 cousins | I have 2 nieces
      I like Tom's wife | I like Tom's house
      I ate 2 eggs | I ate 3 eggs
      Lesson 4 was hard | Lesson 5 was hard
      Tom owes me 10 pounds | I owe Tom 10 pounds
      I play chess with my uncle | I play chess with my aunt
      I can't swim | I can ski
      My old phone was a Nokia | My phone is a Pixel
      I'm not interested in golf | I'm interested in tennis
      I work at Tesco | I shop at Tesco
      My uncle is 60 years old | My aunt is 58 years old
      I don't like my boss | I like my team
      I know Tom from school | I know Anna from work
    `,
  },
  de: {
    duplicate: `
      Ich bin ein großer Fan von Jazz | Ich liebe Jazz
      Ich habe elf Cousins | Ich habe 11 Cousins
      Abends lese ich gern | Ich lese abends gern
    `,
    update: `
      Ich wohne in Trier | Ich wohne inzwischen in Mainz
      Ich fahre Auto | Ich fahre kein Auto mehr
    `,
    conflict: `
      Die Brücke ist 300 m lang | Die Brücke ist 320 m lang
    `,
    unrelated: `
      Ich wohne in Trier | Ich wohne allein
      Ich mag meinen Chef nicht | Ich mag mein Team
      Lektion 4 war schwer | Lektion 5 war schwer
    `,
  },
  es: {
    duplicate: `
      Me encanta el jazz | Me gusta mucho el jazz
      Tengo once primos | Tengo 11 primos
    `,
    update: `
      Vivo en Cádiz | Ahora vivo en Jaén
    `,
    conflict: `
      El puente mide 300 m | El puente mide 320 m
    `,
    unrelated: `
      Vivo en Cádiz | Vivo en Andalucía
      Me gusta mi equipo | No me gusta mi jefe
    `,
  },
  fr: {
    duplicate: `
      J'adore le jazz | J'aime beaucoup le jazz
      J'ai onze cousins | J'ai 11 cousins
    `,
    update: `
      J'habite à Brest | J'habite maintenant à Rennes
    `,
    conflict: `
      Le pont mesure 300 m | Le pont mesure 320 m
    `,
    unrelated: `
      J'habite à Brest | J'habite en Bretagne
      J'aime mon équipe | Je n'aime pas mon chef
    `,
  },
  pt: {
    duplicate: `
      Adoro jazz | Amo jazz
      Tenho onze primos | Tenho 11 primos
    `,
    update: `
      Moro em Olinda | Agora moro em Salvador
    `,
    conflict: `
      A ponte tem 300 m | A ponte tem 320 m
    `,
    unrelated: `
      Moro em Olinda | Moro em Pernambuco
      Gosto da minha equipe | Não gosto do meu chefe
    `,
  },
  zh: {
    duplicate: `
      我爱爵士乐 | 我喜欢爵士乐
      我有三个表弟 | 我有3个表弟
    `,
    update: `
      我住在青岛 | 我现在住在大连
    `,
    conflict: `
      这座桥长300米 | 这座桥长320米
    `,
    unrelated: `
      我住在青岛 | 我住在山东
      我喜欢我的团队 | 我不喜欢我的老板
    `,
  },
  ja: {
    duplicate: `
      ジャズが大好きです | ジャズが好きだ
      毎晩本を読みます | 私は毎晩本を読む
    `,
    update: `
      広島に住んでいます | 今は岡山に住んでいます
    `,
    conflict: `
      橋の長さは300メートルです | 橋の長さは320メートルです
    `,
    unrelated: `
      広島に住んでいます | 一人で住んでいます
      チームが好きです | 上司が好きではありません
    `,
  },
} as const
