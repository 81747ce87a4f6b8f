/**
 * Decodes `application/vnd.amazon.eventstream`: messages of a prelude (two lengths and their checksum), headers, a payload
 * and a checksum of all of it.
 */
import { crc32 } from 'node:zlib'
import { AppError } from '../../../lib/errors.ts'

export type EventStreamMessage = {
  /** Those whose value is text, by name, such as `:event-type`. */
  readonly headers: Readonly<Record<string, string>>
  readonly payload: Buffer
}

const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4
/** More than the format allows. */
const MESSAGE_BYTES_MAX = 25 * 1_048_576

const TEXT_TYPE = 7
/** Of values by their type; those with a length of their own begin with it. */
const VALUE_BYTES: readonly (number | null)[] = [0, 0, 1, 2, 4, 8, null, null, 8, 16]

/** Messages as they come, however the bytes are cut. Fails on damaged ones, and when the stream ends within one. */
export async function* decodeEventStream(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<EventStreamMessage> {
  let parts: Uint8Array[] = []
  let held = 0
  let wanted = PRELUDE_BYTES
  for await (const chunk of chunks) {
    parts.push(chunk)
    held += chunk.length
    // Joined only when a whole message may be there, so that a large one is not copied with each chunk.
    if (held < wanted) continue
    let rest = Buffer.concat(parts)
    wanted = wantedBytes(rest)
    while (rest.length >= wanted) {
      yield readMessage(rest.subarray(0, wanted))
      rest = rest.subarray(wanted)
      wanted = wantedBytes(rest)
    }
    parts = [rest]
    held = rest.length
  }
  if (held > 0) throw damaged('it ends within a message')
}

/** The length of the message that begins here, or of its prelude as long as that is incomplete. */
function wantedBytes(bytes: Buffer): number {
  if (bytes.length < PRELUDE_BYTES) return PRELUDE_BYTES
  const length = bytes.readUInt32BE(0)
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw damaged('a checksum is wrong')
  const least = PRELUDE_BYTES + bytes.readUInt32BE(4) + CHECKSUM_BYTES
  if (length < least || length > MESSAGE_BYTES_MAX) throw damaged('a length is wrong')
  return length
}

function readMessage(message: Buffer): EventStreamMessage {
  const end = message.length - CHECKSUM_BYTES
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) {
    throw damaged('a checksum is wrong')
  }
  const payloadAt = PRELUDE_BYTES + message.readUInt32BE(4)
  return {
    headers: readHeaders(message.subarray(PRELUDE_BYTES, payloadAt)),
    payload: message.subarray(payloadAt, end),
  }
}

function readHeaders(bytes: Buffer): Readonly<Record<string, string>> {
  const headers: [string, string][] = []
  try {
    for (let at = 0; at < bytes.length; ) {
      const nameEnd = at + 1 + bytes.readUInt8(at)
      const name = bytes.toString('utf8', at + 1, nameEnd)
      const type = bytes.readUInt8(nameEnd)
      const fixed = VALUE_BYTES[type]
      if (fixed === undefined) throw damaged('a header has an unknown type')
      const valueAt = nameEnd + 1 + (fixed === null ? 2 : 0)
      const valueEnd = valueAt + (fixed ?? bytes.readUInt16BE(nameEnd + 1))
      if (valueEnd > bytes.length) throw damaged('a header is cut off')
      if (type === TEXT_TYPE) headers.push([name, bytes.toString('utf8', valueAt, valueEnd)])
      at = valueEnd
    }
  } catch (thrown) {
    if (thrown instanceof RangeError) throw damaged('a header is cut off')
    throw thrown
  }
  return Object.fromEntries(headers)
}

function damaged(how: string): AppError {
  return new AppError('bad_gateway', `The event stream of the provider is damaged: ${how}.`)
}
