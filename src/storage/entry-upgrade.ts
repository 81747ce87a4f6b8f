/**
 * Entries of version 0.1 under their present kinds and field names. Jobs and signals were entries then; now they have
 * tables of their own. Schema migrations, salvage and imports share this one translation.
 *
 * A body that already has its present form passes through unchanged, so an upgrade may meet rows of both versions.
 */
import type { Entry, EntryKind } from '../domain/entries/entry.ts'
import type { JobId, OwnerId, SignalId, TurnId } from '../domain/ids.ts'
import { JOB_FAULTS, JOB_STATUSES, type Job, type JobErrorCode } from '../domain/job-row.ts'
import type { Place } from '../domain/scope.ts'
import { renameSettings } from '../domain/settings/renamed-settings.ts'
import { SIGNAL_STATUSES, type Signal } from '../domain/signal.ts'
import { ERRORS } from '../lib/errors.ts'
import { sha256 } from '../lib/hash.ts'
import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { INSTANT_MAX, type Instant } from '../lib/time.ts'

/** An entry as version 0.1 stored it. */
export type LegacyEntry = {
  readonly id: string
  readonly place: Place
  readonly kind: string
  readonly about: OwnerId | null
  readonly at: Instant
  readonly expiresAt: Instant | null
  readonly version: number
  readonly body: JsonObject
}

export type UpgradedEntry =
  | { readonly table: 'entry'; readonly row: Entry }
  | { readonly table: 'job'; readonly row: Job }
  | { readonly table: 'signal'; readonly row: Signal }

/** Null for an entry that nobody needs any more: a job or signal that version 0.1 could not read either, or a free lock. */
export function upgradeEntry(entry: LegacyEntry): UpgradedEntry | null {
  if (entry.kind === 'job') return wrap('job', upgradeJob(entry))
  if (entry.kind === 'signal') return wrap('signal', upgradeSignal(entry))
  const kind = upgradeKind(entry)
  const body = BODY_UPGRADES[kind]?.(entry.body) ?? entry.body
  const id = entry.kind === 'lane' ? upgradeLockId(entry) : entry.id
  if (id === null) return null
  return { table: 'entry', row: { ...entry, id, kind, body } as unknown as Entry } // its kind has such a body
}

/**
 * The lock of a job that works for nobody is named after the job, and a job after its kind. Null for such a lock that
 * nobody holds: a missing lock is as free.
 */
function upgradeLockId({ id, about, body: { holder } }: LegacyEntry): string | null {
  if (about !== null) return id
  if (typeof holder !== 'string') return null
  return `lane_${sha256(JSON.stringify([null, renameJobId(holder)])).slice(0, LOCK_HASH_CHARACTERS)}`
}

const LOCK_HASH_CHARACTERS = 40

function wrap<T extends 'job' | 'signal'>(
  table: T,
  row: Job | Signal | null,
): UpgradedEntry | null {
  return row === null ? null : ({ table, row } as UpgradedEntry) // of the same table
}

const KINDS: Readonly<Record<string, EntryKind>> = {
  answer: 'idempotency',
  lane: 'owner-lock',
  spend: 'model-budget',
  generation: 'file-index-generation',
  mirror: 'memory-file',
  move: 'store-migration',
  'receipt-text': 'receipt-line',
  report: 'consolidation-report',
}

/** Every kind of version 0.1 whose entries have another kind, table or body today. */
export const LEGACY_ENTRY_KINDS: readonly string[] = [
  ...Object.keys(KINDS),
  ...['root', 'thread', 'job', 'signal'],
  ...['key', 'setting', 'audit', 'receipt', 'file'],
]

/** Two kinds of version 0.1 held entries of several forms. */
function upgradeKind({ kind, id, body }: LegacyEntry): string {
  if (kind === 'root') return id.startsWith('look_') ? 'file-scan-log' : 'file-root'
  if (kind === 'thread') {
    if (id.startsWith('open_')) return 'open-session'
    return body.session === undefined ? 'response-owner' : 'session-link'
  }
  return KINDS[kind] ?? kind
}

type Names = Readonly<Record<string, string>>
type BodyUpgrade = (body: JsonObject) => JsonObject

