/**
 * What of a message memory is asked with. A short one is asked as it is. In a long one the point is a sentence or two,
 * and all the rest, looked up together with it, would draw in whatever resembles the rest.
 */

import { maskQuotedSpeech, QUOTE_MASK } from '../../text/speech/quoted-speech.ts'
import { splitSentences } from '../../text/speech/sentences.ts'

/** Messages up to here are one thought. */
const SHORT_CHARACTERS = 240
/** Questions stand near the end or the beginning; what lies between is material. */
const LOOKED_AT_CHARACTERS = 4_000
const POINT_CHARACTERS_MAX = 600
const QUESTIONS_MAX = 3

/** The questions in it; where it asks none, how it begins and how it ends, which is where people say what they want. */
export function extractFocus(message: string): string {
  const text = message.trim()
  if (text.length <= SHORT_CHARACTERS) return text
  const said = listOwnSentences(takeEnds(text))
  const questions = said.filter(({ isQuestion }) => isQuestion).slice(-QUESTIONS_MAX)
  const points = questions.length > 0 ? questions : [said[0], said.at(-1)]
  const chosen = [...new Set(points.flatMap((point) => (point === undefined ? [] : [point.text])))]
  const point = chosen.join('\n')
  return point === '' ? text : point.slice(0, POINT_CHARACTERS_MAX)
}

function takeEnds(text: string): string {
  if (text.length <= 2 * LOOKED_AT_CHARACTERS) return text
  return `${text.slice(0, LOOKED_AT_CHARACTERS)}\n${text.slice(-LOOKED_AT_CHARACTERS)}`
}

/** The person's own sentences, without quotations and code. */
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
