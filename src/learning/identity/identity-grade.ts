/** Grades facts by how much they say about a person's identity. */
import { getSearchHintsByName } from '../../memory/contradiction/attributes.ts'
import { parseStatement } from '../../memory/contradiction/statements.ts'

/** Importance and salience of identity statements from any source. */
export const IDENTITY_IMPORTANCE = 9
export const IDENTITY_SALIENCE = 0.9

/** Attributes of the user, by relevance. Attributes of other people have other names. */
const ATTRIBUTES: readonly string[] = [
  'name',
  'home',
  'trade',
  'employer',
  'workplace',
  'age',
  'birthday',
  'marital state',
]

const FAMILY: ReadonlySet<string> = new Set(
  (
    'spouse partner girlfriend boyfriend mother father mom mum dad son daughter child brother sister ' +
    'mann frau partnerin mutter vater sohn tochter kind bruder schwester ' +
    'marido esposo esposa mujer madre padre hijo hija hermano hermana ' +
    'mari femme mère père fils fille frère sœur soeur ' +
    'mulher mãe pai filho filha irmão irmã ' +
    '妻子 丈夫 老婆 老公 妈妈 爸爸 母亲 父亲 儿子 女儿 哥哥 弟弟 姐姐 妹妹 妻 夫 母 父 息子 娘 兄 弟 姉 妹'
  ).split(' '),
)

/** Search terms for identity statements in all languages; hits still have to be graded. */
export const IDENTITY_HINTS: readonly string[] = [
  ...new Set(ATTRIBUTES.flatMap(getSearchHintsByName)),
  [...FAMILY].join(' '),
]

/** The rank of an identity statement, the most relevant is 0; null for other statements. */
export function gradeIdentity(content: string): number | null {
  const { attribute } = parseStatement(content)
  if (attribute === null) return null
  const [kind = '', of = ''] = attribute.name.split(/ (.*)/u)
  if (kind === 'relation') return FAMILY.has(of) ? ATTRIBUTES.length : null
  const grade = ATTRIBUTES.indexOf(attribute.name)
  return grade < 0 ? null : grade
}