const BODY_UPGRADES: { readonly [kind: string]: BodyUpgrade } = {
  key: ({ home, ...rest }) => (home === undefined ? rest : { ...rest, defaultOwner: home }),
  setting: renameSettings,
  audit: (body) =>
    typeof body.operation === 'string'
      ? { ...body, operation: renameValue(OPERATIONS, body.operation) }
      : body,
  idempotency: (body) => renameFields(body, { asks: 'requestHash', answer: 'response' }),
  receipt: upgradeReceipt,
  'receipt-line': (body) => {
    const { texts = [], ...rest } = body
    return body.lines === undefined
      ? { ...rest, lines: mapObjects(texts, (line) => renameFields(line, { until: 'expiresAt' })) }
      : body
  },
  'response-owner': (body) => renameFields(body, { owner: 'ownerHash' }),
  'consolidation-report': upgradeReport,
  'owner-lock': (body) => {
    if (body.lease !== undefined) return body
    const { holder, claim, leasedUntil } = body
    const isHeld = typeof holder === 'string' && typeof claim === 'string'
    return {
      lease: isHeld ? { holder: renameJobId(holder), claim, leasedUntil: leasedUntil ?? 0 } : null,
    }
  },
  'file-scan-log': (body) => {
    const renamed = renameFields(body, { troubles: 'problems', troublesTotal: 'problemsTotal' })
    return { ...renamed, problems: mapObjects(renamed.problems ?? [], upgradeProblem) }
  },
  file: (body) => {
    if (body.mark === undefined) return body
    const renamed = renameFields(body, { mark: 'checkpoint', trouble: 'problem' })
    const { problem } = renamed
    return { ...renamed, problem: isObject(problem) ? upgradeProblem(problem) : null }
  },
  'file-index-generation': (body) => {
    const { live, building = null, ...rest } = renameFields(body, { filling: 'building' })
    const upgrade = (generation: Json | undefined) =>
      isObject(generation) ? renameFields(generation, { recipe: 'chunkerVersion' }) : null
    return { ...rest, live: upgrade(live), building: upgrade(building) }
  },
  'memory-file': (body) => renameFields(body, { base: 'snapshot' }),
}

/** Operations by which people search the audit log. */
const OPERATIONS: Names = {
  'files.flush': 'files.writeSessionNote',
  'files.pieces': 'files.chunks',
  'files.tool': 'files.memoryTool',
  'memory.days': 'memory.countsByDay',
  'memory.emptyBin': 'memory.emptyTrash',
  'memory.forgetBy': 'memory.forgetMatching',
  'memory.previewInjection': 'memory.previewContext',
  'review.settle': 'review.resolve',
  'signal.report': 'learning.status',
}

const SKIP_REASONS: Names = {
  'no-memory': 'memory-disabled',
  'no-inject': 'context-disabled',
  'no-question': 'no-user-message',
  'nothing-relevant': 'no-relevant-memories',
  'no-place': 'no-insertion-point',
  shadow: 'dry-run',
  late: 'timeout',
}
const STAGES: Names = {
  meaning: 'vector',
  fuse: 'fusion',
  match: 'question-match',
  weigh: 'boost',
  diversify: 'diversity',
  floor: 'threshold',
}
const ANSWERS: Names = {
  whole: 'complete',
  cut: 'truncated',
  broken: 'interrupted',
  unread: 'unparsed',
}
const NO_TOOL_MEMORY_IDS = { found: [], saved: [], updated: [], forgotten: [] }

/** The first releases of 0.1 wrote fewer fields. */
function upgradeReceipt(body: JsonObject): JsonObject {
  if (body.recalled === undefined) return body
  const renamed = renameFields(body, {
    recalled: 'results',
    identity: 'identityIds',
    quoted: 'excerptIds',
    shadow: 'dryRun',
    pieces: 'lines',
    toolMemories: 'memoryToolResults',
  })
  const { skipped, degraded = [], gate, results = [], lines = [], answer } = renamed
  return {
    ...{ identityIds: [], excerptIds: [], memoryToolResults: NO_TOOL_MEMORY_IDS },
    ...renamed,
    skipped: renameValue(SKIP_REASONS, skipped),
    degraded: toList(degraded).map((name) => renameValue({ meaning: 'vector' }, name)),
    gate: isObject(gate) ? renameFields(gate, { because: 'reason' }) : null,
    results: mapObjects(results, (result) => ({
      ...result,
      trail: mapObjects(result.trail ?? [], (step) => ({
        ...step,
        stage: renameValue(STAGES, step.stage),
      })),
    })),
    lines: mapObjects(lines, (line) => renameFields(line, { line: 'lineKey' })),
    answer: renameValue(ANSWERS, answer),
  }
}

const ACTIONS: Names = {
  judge: 'adjudicate',
  retire: 'expire',
  pruneEpisode: 'delete-episode',
  pruneTurns: 'delete-turns',
  trim: 'delete-expired-entries',
  emptyBin: 'empty-trash',
  narrate: 'update-narrative',
}
const STEPS: Names = {
  empty: 'empty-trash',
  judge: 'adjudicate',
  trim: 'delete-expired-entries',
  narrate: 'update-narratives',
}
const STEPS_NOT_TIMED = {
  read: 0,
  'empty-trash': 0,
  merge: 0,
  adjudicate: 0,
  promote: 0,
  evict: 0,
  prune: 0,
  'delete-expired-entries': 0,
  'update-narratives': 0,
}

