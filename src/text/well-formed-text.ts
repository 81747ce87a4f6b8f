/** Text that is valid UTF-16: handling of surrogate pairs at cuts, and cleaning for requests to services. */

/** Stands in for a blank text, which most services reject. */
const BLANK_TEXT = '.'

const LONE_SURROGATE = /\p{Surrogate}/gu

/** Truncates a text without splitting a character, and replaces lone surrogates. */
export function truncateText(text: string, unitsMax: number): string {
  return text.slice(0, alignCut(text, unitsMax)).replace(LONE_SURROGATE, '\ufffd')
}

function alignCut(text: string, unitsMax: number): number {
  return text.length <= unitsMax ? text.length : alignToCharacter(text, unitsMax)
}

/** Makes a text valid UTF-8 and never blank. NUL is replaced because it ends the text early in some services. */
export function toSendableText(text: string): string {
  const wellFormed = text.replace(LONE_SURROGATE, '\ufffd').replaceAll('\0', ' ')
  return wellFormed.trim() === '' ? BLANK_TEXT : wellFormed
}

/** Removes the first half of a surrogate pair that a cut left at the end. */
export function trimLoneSurrogate(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text
}

/** The offset, or the one before it if it splits a surrogate pair. */
export function alignToCharacter(text: string, at: number): number {
  return splitsSurrogatePair(text, at) ? at - 1 : at
}

export function splitsSurrogatePair(text: string, at: number): boolean {
  return isBetween(text, at - 1, 0xd800, 0xdbff) && isBetween(text, at, 0xdc00, 0xdfff)
}

function isBetween(text: string, at: number, from: number, to: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= from && unit <= to
}
