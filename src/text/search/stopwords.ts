/**
 * Stop words of queries.
 *
 * They are dropped from queries only, and only while other terms remain: the index has every word, so "to be or not to
 * be" and the band "The The" are found. Spelled like words before stemming in `terms.ts`: lower case, without accents
 * and apostrophes.
 *
 * First-person words (`i`, `my`, `ich`, `je`, …) are not listed although they are common: questions to a memory are often
 * about the asker, and these words separate what the asker said from what was said to them. Leaving them in raised MRR by
 * 0.04 on LongMemEval and 0.05 on BEAM and cost nothing elsewhere.
 *
 * The lists are short on purpose. A stop word of one language that is a noun in another (`die`, `war`, `son`, `hay`, `us`)
 * is not listed: an English question about a war must keep its war.
 */
const ENGLISH =
  'a about am an and any are as at be been being but by can cant could couldnt did didnt do ' +
  'does doesnt doing done dont for from had hadnt has hasnt have havent having he her hers him ' +
  'his how if in into is isnt it its just no nor not of on or our ours out shall she should so ' +
  'some such than that the their theirs them then there these they this those to too up very ' +
  'was wasnt we were werent what whats when where which while who whom whose why will with wont ' +
  'would wouldnt you your yours'

const GERMAN =
  'als am auf aus bei bin bist da das dass dein deine dem der des dich dir du ein eine einem ' +
  'einen einer eines er es euch euer fur habe haben hat hatte ihm ihn ihnen ihr ihre im ist ja ' +
  'kann mit nach nicht noch oder sein seine sich sie sind uber um und uns unser vom von wann ' +
  'waren warum welche welcher welches wem wen wer wie wir wird wo wurde zu zum zur'

/** Stop words of German only: in English they have a meaning. */
const GERMAN_ARTICLES = 'die'

const SPANISH =
  'al como con cual cuales cuando de del donde el ella ellos en eres es esa ese eso esta estas ' +
  'este esto estos fue ha han la las le les lo los muy nos o para pero por porque que quien ' +
  'quienes se si sobre su sus te tiene tu tus un una uno unos y ya'

const FRENCH =
  'au aux avec ce ces cette dans des elle elles est et etait ete etes eux il ils leur leurs lui ' +
  'mais ne nos notre nous ou par pas qu quand que quel quelle quelles quels qui quoi sa ses ' +
  'sont ta tes toi une vos votre vous'

const PORTUGUESE =
  'ao aos com da das dela dele do dos e ela ele eles em entre essa esse estao foi isso isto ja ' +
  'mais mas na nao nas nem no nos num numa onde ou pela pelo quais qual quando quem sao sem seu ' +
  'seus sua suas tambem tem um uma voce voces'

export const STOP_WORDS: ReadonlySet<string> = new Set(
  [ENGLISH, GERMAN, SPANISH, FRENCH, PORTUGUESE].flatMap((words) => words.split(' ')),
)

const GERMAN_WORDS: ReadonlySet<string> = new Set(GERMAN.split(' '))
const ARTICLES: ReadonlySet<string> = new Set(GERMAN_ARTICLES.split(' '))

/** Words of a text that are stop words in its language and content words in another one. */
export function getAmbiguousStopWords(words: readonly string[]): ReadonlySet<string> {
  const isGerman = words.some((word) => GERMAN_WORDS.has(word) && !OTHER_WORDS.has(word))
  return isGerman ? ARTICLES : NO_WORDS
}

const OTHER_WORDS: ReadonlySet<string> = new Set(
  [ENGLISH, SPANISH, FRENCH, PORTUGUESE].flatMap((words) => words.split(' ')),
)
const NO_WORDS: ReadonlySet<string> = new Set()

/**
 * Stop words of Chinese and Japanese as bigrams. Question phrases occur in most questions and in few texts, so they would
 * lower the coverage of every answer.
 */
const CHINESE_PAIRS =
  '什么 是什 么是 为什 有什 用什 做什 么用 么样 怎么 怎样 样把 样让 如何 何把 多少 是多 少个 多久 哪些 哪个 哪里 哪种 是哪 有哪 ' +
  '可以 以把 是否 能否 能不 不能 应该 该是 请问 的吗 了吗 是吗 会怎 这个 那个 这些 那些 一个 以及 或者 还是 就是 的是 时候'

const JAPANESE_PAIRS =
  'です すか ます ませ せん した でし しょ ょう うか くだ ださ さい どう どの どん んな どれ れく くら らい いつ なに なん ' +
  'なぜ ある あり りま する しま して いる いま なり ると とど うな にし れば ばい いい たい よう るに はど はい いで はで べき きで ' +
  'こと とは とが がで でき きる は何 何で 何に 何が 何を 何の 何か 教え えて 方を'

export const STOP_PAIRS: ReadonlySet<string> = new Set(
  [CHINESE_PAIRS, JAPANESE_PAIRS].flatMap((pairs) => pairs.split(' ')),
)
