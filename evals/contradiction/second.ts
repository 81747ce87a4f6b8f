/** Pairs written after the first rules, `older | newer`, one per line. Rules were tuned on them afterwards. */
export const SECOND = {
  en: {
    duplicate: `
      I'm a morning person | I am a morning person, by the way
      I work remotely from Porto | I'm working remotely from Porto
      The user is a vegetarian | I'm a vegetarian
      User's birthday is March 14 | My birthday is on March 14
      The user has two daughters | I have 2 daughters
      I prefer window seats | The user prefers window seats
      I hate cilantro | I can't stand cilantro
      I'm lactose intolerant | I am lactose intolerant
      My husband is called Marek | My husband's name is Marek
      Our weekly sync is on Thursdays at 10 am | Our weekly sync is every Thursday at 10:00
      I always use tabs for indentation | Always use tabs for indentation
      I don't drink any coffee after noon | I don't drink coffee after noon
      I grew up in Naples | Naples is where I grew up
      The user drives a Skoda | I drive a Skoda
      I speak French, German and Dutch | I speak French, Dutch and German
      I really enjoy cooking | I love cooking
      My daughter Mia plays the violin | The user's daughter Mia plays the violin
      I have an allergy to cats | I'm allergic to cats
      I'm left-handed | I am left handed
      I run every morning before breakfast | Every morning before breakfast I run
      We are planning a trip to Norway in July | In July we are planning a trip to Norway
      I'm studying for the bar exam | I study for the bar exam
      My favourite author is Ursula Le Guin | Ursula Le Guin is my favourite author
      Don't use emojis in answers | Do not use emojis in answers
      I have never been to Asia | I've never been to Asia
    `,
    update: `
      I live in Ghent | I've just moved to Antwerp
      I work at Spotify | I started working at Klarna
      I have 3 employees | I now have 5 employees
      I drink coffee | I don't drink coffee anymore
      My landlord is Mr Peeters | My landlord is now Ms Janssens
      My favourite game is Hades | My favourite game is now Celeste
      I use Slack | We switched from Slack to Teams
      I'm on a keto diet | I'm no longer on a keto diet
      My phone number is 0470 11 22 33 | My new phone number is 0470 99 88 77
      The launch is on May 12 | The launch has been postponed to May 26
    `,
    conflict: `
      The warranty lasts 2 years | The warranty lasts 3 years
      The pool opens at 8:00 | The pool opens at 9:00
      Clara is a vegetarian | Clara is not a vegetarian
      The database is encrypted | The database is not encrypted
      My son weighs 20 kg | My son weighs 23 kg
      The rehearsal is on Friday | The rehearsal is on Saturday
      The hotel allows dogs | The hotel does not allow dogs
    `,
    unrelated: `
      I live in Ghent | I live in Belgium
      I have an appointment on May 3 | I have an appointment on May 9
      I live in Ghent | My office is in Brussels
      I work at Spotify | I worked at Ericsson for 5 years
      My son is called Max | My daughter is called Ida
      I have a son named Max | I have a son named Leo
      I like running in the morning | I like reading in the evening
      My manager is Paula | My manager is on holiday now
      My car is a Volvo | My car is now in the workshop
      I don't like flying | I like trains
      I visited Rome in 2012 | I visited Rome in 2018
      My blood type is A | My shirt size is M
      I can't come on Friday | I can come on Saturday
      Step 2 is to install Node | Step 3 is to install Node
      I owe Tom 20 euros | I owe Lisa 30 euros
      The staging server is in Frankfurt | The production server is in Dublin
      I had 2 meetings today | I had 4 meetings today
      I was sick yesterday | I was not sick yesterday
      I use Slack at work | I use Signal with friends
      My sister has 2 dogs | My sister has 3 cats
      I'm learning the guitar | I'm learning the drums now
      I prefer tea over coffee | I prefer trains over planes
      I stopped eating sugar | I eat meat
      I take vitamin D in winter | I don't take vitamin C in winter
      I love my job | I hate my commute
      I live in New York | I live with my parents
      I moved to Ghent in 2015 | I moved to Antwerp in 2020
      My wife works at Spotify | I work at Klarna
    `,
  },
  de: {
    duplicate: `
      Ich trinke meinen Kaffee schwarz | Ich trinke den Kaffee schwarz
      Ich habe eine Tochter namens Lena | Meine Tochter heißt Lena
      Ich spreche Englisch und Polnisch | Ich spreche Polnisch und Englisch
    `,
    update: `
      Ich trinke Alkohol | Ich trinke keinen Alkohol mehr
      Ich wohne in Graz | Ich wohne seit Mai in Linz
    `,
    conflict: `
      Der Kurs beginnt am Montag | Der Kurs beginnt am Mittwoch
    `,
    unrelated: `
      Ich lebe in Wien | Ich lebe in einer festen Beziehung
      Ich lebe in Wien | Ich lebe in Trennung
      Ich arbeite bei Bosch | Ich arbeite bei Bosch im Homeoffice
    `,
  },
  es: {
    duplicate: `
      Soy alérgico a los gatos | Yo soy alérgico a los gatos
      Prefiero el té al café | Prefiero té a café
    `,
    update: `
      Vivo en Quito | Ahora vivo en Cuenca
    `,
    conflict: `
      La tienda cierra a las 20:00 | La tienda cierra a las 21:00
    `,
    unrelated: `
      Vivo en Quito | Vivo con mi hermana
      Trabajo en Iberia | Trabajo en Madrid
    `,
  },
  fr: {
    duplicate: `
      Je suis végétarien | Moi, je suis végétarien
      J'ai 34 ans | J'ai trente-quatre ans
    `,
    update: `
      Je travaille chez Orange | Je travaille maintenant chez Free
    `,
    conflict: `
      Le magasin accepte les cartes | Le magasin n'accepte pas les cartes
    `,
    unrelated: `
      J'habite à Lyon | J'habite au troisième étage
    `,
  },
  pt: {
    duplicate: `
      Tenho uma filha chamada Bia | Minha filha se chama Bia
    `,
    update: `
      Moro no Rio | Agora moro em Recife
    `,
    conflict: '',
    unrelated: `
      Moro em Braga | Moro em um apartamento
    `,
  },
  zh: {
    duplicate: `
      我对花生过敏 | 我对花生过敏。
      我女儿叫小美 | 我的女儿叫小美
    `,
    update: `
      我在百度工作 | 我现在在字节跳动工作
    `,
    conflict: `
      商店周日营业 | 商店周日不营业
    `,
    unrelated: `
      我住在深圳 | 我住在广东
      我在百度工作 | 我在北京工作
    `,
  },
  ja: {
    duplicate: `
      犬が好きです | 私は犬が大好きです
    `,
    update: `
      京都に住んでいます | 今は神戸に住んでいます
    `,
    conflict: '',
    unrelated: `
      京都に住んでいます | 母は奈良に住んでいます
      猫が好きです | 猫アレルギーです
    `,
  },
} as const
