import { isList, isObject, type JsonObject, type Value } from '../lib/json.ts'
import { stripHarnessTags } from '../text/harness-tags.ts'
import { stripBlocks } from './context-block.ts'

/**
 * Without blocks of memories and what programs put beside them, and without the blanks around it, which clients add and
 * take away as they like.
 */
export function stripInjectedText(text: string): string {
  // Many texts can't hold one, and this is the fastest way to know.
  const mayHold = text.includes('<') || text.includes('&') || text.includes('\\')
  return (mayHold ? stripHarnessTags(stripBlocks(text)) : text).trim()
}

/** One text from several that belong together, as the parts of a message do. */
export function joinTexts(texts: Iterable<string>): string {
  return [...texts]
    .map(stripInjectedText)
    .filter((text) => text !== '')
    .join('\n')
}

/** The words of a content, which is a text or a list of parts. `textOf` gives the words of a part. */
export function readContentText(content: Value, textOf: (part: JsonObject) => Value): string {
  if (typeof content === 'string') return stripInjectedText(content)
  if (!isList(content)) return ''
  const texts = content.map((part) => (isObject(part) ? textOf(part) : undefined))
  return joinTexts(texts.filter((text) => typeof text === 'string'))
}
