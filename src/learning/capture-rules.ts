/**
 * Decides by rules whether a user message is stored verbatim, for programs without a model. Tuned for precision: only
 * short messages with an explicit cue are captured.
 */

import { stripBlocks } from '../domain/context-block.ts'
import type { MemoryCategory } from '../domain/memory.ts'
import { isPromptInjection } from '../text/prompt-injection.ts'
import { normalizeText } from '../text/speech/message-text.ts'

/** Increment with every change of the rules that changes what is captured; stored as provenance. */
export const CAPTURE_VERSION = '1'
export const CAPTURE_CHARACTERS_MIN = 10
export const CAPTURE_CHARACTERS_MAX = 500
const EMOJI_MAX = 3

export type CaptureOptions = { readonly captureMaxChars?: number }

/** Expects a user message: messages of assistants and tools must not be captured. */
export function isWorthCapturing(text: string, options: CaptureOptions = {}): boolean {
  const { captureMaxChars = CAPTURE_CHARACTERS_MAX } = options
  const message = text.trim()
  if (message.length < CAPTURE_CHARACTERS_MIN || message.length > captureMaxChars) return false
  if (hasMemoryBlock(message) || isMarkup(message) || isSummary(message)) return false
  if (isDecorated(message) || isQuestion(message) || isPromptInjection(message)) return false
  return TRIGGERS.some((trigger) => trigger.test(normalizeText(message)))
}

function hasMemoryBlock(message: string): boolean {
  return stripBlocks(message) !== message || /<\s*\/?\s*relevant-memories/i.test(message)
}

