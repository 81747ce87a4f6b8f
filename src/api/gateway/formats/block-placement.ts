/** What the formats have in common when a block is put into a request. */
import type { Json } from '../../../lib/json.ts'
import { appendToString, insertElement, type JsonPath, prependToString } from './json-edit.ts'

/** Between a block and a text that was there before. */
export const BLOCK_SEPARATOR = '\n\n'

export type ContentLocation = { readonly path: JsonPath; readonly value: Json | undefined }

/** After all that the content holds: in its string, or as one more part. */
export function appendBlock(text: string, content: ContentLocation, block: string, part: string) {
  const { path, value } = content
  if (typeof value === 'string') {
    return appendToString(text, path, value === '' ? block : BLOCK_SEPARATOR + block)
  }
  return Array.isArray(value) ? insertElement(text, path, value.length, part) : null
}

/** Before all that the content holds, or before the part of the given index. */
export function prependBlock(
  text: string,
  content: ContentLocation,
  block: string,
  part: string,
  index = 0,
): string | null {
  const { path, value } = content
  if (typeof value === 'string') {
    return prependToString(text, path, value === '' ? block : block + BLOCK_SEPARATOR)
  }
  return Array.isArray(value) ? insertElement(text, path, index, part) : null
}
