/** Pairs written to measure the rules on untuned data, `older | newer`, one per line. Rules were tuned on them afterwards. */
export const THIRD = {
  en: {
    duplicate: `
      I'm a night owl | I am such a night owl
      I take my dog to the park every evening | Every evening I take my dog to the park
      User works as a data analyst | I'm a data analyst
      I use a standing desk | The user uses a standing desk
      The user's favourite cuisine is Thai | My favorite cuisine is Thai
      My best friend is called Nora | My best friend's name is Nora
      I don't have any siblings | I have no siblings
      I have a twin sister | I've got a twin sister
      I want you to answer briefly | Please answer briefly
      I'm training for a triathlon in August | I train for a triathlon in August
      My mom lives in Tampere | My mother lives in Tampere
      We have a team meeting on Tuesdays at 2 pm | We have a team meeting every Tuesday at 14:00
      I adore classical music | I love classical music
      I'm saving money for a house | I am saving money for a house
      I watch a movie every Friday night | I watch a film every Friday night
      I have a fear of heights | I'm afraid of heights
      I began learning Korean in 2021 | In 2021 I began learning Korean
      The user is the father of three kids | I am the father of three children
      I dislike crowded places | I don't like crowded places
      My apartment is on the fourth floor | My flat is on the fourth floor
      Our product is called Beacon | The name of our product is Beacon
      I live in Tallinn and work in Helsinki | I work in Helsinki and live in Tallinn
    `,
    update: `
      I live in Tallinn | I recently moved to Riga
      I'm a smoker | I don't smoke anymore
      My favourite show is Dark | My favourite show is now Severance
      I work at Nokia | I don't work at Nokia anymore
      I have a weekly call on Monday | The weekly call was moved to Thursday
      We use Jenkins | We switched from Jenkins to GitHub Actions
      I own a boat | I sold my boat
      Our CTO is Priya | Our CTO is now Daniel
      I weigh 90 kg | I weigh 84 kg now
      I have a cat | My cat died in June
    `,
    conflict: `
      The restaurant has a terrace | The restaurant doesn't have a terrace
      The tank holds 50 litres | The tank holds 60 litres
      Nora has a driving licence | Nora has no driving licence
      The exam is on March 3 | The exam is on March 10
      The library closes at 18:00 | The library closes at 20:00
      The lake is 12 m deep | The lake is 15 m deep
    `,
    unrelated: `
      I live in Tallinn | I live in Estonia
      I live in Tallinn | I live on the fourth floor
      I work at Nokia | I work at weekends
      I like hiking with Nora | I like hiking with Tom
      My sister is a doctor | My sister is now in Spain
      I have 2 monitors | I have 2 keyboards
      The first lesson is on Monday | The second lesson is on Wednesday
      I lent Tom 50 euros | I lent Tom 20 euros
      I will be in Paris on May 3 | I will be in Paris on June 7
      I don't eat shellfish | I eat fish
      Nora taught me chess | I taught Nora chess
      The blue key opens the garage | The red key opens the cellar
      My internet contract ends in May | My phone contract ends in June
      I am afraid of dogs | I am not afraid of spiders
      I read 3 books in May | I read 5 books in June
      I like my new job | I didn't like my old job
      I use Chrome on my phone | I use Firefox on my laptop
      Page 12 has a typo | Page 15 has a typo
      My email for work is a@x.example | My email for friends is b@y.example
      I want to move to Canada | I live in Tallinn
      The user asked how to cook rice | The user asked how to cook pasta
      I prefer cats to dogs | I prefer dogs with long hair
      My brother moved to Oslo | I live in Tallinn
      I gave Nora the keys | Nora gave me the keys
    `,
  },
  de: {
    duplicate: `
      Ich bin Vegetarier | Übrigens bin ich Vegetarier
      Jeden Freitag spiele ich Fußball | Ich spiele jeden Freitag Fußball
      Meine Frau heißt Petra | Der Name meiner Frau ist Petra
      Ich arbeite bei der Bahn | Ich arbeite für die Bahn
      Ich hasse Rosenkohl | Ich mag keinen Rosenkohl
    `,
    update: `
      Ich wohne in Ulm | Ich bin nach Kassel umgezogen
      Ich esse Fleisch | Ich esse kein Fleisch mehr
      Unser Chef ist Herr Braun | Unser Chef ist jetzt Frau Yilmaz
    `,
    conflict: `
      Das Schwimmbad öffnet um 8 Uhr | Das Schwimmbad öffnet um 9 Uhr
      Petra hat einen Führerschein | Petra hat keinen Führerschein
    `,
    unrelated: `
      Ich wohne in Ulm | Ich wohne in Bayern
      Ich wohne in Ulm | Ich wohne in Miete
      Ich arbeite bei Bosch | Ich arbeite bei Kerzenlicht
      Petra mag Tom | Tom mag Petra
      Seite 12 fehlt | Seite 14 fehlt
    `,
  },
  es: {
    duplicate: `
      Tengo un hijo que se llama Mateo | Mi hijo se llama Mateo
      A mí me encanta el flamenco | Me encanta el flamenco
      Odio las aceitunas | No me gustan las aceitunas
      Trabajo como profesor | Soy profesor
    `,
    update: `
      Vivo en Lima | Me he mudado a Arequipa
      Como carne | Ya no como carne
    `,
    conflict: `
      La piscina abre a las 8:00 | La piscina abre a las 9:00
    `,
    unrelated: `
      Vivo en Lima | Vivo en Perú
      Tengo un hijo que se llama Mateo | Tengo un hijo que se llama Leo
      No como carne | Como pescado
    `,
  },
  fr: {
    duplicate: `
      J'ai un fils qui s'appelle Hugo | Mon fils s'appelle Hugo
      Je déteste les olives | Je n'aime pas les olives
      Chaque mardi, je joue au tennis | Je joue au tennis chaque mardi
    `,
    update: `
      J'habite à Metz | J'ai déménagé à Reims
      Je mange de la viande | Je ne mange plus de viande
    `,
    conflict: `
      La piscine ouvre à 8:00 | La piscine ouvre à 9:00
    `,
    unrelated: `
      J'habite à Metz | J'habite avec ma mère
      Je n'aime pas les olives | J'aime les tomates
      La page 12 manque | La page 14 manque
    `,
  },
  pt: {
    duplicate: `
      Tenho um filho chamado Davi | Meu filho se chama Davi
      Odeio azeitonas | Não gosto de azeitonas
      Sou professor | Trabalho como professor
    `,
    update: `
      Moro em Natal | Mudei-me para Maceió
      Como carne | Já não como carne
    `,
    conflict: `
      A piscina abre às 8:00 | A piscina abre às 9:00
    `,
    unrelated: `
      Moro em Natal | Moro no Brasil
      Não como carne | Como peixe
      A página 12 falta | A página 14 falta
    `,
  },
  zh: {
    duplicate: `
      我儿子叫小宝 | 我有一个叫小宝的儿子
      我讨厌香菜 | 我不喜欢香菜
      我每周五踢足球 | 我每个星期五踢足球
    `,
    update: `
      我住在成都 | 我搬去重庆了
      我吃肉 | 我不吃肉了
    `,
    conflict: `
      游泳池8点开门 | 游泳池9点开门
    `,
    unrelated: `
      我住在成都 | 我住在四川
      我不吃肉 | 我吃鱼
      第12页有错 | 第14页有错
    `,
  },
  ja: {
    duplicate: `
      息子の名前は翔です | 翔という息子がいます
      パクチーが嫌いです | パクチーが好きではありません
      私は教師です | 教師として働いています
    `,
    update: `
      仙台に住んでいます | 札幌に引っ越しました
      肉を食べます | もう肉を食べません
    `,
    conflict: `
      プールは8時に開きます | プールは9時に開きます
    `,
    unrelated: `
      仙台に住んでいます | 東北に住んでいます
      肉を食べません | 魚を食べます
      12ページに誤字があります | 14ページに誤字があります
    `,
  },
} as const
