/**
 * Consolidation: what an owner's memories need from time to time. Those that say the same become one, those that keep
 * coming up rise, those that faded go into the bin, and what is past its time goes.
 *
 * Every step decides from what is stored, in small commits that are each an ordinary change. So it can be stopped or
 * killed anywhere: what was done is whole, and the next run does the rest. Running it again changes nothing more.
 */

import type { Scope } from '../../domain/scope.ts'
import { resolveSettings } from '../../domain/settings/settings.ts'
import { NEVER_ABORTED } from '../../lib/abort.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { WriteNarrative } from '../completions/model-tasks.ts'
import { updateNarratives } from '../identity/narrative-writer.ts'
import { adjudicateDoubtful } from './adjudication/adjudication.ts'
import {
  ActionLog,
  type ConsolidationProgress,
  type ConsolidationRun,
  throwIfConsolidationAborted,
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
  /** Changes nothing, and tells what it would do. */
  readonly dryRun?: boolean
  /** Ends it between two commits, with the error `cancelled`. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: ConsolidationProgress) => void
  /** Words who somebody is; rules do where there is nobody, or where they fail. */
  readonly word?: WriteNarrative | undefined
}

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
      throwIfConsolidationAborted(signal)
    },
    actions: new ActionLog({ isDryRun: dryRun }),
    trashed: new Set(),
  }
  const lastAt = await getLastConsolidation(ports, scope, now)
  const isHeldBack = isClockSuspect(lastAt, now)
  const timed = createStepTimer(ports)
  const census = await timed('read', () =>
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
  const { count: memories, decayed } = census
  const emptied = isHeldBack
    ? 0
    : await timed('empty-trash', () => deleteOldTrash(run, census.oldBin))
  const merged = await timed('merge', () => mergeDuplicates(run, census))
  const judged = await timed('adjudicate', () => adjudicateDoubtful(run, { since: lastAt, signal }))
  const promoted = await timed('promote', () => promoteMentioned(run, census))
  const { evicted, expired } = await timed('evict', () => evictFaded(run, census))
  const prunedEpisodes = await timed('prune', () => pruneEpisodes(run, census.oldEpisodes()))
  const prunedTurns = isHeldBack ? 0 : await timed('prune', () => deleteExpiredTurns(run))
  const trimmed = isHeldBack
    ? 0
    : await timed('delete-expired-entries', () => deleteExpiredEntries(run))
  const narrated = await timed('update-narratives', () =>
    updateNarratives(run, census, { word, signal }),
  )
  const report: ConsolidationReport = {
    id: null,
    startedAt: now,
    finishedAt: ports.clock.now(),
    ...{
      isDryRun: dryRun,
      isPurgeSkipped: isHeldBack,
      memories,
      salienceDecayed: decayed,
      merged,
      adjudicated: judged,
      promoted,
    },
    ...{
      evicted,
      expired,
      episodesDeleted: prunedEpisodes,
      turnsDeleted: prunedTurns,
      expiredEntriesDeleted: trimmed,
      trashPurged: emptied,
      narrativesWritten: narrated,
    },
    actions: run.actions.told,
    actionsTotal: run.actions.total,
    durationsMs: timed.durations,
  }
  return dryRun ? report : saveReport(ports, scope, report)
}

/** Does something and adds what it took to the step. */
function createStepTimer({ clock }: MemoryDependencies) {
  const durations = Object.fromEntries(CONSOLIDATION_STEPS.map((step) => [step, 0])) as Record<
    ConsolidationStep,
    number
  > // each of them
  const timed = async <Result>(step: ConsolidationStep, work: () => Promise<Result>) => {
    const began = clock.now()
    try {
      return await work()
    } finally {
      // A clock that is set back meanwhile took no time.
      durations[step] += Math.max(0, clock.now() - began)
    }
  }
  return Object.assign(timed, { durations })
}