/** Pasted markup or code. */
function isMarkup(message: string): boolean {
  return (
    /^\s*<[a-z!?/]/i.test(message) ||
    /<([a-z][\w-]*)[^>]*>[\s\S]*<\/\1\s*>/i.test(message) ||
    /```/.test(message)
  )
}

/** Typical assistant output: headings, or bold text over lists. */
function isSummary(message: string): boolean {
  return (
    /^\s*#{1,6}\s/m.test(message) ||
    (/\*\*/.test(message) && /^\s*(?:[-*+]|\d+\.)\s/m.test(message))
  )
}

function isDecorated(message: string): boolean {
  return (message.match(/\p{Extended_Pictographic}/gu) ?? []).length > EMOJI_MAX
}

/** Questions state nothing, even when they contain a cue. */
function isQuestion(message: string): boolean {
  return /[?？]\s*$/.test(message) && !/[.!。！\n]\s*\S/.test(message)
}

const spaced = (source: string) =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`, 'u')

/** Cues by category, in all languages. */
const CUES = {
  preference: [
    spaced(
      "i (?:really |also |just |absolutely |do |would )?(?:like|prefer|hate|love|enjoy|dislike|want|need)|i (?:don't|do not|can't) (?:like|want|need|stand|eat|drink)|my favou?rite|i'm (?:into|a fan of)",
    ),
    spaced(
      'ich (?:\\S+ )?(?:mag|liebe|hasse|bevorzuge|möchte|brauche|will|trinke|esse)|(?:mag|liebe|hasse|bevorzuge|möchte|brauche) ich|mein(?:e)? lieblings\\p{L}+|mir gefällt|mir ist lieber|am liebsten',
    ),
    spaced(
      '(?:no )?me (?:gusta[n]?|encanta[n]?|molesta[n]?)|prefiero|odio|detesto|quiero|necesito|mi \\S+ (?:favorit[oa]|preferid[oa])',
    ),
    spaced(
      "j'(?:aime|adore|apprécie)|je (?:préfère|déteste|veux|n'aime pas|ne supporte pas)|j'ai (?:besoin|horreur)|mon \\S+ préféré|ma \\S+ préférée",
    ),
    spaced(
      '(?:eu )?(?:não )?(?:gosto de|prefiro|odeio|adoro|detesto|quero|preciso)|meu \\S+ (?:favorito|preferido)|minha \\S+ (?:favorita|preferida)',
    ),
    /我(?:真的|非常|很|最|比较|更|不|也|特别)*(?:喜欢|讨厌|爱|偏好|想要|需要|更喜欢)|我的最爱/u,
    /(?:が|は|も)(?:とても|一番|大|あまり)?(?:好き|嫌い|苦手|欲しい|ほしい|必要)|(?:の方|のほう)がいい|お気に入り/u,
  ],
  decision: [
    spaced(
      "(?:i|we)(?:'ve| have)? (?:decided|chosen|chose|settled on|agreed)|(?:i|we)(?:'ll| will|'m going to|'re going to| am going to| are going to) (?:use|go with|switch|take|adopt|move)",
    ),
    spaced(
      '(?:habe ich|haben wir|ich habe|wir haben)(?: \\S+){0,8}? (?:entschieden|beschlossen|vereinbart|gewählt)|(?:ich werde|wir werden|werde ich|werden wir)(?: \\S+){0,8}? (?:verwenden|nehmen|nutzen|umsteigen|benutzen)',
    ),
    spaced(
      '(?:he|hemos) (?:decidido|elegido|acordado|optado)|decid(?:í|imos)|(?:voy|vamos) a (?:usar|utilizar|cambiar|adoptar)|usaré|usaremos',
    ),
    spaced(
      "(?:j'ai|nous avons|on a) (?:décidé|choisi|convenu|opté)|(?:je vais|nous allons|on va) (?:utiliser|prendre|passer|adopter)",
    ),
    spaced(
      '(?:decidi|decidimos|escolhi|escolhemos|combinamos)|(?:vou|vamos) (?:usar|utilizar|mudar|adotar)',
    ),
    /(?:我|我们|咱们)(?:已经)?(?:决定|选择了|选定|商定|打算用|会用|将使用|要用)/u,
    /(?:ことに(?:した|しました|決めた|決めました|する|します))|(?:に決めた|に決めました|を使うことに)/u,
  ],
  entity: [
    /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}\.[\p{L}.]{2,24}/u,
    /(?<![\p{L}\p{N}])\+?\d[\d ()/-]{7,18}\d(?![\p{L}\p{N}])/u,
    spaced("(?:is|am|'m) called|my name is|call me"),
    spaced('(?:ich )?heiße|heißt|mein name ist|nenn mich'),
    spaced('me llamo|se llama|mi nombre es|llámame'),
    spaced("je m'appelle|s'appelle|mon nom est|appelle-moi"),
    spaced('me chamo|chama-se|se chama|meu nome é|o meu nome é'),
    /我(?:叫|的名字是)|名叫|叫做/u,
    /と(?:言います|いいます|申します|呼んで)|(?:名前|名)は/u,
  ],
  fact: [
    spaced(
      "remember|don't forget|keep in mind|note that|for the record|(?:my|our) (?:\\S+ ){1,3}?(?:is|are|was|were)|i (?:always|never|usually)|i (?:live|work|was born|am allergic|have been)|i'm allergic|important",
    ),
    spaced(
      'merke? dir|denk (?:daran|dran)|vergiss nicht|(?:mein|meine|unser|unsere) (?:\\S+ ){1,3}?(?:ist|sind|war)|ich (?:\\S+ )?(?:immer|nie|niemals|meistens)|ich (?:wohne|lebe|arbeite|bin allergisch)|wichtig',
    ),
    spaced(
      'recuerda|acuérdate|no olvides|ten en cuenta|(?:mi|mis|nuestr[oa]s?) (?:\\S+ ){1,3}?(?:es|son|está|era)|siempre|nunca|vivo en|trabajo (?:en|como)|soy alérgic[oa]|importante',
    ),
    spaced(
      "souviens-toi|rappelle-toi|n'oublie pas|retiens|note que|(?:mon|ma|mes|notre|nos) (?:\\S+ ){1,3}?(?:est|sont|était)|toujours|jamais|j'habite|je (?:vis|travaille|suis allergique)|important",
    ),
    spaced(
      'lembra-te|lembre-se|lembre que|não (?:te )?esqueças?|anota|(?:meu|minha|meus|minhas|nosso|nossa) (?:\\S+ ){1,3}?(?:é|são|está|era)|sempre|nunca|moro em|vivo em|trabalho (?:em|como|na|no)|sou alérgic[oa]|importante',
    ),
    /记住|记得|记一下|别忘了|不要忘记|请注意|我的.{1,12}(?:是|在|有)|我(?:总是|从不|从来不|一直|每天)|我(?:住在|在.{1,10}工作)|我对.{1,10}过敏|很重要/u,
    /覚えて(?:おいて)?|忘れないで|メモして|私の.{1,15}は|僕の.{1,15}は|俺の.{1,15}は|(?:いつも|必ず|絶対に|決して)|に住んで|で働いて|アレルギー|重要|大切/u,
  ],
} as const satisfies Partial<Record<MemoryCategory, readonly RegExp[]>>

const TRIGGERS: readonly RegExp[] = Object.values(CUES).flat()

/** Explicit requests first, then what names the user's choices and wishes, then facts in passing. */
const EXPLICIT = spaced(
  "remember|don't forget|keep in mind|note that|for the record|important|merke? dir|vergiss nicht|wichtig|recuerda|no olvides|souviens-toi|n'oublie pas|retiens|lembra-te|lembre-se",
)
const EXPLICIT_UNSPACED = /记住|别忘了|不要忘记|很重要|覚えて|忘れないで|メモして/u
const VALUES: readonly MemoryCategory[] = ['fact', 'entity', 'preference', 'decision']

/** How much a captured message is worth beside others, from 0. */
export function rateCapture(text: string): number {
  const normalized = normalizeText(text)
  if (EXPLICIT.test(normalized) || EXPLICIT_UNSPACED.test(normalized)) return VALUES.length
  return Math.max(0, VALUES.indexOf(classifyCapture(text)))
}

/** The category of the first matching cue; preferences win over entities. */
export function classifyCapture(text: string): MemoryCategory {
  const normalized = normalizeText(text)
  for (const category of ['preference', 'decision', 'entity', 'fact'] as const) {
    if (CUES[category].some((cue) => cue.test(normalized))) return category
  }
  return 'general'
}
