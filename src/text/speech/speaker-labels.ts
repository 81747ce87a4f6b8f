/** Labels at the beginning of a line that say whose words follow: "Assistant: …", "Me: …", "Translate this: …". */

/**
 * `own` and `other` are turns of a pasted conversation. `material` is text to be worked on and extends to the end of the
 * message. `heading` is the user's own remark about what follows ("PS: …").
 */
type SpeakerLabelKind = 'own' | 'other' | 'material' | 'heading'
type SpeakerLabel = { readonly kind: SpeakerLabelKind; readonly length: number }

/** Longer prefixes are sentences, not labels. */
const LABEL_CHARACTERS_MAX = 80

const LABEL =
  /^[\s*_#[-]{0,8}([\p{L}\p{N}][^:：\n]{0,60}?)[\]*_]{0,4}(?:\s?[([][^)\]]{0,20}[)\]])?\s?[:：][*_]{0,3}(?=\s|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|$)\s*/u

const OWN = words(
  'user me myself human i ich mich benutzer nutzer yo usuario moi utilisateur eu usuário 我 用户 本人 私 僕 俺 ユーザー 自分',
)

const OTHER = words(
  `assistant ai bot chatbot system developer model agent tool gpt chatgpt claude gemini copilot llama mistral
   response answer reply you example assistent ki antwort beispiel du asistente sistema respuesta ejemplo tú
   assistente réponse exemple système toi resposta exemplo você ia 助手 助理 系统 机器人 模型 回答 例子 例如 例 你
   アシスタント システム ボット 回答例 例文 あなた`,
)

const HEADING = words(
  `note notes ps p.s fyi btw update edit reminder context background info about bio intro profile preference
   preferences diet food allergies allergy health job work career location home family hobby hobbies language
   languages goal goals plan plans name age tools editor setup style todo important hint correction also
   disclaimer summary fact tldr remember attention question request task problem warning hinweis frage merke hintergrund kontext info nachtrag wichtig vorlieben beruf familie ziel
   ziele anmerkung übrigens korrektur ernährung nota recuerda pregunta contexto importante preferencias trabajo familia objetivo
   aviso corrección dieta remarque note question contexte préférences travail famille objectif rappel infos régime observação lembre pergunta
   preferências trabalho família lembrete correção 备注 注意 注 背景 补充 更新 说明 个人信息 自我介绍 偏好 目标 另外 顺便
   補足 備考 注意 背景 自己紹介 更新 追記 メモ 好み 目標 余談`,
)

const MATERIAL =
  /^(?:please |pls |can you |could you |bitte |por favor |s'il te plaît |请)?(?:translate|rephrase|rewrite|reword|proofread|paraphrase|summari[sz]e|correct|fix the grammar|übersetze?|formuliere|korrigiere?|fasse|traduce|traduis|traduisez|traduza|traduzir|reescribe|reformule|corrige|corrija|resume|résume|翻译|请翻译|改写|润色|把.{0,20}翻译|次の.{0,20}訳|翻訳|.{0,20}を翻訳|.{0,20}訳して)/iu

/** A request to remember what follows: "Please remember: …". */
const REQUEST =
  /^(?:please |pls |bitte |por favor,? |s'il te plaît,? |(?:can|could) you |hey,? )?(?:remember|memori[sz]e|save|store|note|keep|don'?t forget|write (?:this |that |it )?down|jot|merke?|notier|speicher|vergiss nicht|denk (?:dran|daran)|behalt|recuerda|recuerde|acuérdate|anota|anote|apunta|guarda|memoriza|toma nota|ten en cuenta|no (?:te )?olvides|retiens|retenez|n'oublie|souviens|rappelle|garde|mémorise|enregistre|lembra|lembre|aponta|grava|não (?:te |se )?esque|(?:请|帮我|麻烦)*(?:记住|记下|记一下|备忘|别忘)|覚えて|メモ|記憶|忘れないで)/iu

/** A name: one to three capitalized words, or up to four characters of a script without capitals. */
const NAME =
  /^\p{Lu}[\p{L}.'-]{0,20}(?: \p{Lu}[\p{L}.'-]{0,20}){0,2}$|^[\p{Script=Han}\p{Script=Katakana}]{1,4}$/u

/** The label at the beginning of a line, or null. */
export function parseSpeakerLabel(line: string): SpeakerLabel | null {
  const match = LABEL.exec(line.slice(0, LABEL_CHARACTERS_MAX))
  if (match === null) return null
  const kind = classifyName((match[1] ?? '').trim())
  return kind === null ? null : { kind, length: match[0].length }
}

function classifyName(name: string): SpeakerLabelKind | null {
  const word = name.toLowerCase()
  if (OWN.has(word)) return 'own'
  if (HEADING.has(word) || REQUEST.test(word)) return 'heading'
  if (OTHER.has(word)) return 'other'
  if (MATERIAL.test(word)) return 'material'
  return NAME.test(name) ? 'other' : null
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/u))
}
