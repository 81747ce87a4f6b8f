/** Makes candidates of ranking: nothing speaks for one unless a test says so. */
import type { Memory } from '../../src/domain/memory.ts'
import {
  type Candidate,
  type LoadedCandidate,
  NO_EVIDENCE,
} from '../../src/recall/ranking/candidate.ts'
import { memory, memoryId } from './memories.ts'

export function candidate(id: number, fields: Partial<Candidate> = {}): Candidate {
  return {
    id: memoryId(id),
    score: 0,
    evidence: NO_EVIDENCE,
    coverage: 0,
    contextCoverage: 0,
    similarity: null,
    contextSimilarity: null,
    trail: [],
    ...fields,
  }
}

export function loaded(id: number, score: number, fields: Partial<Memory> = {}): LoadedCandidate {
  return { ...candidate(id, { score }), memory: memory({ id: memoryId(id), ...fields }) }
}