function upgradeReport(body: JsonObject): JsonObject {
  const renamed = renameFields(body, {
    isHeldBack: 'isPurgeSkipped',
    decayed: 'salienceDecayed',
    judged: 'adjudicated',
    retired: 'expired',
    prunedEpisodes: 'episodesDeleted',
    prunedTurns: 'turnsDeleted',
    trimmed: 'expiredEntriesDeleted',
    emptied: 'trashPurged',
    narrated: 'narrativesWritten',
  })
  const { id: _id, actions = [], durationsMs, ...rest } = renamed
  return {
    // The first releases of 0.1 did not count these two.
    ...{ adjudicated: 0, narrativesWritten: 0 },
    ...rest,
    actions: mapObjects(actions, (action) => ({
      ...renameFields(action, { because: 'reason' }),
      kind: renameValue(ACTIONS, action.kind),
    })),
    durationsMs: {
      ...STEPS_NOT_TIMED,
      ...(isObject(durationsMs) ? renameFields(durationsMs, STEPS) : {}),
    },
  }
}

const PROBLEMS: Names = { outside: 'outside_root', changing: 'modified_during_read' }

function upgradeProblem(problem: JsonObject): JsonObject {
  const renamed = renameFields(problem, { because: 'reason' })
  return { ...renamed, reason: renameValue(PROBLEMS, renamed.reason) }
}

/** Version 0.1 stored this time where a job was not due. */
const NEVER = INSTANT_MAX

function upgradeJob({ id, place, version, about, at, expiresAt, body }: LegacyEntry): Job | null {
  const status = JOB_STATUSES.find((known) => known === body.status)
  const { kind, key, input, outcome } = body
  if (status === undefined || typeof kind !== 'string' || typeof key !== 'string') return null
  if (!isObject(input)) return null
  return {
    id: renameJobId(id) as JobId, // the id of a job
    ...{ place, version, key, owner: about, input, status, expiresAt },
    kind: kind === 'upkeep' ? 'maintenance' : kind,
    dueAt: at === NEVER ? null : at,
    statusChangedAt: toCount(body.since) as Instant, // milliseconds, as written
    attempts: toCount(body.attempts),
    lostLeases: toCount(body.losses),
    everyMs: typeof body.everyMs === 'number' ? body.everyMs : null,
    lastError: toJobErrorCode(body.lastError),
    outcome: isObject(outcome) ? outcome : null,
    claim: toTextOrNull(body.claim),
    cancelledRun: toTextOrNull(body.stopped),
  }
}

/** The id of a job names its kind. */
function renameJobId(id: string): string {
  return id.replace(/^job_upkeep_/, 'job_maintenance_')
}

function toJobErrorCode(value: Json | undefined): JobErrorCode | null {
  if (value === 'lost') return 'lease_lost'
  const isKnown =
    typeof value === 'string' &&
    (Object.hasOwn(ERRORS, value) || JOB_FAULTS.some((fault) => fault === value))
  return isKnown ? (value as JobErrorCode) : null // just checked
}

function upgradeSignal({ id, place, version, at, expiresAt, body }: LegacyEntry): Signal | null {
  const status = SIGNAL_STATUSES.find((known) => known === body.status)
  if (status === undefined || !Array.isArray(body.turns)) return null
  return {
    id: id as SignalId, // the id of a signal
    ...{ place, version, status, createdAt: at, expiresAt },
    turns: body.turns as readonly TurnId[], // as written
    position: toCount(body.position),
    isHistory: body.isHistory === true,
    // Before this was stored, nearly all signals came through the gateway, which scans what it records.
    isPatternScanned: body.isRead !== false,
    attempts: toCount(body.attempts),
    error: toTextOrNull(body.error),
    change: toTextOrNull(body.change) as Signal['change'], // the id of a change
  }
}

function renameFields(body: JsonObject, names: Names): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      Object.hasOwn(names, name) ? (names[name] ?? name) : name,
      value,
    ]),
  )
}

function renameValue(names: Names, value: Json | undefined): Json {
  if (typeof value !== 'string') return value ?? null
  return Object.hasOwn(names, value) ? (names[value] ?? value) : value
}

function mapObjects(values: Json, map: (value: JsonObject) => JsonObject): readonly Json[] {
  return toList(values).map((value) => (isObject(value) ? map(value) : value))
}

function toList(values: Json): readonly Json[] {
  return Array.isArray(values) ? values : []
}

function toCount(value: Json | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0
}

function toTextOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}
