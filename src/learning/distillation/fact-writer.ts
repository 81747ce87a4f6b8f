/** Facts that were found become part of a commit, and what became of them is told. */

import { toAppError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import { type DraftInput, parseDraft } from '../../memory/draft.ts'
import type { WriteBatch } from '../../memory/write-batch.ts'
import type { WriteDecision } from '../../memory/write-decision.ts'
import { gradeIdentity } from '../identity/identity-grade.ts'
import { type FactCounts, NO_FACTS } from './outcome.ts'

/** In their order: each is decided by those before it as well. */
export async function writeFacts(
  batch: WriteBatch,
  drafts: readonly DraftInput[],
  now: Instant,
): Promise<readonly WriteDecision[]> {
  const decisions: WriteDecision[] = []
  for (const draft of drafts) decisions.push(await addFact(batch, draft, now))
  return decisions
}

/** Where the time that a model tells doesn't go together with what is known, the statement is kept without it. */
async function addFact(batch: WriteBatch, input: DraftInput, now: Instant): Promise<WriteDecision> {
  try {
    return await batch.add(parseDraft(input, now))
  } catch (thrown) {
    if (toAppError(thrown).code !== 'invalid_input') throw thrown
    const { validFrom: _, validUntil: __, ...timeless } = input
    return batch.add(parseDraft(timeless, now))
  }
}

/** Which of them say who the person is, in the person's own words. */
export function selectIdentityStatements(drafts: readonly DraftInput[]): readonly string[] {
  return drafts
    .filter(({ content, trust }) => trust === 'user' && gradeIdentity(content) !== null)
    .map(({ content }) => content)
}

/** Who a person is has grown by it: it was not known, or not as a part of that. */
export function isIdentityAddition(decision: WriteDecision): boolean {
  if (decision.kind === 'refused' || decision.memory.category !== 'identity') return false
  const isKnown = decision.kind === 'update' || decision.kind === 'duplicate'
  return !isKnown || decision.previous.category !== 'identity'
}

const COUNTED = {
  create: 'created',
  update: 'updated',
  duplicate: 'reinforced',
  supersede: 'superseded',
  conflict: 'conflicts',
  refused: 'refused',
} as const

export function countDecisions(decisions: readonly WriteDecision[]): FactCounts {
  const counts = { ...NO_FACTS }
  for (const decision of decisions) {
    counts[COUNTED[decision.kind]]++
    if (decision.kind !== 'refused' && decision.memory.trust === 'suspect') counts.suspect++
  }
  return counts
}
