/** Analyzes a question: who it is about, and the time span that it names. */

import type { Instant } from '../../lib/time.ts'
import { containsName } from './names.ts'
import { parseTimeSpan, type TimeSpan } from './time-expressions.ts'

export type ParsedQuestion = {
  readonly question: string
  /** "I", "my": asks for statements of the user. */
  readonly isAboutUser: boolean
  /** "you", "your": asks for statements of the assistant. */
  readonly isAboutAssistant: boolean
  readonly span: TimeSpan | null
}

/** Speakers without a name: questions refer to them with "I" and "you". */
const [USER, ASSISTANT] = ['user', 'assistant']

// Whole words in any script: the "me" of "même" is none. "US" is a country.
const USER_WORDS =
  /(?<![\p{L}\p{N}])(?:[Ii]|[Mm]y|MY|[Mm]e|ME|[Mm]ine|[Mm]yself|[Ww]e|WE|[Oo]ur|OUR|[Uu]s)(?![\p{L}\p{N}])/u
const ASSISTANT_WORDS = /(?<![\p{L}\p{N}])(?:you|your|yours)(?![\p{L}\p{N}])/iu

export function parseQuestion(question: string, now: Instant): ParsedQuestion {
  return {
    question,
    isAboutUser: USER_WORDS.test(question),
    isAboutAssistant: ASSISTANT_WORDS.test(question),
    span: parseTimeSpan(question, now),
  }
}

/** Whether the question asks for statements of this speaker. */
export function isSpeakerAsked(speaker: string, parsed: ParsedQuestion): boolean {
  const name = speaker.toLowerCase()
  if (name === USER) return parsed.isAboutUser
  if (name === ASSISTANT) return parsed.isAboutAssistant
  return containsName(parsed.question, name)
}

/** Whether a speaker has a name, rather than a role. */
export function isNamedSpeaker(speaker: string): boolean {
  return ![USER, ASSISTANT].includes(speaker.toLowerCase())
}
