/**
 * What the system keeps for itself: keys, settings, the audit log, answers to requests that may be repeated, who is signed in, background
 * jobs, receipts of the gateway and the lines that they cite, which forgotten facts keep turns disabled, threads, by which it knows conversations again, signals, which tell
 * what was said and not yet learned from, reports of consolidation, roots, which say where an owner's files are, and in
 * the index of files what is known of each file, which generation of chunks answers and what was last mirrored in a file, secrets, with which
 * other services are asked, and that everything is being moved from here or to here. They
 * share a table because they are small, are found by id or listed in order, and are never searched by words.
 */

import type { JsonObject } from '../lib/json.ts'
import type { Instant } from '../lib/time.ts'
import type { EntryId, OwnerId } from './ids.ts'
import type { Place } from './scope.ts'

export const ENTRY_KINDS = [
  'key',
  'setting',
  'audit',
  'answer',
  'login',
  'job',
  'receipt',
  'receipt-text',
  'turn-suppression',
  'thread',
  'signal',
  'report',
  'lane',
  'spend',
  'root',
  'file',
  'generation',
  'mirror',
  'secret',
  'move',
] as const

export type EntryKind = (typeof ENTRY_KINDS)[number]

export type Entry = {
  readonly id: EntryId
  readonly place: Place
  readonly kind: EntryKind
  /** The owner it is about; null: nobody in particular. */
  readonly about: OwnerId | null
  /** When it happened, or when it is due. */
  readonly at: Instant
  readonly expiresAt: Instant | null
  readonly version: number
  readonly body: JsonObject
}
