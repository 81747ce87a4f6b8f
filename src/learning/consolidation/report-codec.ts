/**
 * The stored form of consolidation reports. Databases of earlier versions hold reports under their first field names and
 * values, and new reports are stored in the same form, so that every reader needs only one.
 */
import type { JsonObject } from '../../lib/json.ts'
import type { ConsolidationAction, ConsolidationReport, ConsolidationStep } from './report.ts'

type Kind = ConsolidationAction['kind']

const STORED_KINDS = {
  merge: 'merge',
  adjudicate: 'judge',
  promote: 'promote',
  evict: 'evict',
  expire: 'retire',
  'delete-episode': 'pruneEpisode',
  'delete-turns': 'pruneTurns',
  'delete-expired-entries': 'trim',
  'empty-trash': 'emptyBin',
  'update-narrative': 'narrate',
} as const satisfies Readonly<Record<Kind, string>>

const STORED_STEPS = {
  read: 'read',
  'empty-trash': 'empty',
  merge: 'merge',
  adjudicate: 'judge',
  promote: 'promote',
  evict: 'evict',
  prune: 'prune',
  'delete-expired-entries': 'trim',
  'update-narratives': 'narrate',
} as const satisfies Readonly<Record<ConsolidationStep, string>>

type StoredKind = (typeof STORED_KINDS)[Kind]

type StoredAction = Pick<ConsolidationAction, 'memories' | 'change'> & {
  readonly kind: StoredKind
  readonly because: string
}

type StoredReport = Pick<
  ConsolidationReport,
  | 'startedAt'
  | 'finishedAt'
  | 'isDryRun'
  | 'memories'
  | 'merged'
  | 'promoted'
  | 'evicted'
  | 'actionsTotal'
> & {
  readonly isHeldBack: boolean
  readonly decayed: number
  readonly retired: number
  readonly prunedEpisodes: number
  readonly prunedTurns: number
  readonly trimmed: number
  readonly emptied: number
  /** Earlier versions did not count these two. */
  readonly judged?: number
  readonly narrated?: number
  readonly actions: readonly StoredAction[]
  readonly durationsMs: { readonly [step in (typeof STORED_STEPS)[ConsolidationStep]]?: number }
}

export function encodeReport(report: Omit<ConsolidationReport, 'id'>): JsonObject {
  return {
    startedAt: report.startedAt,
    finishedAt: report.finishedAt,
    isDryRun: report.isDryRun,
    isHeldBack: report.isPurgeSkipped,
    memories: report.memories,
    decayed: report.salienceDecayed,
    merged: report.merged,
    judged: report.adjudicated,
    promoted: report.promoted,
    evicted: report.evicted,
    retired: report.expired,
    prunedEpisodes: report.episodesDeleted,
    prunedTurns: report.turnsDeleted,
    trimmed: report.expiredEntriesDeleted,
    emptied: report.trashPurged,
    narrated: report.narrativesWritten,
    actions: report.actions.map(({ kind, memories, reason, change }) => ({
      kind: STORED_KINDS[kind],
      ...{ memories, because: reason, change },
    })),
    actionsTotal: report.actionsTotal,
    durationsMs: Object.fromEntries(
      listSteps().map((step) => [STORED_STEPS[step], report.durationsMs[step]]),
    ),
  } satisfies StoredReport satisfies JsonObject
}

export function decodeReport(body: JsonObject): Omit<ConsolidationReport, 'id'> {
  const stored = body as unknown as StoredReport // as written by `encodeReport`
  return {
    startedAt: stored.startedAt,
    finishedAt: stored.finishedAt,
    isDryRun: stored.isDryRun,
    isPurgeSkipped: stored.isHeldBack,
    memories: stored.memories,
    salienceDecayed: stored.decayed,
    merged: stored.merged,
    adjudicated: stored.judged ?? 0,
    promoted: stored.promoted,
    evicted: stored.evicted,
    expired: stored.retired,
    episodesDeleted: stored.prunedEpisodes,
    turnsDeleted: stored.prunedTurns,
    expiredEntriesDeleted: stored.trimmed,
    trashPurged: stored.emptied,
    narrativesWritten: stored.narrated ?? 0,
    actions: stored.actions.map(({ kind, memories, because, change }) => ({
      kind: KINDS[kind],
      ...{ memories, reason: because, change },
    })),
    actionsTotal: stored.actionsTotal,
    durationsMs: Object.fromEntries(
      listSteps().flatMap((step) => {
        const duration = stored.durationsMs[STORED_STEPS[step]]
        return duration === undefined ? [] : [[step, duration]]
      }),
    ) as ConsolidationReport['durationsMs'], // earlier versions have no duration for steps that they did not have
  }
}

const KINDS = Object.fromEntries(
  Object.entries(STORED_KINDS).map(([kind, stored]) => [stored, kind]),
) as Readonly<Record<StoredKind, Kind>> // the inverse of that table

function listSteps(): readonly ConsolidationStep[] {
  return Object.keys(STORED_STEPS) as ConsolidationStep[] // the keys of that table
}
