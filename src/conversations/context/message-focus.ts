/**
 * The part of a message to recall with. A short message is used as it is. In a long one, a sentence or two carry the
 * point, and recalling with all of it would find whatever resembles the rest.
 */

import { maskQuotedSpeech, QUOTE_MASK } from '../../text/speech/quoted-speech.ts'
import { splitSentences } from '../../text/speech/sentences.ts'

/** Shorter messages are used as they are. */
const SHORT_CHARACTERS = 240
/** Questions are near the end or the beginning of a message; between them is pasted material. */
const EDGE_CHARACTERS = 4_000
const POINT_CHARACTERS_MAX = 600
const QUESTIONS_MAX = 3

/** The questions of a message or, without any, its first and last sentence, where people say what they want. */
export function extractFocus(message: string): string {
  const text = message.trim()
  if (text.length <= SHORT_CHARACTERS) return text
  const sentences = listOwnSentences(takeEdges(text))
  const questions = sentences.filter(({ isQuestion }) => isQuestion).slice(-QUESTIONS_MAX)
  const points = questions.length > 0 ? questions : [sentences[0], sentences.at(-1)]
  const chosen = [...new Set(points.flatMap((point) => (point === undefined ? [] : [point.text])))]
  const point = chosen.join('\n')
  return point === '' ? text : point.slice(0, POINT_CHARACTERS_MAX)
}

function takeEdges(text: string): string {
  if (text.length <= 2 * EDGE_CHARACTERS) return text
  return `${text.slice(0, EDGE_CHARACTERS)}\n${text.slice(-EDGE_CHARACTERS)}`
}

/** The user's own sentences, without quotations and code. */
function listOwnSentences(
  text: string,
): readonly { readonly text: string; readonly isQuestion: boolean }[] {
  const speech = maskQuotedSpeech(text)
  return splitSentences(speech).flatMap(({ start, end, isQuestion }) => {
    const sentence = speech
      .slice(start, end)
      .replaceAll(QUOTE_MASK, ' ')
      .replace(/\s+/g, ' ')
      .trim()
    return /[\p{L}\p{N}]/u.test(sentence) ? [{ text: sentence, isQuestion }] : []
  })
}
