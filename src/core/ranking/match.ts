/** What a question says about who and when, and how well a memory fits that. */
import type { Instant } from '../ids.ts'
import type { Memory } from '../memory.ts'
import { UNSPACED } from '../terms.ts'
import { byScore, type Loaded, revised, stepped } from './candidate.ts'
import { EVIDENCE_WEIGHTS } from './fusion.ts'
import { nearness, type Span, timeSpan } from './times.ts'

/** What is asked for beside the words themselves. */
export type Asked = {
  /** "I", "my": what the user said about themselves. */
  readonly isAboutUser: boolean
  /** "you", "your": what the assistant said. */
  readonly isAboutAssistant: boolean
  readonly span: Span | null
  readonly question: string
}

// Whole words in any script: the "me" of "même" is none. "US" is a country.
const USER_WORDS =
  /(?<![\p{L}\p{N}])(?:[Ii]|[Mm]y|MY|[Mm]e|ME|[Mm]ine|[Mm]yself|[Ww]e|WE|[Oo]ur|OUR|[Uu]s)(?![\p{L}\p{N}])/u
const ASSISTANT_WORDS = /(?<![\p{L}\p{N}])(?:you|your|yours)(?![\p{L}\p{N}])/iu

export function readQuestion(question: string, now: Instant): Asked {
  return {
    isAboutUser: USER_WORDS.test(question),
    isAboutAssistant: ASSISTANT_WORDS.test(question),
    span: timeSpan(question, now),
    question: question.toLowerCase(),
  }
}

/** Raises memories of those, and of the time, that the question names. */
export function match(candidates: readonly Loaded[], asked: Asked): readonly Loaded[] {
  // Every way of fusing has its own scale; what fits raises by a share of the best score.
  const scale = Math.max(0, ...candidates.map(({ score }) => score))
  return candidates
    .map((candidate) => {
      const name = candidate.memory.provenance.speaker
      const speaker = name !== null && isAskedFor(name, asked) ? 1 : 0
      const time = asked.span === null ? 0 : nearness(momentOf(candidate.memory), asked.span)
      if (speaker === 0 && time === 0) return candidate
      const notes = [
        ...(speaker > 0 ? [`said by ${name}`] : []),
        ...(time > 0 ? [`from ${asked.span?.words}`] : []),
      ]
      const fit = EVIDENCE_WEIGHTS.speaker * speaker + EVIDENCE_WEIGHTS.time * time
      const evidence = { ...candidate.evidence, speaker, time }
      const matched = revised(candidate, { evidence })
      return stepped(matched, 'match', candidate.score + scale * fit, notes.join(', '))
    })
    .sort(byScore)
}

/** The time that a memory is of: when it began to hold, if that is known. */
export function momentOf({ validFrom, createdAt }: Memory): Instant {
  return validFrom ?? createdAt
}

function isAskedFor(speaker: string, asked: Asked): boolean {
  const name = speaker.toLowerCase()
  if (name === 'user') return asked.isAboutUser
  if (name === 'assistant') return asked.isAboutAssistant
  return containsName(asked.question, name)
}

/** Whole names only: "Al" is not asked for by "also". Looked for without an expression, since names are anything. */
function containsName(question: string, name: string): boolean {
  if (name.trim() === '') return false
  for (let at = question.indexOf(name); at >= 0; at = question.indexOf(name, at + 1)) {
    if (isWordEdge(question, at) && isWordEdge(question, at + name.length)) return true
  }
  return false
}

/** Whether a word may begin or end here. Where words are written without spaces, that is anywhere. */
function isWordEdge(text: string, at: number): boolean {
  const before = LAST_LETTER.exec(text.slice(Math.max(0, at - 2), at))?.[0]
  const after = FIRST_LETTER.exec(text.slice(at, at + 2))?.[0]
  if (before === undefined || after === undefined) return true
  return UNSPACED.test(before) || UNSPACED.test(after)
}

// Not one class: V8 14 misses letters beyond the basic plane when a class stands before `$`.
const LAST_LETTER = /(?:\p{L}|\p{N}|\p{M})$/u
const FIRST_LETTER = /^[\p{L}\p{N}\p{M}]/u
