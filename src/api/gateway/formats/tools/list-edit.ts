import type { Json } from '../../../../lib/json.ts'
import { insertElement, type JsonPath } from '../json-edit.ts'

/** The place behind all elements of a list. */
export const LIST_END = Number.MAX_SAFE_INTEGER

/** Puts values before the element that has this index now. A text without such a list stays as it is. */
export function insertElements(
  text: string,
  path: JsonPath,
  index: number,
  values: readonly Json[],
): string {
  if (values.length === 0) return text
  const written = values.map((value) => JSON.stringify(value)).join(',')
  return insertElement(text, path, index, written) ?? text
}
