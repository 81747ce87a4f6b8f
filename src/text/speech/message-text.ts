/** Normalizes messages and splits them into the user's own sentences, in bounded time for any message. */
import { maskQuotedSpeech } from './quoted-speech.ts'

/** Requests stand at the beginning or the end of a message. The middle is mostly pasted text. */
export const GATE_EDGE_CHARACTERS_MAX = 2_000

/** NFKC expands some characters to eighteen. */
const NORMALIZED_CHARACTERS_MAX = 4 * GATE_EDGE_CHARACTERS_MAX

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu
const APOSTROPHES = /[\u2018\u2019\u02bc\u0060\u00b4]/g
// Their code points lie between letters, so ranges of letters would match them.
const OPENING_MARKS = /[¿¡«»]/g
const SENTENCE_END = /[.!?。！？;；…\n]+/u

/** The beginning and the end of a message, as separate paragraphs if the middle is omitted. */
export function clipMessage(message: string): string {
  if (message.length <= 2 * GATE_EDGE_CHARACTERS_MAX) return message
  const head = message.slice(0, GATE_EDGE_CHARACTERS_MAX)
  return `${head}\n\n${message.slice(-GATE_EDGE_CHARACTERS_MAX)}`
}

/** Folds width, case and apostrophes and drops invisible characters. Accents stay: `él` and `el` are two words. */
export function normalizeText(text: string): string {
  return normalizeKeepingCase(text).toLowerCase()
}

/** `normalizeText` with the capitals that mark names. */
export function normalizeKeepingCase(text: string): string {
  return text
    .normalize('NFKC')
    .slice(0, NORMALIZED_CHARACTERS_MAX)
    .replace(INVISIBLE, '')
    .replace(APOSTROPHES, "'")
}

/** The user's own sentences, normalized, without quotations, code and pasted turns. */
export function splitOwnSentences(clipped: string): readonly string[] {
  return normalizeText(maskQuotedSpeech(clipped.replace(INVISIBLE, '')))
    .replace(OPENING_MARKS, ' ')
    .split(SENTENCE_END)
    .map((sentence) => sentence.replace(/\s+/gu, ' ').trim())
    .filter((sentence) => sentence !== '')
}
