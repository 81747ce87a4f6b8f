/** Which facts tell who a person is: they are always told, and answer those who ask who they are. */
import { getSearchHintsByName } from '../../memory/contradiction/attributes.ts'
import { parseStatement } from '../../memory/contradiction/statements.ts'

/** How much a statement matters that says who the person is, whatever found it. */
export const IDENTITY_IMPORTANCE = 9
export const IDENTITY_SALIENCE = 0.9

/** Of whoever speaks, in the order in which they matter. What somebody else is has another name. */
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

/** Words that statements of each kind are made of, in all languages: what is found by them is still to be graded. */
export const IDENTITY_HINTS: readonly string[] = [
  ...new Set(ATTRIBUTES.flatMap(getSearchHintsByName)),
  [...FAMILY].join(' '),
]

/** How much a statement tells about who the person is, the lowest first; null when it tells something else. */
export function gradeIdentity(content: string): number | null {
  const { attribute } = parseStatement(content)
  if (attribute === null) return null
  const [kind = '', of = ''] = attribute.name.split(/ (.*)/u)
  if (kind === 'relation') return FAMILY.has(of) ? ATTRIBUTES.length : null
  const grade = ATTRIBUTES.indexOf(attribute.name)
  return grade < 0 ? null : grade
}
