/** Boosts candidates from the speaker and the time that a question names. */

import { getEventTime } from '../../domain/memory.ts'
import { isSpeakerAsked, type ParsedQuestion } from '../question/question-analysis.ts'
import { computeTimeProximity } from '../question/time-expressions.ts'
import { addTrailStep, compareByScore, type LoadedCandidate, reviseCandidate } from './candidate.ts'
import { EVIDENCE_WEIGHTS } from './fusion.ts'

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
      const time = span === null ? 0 : computeTimeProximity(getEventTime(candidate.memory), span)
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
