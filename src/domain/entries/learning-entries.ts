/** Bodies of entries of background work: reports of consolidation, locks, and what models have cost. */
import type { Instant } from '../../lib/time.ts'
import type { ChangeId, MemoryId } from '../ids.ts'
import { choice, flag, instant, list, nullable, number, object, text } from './body-codec.ts'

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

/** `expire`: unused for longer than the setting `retention.unusedDays`. */
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
  /** In a merge, the surviving memory comes first; of two that were adjudicated, the newer one. */
  readonly memories: readonly MemoryId[]
  readonly reason: string
  /** The change that undo takes back; null where nothing can be undone, and in a dry run. */
  readonly change: ChangeId | null
}

export type ConsolidationReportBody = {
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly isDryRun: boolean
  /** Whether nothing was removed for good, because the clock may have leapt. */
  readonly isPurgeSkipped: boolean
  /** Active memories that were examined. */
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
  readonly expiredEntriesDeleted: number
  /** Memories erased from the trash. */
  readonly trashPurged: number
  /** Identity narratives that were written or removed. */
  readonly narrativesWritten: number
  /** All of a dry run, the first ones of a run, and fewer of a stored report; `actionsTotal` counts all. */
  readonly actions: readonly ConsolidationAction[]
  readonly actionsTotal: number
  readonly durationsMs: Readonly<Record<ConsolidationStep, number>>
}

export const consolidationReportBody = object<ConsolidationReportBody>({
  startedAt: instant,
  finishedAt: instant,
  isDryRun: flag,
  isPurgeSkipped: flag,
  memories: number,
  salienceDecayed: number,
  merged: number,
  adjudicated: number,
  promoted: number,
  evicted: number,
  expired: number,
  episodesDeleted: number,
  turnsDeleted: number,
  expiredEntriesDeleted: number,
  trashPurged: number,
  narrativesWritten: number,
  actions: list(
    object<ConsolidationAction>({
      kind: choice(CONSOLIDATION_ACTIONS),
      memories: list(text<MemoryId>()),
      reason: text(),
      change: nullable(text<ChangeId>()),
    }),
  ),
  actionsTotal: number,
  durationsMs: object<Record<ConsolidationStep, number>>({
    read: number,
    'empty-trash': number,
    merge: number,
    adjudicate: number,
    promote: number,
    evict: number,
    prune: number,
    'delete-expired-entries': number,
    'update-narratives': number,
  }),
})

/** Who holds the lock of an owner, and until when. */
export type OwnerLease = {
  /** The id of the job, or of whatever else holds the lock. */
  readonly holder: string
  /** Names one acquisition: only whoever knows it may renew or release the lock. */
  readonly claim: string
  readonly leasedUntil: Instant
  /** The process that holds the lease; null in leases of earlier versions. */
  readonly process: string | null
}

/** Locks outlive their leases: one row per owner costs less than a removal after each job. */
export type OwnerLockBody = { readonly lease: OwnerLease | null }

export const ownerLockBody = object<OwnerLockBody>({
  lease: nullable(
    object<OwnerLease>({
      holder: text(),
      claim: text(),
      leasedUntil: instant,
      process: nullable(text()),
    }),
  ),
})

/** The memory that a memory of another system became, so that its old id still finds it. */
export type ImportedIdBody = { readonly memory: MemoryId }

export const importedIdBody = object<ImportedIdBody>({ memory: text<MemoryId>() })

/** What models have cost an owner on one day. */
export type ModelBudgetBody = {
  readonly calls: number
  readonly input: number
  readonly output: number
}

export const modelBudgetBody = object<ModelBudgetBody>({
  calls: number,
  input: number,
  output: number,
})
