/** A message → the sentences in which the gate looks for cues. The work is bounded, however long the message is. */
import { maskQuotedSpeech } from './quoted-speech.ts'

/** People say what they want at the beginning or at the end. What lies between is mostly pasted. */
export const GATE_EDGE_CHARACTERS_MAX = 2_000

/** Some characters stand for eighteen. */
const UNFOLDED_CHARACTERS_MAX = 4 * GATE_EDGE_CHARACTERS_MAX

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu
const APOSTROPHES = /[\u2018\u2019\u02bc\u0060\u00b4]/g
// Between letters in the order of code points, so that a range of letters holds them.
const OPENING_MARKS = /[¿¡«»]/g
const SENTENCE_END = /[.!?。！？;；…\n]+/u

/** The beginning and the end of a message, as separate paragraphs when something was left out between them. */
export function clipMessage(message: string): string {
  if (message.length <= 2 * GATE_EDGE_CHARACTERS_MAX) return message
  const head = message.slice(0, GATE_EDGE_CHARACTERS_MAX)
  return `${head}\n\n${message.slice(-GATE_EDGE_CHARACTERS_MAX)}`
}

/** Width, case, apostrophes and invisible characters folded. Accents stay: `él` and `el` are two words. */
export function normalizeText(text: string): string {
  return normalizeKeepingCase(text).toLowerCase()
}

/** What `foldText` does, with capitals kept for names. */
export function normalizeKeepingCase(text: string): string {
  return text
    .normalize('NFKC')
    .slice(0, UNFOLDED_CHARACTERS_MAX)
    .replace(INVISIBLE, '')
    .replace(APOSTROPHES, "'")
}

/** The person's own sentences, folded. Quotations, code and pasted turns are somebody else's words. */
export function splitOwnSentences(clipped: string): readonly string[] {
  return normalizeText(maskQuotedSpeech(clipped.replace(INVISIBLE, '')))
    .replace(OPENING_MARKS, ' ')
    .split(SENTENCE_END)
    .map((sentence) => sentence.replace(/\s+/gu, ' ').trim())
    .filter((sentence) => sentence !== '')
}
