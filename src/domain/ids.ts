/**
 * Ids, scopes and instants.
 *
 * They are branded because mixing them up is how one owner reads another's memories. Ids are prefixed and
 * sort by creation time, so that logs are readable and pages need no second sort key.
 */
import { AppError } from './errors.ts'

declare const brand: unique symbol
type Branded<Base, Name extends string> = Base & { readonly [brand]: Name }

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

/** Milliseconds since the epoch. ISO text exists only on the wire. */
export type Instant = Branded<number, 'instant'>

/** What stands before the underscore of an id, and the kind of id it makes. */
export type IdKinds = {
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
type ParsedIds = IdKinds & { readonly tmb: TombstoneId }

const ENTRY_ID = /^[A-Za-z0-9_.:@-]{1,200}$/

/** Checks the form of an entry's id, such as `set_` with a hash after it. */
export function parseEntryId(value: unknown): EntryId {
  if (typeof value === 'string' && ENTRY_ID.test(value)) return value as EntryId // its form was checked
  throw new AppError(
    'invalid_input',
    `"${String(value).slice(0, 80)}" is not an id of an entry: 1 to 200 letters, digits and any of _.:@-`,
  )
}

/** Owners whose names begin with this are ours; callers may name only `SHARED_OWNER` among them. */
export const RESERVED_OWNER_PREFIX = '@'
/** Where the system keeps what is its own: keys, settings, the audit log. */
export const SYSTEM_OWNER = '@system' as OwnerId // these two are where the names are made
/** Where memories live that belong to everybody. */
export const SHARED_OWNER = '@shared' as OwnerId

/**
 * Whose data a call is about. It narrows from left to right:
 * an owner alone covers all of its users and sessions, a name covers only that one, and `null` covers only what
 * belongs to none in particular. A place is thus the narrowest scope there is.
 */
export type Scope = {
  readonly owner: OwnerId
  readonly user?: UserId | null
  readonly session?: SessionId | null
}

/** Where a row lives: the same as a scope, with nothing left open. */
export type Place = {
  readonly owner: OwnerId
  readonly user: UserId | null
  readonly session: SessionId | null
}

/** Whether a row at `place` may be seen by a call with `scope`. Every store must agree with this function. */
export function covers(scope: Scope, place: Place): boolean {
  return (
    scope.owner === place.owner &&
    (scope.user === undefined || scope.user === place.user) &&
    (scope.session === undefined || scope.session === place.session)
  )
}

/** Orders places by owner, then user, those of no user first. */
export function byPlace(
  a: { readonly owner: string; readonly user: string | null },
  b: { readonly owner: string; readonly user: string | null },
): number {
  return compareText(a.owner, b.owner) || compareText(a.user ?? '', b.user ?? '')
}

/** By UTF-16 units, the same everywhere: ids, names and keys are ordered for machines, not for people. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
