/** Cuts a text to the tail that extraction reads. */

/**
 * Where to begin reading so that at most `bytesMax` UTF-8 bytes remain. A cut text is entered after its next
 * sentence end, or not at all: half a sentence may have lost the "if" or the "not" that it began with.
 */
export function findTailStart(text: string, bytesMax: number): number {
  const cut = findByteCut(text, bytesMax)
  if (cut === 0) return 0
  const sentenceEnd = /[.!?]\s|[。！？\n]/gu
  sentenceEnd.lastIndex = cut
  const found = sentenceEnd.exec(text)
  return found === null ? text.length : found.index + found[0].length
}

function findByteCut(text: string, bytesMax: number): number {
  // A UTF-16 unit takes at least one byte, so nothing before this can fit.
  const first = Math.max(0, text.length - bytesMax)
  let bytes = 0
  for (let at = text.length - 1; at >= first; at--) {
    bytes += utf8Bytes(text.charCodeAt(at))
    if (bytes > bytesMax) return isLowSurrogate(text, at + 1) ? at + 2 : at + 1
  }
  return isLowSurrogate(text, first) ? first + 1 : first
}

/** Each half of a surrogate pair counts two of the pair's four bytes. */
function utf8Bytes(unit: number): number {
  if (unit < 0x80) return 1
  if (unit < 0x800) return 2
  return isSurrogate(unit) ? 2 : 3
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}
