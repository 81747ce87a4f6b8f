/** The outcome of a distillation. */

import type { ChangeId, MemoryId } from '../../domain/ids.ts'
import type { AppError, ErrorCode } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'

/**
 * `skipped`: no model answered or none was called; the signals stay pending, except after `low_novelty`, which is too
 * short for a model. Pattern facts are stored in both cases. `empty`: the model found nothing. `dead_letter`: the number
 * of signals for which this was the last attempt.
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
  /** Facts among the others that wait for review: they look like instructions, or the user's words do not support them. */
  readonly suspect: number
  /** Statements of the model that the user's words do not support; they wait for review or were dropped. */
  readonly ungrounded: number
  /** Facts that were not stored because they were forgotten after they were said. */
  readonly refused: number
}

export const NO_FACTS: FactCounts = {
  created: 0,
  updated: 0,
  reinforced: 0,
  superseded: 0,
  conflicts: 0,
  suspect: 0,
  ungrounded: 0,
  refused: 0,
}

export type Distillation = {
  readonly outcome: DistillationOutcome
  /** The episode of the session, even when this distillation did not change it. */
  readonly episode: MemoryId | null
  /** Undoes everything that was distilled. */
  readonly change: ChangeId | null
  /** All changes in order, including retractions of facts from corrected turns. */
  readonly changes: readonly ChangeId[]
  readonly facts: FactCounts
  /** The number of added identity statements. */
  readonly identity: number
  /** The number of processed signals, and of those still pending in the session. */
  readonly signals: number
  readonly pending: number
  readonly tokens: { readonly input: number; readonly output: number }
  /** When the cause of a skip ends, if it is known. */
  readonly retryAt: Instant | null
  /** The message of `error`. */
  readonly message: string | null
  /** The failure behind an `error:` or `dead_letter:` outcome, with its cause. */
  readonly error: AppError | null
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
    message: facts.error?.message ?? null,
    error: null,
    ...facts,
    outcome,
  }
}

export function createFailedDistillation(
  error: AppError,
  facts: Partial<Distillation> = {},
): Distillation {
  return createDistillation(`error:${error.code}`, { ...facts, error })
}

/** Adds the counts and changes of another commit. */
export function mergeDistillations(sum: Distillation, more: Distillation): Distillation {
  const changes = [...sum.changes, ...more.changes]
  const names = Object.keys(NO_FACTS) as readonly (keyof FactCounts)[] // it has all of them
  const counts = names.map((name) => [name, sum.facts[name] + more.facts[name]])
  return {
    ...sum,
    facts: { ...NO_FACTS, ...Object.fromEntries(counts) },
    identity: sum.identity + more.identity,
    change: changes.at(-1) ?? null,
    changes,
  }
}
