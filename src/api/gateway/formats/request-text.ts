/** Reads the conversation of a request, for all formats. */

import { stripInjectedText } from '../../../domain/message-content.ts'
import type { Exchange, ModelRequest } from '../../../domain/model-call.ts'
import { isList, isObject, type JsonObject, type Value } from '../../../lib/json.ts'
import { clipText } from './text-clip.ts'

/** Properties that are expensive to compute for a long conversation. */
type LazyTexts = Pick<
  ModelRequest,
  'instructions' | 'exchanges' | 'toolResults' | 'isMidAnswer' | 'characters'
>

/** A request whose texts are read on first access: never, when memory is off. */
export function createLazyRequest(
  eager: Omit<ModelRequest, keyof LazyTexts>,
  read: () => LazyTexts,
): ModelRequest {
  let texts: LazyTexts | null = null
  const readOnce = () => {
    texts ??= clipInstructions(read())
    return texts
  }
  return {
    ...eager,
    get instructions() {
      return readOnce().instructions
    },
    get exchanges() {
      return readOnce().exchanges
    },
    get toolResults() {
      return readOnce().toolResults
    },
    get isMidAnswer() {
      return readOnce().isMidAnswer
    },
    get characters() {
      return readOnce().characters
    },
  }
}

function clipInstructions(texts: LazyTexts): LazyTexts {
  return { ...texts, instructions: clipText(texts.instructions) }
}

/**
 * The end user that a client names, in the order of precedence of the fields. `prompt_cache_key` identifies no person: it
 * groups requests for the provider's cache, often by conversation.
 */
export function readEndUser({
  safety_identifier: safetyId,
  user,
  metadata,
}: JsonObject): string | null {
  return (
    toNonBlankText(safetyId) ??
    toNonBlankText(user) ??
    (isObject(metadata) ? toNonBlankText(metadata.user_id) : null)
  )
}

/** The parts of a conversation, in order. */
export type RequestPart =
  | { readonly kind: 'turn'; readonly text: string }
  | { readonly kind: 'answer'; readonly text: string }
  /** `joinsTurn`: the tool result is in the same message as the text of the turn before it. */
  | { readonly kind: 'result'; readonly text: string; readonly joinsTurn?: boolean }

export function toNonBlankText(value: Value): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/**
 * Whether a message has content of the user: text or another part, such as an image. A message that holds only a context
 * block has none.
 */
export function hasUserContent(
  content: Value,
  textOf: (part: JsonObject) => Value,
  isExcluded: (part: JsonObject) => boolean = () => false,
): boolean {
  if (typeof content === 'string') return stripInjectedText(content) !== ''
  if (!isList(content)) return false
  return content.some((part) => {
    if (!isObject(part) || isExcluded(part)) return false
    const text = textOf(part)
    return typeof text !== 'string' || stripInjectedText(text) !== ''
  })
}

/** What memory reads of a conversation: its last messages, so many of them or with so many characters. */
const READ_MESSAGES_MAX = 600
const READ_CHARACTERS_MAX = 200_000

/** Where reading begins moves in steps: as long as it stays, the history of a conversation keeps its hash. */
const READ_STEP = 20

/** The parts of the last messages, clipped. What it costs does not grow with the length of a conversation. */
export function readRecentParts<Message>(
  messages: readonly Message[],
  toParts: (message: Message) => readonly RequestPart[],
): readonly RequestPart[] {
  const recent: (readonly RequestPart[])[] = []
  let characters = 0
  for (const message of messages.slice(-READ_MESSAGES_MAX).reverse()) {
    const parts = toParts(message).map((part) => ({ ...part, text: clipText(part.text) }))
    characters += parts.reduce((sum, { text }) => sum + text.length, 0)
    if (characters > READ_CHARACTERS_MAX && recent.length > 0) break
    recent.push(parts)
  }
  const skipped = messages.length - recent.length
  const extra = (READ_STEP - (skipped % READ_STEP)) % READ_STEP
  const isAligned = skipped > 0 && extra < recent.length / 2
  return (isAligned ? recent.slice(0, recent.length - extra) : recent).reverse().flat()
}

export function groupExchanges(
  parts: readonly RequestPart[],
): Pick<ModelRequest, 'exchanges' | 'toolResults' | 'isMidAnswer'> {
  const exchanges: { user: string; answers: string[] }[] = []
  let toolResults: string[] = []
  for (const { kind, text } of parts) {
    if (kind === 'turn') {
      exchanges.push({ user: text, answers: [] })
      toolResults = []
    } else if (text !== '') {
      if (kind === 'answer') exchanges.at(-1)?.answers.push(text)
      else toolResults.push(text)
    }
  }
  const last = parts.findLast((part) => !(part.kind === 'result' && part.joinsTurn === true))
  return {
    exchanges: exchanges.map(toExchange),
    toolResults,
    isMidAnswer: last !== undefined && last.kind !== 'turn',
  }
}

function toExchange({ user, answers }: { user: string; answers: readonly string[] }): Exchange {
  return { user, assistant: answers.length === 0 ? null : answers.join('\n') }
}

/** Types of parts whose data is not text. */
const MEDIA_TYPES: ReadonlySet<Value> = new Set([
  'base64',
  'file',
  'image',
  'image_generation_call',
  'image_url',
  'input_audio',
  'input_file',
  'input_image',
  'redacted_thinking',
  'computer_screenshot',
])

/** Fields that only the provider can decrypt, and those of files. */
const OPAQUE_FIELDS: ReadonlySet<string> = new Set([
  ...['encrypted_content', 'signature', 'thoughtSignature', 'thought_signature'],
  ...['inlineData', 'inline_data'],
])

/** The characters of all text, field names included. Iterative, because nesting may be deeper than the stack. */
export function countCharacters(body: JsonObject): number {
  let characters = 0
  const pending: Value[] = [body]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === 'string') characters += value.length
    else if (isList(value)) for (const each of value) pending.push(each)
    else if (isObject(value) && !MEDIA_TYPES.has(value.type)) {
      for (const [key, each] of Object.entries(value)) {
        if (OPAQUE_FIELDS.has(key)) continue
        characters += key.length
        pending.push(each)
      }
    }
  }
  return characters
}
