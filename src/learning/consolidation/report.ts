/** What a consolidation did, or would do. It holds ids and numbers, never the text of a memory. */

import type {
  ConsolidationAction,
  ConsolidationReportBody,
} from '../../domain/entries/learning-entries.ts'
import type { ReportId } from '../../domain/ids.ts'
import { DAY_MS, type Instant } from '../../lib/time.ts'

export {
  CONSOLIDATION_ACTIONS,
  CONSOLIDATION_STEPS,
  type ConsolidationAction,
  type ConsolidationStep,
} from '../../domain/entries/learning-entries.ts'

export type ConsolidationReport = ConsolidationReportBody & {
  /** Null in a dry run, which is not stored. */
  readonly id: ReportId | null
}

/** `done`: nothing of it is left to take back. `impossible`: it can't be, or what it was done to is gone. */
export const UNDO_STATES = ['possible', 'done', 'impossible'] as const

export type UndoState = (typeof UNDO_STATES)[number]

/** A report as it is read later, with what can still be taken back of it. */
export type StoredConsolidationReport = Omit<ConsolidationReport, 'actions'> & {
  readonly actions: readonly (ConsolidationAction & { readonly undo: UndoState })[]
}

const GAP_DAYS_MAX = 30

/**
 * Whether so much time has passed since the last consolidation that the clock may have leapt: then this one removes
 * nothing for good, and the next one does. What goes into the bin can be brought back, and needs no such care.
 */
export function isClockSuspect(lastAt: Instant | null, now: Instant): boolean {
  return lastAt !== null && now - lastAt > GAP_DAYS_MAX * DAY_MS
}
