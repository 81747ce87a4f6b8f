/** A body as bytes, as text that can be edited, and parsed. */
import { AppError } from '../../../lib/errors.ts'
import type { JsonObject } from '../../../lib/json.ts'

export type RequestBody = {
  readonly bytes: Uint8Array
  /** In the text of a large body, placeholders stand for what is not read. */
  readonly text: string
  /** Without the middles of the longest strings; of a body with too much text, without most elements of its lists. */
  readonly json: JsonObject
  /** Whether there is too much text for memory. Images and files do not count. */
  readonly isTooLarge: boolean
  /** Whether parts of it could not be searched for references to state of the provider. */
  readonly isUnread: boolean
  /** The bytes of the text after it was edited. */
  toBytes(edited: string): Uint8Array
}

export function invalidJson(cause?: unknown): AppError {
  const message = 'We could not parse the JSON body of your request.'
  return new AppError('invalid_input', message, {}, cause)
}
