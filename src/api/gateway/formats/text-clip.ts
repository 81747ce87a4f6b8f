/**
 * The bounded beginning and end of a text. Memory reads no more of a message: what it costs must not grow with what
 * somebody pastes. Clipping is the same for every request, because conversations are recognized by their texts.
 */

export const TEXT_HEAD_CHARACTERS = 24_000
export const TEXT_TAIL_CHARACTERS = 8_000

const GAP = '\n[…]\n'

/** A clipped text is a fixed point: clipping it again changes nothing. */
export function clipText(text: string): string {
  if (text.length <= TEXT_HEAD_CHARACTERS + TEXT_TAIL_CHARACTERS + GAP.length) return text
  return `${text.slice(0, TEXT_HEAD_CHARACTERS)}${GAP}${text.slice(-TEXT_TAIL_CHARACTERS)}`
}
