/** Claims of the user's own name, which only an introduction supports. */

import type { Clause } from '../../../text/meaning/statement-clauses.ts'

const SELF_NAME =
  /^(?:(?:the )?user['’]?s? (?:first |last |full )?name is|(?:the )?user (?:is called|is named|goes by|calls? (?:themsel\p{L}+|himself|herself))|name of the user is|der name des (?:be)?nutzers|(?:der|die) (?:be)?nutzer(?:in)? heißt|el usuario se llama|la usuaria se llama|el nombre del usuario|l['’]utilisat(?:eur|rice) s['’]appelle|o (?:usuário|utilizador) (?:se chama|chama-se)|a (?:usuária|utilizadora) (?:se chama|chama-se)|用户(?:的名字)?(?:叫|是)|ユーザーの名前は)/iu

/** Whether a claim gives the name of the user. */
export function isSelfNaming(content: string): boolean {
  return SELF_NAME.test(content)
}

const NAMING =
  /(?<!\p{L})(?:(?:my|me)(?: \p{L}+)? name(?: is|['’]s)|name['’]?s|i['’]?m|i am|call me|this is|ich bin|ich heiße|heiße|mein name ist|nenn mich|me llamo|soy|mi nombre es|je m['’]appelle|je suis|appelle-moi|(?:me chamo|chamo-me)|sou|meu nome é|i go by)(?: (?:called|actually|der|die|el|la|o|a|le))? $|(?:我叫|我是|我的名字(?:叫|是)|私は|名前は|僕は)$/iu

/** Whether the user introduces themself by the name in a claim such as "The user's name is Ada". */
const INTRODUCTION_CHARACTERS_MAX = 300

export function isNameGiven(content: string, clauses: readonly Clause[]): boolean {
  const name = content
    .slice(0, INTRODUCTION_CHARACTERS_MAX)
    .replace(SELF_NAME, '')
    .replace(/^[\s:"“]+|[\s."”。です]+$/gu, '')
  const [first = name] = name.split(/[\s,]+/u)
  return clauses.some(({ text }) => {
    const at = text.toLowerCase().indexOf(first.toLowerCase())
    return at >= 0 && NAMING.test(text.slice(0, at))
  })
}
