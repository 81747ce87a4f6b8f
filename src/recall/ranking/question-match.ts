/** What a question says about who and when, and how well a memory fits that. */

import type { SearchDocument } from '../../domain/search-document.ts'
import type { Instant } from '../../lib/time.ts'
import { containsName } from '../question/names.ts'
import { computeTimeProximity, parseTimeSpan, type TimeSpan } from '../question/time-expressions.ts'
import { addTrailStep, compareByScore, type LoadedCandidate, reviseCandidate } from './candidate.ts'
import { EVIDENCE_WEIGHTS } from './fusion.ts'

/** What is asked for beside the words themselves. */
export type ParsedQuestion = {
  /** "I", "my": what the user said about themselves. */
  readonly isAboutUser: boolean
  /** "you", "your": what the assistant said. */
  readonly isAboutAssistant: boolean
  readonly span: TimeSpan | null
  readonly question: string
}

/** Names of roles, not of somebody: questions say "I" and "you" for them. */
const [USER, ASSISTANT] = ['user', 'assistant']

// Whole words in any script: the "me" of "même" is none. "US" is a country.
const USER_WORDS =
  /(?<![\p{L}\p{N}])(?:[Ii]|[Mm]y|MY|[Mm]e|ME|[Mm]ine|[Mm]yself|[Ww]e|WE|[Oo]ur|OUR|[Uu]s)(?![\p{L}\p{N}])/u
const ASSISTANT_WORDS = /(?<![\p{L}\p{N}])(?:you|your|yours)(?![\p{L}\p{N}])/iu

export function parseQuestion(question: string, now: Instant): ParsedQuestion {
  return {
    isAboutUser: USER_WORDS.test(question),
    isAboutAssistant: ASSISTANT_WORDS.test(question),
    span: parseTimeSpan(question, now),
    question,
  }
}

/** Raises memories of those, and of the time, that the question names. */
export function boostQuestionMatches(
  candidates: readonly LoadedCandidate[],
  asked: ParsedQuestion,
): readonly LoadedCandidate[] {
  // Every way of fusing has its own scale; what fits raises by a share of the best score.
  const scale = Math.max(0, ...candidates.map(({ score }) => score))
  return candidates
    .map((candidate) => {
      const name = candidate.memory.provenance.speaker
      const speaker = name !== null && isSpeakerNamed(name, asked) ? 1 : 0
      const time =
        asked.span === null ? 0 : computeTimeProximity(getEventTime(candidate.memory), asked.span)
      if (speaker === 0 && time === 0) return candidate
      const notes = [
        ...(speaker > 0 ? [`said by ${name}`] : []),
        ...(time > 0 ? [`from ${asked.span?.words}`] : []),
      ]
      const fit = EVIDENCE_WEIGHTS.speaker * speaker + EVIDENCE_WEIGHTS.time * time
      const evidence = { ...candidate.evidence, speaker, time }
      const matched = reviseCandidate(candidate, { evidence })
      return addTrailStep(
        matched,
        'question-match',
        candidate.score + scale * fit,
        notes.join(', '),
      )
    })
    .sort(compareByScore)
}

/** The time that a memory is of: when it began to hold, if that is known. */
export function getEventTime({ validFrom, createdAt }: SearchDocument): Instant {
  return validFrom ?? createdAt
}

function isSpeakerNamed(speaker: string, asked: ParsedQuestion): boolean {
  const name = speaker.toLowerCase()
  if (name === USER) return asked.isAboutUser
  if (name === ASSISTANT) return asked.isAboutAssistant
  return containsName(asked.question, name)
}

/** Whether a speaker is somebody with a name. */
export function isNamedSpeaker(speaker: string): boolean {
  return ![USER, ASSISTANT].includes(speaker.toLowerCase())
}
