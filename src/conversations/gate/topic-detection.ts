/**
 * Whether a message that refers to the past names a topic. "Where did we leave off?" does not: its words express only the
 * reference, and searching for them finds arbitrary text.
 */

import { UNSPACED_SCRIPT } from '../../text/search/cjk-terms.ts'
import { STOP_WORDS } from '../../text/search/stopwords.ts'
import { clipMessage, normalizeText } from '../../text/speech/message-text.ts'

const ENGLISH =
  'i me my mine myself we us our remember recall remind know knew tell told say said saying talk talked talking speak ' +
  'spoke spoken discuss discussed discussing discussion chat chatted conversation conversations session sessions last ' +
  'latest previous previously recent recently earlier before yesterday today time times left leave off stop stopped ' +
  'pick picked continue resume again back thing things something anything everything word words exact exactly verbatim ' +
  'quote repeat wrote write written type typed please ok okay hey hi hello now still ever ago week month year day days ' +
  'lets let get got go went forgot forgotten describe summarize summarise person human kind sort type'

const GERMAN =
  'ich mich mir mein meine meinen meiner wir uns unser unsere unserem unseren letzte letzten letztes letzter letztens mal ' +
  'zuletzt vorhin gestern neulich fruher woruber worum wovon was gesprochen geredet besprochen unterhalten unterhaltung ' +
  'gesprach gesprache sagte gesagt geschrieben sagen schrieb erinnerst erinnere erinnern weißt weisst noch daran stehen ' +
  'geblieben stehengeblieben aufgehort weiter weitermachen genau genaue genauen genauer wortlaut worte wortlich zitiere ' +
  'wiederhole bitte kannst du hatten ging es denn eigentlich woche monat jahr tag an kennst mensch person'

const SPANISH =
  'yo mi mis me nosotros nuestra nuestro ultima ultimo vez hablamos hablado hablabamos conversamos charlamos dijimos ' +
  'discutimos conversacion charla recuerdas recuerda acuerdas recordar quedamos dejamos dije dicho escribi palabras exactas ' +
  'exactamente textuales cuales fueron eran ayer antes anterior sesion soy sabes conoces semana mes dia persona'

const FRENCH =
  'je j me m mon ma mes moi nous on n c l d s t notre dernier derniere fois parle parlait parlions discute discussion ' +
  'conversation echange souviens rappelles te tu en de du la le les a etions avons avait dit ecrit mots paroles exacts ' +
  'exactes exactement hier avant precedente session suis sais connais arrete arretes etaient semaine mois jour personne'

const PORTUGUESE =
  'eu o a os as meu minha meus minhas me nos nosso nossa ultima ultimo vez conversamos falamos falado discutimos conversa ' +
  'lembra lembras lembrar recorda paramos ficamos disse escrevi palavras exatas exatamente foram eram ontem antes anterior ' +
  'sessao sou sabe conhece sobre gente de que semana mes dia pessoa'

/** In the form that `foldWord` returns. */
const REFERENCE_WORDS: ReadonlySet<string> = new Set([
  ...STOP_WORDS,
  ...[ENGLISH, GERMAN, SPANISH, FRENCH, PORTUGUESE].flatMap((words) => words.split(' ')),
])

/** The same for unspaced scripts, longest first. */
const UNSPACED_REFERENCES = new RegExp(
  (
    '我们|咱们|我|你|您|上一次|上次|上回|最近|之前|以前|刚才|昨天|今天|聊天|聊|谈话|谈|说话|说|讲|讨论|对话|会话|话题|话|记得|还|' +
    '知道|告诉|关于|内容|最后|继续|停|原话|确切|到底|究竟|什么样|什么|怎么|哪里|哪儿|哪|啥|谁|那次|那|这|些|次|过|了|的|地方|到|在|是|' +
    '都|和|跟|写|吗|呢|吧|人|个|' +
    '前回|この前|最後|昨日|今日|さっき|私|僕|俺|たち|達|会話|話題|話|覚え|続き|言葉|言っ|言い|書い|正確|一言一句|終わ|止ま|知っ|教え|' +
    '何者|何|誰|[ぁ-ん]'
  )
    .split('|')
    .sort((a, b) => b.length - a.length)
    .join('|'),
  'gu',
)

export function hasTopic(message: string): boolean {
  const text = normalizeText(clipMessage(message))
  const rest = UNSPACED_SCRIPT.test(text) ? text.replace(UNSPACED_REFERENCES, ' ') : text
  const words = rest.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return words.some((word) => !REFERENCE_WORDS.has(foldWord(word)))
}

/** Lower case without diacritics. */
export function foldWord(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
