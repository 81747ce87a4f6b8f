/**
 * Consolidation: what an owner's memories need from time to time. Those that say the same become one, those that keep
 * coming up rise, those that faded go into the bin, and what is past its time goes.
 *
 * Every step decides from what is stored, in small commits that are each an ordinary change. So it can be stopped or
 * killed anywhere: what was done is whole, and the next run does the rest. Running it again changes nothing more.
 */

import type { Scope } from '../../domain/scope.ts'
import { resolveSettings } from '../../domain/settings/settings.ts'
import type { EnginePorts } from '../../engine/engine-dependencies.ts'
import type { WordNarrative } from '../completions/model-tasks.ts'
import { tellIdentities } from '../identity/narrative-writer.ts'
import { judgeDoubtful } from './adjudication/adjudication.ts'
import {
  Actions,
  type ConsolidationProgress,
  type Run,
  throwIfStopped,
} from './consolidation-run.ts'
import { evictFaded, pruneEpisodes, pruneTurns } from './eviction/eviction.ts'
import { retentionCutoff } from './eviction/eviction-policy.ts'
import { binnedBefore, emptyOldBin, trimEntries } from './eviction/retention.ts'
import { mergeDuplicates } from './merging/merge.ts'
import { promoteMentioned } from './promotion.ts'
import {
  CONSOLIDATION_STEPS,
  type ConsolidationReport,
  type ConsolidationStep,
  isTimeDoubtful,
} from './report.ts'
import { lastConsolidatedAt, saveReport } from './report-store.ts'
import { takeCensus } from './statistics.ts'

export type { ConsolidationProgress } from './consolidation-run.ts'

export type {
  ConsolidationAction,
  ConsolidationReport,
  ConsolidationStep,
} from './report.ts'
export { listReports } from './report-store.ts'

export type ConsolidateOptions = {
  /** Changes nothing, and tells what it would do. */
  readonly dryRun?: boolean
  /** Ends it between two commits, with the error `cancelled`. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: ConsolidationProgress) => void
  /** Words who somebody is; rules do where there is nobody, or where they fail. */
  readonly word?: WordNarrative | undefined
}

const NEVER = new AbortController().signal

export async function consolidate(
  ports: EnginePorts,
  scope: Scope,
  { dryRun = false, signal = NEVER, onProgress, word }: ConsolidateOptions = {},
): Promise<ConsolidationReport> {
  const now = ports.clock.now()
  const run: Run = {
    ports,
    scope,
    now,
    settings: resolveSettings(ports.settings),
    isDryRun: dryRun,
    tell: (progress) => {
      onProgress?.(progress)
      throwIfStopped(signal)
    },
    actions: new Actions({ isDryRun: dryRun }),
    binned: new Set(),
  }
  const lastAt = await lastConsolidatedAt(ports, scope, now)
  const isHeldBack = isTimeDoubtful(lastAt, now)
  const timed = stopwatch(ports)
  const census = await timed('read', () =>
    takeCensus(
      ports,
      scope,
      {
        now,
        binnedBefore: binnedBefore(run),
        madeBefore: retentionCutoff(now, run.settings.episodeRetentionDays),
      },
      (done) => run.tell({ step: 'read', done, total: null }),
    ),
  )
  const { count: memories, decayed } = census
  const emptied = isHeldBack ? 0 : await timed('empty', () => emptyOldBin(run, census.oldBin))
  const merged = await timed('merge', () => mergeDuplicates(run, census))
  const judged = await timed('judge', () => judgeDoubtful(run, { since: lastAt, signal }))
  const promoted = await timed('promote', () => promoteMentioned(run, census))
  const { evicted, retired } = await timed('evict', () => evictFaded(run, census))
  const prunedEpisodes = await timed('prune', () => pruneEpisodes(run, census.oldEpisodes()))
  const prunedTurns = isHeldBack ? 0 : await timed('prune', () => pruneTurns(run))
  const trimmed = isHeldBack ? 0 : await timed('trim', () => trimEntries(run))
  const narrated = await timed('narrate', () => tellIdentities(run, census, { word, signal }))
  const report: ConsolidationReport = {
    id: null,
    startedAt: now,
    finishedAt: ports.clock.now(),
    ...{ isDryRun: dryRun, isHeldBack, memories, decayed, merged, judged, promoted },
    ...{ evicted, retired, prunedEpisodes, prunedTurns, trimmed, emptied, narrated },
    actions: run.actions.told,
    actionsTotal: run.actions.total,
    durationsMs: timed.durations,
  }
  return dryRun ? report : saveReport(ports, scope, report)
}

/** Does something and adds what it took to the step. */
function stopwatch({ clock }: EnginePorts) {
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
