/** What a question says about who and when, and how well a memory fits that. */
import type { Instant } from '../ids.ts'
import type { Memory } from '../memory.ts'
import { byScore, type Candidate, stepped } from './candidate.ts'
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

export type Loaded = Candidate & { readonly memory: Memory }

export function readQuestion(question: string, now: Instant): Asked {
  return {
    isAboutUser: /\b(?:i|i'm|i've|i'd|my|me|mine|myself|we|our|us)\b/i.test(question),
    isAboutAssistant: /\b(?:you|you've|you'd|your|yours)\b/i.test(question),
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
      const matched = { ...candidate, evidence }
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
  for (let at = question.indexOf(name); at >= 0; at = question.indexOf(name, at + 1)) {
    const before = question[at - 1] ?? ' '
    const after = question[at + name.length] ?? ' '
    if (!/[\p{L}\p{N}]/u.test(before) && !/[\p{L}\p{N}]/u.test(after)) return true
  }
  return false
}
