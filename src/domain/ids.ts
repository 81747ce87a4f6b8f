/**
 * Branded ids, because mixing up ids is how one owner reads another's memories. Ids have a prefix and sort by creation
 * time, so logs are readable and pages need no second sort key.
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
type EpisodeId = Branded<string, 'episode'>
export type SignalId = Branded<string, 'signal'>
export type DocumentId = Branded<string, 'document'>
type ChunkId = Branded<string, 'chunk'>
export type JobId = Branded<string, 'job'>
export type ApiKeyId = Branded<string, 'apiKey'>
export type AuditId = Branded<string, 'audit'>
export type ReceiptId = Branded<string, 'receipt'>
export type ReportId = Branded<string, 'report'>
/** The id of an entry, see `entry.ts`. Some are generated, others derived from what the entry represents. */
export type EntryId = Branded<string, 'entry'> | ApiKeyId | AuditId | JobId | ReceiptId | ReportId

/** The type of id for each prefix. */
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

/** Checks the form of an id from outside. Tombstone ids can be parsed, but are never generated. */
export function parseId<Prefix extends keyof ParsedIds>(
  prefix: Prefix,
  value: unknown,
): ParsedIds[Prefix] {
  if (typeof value === 'string' && new RegExp(`^${prefix}_[0-9A-Za-z_]{1,60}$`).test(value)) {
    return value as ParsedIds[Prefix] // its form was checked
  }
  throw new AppError(
    'invalid_input',
    `An id of this kind must look like ${prefix}_01k3x…; got "${String(value).slice(0, 80)}".`,
    { prefix },
  )
}

type ParsedIds = IdsByPrefix & { readonly tmb: TombstoneId }

const ENTRY_ID = /^[A-Za-z0-9_.:@-]{1,200}$/

/** Checks the form of an entry id, such as `set_` followed by a hash. */
export function parseEntryId(value: unknown): EntryId {
  if (typeof value === 'string' && ENTRY_ID.test(value)) return value as EntryId // its form was checked
  throw new AppError(
    'invalid_input',
    `An entry id must be 1 to 200 letters, digits or any of _.:@-; got "${String(value).slice(0, 80)}".`,
  )
}

/** Generates ids. They sort by `at`; ids of the same instant sort in the order of the calls. */
export interface IdGenerator {
  next<Prefix extends keyof IdsByPrefix>(prefix: Prefix, at: Instant): IdsByPrefix[Prefix]
}
