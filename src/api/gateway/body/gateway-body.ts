/** The body of a request to the gateway. */
import { isUtf8 } from 'node:buffer'
import { AppError } from '../../../lib/errors.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { abridgeBody, type RefersToState } from './abridged-body.ts'
import { invalidJson, type RequestBody } from './request-json.ts'

/** Larger ones are read in slices. Parsing this much takes a few milliseconds. */
const WHOLE_BYTES_MAX = 524_288

/**
 * Parses a body. Of a large one, only what the gateway reads is parsed, in slices; `refersToState` says which elements
 * it must read however large the body is.
 */
export async function parseBody(
  bytes: Buffer,
  refersToState: RefersToState | null,
): Promise<RequestBody> {
  if (!isUtf8(bytes)) throw new AppError('invalid_input', 'The body must be valid UTF-8.')
  if (refersToState !== null && bytes.length > WHOLE_BYTES_MAX) {
    return abridgeBody(bytes, refersToState)
  }
  const text = bytes.toString('utf8')
  return {
    ...{ bytes, text, json: parseObject(text), isTooLarge: false, isUnread: false },
    toBytes: (edited) => Buffer.from(edited, 'utf8'),
  }
}

function parseObject(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalidJson(cause)
  }
  if (!isObject(value)) throw new AppError('invalid_input', 'The body must be a JSON object.')
  return value
}
