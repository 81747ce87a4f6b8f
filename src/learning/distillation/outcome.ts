/** What became of a distillation. */

import type { ChangeId, MemoryId } from '../../domain/ids.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'

/**
 * `skipped`: no model was of use, or none was asked; the signals wait, except after `low_novelty`, where there was nothing
 * to ask about. What patterns find is kept in both cases. `empty`: a model found nothing. `dead_letter`: this was the last failure for so many signals.
 */
export type DistillationOutcome =
  | 'distilled'
  | 'no_signals'
  | `skipped:${'no_model' | 'low_novelty' | 'cancelled' | 'changed' | 'extraction' | ErrorCode}`
  | `empty:${'nothing' | 'no_turns'}`
  | `dead_letter:${number}`
  | `error:${ErrorCode | 'bad_answer'}`

export type FactCounts = {
  readonly created: number
  readonly updated: number
  readonly reinforced: number
  readonly superseded: number
  readonly conflicts: number
  /** Of all of these, those that wait for a person because they look like instructions. */
  readonly suspect: number
  /** Not kept, because they were forgotten after they were said. */
  readonly refused: number
}

export const NO_FACTS: FactCounts = {
  created: 0,
  updated: 0,
  reinforced: 0,
  superseded: 0,
  conflicts: 0,
  suspect: 0,
  refused: 0,
}

export type Distillation = {
  readonly outcome: DistillationOutcome
  /** The one of the session, also where this distillation left it alone. */
  readonly episode: MemoryId | null
  /** By which all that was distilled can be undone. */
  readonly change: ChangeId | null
  /** All changes that were made, in their order: also those that took back what corrected words had taught. */
  readonly changes: readonly ChangeId[]
  readonly facts: FactCounts
  /** How many were added to who the person is. */
  readonly identity: number
  /** How many signals were dealt with, and how many of the session still wait. */
  readonly signals: number
  readonly pending: number
  readonly tokens: { readonly input: number; readonly output: number }
  /** Where a part says until when it can't be used. */
  readonly retryAt: Instant | null
}

export function createDistillation(
  outcome: DistillationOutcome,
  facts: Partial<Distillation> = {},
): Distillation {
  return {
    episode: null,
    change: null,
    changes: facts.change == null ? [] : [facts.change],
    facts: NO_FACTS,
    identity: 0,
    signals: 0,
    pending: 0,
    tokens: { input: 0, output: 0 },
    retryAt: null,
    ...facts,
    outcome,
  }
}

/** What was told so far, with what one more commit came to. */
export function mergeDistillations(told: Distillation, more: Distillation): Distillation {
  const changes = [...told.changes, ...more.changes]
  const names = Object.keys(NO_FACTS) as readonly (keyof FactCounts)[] // it has all of them
  const sums = names.map((name) => [name, told.facts[name] + more.facts[name]])
  return {
    ...told,
    facts: { ...NO_FACTS, ...Object.fromEntries(sums) },
    identity: told.identity + more.identity,
    change: changes.at(-1) ?? null,
    changes,
  }
}
