/**
 * Ids, scopes and instants.
 *
 * They are branded because mixing them up is how one owner reads another's memories. Ids are prefixed and
 * sort by creation time, so that logs are readable and pages need no second sort key.
 */
import type { Branded } from '../lib/brand.ts'
import { AppError } from '../lib/errors.ts'
import type { Instant } from '../lib/time.ts'

export type OwnerId = Branded<string, 'owner'>
export type UserId = Branded<string, 'user'>
export type SessionId = Branded<string, 'session'>
export type MemoryId = Branded<string, 'memory'>
export type RevisionId = Branded<string, 'revision'>
export type TombstoneId = Branded<string, 'tombstone'>
export type ChangeId = Branded<string, 'change'>
export type TurnId = Branded<string, 'turn'>
export type EpisodeId = Branded<string, 'episode'>
export type SignalId = Branded<string, 'signal'>
export type DocumentId = Branded<string, 'document'>
export type ChunkId = Branded<string, 'chunk'>
export type JobId = Branded<string, 'job'>
export type ApiKeyId = Branded<string, 'apiKey'>
export type AuditId = Branded<string, 'audit'>
export type ReceiptId = Branded<string, 'receipt'>
export type ReportId = Branded<string, 'report'>
/** Of what the system keeps for itself, see `core/entry.ts`. Some are drawn, others made from what they stand for. */
export type EntryId = Branded<string, 'entry'> | ApiKeyId | AuditId | JobId | ReceiptId | ReportId

/** What stands before the underscore of an id, and the kind of id it makes. */
export type IdsByPrefix = {
  mem: MemoryId
  rev: RevisionId
  chg: ChangeId
  turn: TurnId
  epi: EpisodeId
  sig: SignalId
  doc: DocumentId
  chk: ChunkId
  job: JobId
  key: ApiKeyId
  aud: AuditId
  rcp: ReceiptId
  rpt: ReportId
}

/** Checks the form of an id that came from outside. Tombstones have ids too, but nobody draws one. */
export function parseId<Prefix extends keyof ParsedIds>(
  prefix: Prefix,
  value: unknown,
): ParsedIds[Prefix] {
  if (typeof value === 'string' && new RegExp(`^${prefix}_[0-9A-Za-z_]{1,60}$`).test(value)) {
    return value as ParsedIds[Prefix] // its form was checked
  }
  throw new AppError(
    'invalid_input',
    `"${String(value).slice(0, 80)}" is not an id here; one looks like ${prefix}_01k3x….`,
    { prefix },
  )
}

type ParsedIds = IdsByPrefix & { readonly tmb: TombstoneId }

const ENTRY_ID = /^[A-Za-z0-9_.:@-]{1,200}$/

/** Checks the form of an entry's id, such as `set_` with a hash after it. */
export function parseEntryId(value: unknown): EntryId {
  if (typeof value === 'string' && ENTRY_ID.test(value)) return value as EntryId // its form was checked
  throw new AppError(
    'invalid_input',
    `"${String(value).slice(0, 80)}" is not an id of an entry: 1 to 200 letters, digits and any of _.:@-`,
  )
}

/** New ids. They sort by `at`, and two made at the same instant sort in the order they were made. */
export interface IdGenerator {
  next<Prefix extends keyof IdsByPrefix>(prefix: Prefix, at: Instant): IdsByPrefix[Prefix]
}
