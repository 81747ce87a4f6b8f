/** Entries, jobs and signals as columns of SQLite, and back. */
import type { Entry } from '../../../domain/entries/entry.ts'
import type { Job } from '../../../domain/job.ts'
import type { Signal } from '../../../domain/signal.ts'
import { fromStorable, toStorable } from '../../../text/storable-text.ts'
import type { LegacyEntry } from '../../entry-upgrade.ts'
import type { SqlRow, SqlValue } from '../connection/sqlite-driver.ts'
import { fromStorableOrNull, readPlace, type StoredPlace, toStorableOrNull } from './row-codec.ts'

export const ENTRY_COLUMNS = [
  'id',
  'owner_number',
  'place_number',
  'session',
  'version',
  'kind',
  'about',
  'at',
  'expires_at',
  'body',
] as const

/** In the order of ENTRY_COLUMNS. */
export function toEntryValues(entry: Entry, home: StoredPlace): readonly SqlValue[] {
  return [
    entry.id,
    home.ownerNumber,
    home.number,
    toStorableOrNull(entry.place.session),
    entry.version,
    entry.kind,
    toStorableOrNull(entry.about),
    entry.at,
    entry.expiresAt,
    JSON.stringify(entry.body),
  ]
}

/** An entry that may have the form of an earlier version. */
export function toLegacyEntry(row: SqlRow): LegacyEntry {
  return toEntry(row) as object as LegacyEntry // whatever its kind and body
}

export function toEntry(row: SqlRow): Entry {
  const columns = {
    id: row.id,
    place: readPlace(row),
    kind: row.kind,
    about: fromStorableOrNull(row.about),
    at: row.at,
    expiresAt: row.expires_at,
    version: row.version,
    body: JSON.parse(String(row.body)),
  }
  return columns as unknown as Entry // STRICT columns that only `entryValues` writes
}

export const JOB_COLUMNS = [
  'id',
  'owner_number',
  'place_number',
  'session',
  'version',
  'kind',
  'key',
  'for_owner',
  'status',
  'due_at',
  'status_changed_at',
  'attempts',
  'lost_leases',
  'every_ms',
  'last_error',
  'claim',
  'cancelled_run',
  'expires_at',
  'input',
  'outcome',
] as const

/** In the order of JOB_COLUMNS. */
export function toJobValues(job: Job, home: StoredPlace): readonly SqlValue[] {
  return [
    job.id,
    home.ownerNumber,
    home.number,
    toStorableOrNull(job.place.session),
    job.version,
    job.kind,
    toStorable(job.key),
    toStorableOrNull(job.owner),
    job.status,
    job.dueAt,
    job.statusChangedAt,
    job.attempts,
    job.lostLeases,
    job.everyMs,
    job.lastError,
    job.claim,
    job.cancelledRun,
    job.expiresAt,
    JSON.stringify(job.input),
    job.outcome === null ? null : JSON.stringify(job.outcome),
  ]
}

export function toJob(row: SqlRow): Job {
  const columns = {
    id: row.id,
    place: readPlace(row),
    version: row.version,
    kind: row.kind,
    key: fromStorable(String(row.key)),
    owner: fromStorableOrNull(row.for_owner),
    input: JSON.parse(String(row.input)),
    status: row.status,
    dueAt: row.due_at,
    statusChangedAt: row.status_changed_at,
    attempts: row.attempts,
    lostLeases: row.lost_leases,
    everyMs: row.every_ms,
    lastError: row.last_error,
    outcome: row.outcome === null ? null : JSON.parse(String(row.outcome)),
    claim: row.claim,
    cancelledRun: row.cancelled_run,
    expiresAt: row.expires_at,
  }
  return columns as unknown as Job // STRICT columns that only `toJobValues` writes
}

export const SIGNAL_COLUMNS = [
  'id',
  'owner_number',
  'place_number',
  'session',
  'version',
  'status',
  'position',
  'is_history',
  'is_pattern_scanned',
  'attempts',
  'error',
  'change',
  'turns',
  'created_at',
  'expires_at',
] as const

/** In the order of SIGNAL_COLUMNS. */
export function toSignalValues(signal: Signal, home: StoredPlace): readonly SqlValue[] {
  return [
    signal.id,
    home.ownerNumber,
    home.number,
    toStorableOrNull(signal.place.session),
    signal.version,
    signal.status,
    signal.position,
    signal.isHistory ? 1 : 0,
    signal.isPatternScanned ? 1 : 0,
    signal.attempts,
    toStorableOrNull(signal.error),
    signal.change,
    JSON.stringify(signal.turns),
    signal.createdAt,
    signal.expiresAt,
  ]
}

export function toSignal(row: SqlRow): Signal {
  const columns = {
    id: row.id,
    place: readPlace(row),
    version: row.version,
    turns: JSON.parse(String(row.turns)),
    position: row.position,
    isHistory: row.is_history === 1,
    status: row.status,
    isPatternScanned: row.is_pattern_scanned === 1,
    attempts: row.attempts,
    error: fromStorableOrNull(row.error),
    change: row.change,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
  return columns as unknown as Signal // STRICT columns that only `toSignalValues` writes
}
