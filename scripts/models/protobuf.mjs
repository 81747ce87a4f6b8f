/**
 * Protocol-buffer messages as lists of fields, which is all that rewriting a model takes: what isn't touched keeps its
 * bytes and its place.
 */
const VARINT = 0
const EIGHT_BYTES = 1
const BYTES = 2
const FOUR_BYTES = 5

/** The fields of a message, in order. `value` is a number for integers and the bytes for everything else. */
export function readFields(message) {
  const fields = []
  for (let at = 0; at < message.length; ) {
    const begin = at
    const key = readVarint(message, at)
    at = key.end
    const wire = key.value & 7
    let value
    if (wire === VARINT) {
      const number = readVarint(message, at)
      value = number.value
      at = number.end
    } else {
      const length = lengthOf(message, at, wire)
      at = length.begin + length.bytes
      value = message.subarray(length.begin, at)
    }
    if (at > message.length) throw new Error('A field goes beyond the end of its message.')
    fields.push({ number: Math.floor(key.value / 8), value, raw: message.subarray(begin, at) })
  }
  return fields
}

export function integerField(number, value) {
  return Buffer.concat([varint(number * 8 + VARINT), varint(value)])
}

/** A text, a nested message or plain bytes. */
export function bytesField(number, content) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return Buffer.concat([varint(number * 8 + BYTES), varint(bytes.length), bytes])
}

export function texts(fields, number) {
  return fields.filter((field) => field.number === number).map(({ value }) => decode(value))
}

export function text(fields, number) {
  return texts(fields, number)[0] ?? ''
}

function decode(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
}

function lengthOf(message, at, wire) {
  if (wire === EIGHT_BYTES) return { begin: at, bytes: 8 }
  if (wire === FOUR_BYTES) return { begin: at, bytes: 4 }
  if (wire !== BYTES) throw new Error(`Wire type ${wire} is unknown.`)
  const length = readVarint(message, at)
  return { begin: length.end, bytes: length.value }
}

/** Numbers beyond 2^53 lose their last digits; none that is read is that large. */
function readVarint(message, begin) {
  let value = 0
  for (let at = begin, scale = 1; at < message.length; at++, scale *= 128) {
    value += (message[at] & 0x7f) * scale
    if (message[at] < 0x80) return { value, end: at + 1 }
  }
  throw new Error('A number goes beyond the end of its message.')
}

function varint(value) {
  const bytes = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}
