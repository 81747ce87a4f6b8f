/** What the formats have in common when a request is read. */

import { stripInjectedText } from '../../../domain/message-content.ts'
import type { Exchange, ModelRequest } from '../../../domain/model-call.ts'
import { isList, isObject, type JsonObject, type Value } from '../../../lib/json.ts'

/** What takes time to read of a long conversation. */
type LazyTexts = Pick<
  ModelRequest,
  'instructions' | 'exchanges' | 'toolResults' | 'isMidAnswer' | 'characters'
>

/** A request whose words are read when somebody first asks for them: where memory is off, nobody does. */
export function createLazyRequest(
  known: Omit<ModelRequest, keyof LazyTexts>,
  read: () => LazyTexts,
): ModelRequest {
  let texts: LazyTexts | null = null
  const readOnce = () => {
    texts ??= read()
    return texts
  }
  return {
    ...known,
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

/** What matters of a request, in its order. */
export type RequestPart =
  | { readonly kind: 'turn'; readonly text: string }
  | { readonly kind: 'answer'; readonly text: string }
  /** `joinsTurn`: it came in the same message as the words of the turn before it. */
  | { readonly kind: 'result'; readonly text: string; readonly joinsTurn?: boolean }

/** Null for anything but words. */
export function toNonBlankText(value: Value): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/**
 * Whether somebody says something here: with words or, as with a picture, without. A message that holds nothing but a
 * block of memories was not said by anybody.
 */
export function hasUserContent(
  content: Value,
  textOf: (part: JsonObject) => Value,
  isForeign: (part: JsonObject) => boolean = () => false,
): boolean {
  if (typeof content === 'string') return stripInjectedText(content) !== ''
  if (!isList(content)) return false
  return content.some((part) => {
    if (!isObject(part) || isForeign(part)) return false
    const text = textOf(part)
    return typeof text !== 'string' || stripInjectedText(text) !== ''
  })
}

export function groupExchanges(
  pieces: readonly RequestPart[],
): Pick<ModelRequest, 'exchanges' | 'toolResults' | 'isMidAnswer'> {
  const exchanges: { user: string; answers: string[] }[] = []
  let toolResults: string[] = []
  for (const { kind, text } of pieces) {
    if (kind === 'turn') {
      exchanges.push({ user: text, answers: [] })
      toolResults = []
    } else if (text !== '') {
      if (kind === 'answer') exchanges.at(-1)?.answers.push(text)
      else toolResults.push(text)
    }
  }
  const last = pieces.findLast((piece) => !(piece.kind === 'result' && piece.joinsTurn === true))
  return {
    exchanges: exchanges.map(toExchange),
    toolResults,
    isMidAnswer: last !== undefined && last.kind !== 'turn',
  }
}

function toExchange({ user, answers }: { user: string; answers: readonly string[] }): Exchange {
  return { user, assistant: answers.length === 0 ? null : answers.join('\n') }
}

/** Parts whose data is no text. */
const MEDIA: ReadonlySet<Value> = new Set([
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

/** What only its provider can read. */
const SEALED: ReadonlySet<string> = new Set(['encrypted_content', 'signature'])

/** Of everything that is text, names included. Without recursion, as nesting may be deeper than the stack. */
export function countCharacters(body: JsonObject): number {
  let characters = 0
  const waiting: Value[] = [body]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value === 'string') characters += value.length
    else if (isList(value)) for (const each of value) waiting.push(each)
    else if (isObject(value) && !MEDIA.has(value.type)) {
      for (const [key, each] of Object.entries(value)) {
        if (SEALED.has(key)) continue
        characters += key.length
        waiting.push(each)
      }
    }
  }
  return characters
}
