/**
 * Consolidation maintains the memories of an owner: it merges duplicates, promotes facts that keep being mentioned, moves
 * faded memories to the trash and deletes what is past its retention.
 *
 * Every step decides from stored rows and commits small, ordinary changes. A run can be aborted or killed at any point;
 * the next one continues, and running it again without new input changes nothing.
 */

import type { Scope } from '../../domain/scope.ts'
import { resolveSettings } from '../../domain/settings/settings.ts'
import { NEVER_ABORTED, throwIfAborted } from '../../lib/abort.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { WriteNarrative } from '../completions/model-tasks.ts'
import { updateNarratives } from '../identity/narrative-writer.ts'
import { adjudicateDoubtful } from './adjudication/adjudication.ts'
import {
  ActionLog,
  type ConsolidationProgress,
  type ConsolidationRun,
} from './consolidation-run.ts'
import { deleteExpiredTurns, evictFaded, pruneEpisodes } from './eviction/eviction.ts'
import { computeRetentionCutoff } from './eviction/eviction-policy.ts'
import { computeTrashCutoff, deleteExpiredEntries, deleteOldTrash } from './eviction/retention.ts'
import { mergeDuplicates } from './merging/merge.ts'
import { promoteMentioned } from './promotion.ts'
import {
  CONSOLIDATION_STEPS,
  type ConsolidationReport,
  type ConsolidationStep,
  isClockSuspect,
} from './report.ts'
import { getLastConsolidation, saveReport } from './report-store.ts'
import { collectStatistics } from './statistics.ts'

export type { ConsolidationProgress } from './consolidation-run.ts'

export type { ConsolidationReport } from './report.ts'
export { listReports } from './report-store.ts'

export type ConsolidateOptions = {
  /** Changes nothing and reports what it would do. */
  readonly dryRun?: boolean
  /** Aborts the run between two commits with the error `cancelled`. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: ConsolidationProgress) => void
  /** Words identity narratives; rules are the fallback. */
  readonly word?: WriteNarrative | undefined
}

const ABORTED = 'Consolidation was stopped. Completed changes stay, and the next run continues.'

export async function consolidate(
  ports: MemoryDependencies,
  scope: Scope,
  { dryRun = false, signal = NEVER_ABORTED, onProgress, word }: ConsolidateOptions = {},
): Promise<ConsolidationReport> {
  const now = ports.clock.now()
  const run: ConsolidationRun = {
    ports,
    scope,
    now,
    settings: resolveSettings(ports.settings),
    isDryRun: dryRun,
    reportProgress: (progress) => {
      onProgress?.(progress)
      throwIfAborted(signal, ABORTED)
    },
    actions: new ActionLog({ isDryRun: dryRun }),
    trashed: new Set(),
  }
  const lastAt = await getLastConsolidation(ports, scope, now)
  const isPurgeSkipped = isClockSuspect(lastAt, now)
  const timed = createStepTimer(ports)
  const statistics = await timed('read', () =>
    collectStatistics(
      ports,
      scope,
      {
        now,
        trashedBefore: computeTrashCutoff(run),
        madeBefore: computeRetentionCutoff(now, run.settings['retention.episodeDays']),
      },
      (done) => run.reportProgress({ step: 'read', done, total: null }),
    ),
  )
  const { count: memories, decayed } = statistics
  const trashPurged = isPurgeSkipped
    ? 0
    : await timed('empty-trash', () => deleteOldTrash(run, statistics.oldTrash))
  const merged = await timed('merge', () => mergeDuplicates(run, statistics))
  const adjudicated = await timed('adjudicate', () =>
    adjudicateDoubtful(run, { since: lastAt, signal }),
  )
  const promoted = await timed('promote', () => promoteMentioned(run, statistics))
  const { evicted, expired } = await timed('evict', () => evictFaded(run, statistics))
  const episodesDeleted = await timed('prune', () => pruneEpisodes(run, statistics.oldEpisodes()))
  const turnsDeleted = isPurgeSkipped ? 0 : await timed('prune', () => deleteExpiredTurns(run))
  const expiredEntriesDeleted = isPurgeSkipped
    ? 0
    : await timed('delete-expired-entries', () => deleteExpiredEntries(run))
  const narrativesWritten = await timed('update-narratives', () =>
    updateNarratives(run, statistics, { word, signal }),
  )
  const report: ConsolidationReport = {
    id: null,
    startedAt: now,
    finishedAt: ports.clock.now(),
    ...{ isDryRun: dryRun, isPurgeSkipped, memories, salienceDecayed: decayed },
    ...{ merged, adjudicated, promoted, evicted, expired, episodesDeleted, turnsDeleted },
    ...{ expiredEntriesDeleted, trashPurged, narrativesWritten },
    actions: run.actions.recorded,
    actionsTotal: run.actions.total,
    durationsMs: timed.durations,
  }
  return dryRun ? report : saveReport(ports, scope, report)
}

/** Measures the duration of each step. */
function createStepTimer({ clock }: MemoryDependencies) {
  const durations = Object.fromEntries(CONSOLIDATION_STEPS.map((step) => [step, 0])) as Record<
    ConsolidationStep,
    number
  > // every step is a key
  const timed = async <Result>(step: ConsolidationStep, work: () => Promise<Result>) => {
    const began = clock.now()
    try {
      return await work()
    } finally {
      // The clock may be set back in between.
      durations[step] += Math.max(0, clock.now() - began)
    }
  }
  return Object.assign(timed, { durations })
}
