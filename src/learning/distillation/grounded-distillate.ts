/** Grounds the statements of a distillate in the turns of its prompt, before anything is decided about them. */

import type { Memory } from '../../domain/memory.ts'
import { raceAbort } from '../../lib/abort.ts'
import { SECOND_MS } from '../../lib/time.ts'
import { withTimeout } from '../../lib/timeout.ts'
import { parseStatement } from '../../memory/contradiction/statements.ts'
import type { Embedder } from '../../models/embedder.ts'
import { normalizeStatement } from '../../text/fingerprint.ts'
import type { Distillate, DistilledFact } from './distillate.ts'
import type { Claim, Grounding } from './grounding/claim.ts'
import { restatesClaim } from './grounding/claim-coverage.ts'
import { type ClaimSimilarity, measureSimilarity } from './grounding/similarity.ts'
import { Transcript } from './grounding/transcript.ts'
import { rewriteUserNames } from './grounding/user-names.ts'
import type { SelectedTurn } from './turn-selection.ts'

/** A fact with the result of its grounding. Inadmissible facts are dropped. */
export type GroundedFact = DistilledFact & {
  readonly grounding: Grounding
  /** Whether it is also an identity statement. */
  readonly isIdentity: boolean
  /** Whether the model named it as an identity statement only. */
  readonly isIdentityOnly: boolean
}

export type GroundedDistillate = Pick<Distillate, 'episode'> & {
  readonly facts: readonly GroundedFact[]
  /** The number of facts and identity statements that the user's words do not support. */
  readonly ungrounded: number
}

/** How long the comparison in vector space may take; without it, only words count. */
const SIMILARITY_TIMEOUT_MS = 20 * SECOND_MS

/**
 * Checks every statement against the turns. An identity statement that repeats a fact becomes part of it, so that one
 * extraction stores a statement once.
 */
export async function groundDistillate(
  { episode, facts, identity }: Distillate,
  shown: readonly SelectedTurn[],
  userNames: readonly string[],
  embedder: Embedder | undefined,
  signal: AbortSignal,
): Promise<GroundedDistillate> {
  const turns = shown.map(({ index, turn, text }) => ({
    ...{ index, role: turn.role, speaker: turn.speaker, content: text, saidAt: turn.saidAt },
  }))
  const transcript = new Transcript(turns, { userNames })
  const statements = mergeIdentity(facts, identity).map((fact) => ({
    ...fact,
    content: rewriteUserNames(fact.content, userNames),
  }))
  const claims = statements.map(({ content, turns: cited, about }) => ({
    ...{ content, turns: cited.length > 0 ? cited : transcript.userTurns },
    ...(about === null ? {} : { about }),
  }))
  const similarities = await measureWithin(claims, turns, embedder, signal)
  const grounded = statements.map((fact, index): GroundedFact => {
    const claim = claims[index] ?? { content: fact.content, turns: fact.turns }
    const grounding = transcript.ground(claim, similarities[index])
    return { ...fact, turns: grounding.isGrounded ? grounding.turns : fact.turns, grounding }
  })
  return {
    episode,
    facts: grounded.filter(
      ({ grounding }) => grounding.isGrounded || grounding.reason !== 'inadmissible',
    ),
    ungrounded: grounded.filter(({ grounding }) => !grounding.isGrounded).length,
  }
}

type MergedFact = Omit<GroundedFact, 'grounding'>

function mergeIdentity(
  facts: readonly DistilledFact[],
  identity: readonly string[],
): readonly MergedFact[] {
  const merged: MergedFact[] = facts.map((fact) => ({
    ...fact,
    ...{ isIdentity: false, isIdentityOnly: false },
  }))
  for (const content of identity) {
    const at = merged.findIndex((fact) => isRestatement(fact.content, content))
    const same = merged[at]
    if (same === undefined) merged.push({ ...IDENTITY_FACT, content })
    else merged[at] = { ...same, isIdentity: true }
  }
  return merged
}

const IDENTITY_FACT: MergedFact = {
  ...{ content: '', type: 'factual', category: 'fact', isIdentity: true, isIdentityOnly: true },
  about: null,
  ...{
    importance: null,
    salience: null,
    entities: [],
    validFrom: null,
    validUntil: null,
    turns: [],
  },
}

function isRestatement(content: string, other: string): boolean {
  return (
    normalizeStatement(content) === normalizeStatement(other) ||
    (restatesClaim(content, other) && restatesClaim(other, content))
  )
}

/** Empty where there is no embedder at hand, or where it fails or is late. */
async function measureWithin(
  claims: readonly Claim[],
  turns: Parameters<typeof measureSimilarity>[1],
  embedder: Embedder | undefined,
  signal: AbortSignal,
): Promise<readonly ClaimSimilarity[]> {
  if (claims.length === 0 || embedder?.report().state.kind !== 'ready') return []
  const measured = await withTimeout(SIMILARITY_TIMEOUT_MS, (late) => {
    const stop = AbortSignal.any([late, signal])
    const embed = (texts: readonly string[]) =>
      embedder.embed(texts, { purpose: 'document', signal: stop })
    return raceAbort(measureSimilarity(claims, turns, embed), stop)
  })
  return measured.kind === 'failed' ? [] : measured.result
}

/** The names that identity statements give the user. */
export function listUserNames(identity: readonly Memory[]): readonly string[] {
  const names = identity.flatMap(({ content }) => {
    const { attribute } = parseStatement(content)
    return attribute?.name === 'name' ? [attribute.value] : []
  })
  return [...new Set(names)]
}
