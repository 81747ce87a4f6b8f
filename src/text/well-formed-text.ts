/** Most services refuse a blank text; this stands for one. */
export const BLANK_TEXT = '.'

export const LONE_HALVES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const LONE_HALF = /\p{Surrogate}/gu

/** As much of a text as a model can see, without halves of characters: neither those of the cut nor lone ones. */
export function truncateText(text: string, unitsMax: number): string {
  return text.slice(0, cutAt(text, unitsMax)).replace(LONE_HALF, '\ufffd')
}

function cutAt(text: string, unitsMax: number): number {
  if (text.length <= unitsMax) return text.length
  const splitsPair = (text.codePointAt(unitsMax - 1) ?? 0) > 0xffff
  return splitsPair ? unitsMax - 1 : unitsMax
}

/** As UTF-8 can hold it, and never blank. NUL ends a text early in some services. */
export function toSendableText(text: string): string {
  const sound = text.replace(LONE_HALVES, '\ufffd').replaceAll('\0', ' ')
  return sound.trim() === '' ? BLANK_TEXT : sound
}
