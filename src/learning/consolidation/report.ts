/** Reports of consolidations: ids and numbers, never the text of a memory. */

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

/** `done`: already undone. `impossible`: not undoable, or the memories are gone. */
export const UNDO_STATES = ['possible', 'done', 'impossible'] as const

export type UndoState = (typeof UNDO_STATES)[number]

/** A stored report with the undo state of each action. */
export type StoredConsolidationReport = Omit<ConsolidationReport, 'actions'> & {
  readonly actions: readonly (ConsolidationAction & { readonly undo: UndoState })[]
}

const GAP_DAYS_MAX = 30

/**
 * Whether the gap since the last consolidation is so long that the clock may be wrong. Such a run deletes nothing
 * permanently; the next one does. Moves to the trash can be undone and need no such guard.
 */
export function isClockSuspect(lastAt: Instant | null, now: Instant): boolean {
  return lastAt !== null && now - lastAt > GAP_DAYS_MAX * DAY_MS
}
