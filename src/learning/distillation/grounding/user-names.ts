/** Models call the user by name in one session and "the user" in the next; one subject must have one name. */

type Wording = {
  /** Words that occur in nearly every sentence of the language and in few of others. */
  readonly cue: RegExp
  readonly subject: string
  readonly possessive: string | null
}

const WORDINGS: readonly Wording[] = [
  { cue: /\p{Script=Hiragana}/u, subject: 'ユーザー', possessive: 'ユーザーの' },
  { cue: /\p{Script=Han}/u, subject: '用户', possessive: '用户的' },
  {
    cue: /\s(?:ist|hat|und|der|die|das|wohnt|arbeitet|mag|nicht)\s/iu,
    subject: 'Der Nutzer',
    possessive: null,
  },
  {
    cue: /\s(?:est|et|habite|travaille|aime|chez|les|une)\s/iu,
    subject: 'L’utilisateur',
    possessive: null,
  },
  { cue: /\s(?:é|mora|trabalha|gosta|não|com|uma|em)\s/iu, subject: 'O usuário', possessive: null },
  {
    cue: /\s(?:es|vive|trabaja|tiene|el|los|una|en|con)\s/iu,
    subject: 'El usuario',
    possessive: null,
  },
]
const ENGLISH: Wording = { cue: /(?:)/u, subject: 'The user', possessive: 'The user’s' }

/** "Ada lives in Oslo" becomes "The user lives in Oslo" when Ada is the user. Statements that give the name stay. */
export function rewriteUserNames(content: string, names: readonly string[]): string {
  for (const name of [...names].sort((a, b) => b.length - a.length)) {
    const first = name.split(/\s+/u)[0] ?? name
    for (const form of new Set([name, first])) {
      if (form.length < 2 || !content.toLowerCase().startsWith(form.toLowerCase())) continue
      const rest = content.slice(form.length)
      const { subject, possessive } = WORDINGS.find(({ cue }) => cue.test(rest)) ?? ENGLISH
      if (/^['’]s\s/u.test(rest)) {
        return possessive === null ? content : `${possessive.replace('’', "'")}${rest.slice(2)}`
      }
      if (/^の/u.test(rest)) return `ユーザー${rest}`
      if (/^的/u.test(rest)) return `用户${rest}`
      if (
        /^(?:\s+\p{Ll}|[はが]|(?=\p{Script=Han}))/u.test(rest) &&
        !/^\s+(?:and|und|y|et|e)\s/u.test(rest)
      ) {
        return `${subject.replace('’', "'")}${rest}`
      }
    }
  }
  return content
}
