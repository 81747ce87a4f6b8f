/** Adds fact drafts to a write batch and counts the decisions. */

import { toAppError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import { type DraftInput, parseDraft } from '../../memory/draft.ts'
import type { WriteBatch } from '../../memory/write-batch.ts'
import type { WriteDecision } from '../../memory/write-decision.ts'
import { type FactCounts, NO_FACTS } from './outcome.ts'

/** Adds drafts in order, because each decision depends on the ones before it. */
export async function writeFacts(
  batch: WriteBatch,
  drafts: readonly DraftInput[],
  now: Instant,
): Promise<readonly WriteDecision[]> {
  const decisions: WriteDecision[] = []
  for (const draft of drafts) decisions.push(await addFact(batch, draft, now))
  return decisions
}

/** Stores a statement without its period when the period that the model named is invalid. */
export async function addFact(
  batch: WriteBatch,
  input: DraftInput,
  now: Instant,
): Promise<WriteDecision> {
  try {
    return await batch.add(parseDraft(input, now))
  } catch (thrown) {
    if (toAppError(thrown).code !== 'invalid_input') throw thrown
    const { validFrom: _, validUntil: __, ...timeless } = input
    return batch.add(parseDraft(timeless, now))
  }
}

/** Whether the decision added an identity statement or turned a known memory into one. */
export function isIdentityAddition(decision: WriteDecision): boolean {
  if (decision.kind === 'refused' || decision.memory.category !== 'identity') return false
  const isExisting = decision.kind === 'update' || decision.kind === 'duplicate'
  return !isExisting || decision.previous.category !== 'identity'
}

const COUNTER_BY_DECISION = {
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
    counts[COUNTER_BY_DECISION[decision.kind]]++
    if (decision.kind !== 'refused' && decision.memory.trust === 'suspect') counts.suspect++
  }
  return counts
}
