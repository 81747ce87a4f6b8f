/**
 * Detects follow-up questions. "And where is it?" has no searchable words: its subject is in the messages before. Such a
 * question is searched together with them, and its own words count most.
 */

import { UNSPACED_SCRIPT } from '../../text/search/cjk-terms.ts'
import { STOP_WORDS } from '../../text/search/stopwords.ts'

/** The weight of the question's own vector against the vector of the context. */
const QUESTION_VECTOR_WEIGHT = 0.65
/** A message with at most this many content words depends on its context; one with a pronoun may have a few. */
const CONTENT_WORDS_MAX = 0
const CONTENT_WORDS_WITH_PRONOUN_MAX = 4
/** The same in scripts without spaces, where words cannot be counted. */
const UNSPACED_CHARACTERS_MAX = 8

const PRONOUNS: ReadonlySet<string> = new Set(
  (
    'it its he him his she her hers they them their theirs that this those these there then one ones ' +
    'er sie es ihn ihm ihr ihre ihren sein seine seinen das dies diese dieser dort dahin davon dabei damit darin ' +
    'il elle lui leur leurs ils elles ça cela celui celle ceux y en là son sa ses ' +
    'él ella ello ellos ellas eso esto esa ese aquello su sus allí ahí ' +
    'ele ela eles elas isso isto aquilo seu sua dele dela lá'
  ).split(' '),
)
/** Words of questions that carry no subject. */
const QUESTION_WORDS: ReadonlySet<string> = new Set(
  (
    'and but or so is are was were be been do does did have has had can could will would should where when who whom what ' +
    'which why how i me my you your we us our ' +
    'und aber oder ist sind war waren hat haben wo wann wer wen wem was welche warum wie ich mir mich mein du dein wir ' +
    'et mais ou est sont où quand qui que quoi comment pourquoi je tu nous vous ' +
    'y pero o es son dónde cuándo quién qué cómo por ' +
    'e mas é são onde quando quem que como'
  ).split(' '),
)
const CONJUNCTION = /^\s*(?:and|but|or|so|und|aber|oder|et|mais|ou|y|pero|o|e|mas)\b/iu
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’]*/gu

/** Whether a message cannot be understood without the messages before it. */
export function isFollowUp(message: string): boolean {
  if (UNSPACED_SCRIPT.test(message)) return [...message.trim()].length <= UNSPACED_CHARACTERS_MAX
  const hasReference =
    CONJUNCTION.test(message) || listWords(message).some((word) => PRONOUNS.has(word))
  const max = hasReference ? CONTENT_WORDS_WITH_PRONOUN_MAX : CONTENT_WORDS_MAX
  return listContentWords(message).size <= max
}

/** Whether a message has a searchable word. */
export function hasContentWord(message: string): boolean {
  return UNSPACED_SCRIPT.test(message) || listContentWords(message).size > 0
}

function listContentWords(message: string): ReadonlySet<string> {
  return new Set(
    listWords(message).filter(
      (word) => !STOP_WORDS.has(word) && !PRONOUNS.has(word) && !QUESTION_WORDS.has(word),
    ),
  )
}

function listWords(message: string): readonly string[] {
  const words = message.toLowerCase().match(WORDS) ?? []
  return words.map((word) => word.replace(/['’].*$/u, ''))
}

/** The weighted sum of both vectors, normalized. */
export function blendVectors(question: Float32Array, context: Float32Array): Float32Array {
  const blended = question.map(
    (value, at) =>
      QUESTION_VECTOR_WEIGHT * value + (1 - QUESTION_VECTOR_WEIGHT) * (context[at] ?? 0),
  )
  const length = Math.sqrt(blended.reduce((sum, value) => sum + value * value, 0))
  return length === 0 ? question : blended.map((value) => value / length)
}
