/** Text from the bytes of a file, with what is to be told of them. */
import { isUtf8 } from 'node:buffer'

export type DecodedText =
  | { readonly kind: 'text'; readonly text: string; readonly isSound: boolean }
  | { readonly kind: 'binary' }

/** UTF-8, or UTF-16 where a mark at the beginning says so; the mark is no part of the text. Text holds no NUL. */
export function decodeText(bytes: Buffer): DecodedText {
  const encoding = markedEncoding(bytes)
  if (encoding !== null) return decodeAs(encoding, bytes)
  if (bytes.includes(0)) return { kind: 'binary' }
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  return { kind: 'text', text: bytes.toString('utf8', start), isSound: isUtf8(bytes) }
}

function markedEncoding(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const [first, second, third, fourth] = bytes
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  // Four bytes of it mark UTF-32, which nobody writes notes in.
  const isWide = third === 0 && fourth === 0
  return first === 0xff && second === 0xfe && !isWide ? 'utf-16le' : null
}

function decodeAs(encoding: 'utf-16le' | 'utf-16be', bytes: Buffer): DecodedText {
  const text = new TextDecoder(encoding).decode(bytes)
  if (text.includes('\0')) return { kind: 'binary' }
  return { kind: 'text', text, isSound: isWellDecoded(encoding, bytes) }
}

function isWellDecoded(encoding: string, bytes: Buffer): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
