/**
 * Whether a text holds another one, in capitals or not.
 *
 * Every character is lowered by itself, so that databases can do the same: the one letter whose lower case depends on
 * where it stands, the Greek sigma, has one form here. Characters count as a whole; a lone half of a surrogate pair is
 * one of its own and is not found inside a pair.
 */
const FINAL_SIGMA = 'ς'
const SIGMA = 'σ'

export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll(FINAL_SIGMA, SIGMA)
}

/** `wanted` must have been lowered. Every text holds the empty one. */
export function containsFolded(text: string, wanted: string): boolean {
  const lower = foldCase(text)
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, at + 1)) {
    if (!isInsidePair(lower, at) && !isInsidePair(lower, at + wanted.length)) return true
  }
  return false
}

/** Whether the two halves of one character stand before and after this position. */
function isInsidePair(text: string, position: number): boolean {
  return isWithin(text, position - 1, 0xd800, 0xdbff) && isWithin(text, position, 0xdc00, 0xdfff)
}

function isWithin(text: string, position: number, from: number, to: number): boolean {
  const unit = text.charCodeAt(position)
  return unit >= from && unit <= to
}
