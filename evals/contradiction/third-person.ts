/** Pairs in the third person, as models write facts, about the user and others: `older | newer`, one per line. */
export const THIRD_PERSON = {
  en: {
    duplicate: `
      The user lives in Munich. | The user is living in Munich.
      The user works for Siemens. | The user is employed by Siemens.
      Anna lives in Munich. | Anna resides in Munich.
    `,
    update: `
      The user lives in Munich. | The user lives in Berlin.
      The user lives in Munich. | The user has moved to Hamburg.
      The user works at Siemens. | The user now works at Bosch.
      The user's name is Jon. | The user's name is Jonathan Reed.
      The user's favourite colour is blue. | The user's favourite colour is green.
      Anna works at Siemens. | Anna works at Bosch.
      Anna lives in Munich. | Anna moved to Cologne.
      The user's wife lives in Munich. | The user's wife lives in Berlin.
      The user's sister lives in Munich. | The user's sister now lives in Berlin.
      The user likes coffee. | The user doesn't like coffee anymore.
    `,
    conflict: `
      The user's dog is 3 years old. | The user's dog is 4 years old.
    `,
    unrelated: `
      The user lives in Munich. | The user's sister lives in Berlin.
      The user's sister lives in Munich. | The user lives in Berlin.
      The user lives in Munich. | Anna lives in Berlin.
      The user's brother lives in Munich. | The user's brother lives in Berlin.
      The user lives in Munich. | The user lives in Germany.
      The user lives in Munich. | The user lived in Berlin in 2010.
      The user lives in Munich. | The user wants to live in Berlin.
      The user works at Siemens. | The user works at night.
      Anna works at Siemens. | Anna's husband works at Bosch.
      The user moved to Munich. | The user moved to a new team.
      Everyone lives in Munich. | Someone lives in Berlin.
      The user's friend Tom lives in Munich. | The user's friend Eva lives in Berlin.
    `,
  },
  de: {
    duplicate: `
      Der Nutzer wohnt in München. | Der Nutzer lebt in München.
    `,
    update: `
      Der Nutzer wohnt in München. | Der Nutzer wohnt in Berlin.
      Die Nutzerin lebt in München. | Die Nutzerin lebt jetzt in Köln.
      Der Nutzer heißt Jonas. | Der Nutzer heißt Johannes Roth.
      Anna wohnt in München. | Anna wohnt in Berlin.
      Die Lieblingsfarbe des Nutzers ist Blau. | Die Lieblingsfarbe des Nutzers ist Grün.
    `,
    conflict: '',
    unrelated: `
      Der Nutzer wohnt in München. | Die Schwester des Nutzers wohnt in Berlin.
      Der Nutzer wohnt in München. | Der Nutzer wohnt in Deutschland.
      Der Nutzer arbeitet bei Siemens. | Der Nutzer arbeitet bei Regen.
      Die Firma lebt in Angst. | Die Firma lebt in Frieden.
    `,
  },
  es: {
    duplicate: `
      El usuario vive en Madrid. | El usuario ahora vive en Madrid.
    `,
    update: `
      El usuario vive en Madrid. | El usuario vive en Sevilla.
      La usuaria vive en Madrid. | La usuaria se mudó a Bilbao.
      Ana vive en Madrid. | Ana vive en Sevilla.
      El color favorito del usuario es azul. | El color favorito del usuario es verde.
    `,
    conflict: '',
    unrelated: `
      El usuario vive en Madrid. | La hermana del usuario vive en Sevilla.
      El usuario vive en Madrid. | El usuario vive en España.
      La hermana del usuario vive en Madrid. | La hermana del usuario vive en Sevilla.
    `,
  },
  fr: {
    duplicate: `
      L'utilisateur habite à Lyon. | L'utilisateur habite maintenant à Lyon.
    `,
    update: `
      L'utilisateur habite à Lyon. | L'utilisateur habite à Nice.
      L'utilisatrice travaille chez Renault. | L'utilisatrice travaille chez Airbus.
      Claire habite à Lyon. | Claire a déménagé à Nice.
    `,
    conflict: '',
    unrelated: `
      L'utilisateur habite à Lyon. | La sœur de l'utilisateur habite à Nice.
      L'utilisateur habite à Lyon. | L'utilisateur habite en France.
    `,
  },
  pt: {
    duplicate: `
      O usuário mora em Lisboa. | A usuária mora em Lisboa.
    `,
    update: `
      O usuário mora em Lisboa. | O usuário mora em Coimbra.
      A utilizadora trabalha na Galp. | A utilizadora agora trabalha na Sonae.
      O usuário mora em Lisboa. | O usuário se mudou para Faro.
    `,
    conflict: '',
    unrelated: `
      O usuário mora em Lisboa. | A irmã do usuário mora em Coimbra.
      O usuário mora em Lisboa. | O usuário mora em Portugal.
    `,
  },
  zh: {
    duplicate: `
      用户住在北京。 | 用户现在住在北京。
    `,
    update: `
      用户住在北京。 | 用户住在上海。
      用户住在北京。 | 用户搬到了广州。
      用户的妈妈住在北京。 | 用户的妈妈住在上海。
    `,
    conflict: '',
    unrelated: `
      用户住在北京。 | 用户的妹妹住在上海。
      用户住在北京。 | 用户住在中国。
      用户的姐姐住在北京。 | 用户的姐姐住在上海。
    `,
  },
  ja: {
    duplicate: `
      ユーザーは東京に住んでいます。 | ユーザーは東京に住んでいる。
    `,
    update: `
      ユーザーは東京に住んでいる。 | ユーザーは大阪に住んでいる。
      ユーザーは東京に住んでいる。 | ユーザーは福岡に引っ越した。
      ユーザーの母は東京に住んでいる。 | ユーザーの母は大阪に住んでいる。
    `,
    conflict: '',
    unrelated: `
      ユーザーは東京に住んでいる。 | ユーザーの妹は大阪に住んでいる。
      ユーザーは東京に住んでいる。 | ユーザーは日本に住んでいる。
      ユーザーの妹は東京に住んでいる。 | ユーザーの妹は大阪に住んでいる。
    `,
  },
}
