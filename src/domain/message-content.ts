import { isList, isObject, type JsonObject, type Value } from '../lib/json.ts'
import { stripHarnessTags } from '../text/harness-tags.ts'
import { stripBlocks } from './context-block.ts'

/**
 * Removes context blocks, harness tags and surrounding white space. White space goes because clients add and drop it
 * between requests.
 */
export function stripInjectedText(text: string): string {
  // Most texts cannot hold a block or a tag, and this is the fastest test.
  const mayContainMarkup = text.includes('<') || text.includes('&') || text.includes('\\')
  return (mayContainMarkup ? stripHarnessTags(stripBlocks(text)) : text).trim()
}

/** Joins the parts of a message into one text. */
export function joinTexts(texts: Iterable<string>): string {
  return [...texts]
    .map(stripInjectedText)
    .filter((text) => text !== '')
    .join('\n')
}

/** Reads the text of message content, which is a string or a list of parts. `textOf` reads one part. */
export function readContentText(content: Value, textOf: (part: JsonObject) => Value): string {
  if (typeof content === 'string') return stripInjectedText(content)
  if (!isList(content)) return ''
  const texts = content.map((part) => (isObject(part) ? textOf(part) : undefined))
  return joinTexts(texts.filter((text) => typeof text === 'string'))
}
