/** Makes entries and turns for tests, as `memories.ts` makes memories. */
import type { Entry, EntryKind } from '../../src/domain/entries/entry.ts'
import type { EntryId, JobId, SignalId, TurnId } from '../../src/domain/ids.ts'
import type { Job } from '../../src/domain/job-row.ts'
import type { Signal } from '../../src/domain/signal.ts'
import type { Turn } from '../../src/domain/turn.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { ADA, instant } from './memories.ts'

export const entryId = (name: string | number) => `aud_${String(name).padStart(6, '0')}` as EntryId
export const turnId = (name: string | number) => `turn_${String(name).padStart(6, '0')}` as TurnId
export const jobId = (name: string | number) => `job_${String(name).padStart(6, '0')}` as JobId
export const signalId = (name: string | number) =>
  `sig_${String(name).padStart(6, '0')}` as SignalId

let count = 0

type EntryFields = Partial<Omit<Entry, 'kind' | 'body'>> & {
  readonly kind?: EntryKind
  /** Any JSON: stores give back what was written, whatever it is. */
  readonly body?: JsonObject
}

export function entry(fields: EntryFields = {}): Entry {
  count++
  const made = {
    id: entryId(count),
    place: ADA,
    kind: 'audit',
    about: null,
    at: instant(1_000),
    expiresAt: null,
    version: 1,
    body: { number: count },
    ...fields,
  }
  return made as Entry // for stores, which do not look into bodies
}

export function job(fields: Partial<Job> = {}): Job {
  count++
  return {
    id: jobId(count),
    place: ADA,
    version: 1,
    kind: 'distill',
    key: `key ${count}`,
    owner: null,
    input: { number: count },
    status: 'waiting',
    dueAt: instant(1_000),
    statusChangedAt: instant(900),
    attempts: 0,
    lostLeases: 0,
    everyMs: null,
    lastError: null,
    outcome: null,
    claim: null,
    cancelledRun: null,
    expiresAt: null,
    ...fields,
  }
}

export function signal(fields: Partial<Signal> = {}): Signal {
  count++
  return {
    id: signalId(count),
    place: ADA,
    version: 1,
    turns: [turnId(count)],
    position: 0,
    isHistory: false,
    status: 'pending',
    isPatternScanned: false,
    attempts: 0,
    error: null,
    change: null,
    createdAt: instant(1_000),
    expiresAt: null,
    ...fields,
  }
}

export function turn(fields: Partial<Turn> = {}): Turn {
  count++
  return {
    id: turnId(count),
    place: ADA,
    version: 1,
    role: 'user',
    speaker: null,
    content: `sentence number ${count}`,
    position: count,
    saidAt: instant(1_000),
    disabled: false,
    ...fields,
  }
}
