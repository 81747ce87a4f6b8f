/** Boosts candidates from the speaker and the time that a question names. */

import { getEventTime } from '../../domain/memory.ts'
import { isTurnDocument, type SearchDocument } from '../../domain/search-document.ts'
import { DAY_MS } from '../../lib/time.ts'
import { isSpeakerAsked, type ParsedQuestion } from '../question/question-analysis.ts'
import { computeTimeProximity, type TimeSpan } from '../question/time-expressions.ts'
import { addTrailStep, compareByScore, type LoadedCandidate, reviseCandidate } from './candidate.ts'
import { EVIDENCE_WEIGHTS } from './fusion.ts'

/** The factor for facts of another time, when the question names a short one. */
const OTHER_TIME = 0.4
const SELECTIVE_MS_MAX = 120 * DAY_MS

function isSelective(span: TimeSpan | null): span is TimeSpan {
  return span !== null && span.until - span.from <= SELECTIVE_MS_MAX
}

export function boostQuestionMatches(
  candidates: readonly LoadedCandidate[],
  parsed: ParsedQuestion,
): readonly LoadedCandidate[] {
  const { span } = parsed
  // Fusion methods have different scales, so a boost is a share of the best score.
  const scale = Math.max(0, ...candidates.map(({ score }) => score))
  return candidates
    .map((candidate) => {
      const name = candidate.memory.provenance.speaker
      const speaker = name !== null && isSpeakerAsked(name, parsed) ? 1 : 0
      const time = span === null ? 0 : computeTimeMatch(candidate.memory, span)
      if (time === 0 && isSelective(span) && !isTurnDocument(candidate.memory)) {
        const note = `not from ${span.words}`
        return addTrailStep(candidate, 'question-match', candidate.score * OTHER_TIME, note)
      }
      if (speaker === 0 && time === 0) return candidate
      const notes = [
        ...(speaker > 0 ? [`said by ${name}`] : []),
        ...(time > 0 ? [`from ${span?.words}`] : []),
      ]
      const boost = EVIDENCE_WEIGHTS.speaker * speaker + EVIDENCE_WEIGHTS.time * time
      const evidence = { ...candidate.evidence, speaker, time }
      return addTrailStep(
        reviseCandidate(candidate, { evidence }),
        'question-match',
        candidate.score + scale * boost,
        notes.join(', '),
      )
    })
    .sort(compareByScore)
}

/** How well a document fits a time span. A superseded memory fits the time in which it held. */
function computeTimeMatch(memory: SearchDocument, span: TimeSpan): number {
  const at = getEventTime(memory)
  const heldThen =
    memory.status === 'superseded' &&
    at < span.until &&
    memory.validUntil !== null &&
    memory.validUntil > span.from
  return heldThen ? 1 : computeTimeProximity(at, span)
}
