/**
 * The fingerprint of a statement: a 64-bit hash that is equal for texts that differ only in case, width, spacing or
 * closing punctuation. It finds exact restatements without reading every memory. It is fast, not collision-free, so
 * callers that act on a match compare the statements themselves.
 */
export function computeFingerprint(content: string): string {
  const text = normalizeStatement(content)
  let low = 0xdeadbeef
  let high = 0x41c6ce57
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    low = Math.imul(low ^ unit, 0x9e3779b1)
    high = Math.imul(high ^ unit, 0x5f356495)
  }
  return toHex(mixHash(low, high)) + toHex(mixHash(high, low))
}

/** Folds case, width and spacing, and strips closing punctuation. */
export function normalizeStatement(content: string): string {
  const folded = collapseWhitespace(content.normalize('NFKC').toLowerCase())
  const stripped = folded.replace(/[.!。！ ]+$/, '')
  // Texts of punctuation only must still differ from each other.
  return stripped === '' ? folded : stripped
}

/** Most texts need no change, and testing is four times as fast as replacing; imports run this on every row. */
function collapseWhitespace(text: string): string {
  return (/[^\S ]| {2}/.test(text) ? text.replace(/\s+/g, ' ') : text).trim()
}

/** The finalizer of MurmurHash3: one changed letter changes all bits. */
function mixHash(word: number, other: number): number {
  let hash = word ^ (other >>> 13)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

function toHex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0')
}
