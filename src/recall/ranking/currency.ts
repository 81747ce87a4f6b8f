/** Of memories about the same state of the same person or thing, the newer one comes first. */
import { getEventTime } from '../../domain/memory.ts'
import { isTurnDocument } from '../../domain/search-document.ts'
import { findReplaced } from '../../memory/contradiction/replaced-text.ts'
import { concernSameState } from '../../memory/contradiction/state-changes.ts'
import { addTrailStep, type LoadedCandidate } from './candidate.ts'

/** Of so many best memories. */
const ORDERED_MAX = 20

export function orderByCurrency(
  candidates: readonly LoadedCandidate[],
): readonly LoadedCandidate[] {
  const ordered: LoadedCandidate[] = []
  for (const [index, candidate] of candidates.entries()) {
    const at = index < ORDERED_MAX ? findOlder(ordered, candidate) : -1
    const older = ordered[at]
    if (older === undefined) ordered.push(candidate)
    else ordered.splice(at, 0, raise(candidate, older))
  }
  return ordered
}

/** The first older memory about the same state. */
function findOlder(ordered: readonly LoadedCandidate[], { memory }: LoadedCandidate): number {
  if (isTurnDocument(memory)) return -1
  return ordered.findIndex(
    (other) =>
      !isTurnDocument(other.memory) &&
      getEventTime(other.memory) < getEventTime(memory) &&
      (concernSameState(memory.content, other.memory.content) ||
        findReplaced(memory.content, other.memory.content) !== null),
  )
}

function raise(candidate: LoadedCandidate, older: LoadedCandidate): LoadedCandidate {
  return addTrailStep(candidate, 'boost', older.score, () => 'newer than a memory about the same')
}
