/** What a consolidation did, or would do. It holds ids and numbers, never the text of a memory. */

import type { ChangeId, MemoryId, ReportId } from '../../domain/ids.ts'
import { DAY_MS, type Instant } from '../../lib/time.ts'

export const CONSOLIDATION_STEPS = [
  'read',
  'empty-trash',
  'merge',
  'adjudicate',
  'promote',
  'evict',
  'prune',
  'delete-expired-entries',
  'update-narratives',
] as const

export type ConsolidationStep = (typeof CONSOLIDATION_STEPS)[number]

/** `expire`: unused for longer than `retentionDays`. */
export const CONSOLIDATION_ACTIONS = [
  'merge',
  'adjudicate',
  'promote',
  'evict',
  'expire',
  'delete-episode',
  'delete-turns',
  'delete-expired-entries',
  'empty-trash',
  'update-narrative',
] as const

export type ConsolidationAction = {
  readonly kind: (typeof CONSOLIDATION_ACTIONS)[number]
  /** In a merge, the one that stays comes first; of two that were judged, the newer one. */
  readonly memories: readonly MemoryId[]
  readonly reason: string
  /** What undo takes; null where nothing can be undone, and in a dry run. */
  readonly change: ChangeId | null
}

export type ConsolidationReport = {
  /** Null in a dry run, which is not kept. */
  readonly id: ReportId | null
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly isDryRun: boolean
  /** Whether nothing was removed for good, because nobody can tell how much time has really passed. */
  readonly isPurgeSkipped: boolean
  /** Active ones that were looked at. */
  readonly memories: number
  /** How many of them have lost half of their salience or more to time. */
  readonly salienceDecayed: number
  /** Memories that became part of another one. */
  readonly merged: number
  /** Pairs that a model has settled; in a dry run, those that it would be asked about. */
  readonly adjudicated: number
  readonly promoted: number
  readonly evicted: number
  readonly expired: number
  readonly episodesDeleted: number
  readonly turnsDeleted: number
  /** Entries past their time. */
  readonly expiredEntriesDeleted: number
  /** Erased from the bin. */
  readonly trashPurged: number
  /** Narratives that were told anew, or taken away. */
  readonly narrativesWritten: number
  /** All of a dry run, the first ones of a run, and fewer of one that is kept; `actionsTotal` says how many there were. */
  readonly actions: readonly ConsolidationAction[]
  readonly actionsTotal: number
  readonly durationsMs: Readonly<Record<ConsolidationStep, number>>
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
