/**
 * The subject of a statement. Models write facts in the third person: about "the user", and about others by name or relation.
 * Both are rewritten to the first person, so that the rules for phrases such as "I live in Berlin" apply to them.
 *
 * A statement about the user's sister is not about the user: only a subject that is exactly the user becomes "I".
 */
import { execPattern } from '../../text/regex-prefilter.ts'
import { type Attribute, findAttribute } from './attributes.ts'

type Rewriting = readonly [pattern: RegExp, replacement: string | ((...match: string[]) => string)]

/** What models call the user and the assistant. */
export const USER_WORDS: readonly string[] = (
  'user users assistant nutzer nutzers nutzerin benutzer benutzers benutzerin assistent usuario usuaria asistente ' +
  'utilisateur utilisatrice usuário usuária utilizador utilizadora assistente'
).split(' ')

/** Adverbs between the user and the verb. */
const ADVERBS =
  '(?:now|currently|still|also|really|usually|always|often|sometimes|rarely|never|generally|mostly|no longer|recently|just)'

const ENGLISH_USER: readonly Rewriting[] = [
  [/\b(?:the )?user's\b/giu, 'my'],
  [/\b(?:the )?user is\b/giu, 'I am'],
  [/\b(?:the )?user has\b/giu, 'I have'],
  [/\b(?:the )?user doesn't\b/giu, "I don't"],
  [
    new RegExp(`^(?:the )?user ((?:${ADVERBS} )*)(\\p{Ll}+)(?!\\p{L})`, 'iu'),
    (_, adverbs = '', verb = '') => `I ${adverbs}${toFirstPersonVerb(verb)}`,
  ],
  [/\b(?:the )?user (?=\p{L})/giu, 'I '],
]

/** "Lives" becomes "live", "studies" becomes "study", "was" stays. */
function toFirstPersonVerb(verb: string): string {
  if (/^(?:was|is|has|this|its)$/i.test(verb) || !/[^s]s$/i.test(verb)) return verb
  return verb
    .replace(/(?<=[^aeiou])ies$/i, 'y')
    .replace(/(?<=ch|sh|ss|x|zz|^go|^do)es$/i, '')
    .replace(/(?<=[^s])s$/i, '')
}

const GERMAN_USER = '(?:der (?:be)?nutzer|die (?:be)?nutzerin|der user|die userin)'
const OF_GERMAN_USER = '(?:des (?:be)?nutzers|der (?:be)?nutzerin|des users)'
const SPANISH_USER = '(?:el usuario|la usuaria)'
const OF_SPANISH_USER = '(?:del usuario|de la usuaria)'
const FRENCH_USER = "l'utilisat(?:eur|rice)"
const PORTUGUESE_USER = '(?:o usuário|a usuária|o utilizador|a utilizadora)'
const OF_PORTUGUESE_USER = '(?:do usuário|da usuária|do utilizador|da utilizadora)'

const GERMAN_VERBS = verbs(
  'ist bin, hat habe, wohnt wohne, lebt lebe, arbeitet arbeite, heißt heiße, mag mag, liebt liebe, hasst hasse, ' +
    'trinkt trinke, isst esse, spricht spreche, fährt fahre, spielt spiele, nutzt nutze, verwendet verwende, ' +
    'bevorzugt bevorzuge, kommt komme, lernt lerne, studiert studiere, besitzt besitze, möchte möchte, kann kann',
)
const SPANISH_VERBS = verbs(
  'vive vivo, trabaja trabajo, tiene tengo, es soy, está estoy, prefiere prefiero, usa uso, habla hablo, estudia estudio, ' +
    'quiere quiero, come como, bebe bebo, toca toco, juega juego, odia odio, conduce conduzco',
)
const FRENCH_VERBS = verbs(
  'habite habite, vit vis, travaille travaille, a ai, est suis, aime aime, préfère préfère, déteste déteste, parle parle, ' +
    'utilise utilise, joue joue, apprend apprends, mange mange, boit bois, veut veux',
)
const PORTUGUESE_VERBS = verbs(
  'mora moro, vive vivo, trabalha trabalho, tem tenho, é sou, está estou, prefere prefiro, usa uso, fala falo, estuda estudo, ' +
    'gosta gosto, quer quero, come como, bebe bebo, toca toco, joga jogo, odeia odeio, dirige dirijo',
)

const EUROPEAN_USER: readonly Rewriting[] = [
  subject(GERMAN_USER, GERMAN_VERBS, (verb) => `Ich ${verb}`),
  [new RegExp(`^(?:der|das) (\\p{Lu}\\p{L}+) ${OF_GERMAN_USER}(?!\\p{L})`, 'iu'), 'Mein $1'],
  [new RegExp(`^die (\\p{Lu}\\p{L}+) ${OF_GERMAN_USER}(?!\\p{L})`, 'iu'), 'Meine $1'],
  [new RegExp(`^${SPANISH_USER} (?:ahora )?se llama `, 'iu'), 'Me llamo '],
  [new RegExp(`^${SPANISH_USER} se mudó a `, 'iu'), 'Me mudé a '],
  [new RegExp(`^${SPANISH_USER} se ha mudado a `, 'iu'), 'Me he mudado a '],
  [/^a(?:l usuario| la usuaria) (no )?le (gusta|encanta)/iu, '$1me $2'],
  subject(SPANISH_USER, SPANISH_VERBS, (verb) => verb),
  [new RegExp(`^(?:el|la) (\\p{L}+(?: \\p{L}+)?) ${OF_SPANISH_USER}(?!\\p{L})`, 'iu'), 'Mi $1'],
  [new RegExp(`^${FRENCH_USER} s'appelle `, 'iu'), "Je m'appelle "],
  [new RegExp(`^${FRENCH_USER} n'(habite|aime|utilise|apprend|a|est)(?!\\p{L})`, 'iu'), "Je n'$1"],
  subject(FRENCH_USER, FRENCH_VERBS, (verb) =>
    /^[aehiou]/i.test(verb) ? `J'${verb}` : `Je ${verb}`,
  ),
  [new RegExp(`^le (\\p{L}+(?: \\p{L}+)?) de ${FRENCH_USER}(?!\\p{L})`, 'iu'), 'Mon $1'],
  [new RegExp(`^la (\\p{L}+(?: \\p{L}+)?) de ${FRENCH_USER}(?!\\p{L})`, 'iu'), 'Ma $1'],
  [new RegExp(`^${PORTUGUESE_USER} (?:agora )?se chama `, 'iu'), 'Me chamo '],
  [new RegExp(`^${PORTUGUESE_USER} (?:se mudou|mudou-se) para `, 'iu'), 'Me mudei para '],
  subject(PORTUGUESE_USER, PORTUGUESE_VERBS, (verb) => verb),
  [new RegExp(`^o (\\p{L}+(?: \\p{L}+)?) ${OF_PORTUGUESE_USER}(?!\\p{L})`, 'iu'), 'Meu $1'],
  [new RegExp(`^a (\\p{L}+(?: \\p{L}+)?) ${OF_PORTUGUESE_USER}(?!\\p{L})`, 'iu'), 'Minha $1'],
]

const EAST_ASIAN_USER: readonly Rewriting[] = [
  [/^(?:该|这位)?(?:用户|使用者)(?!界面|体验|名|数|组|群|评论|反馈|手册|需求)/u, '我'],
  [/^(?:この)?ユーザー(?:さん)?の(?=\p{L})/u, '私の'],
  [/^(?:この)?ユーザー(?:さん)?は、?/u, ''],
]

const USERS: readonly Rewriting[] = [...ENGLISH_USER, ...EUROPEAN_USER, ...EAST_ASIAN_USER]

/** Rewrites statements about "the user" to the first person. */
export function rewriteToFirstPerson(text: string): string {
  if (!/user|nutzer|usuari|usuári|utilisat|utilizad|用户|使用者|ユーザー/iu.test(text)) return text
  let own = text
  for (const [pattern, replacement] of USERS) {
    own = own.replace(pattern, replacement as string) // replace has one overload per replacement type
  }
  return own
}

/** All patterns, for `pattern-warmup.ts`. */
export function listPersonPatterns(): readonly RegExp[] {
  return [...USERS, ...OTHERS].map(([rule]) => rule)
}

/** The user, optionally "not" or "now", and a verb with a known first person. */
function subject(
  user: string,
  firstPerson: ReadonlyMap<string, string>,
  render: (verb: string) => string,
): Rewriting {
  const pattern = new RegExp(
    `^${user} (no |não |ahora |agora |já não |ya no )?(\\p{L}+)(?!\\p{L})`,
    'iu',
  )
  return [
    pattern,
    (match, before, verb = '') => {
      const own = firstPerson.get(verb.toLowerCase())
      return own === undefined ? match : (before ?? '') + render(own)
    },
  ]
}

function verbs(list: string): ReadonlyMap<string, string> {
  return new Map(list.split(', ').map((pair) => pair.split(' ') as [string, string])) // pairs of words
}

const NAME = String.raw`\p{Lu}[\p{L}\p{M}'-]{1,24}(?: \p{Lu}[\p{L}\p{M}'-]{1,24}){0,2}`
const KIN = String.raw`(?:[Mm]y|[Oo]ur|[Mm]eine?|[Uu]nsere?|[Mm]i|[Nn]uestr[oa]|[Mm]on|[Mm]a|[Nn]otre|(?:[Oo] |[Aa] )?(?:[Mm]eu|[Mm]inha|[Nn]oss[oa])) \p{L}{2,20}(?: \p{Lu}[\p{L}'-]{1,24})?`
const WHO = `(?<who>${KIN}|${NAME})`

/** Statements about others, rewritten to the first person. Only home and employer, which are single-valued. */
const OTHERS: readonly (readonly [pattern: RegExp, own: string])[] = [
  [
    buildSubjectPattern(
      '(?:now |currently |still )?(?:lives|(?:is )?(?:now |currently )?living) in ',
    ),
    'I live in ',
  ],
  [buildSubjectPattern('(?:has )?(?:recently |just )?moved to '), 'I live in '],
  [buildSubjectPattern('(?:now |currently |still )?works (?:at|for) '), 'I work at '],
  [buildSubjectPattern('(?:wohnt|lebt) (?:jetzt |inzwischen |nun )?in '), 'Ich wohne in '],
  [buildSubjectPattern('arbeitet (?:jetzt |inzwischen |nun )?(?:bei|für) '), 'Ich arbeite bei '],
  [buildSubjectPattern('(?:ahora )?vive (?:ahora )?en '), 'Vivo en '],
  [buildSubjectPattern('se (?:mudó|ha mudado) a '), 'Vivo en '],
  [buildSubjectPattern('(?:ahora )?trabaja (?:ahora )?(?:en|para) '), 'Trabajo en '],
  [buildSubjectPattern('(?:habite|vit) (?:maintenant |désormais )?(?:à|en|au) '), "J'habite à "],
  [buildSubjectPattern('a déménagé à '), "J'habite à "],
  [buildSubjectPattern('travaille (?:maintenant |désormais )?chez '), 'Je travaille chez '],
  [buildSubjectPattern('(?:agora )?(?:mora|vive) (?:agora )?(?:em|no|na) '), 'Moro em '],
  [buildSubjectPattern('(?:se mudou|mudou-se) para '), 'Moro em '],
  [buildSubjectPattern('(?:agora )?trabalha (?:agora )?(?:na|no|em|para) '), 'Trabalho em '],
  // Chinese marks no subject; a relation to the speaker is one.
  [
    /^(?<who>我的?(?:妈妈|爸爸|母亲|父亲|妻子|丈夫|老婆|老公|太太|姐姐|妹妹|哥哥|弟弟|朋友|儿子|女儿|同事))(?:现在)?住在/u,
    '我住在',
  ],
  // Japanese marks the topic; a topic that is no person is a time, to which the statement applies as well.
  [/^(?:私の)?(?<who>[^は今、。]{1,8})は、?(?:今は?)?(?=[^は]+に住んでい)/u, ''],
  [/^(?:私の)?(?<who>[^は今、。]{1,8})は、?(?:今は?)?(?=[^は]+で働いてい)/u, ''],
]

function buildSubjectPattern(verb: string): RegExp {
  return new RegExp(`^(?:[AO] (?=\\p{Lu}))?${WHO} ${verb}`, 'u')
}

/** Capitalized words at the beginning of a sentence that are no names. */
const NOBODY: ReadonlySet<string> = new Set(
  (
    'he she it they we you i who nobody everyone everybody someone somebody anyone anybody one this that there what which ' +
    'each neither either none all most some many few half people now currently still formerly previously also the an every ' +
    'er sie es man wer niemand jeder jede jemand alle der die das dem den ein eine jetzt früher ' +
    'él ella ello alguien nadie quien quién todos cada uno una el la los las un ahora antes ' +
    'il elle on qui personne chacun tout le les une maintenant avant ' +
    'ele ela alguém ninguém quem todo os as um uma agora'
  ).split(' '),
)

/** Relations of which a person has one. */
const ONE_OF_A_KIND: ReadonlySet<string> = new Set(
  (
    'mother mom mum father dad husband wife spouse partner girlfriend boyfriend fiancé fiancée ' +
    'mutter mama vater papa mann frau ehemann ehefrau freundin madre mamá padre papá marido mujer esposa esposo ' +
    'mère maman père mari femme mãe pai mulher 妈妈 爸爸 母亲 父亲 妻子 丈夫 老婆 老公 太太 母 父 妻 夫 お母さん お父さん 主人 家内'
  ).split(' '),
)
const ONE_OF_MANY =
  /^(?:兄|弟|姉|妹|友達|友人|息子|娘|子供|同僚|いとこ|お兄さん|お姉さん|弟さん|妹さん|彼|彼女|家族|両親)$/u

const THIRD_PERSON_ATTRIBUTES: ReadonlySet<string> = new Set(['home', 'employer', 'workplace'])

/** The attribute of another person (home or employer) that a statement in plain wording sets, or null. */
export function findThirdPersonAttribute(plain: string): Attribute | null {
  for (const [pattern, own] of OTHERS) {
    const match = execPattern(pattern, plain)
    const person = match?.groups?.who?.toLowerCase()
    if (match === null || person === undefined) continue
    const words = person.replace(/^[oa] (?=meu|minha|noss)/u, '').split(' ')
    if (NOBODY.has(words[0] ?? '')) return null
    const attribute = findAttribute(own + plain.slice(match[0].length))
    if (attribute === null || !THIRD_PERSON_ATTRIBUTES.has(attribute.name)) continue
    const cardinality = isSinglePerson(words) ? attribute.cardinality : 'usually one'
    return { ...attribute, name: `${attribute.name} of ${words.join(' ')}`, cardinality }
  }
  return null
}

/** Whether the words identify one person: "Anna", "my mother", "my brother Tom", but not "my brother". */
function isSinglePerson(words: readonly string[]): boolean {
  const [first = '', second, ...more] = words
  if (/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u.test(first)) {
    const kin = first.replace(/^我的?/u, '')
    return kin === first ? !ONE_OF_MANY.test(kin) : ONE_OF_A_KIND.has(kin)
  }
  if (!POSSESSIVES.has(first)) return true
  return more.length > 0 || (second !== undefined && ONE_OF_A_KIND.has(second))
}

const POSSESSIVES: ReadonlySet<string> = new Set(
  'my our mein meine unser unsere mi nuestro nuestra mon ma notre meu minha nosso nossa'.split(' '),
)
