/** Converts rows of the store to columns of SQLite and back. */

import type { Entry } from '../../../domain/entries/entry.ts'
import type { Job } from '../../../domain/job-row.ts'
import type { Memory, Revision, Tombstone } from '../../../domain/memory.ts'
import type { Place } from '../../../domain/scope.ts'
import type { DocumentKind, SearchDocument } from '../../../domain/search-document.ts'
import { buildSearchText } from '../../../domain/searchable-text.ts'
import type { Signal } from '../../../domain/signal.ts'
import type { Turn } from '../../../domain/turn.ts'
import { computeFingerprint } from '../../../text/fingerprint.ts'
import { fromStorable, toStorable } from '../../../text/storable-text.ts'
import type { LegacyEntry } from '../../entry-upgrade.ts'
import type { SqlRow, SqlValue } from '../connection/sqlite-driver.ts'

/** The numbers of a place, and the index tokens of its memories and its turns. */
export type StoredPlace = {
  readonly number: number
  readonly ownerNumber: number
  readonly tokens: Readonly<Record<DocumentKind, readonly [owner: string, place: string]>>
}

/** The first character of tokens that are not terms. Terms hold no control characters, so no text contains one. */
const TOKEN_PREFIX = '\u0001'

/** Prefixes of the tokens of owners and places, before their numbers. They must differ by more than case, which FTS5 ignores. */
export const OWNER_TOKEN = { memory: `${TOKEN_PREFIX}o`, turn: `${TOKEN_PREFIX}to` } as const

export const PLACE_TOKEN = { memory: `${TOKEN_PREFIX}p`, turn: `${TOKEN_PREFIX}tp` } as const

/** The tokens under which all documents of the store are counted. */
export const STORE_TOKEN = { memory: '', turn: `${TOKEN_PREFIX}t` } as const

export function toOwnerToken(kind: DocumentKind, ownerNumber: number): string {
  return `${OWNER_TOKEN[kind]}${ownerNumber}`
}

export function toPlaceToken(kind: DocumentKind, placeNumber: number): string {
  return `${PLACE_TOKEN[kind]}${placeNumber}`
}

export function toFingerprintToken(fingerprint: string): string {
  return `${TOKEN_PREFIX}f${fingerprint}`
}

/** FTS5 never parses a quoted string as query syntax. */
export function quoteFtsTerm(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}

export function toStoredPlace(number: number, ownerNumber: number): StoredPlace {
  const tokensOf = (kind: DocumentKind) =>
    [toOwnerToken(kind, ownerNumber), toPlaceToken(kind, number)] as const
  return { number, ownerNumber, tokens: { memory: tokensOf('memory'), turn: tokensOf('turn') } }
}

export function readStoredPlace(row: SqlRow): StoredPlace {
  return toStoredPlace(Number(row.place_number), Number(row.owner_number))
}

/** The terms of a row, joined by spaces, and their number. */
export type IndexTerms = { readonly terms: string; readonly count: number }

/** The terms that a row was indexed with. */
function readTerms(row: SqlRow): IndexTerms {
  return { terms: String(row.terms), count: Number(row.terms_count) }
}

/** The index entry of a document: its terms, and the fingerprint of a memory. */
export type IndexEntry = IndexTerms & { readonly kind: DocumentKind; readonly fingerprint: string }

export function toIndexEntry(document: SearchDocument): IndexEntry {
  return {
    ...buildSearchText(document),
    kind: kindOf(document.type),
    // Turns are never looked up by fingerprint.
    fingerprint: document.type === 'turn' ? '' : computeFingerprint(document.content),
  }
}

/** The index entry that a stored row was indexed with. */
export function readIndexEntry(row: SqlRow): IndexEntry {
  return { ...readTerms(row), kind: kindOf(row.type), fingerprint: String(row.fingerprint) }
}

function kindOf(type: SqlValue | undefined): DocumentKind {
  return type === 'turn' ? 'turn' : 'memory'
}

/** The tokens of a document besides its terms. */
export function toIndexTokens(
  { tokens }: StoredPlace,
  { kind, fingerprint }: IndexEntry,
): readonly string[] {
  return kind === 'turn' ? tokens.turn : [...tokens.memory, toFingerprintToken(fingerprint)]
}

/** The text of an index entry, as FTS5 indexes it. */
export function renderIndexEntry(home: StoredPlace, entry: IndexEntry): string {
  return [...toIndexTokens(home, entry), entry.terms].join(' ')
}

export const MEMORY_COLUMNS = [
  'id',
  'owner_number',
  'place_number',
  'session',
  'key',
  'content',
  'fingerprint',
  'terms_count',
  'type',
  'category',
  'importance',
  'salience',
  'pinned',
  'trust',
  'status',
  'valid_from',
  'valid_until',
  'superseded_by',
  'conflicts_with',
  'expires_at',
  'provenance',
  'entities',
  'language',
  'metadata',
  'source_count',
  'use_count',
  'last_used_at',
  'version',
  'change',
  'created_at',
  'updated_at',
  'terms',
] as const

/** Columns of the search index are not read: each column of a hundred memories takes time. */
export const INDEX_COLUMNS: ReadonlySet<string> = new Set([
  'owner_number',
  'place_number',
  'fingerprint',
  'terms_count',
  'terms',
])

/** The columns that `toDocument` reads, by name. */
export const MEMORY_SELECTION: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    MEMORY_COLUMNS.filter((column) => !INDEX_COLUMNS.has(column)).map((column) => [
      column,
      `memory.${column}`,
    ]),
  ),
  salience: "format('%!.17g', memory.salience)", // with all digits
  owner: 'place.owner',
  user: 'place.user',
}

/** In the order of MEMORY_COLUMNS. */
export function toMemoryValues(
  memory: SearchDocument,
  home: StoredPlace,
  entry: IndexEntry,
): readonly SqlValue[] {
  return [
    memory.id,
    home.ownerNumber,
    home.number,
    toStorableOrNull(memory.place.session),
    toStorableOrNull(memory.key),
    toStorable(memory.content),
    entry.fingerprint,
    entry.count,
    memory.type,
    memory.category,
    memory.importance,
    memory.salience,
    memory.pinned ? 1 : 0,
    memory.trust,
    memory.status,
    memory.validFrom,
    memory.validUntil,
    memory.supersededBy,
    memory.conflictsWith,
    memory.expiresAt,
    JSON.stringify(memory.provenance),
    memory.entities.length === 0 ? '[]' : JSON.stringify(memory.entities),
    toStorableOrNull(memory.language),
    JSON.stringify(memory.metadata),
    memory.sourceCount,
    memory.useCount,
    memory.lastUsedAt,
    memory.version,
    memory.change,
    memory.createdAt,
    memory.updatedAt,
    entry.terms,
  ]
}

/** Decodes a row of `memory` joined with its `place`. The row must not be the document of a turn. */
export function toMemory(row: SqlRow): Memory {
  return toDocument(row) as Memory // its type is one of a memory's
}

/** Decodes a row of `memory` joined with its `place`: a memory, or the document of a turn. */
export function toDocument(row: SqlRow): SearchDocument {
  const columns = {
    id: row.id,
    place: readPlace(row),
    key: fromStorableOrNull(row.key),
    content: fromStorable(String(row.content)),
    type: row.type,
    category: row.category,
    importance: row.importance,
    salience: Number(row.salience),
    pinned: row.pinned === 1,
    trust: row.trust,
    status: row.status,
    validFrom: row.valid_from,
    validUntil: row.valid_until,
    supersededBy: row.superseded_by,
    conflictsWith: row.conflicts_with,
    expiresAt: row.expires_at,
    provenance: { speaker: null, ...JSON.parse(String(row.provenance)) },
    // Nearly always empty, and recall decodes a hundred documents at a time.
    entities: row.entities === '[]' ? [] : JSON.parse(String(row.entities)),
    language: fromStorableOrNull(row.language),
    metadata: row.metadata === '{}' ? {} : JSON.parse(String(row.metadata)),
    sourceCount: row.source_count,
    useCount: row.use_count,
    lastUsedAt: row.last_used_at,
    version: row.version,
    change: row.change,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
  return columns as unknown as SearchDocument // STRICT columns that only `toMemoryValues` writes
}

export const REVISION_COLUMNS = [
  'id',
  'owner_number',
  'place_number',
  'session',
  'memory',
  'recorded_at',
  'made_by',
  'replaced_at',
  'replaced_by',
  'snapshot',
] as const

export function toRevisionValues(revision: Revision, home: StoredPlace): readonly SqlValue[] {
  return [
    revision.id,
    home.ownerNumber,
    home.number,
    toStorableOrNull(revision.memory.place.session),
    revision.memory.id,
    revision.memory.updatedAt,
    revision.memory.change,
    revision.replacedAt,
    revision.replacedBy,
    JSON.stringify(revision.memory),
  ]
}

export function toRevision(row: SqlRow): Revision {
  const columns = {
    id: row.id,
    memory: JSON.parse(String(row.snapshot)),
    replacedAt: row.replaced_at,
    replacedBy: row.replaced_by,
  }
  return columns as unknown as Revision // STRICT columns that only this file writes
}

export const TOMBSTONE_COLUMNS = [
  'id',
  'owner_number',
  'place_number',
  'session',
  'version',
  'forgotten_at',
] as const

export function toTombstoneValues(tombstone: Tombstone, home: StoredPlace): readonly SqlValue[] {
  return [
    tombstone.id,
    home.ownerNumber,
    home.number,
    toStorableOrNull(tombstone.place.session),
    tombstone.version,
    tombstone.forgottenAt,
  ]
}

export function toTombstone(row: SqlRow): Tombstone {
  const columns = {
    id: row.id,
    place: readPlace(row),
    version: row.version,
    forgottenAt: row.forgotten_at,
  }
  return columns as unknown as Tombstone // STRICT columns that only this file writes
}

export function readPlace(row: SqlRow): Place {
  const place = {
    owner: fromStorable(String(row.owner)),
    user: row.user === '' ? null : fromStorable(String(row.user)),
    session: fromStorableOrNull(row.session),
  }
  return place as Place // names were checked when they were written
}

export function toStorableOrNull(text: string | null): string | null {
  return text === null ? null : toStorable(text)
}

export function fromStorableOrNull(value: SqlValue | undefined): string | null {
  return typeof value === 'string' ? fromStorable(value) : null
}

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
  return columns as unknown as Entry // STRICT columns that only `toEntryValues` writes
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

/** Without `terms` and `terms_count`, which earlier versions used. */
export const TURN_COLUMNS = [
  'id',
  'owner_number',
  'place_number',
  'session',
  'version',
  'role',
  'speaker',
  'content',
  'position',
  'said_at',
  'disabled',
] as const

/** In the order of TURN_COLUMNS. */
export function toTurnValues(turn: Turn, home: StoredPlace): readonly SqlValue[] {
  return [
    turn.id,
    home.ownerNumber,
    home.number,
    toStorableOrNull(turn.place.session),
    turn.version,
    turn.role,
    toStorableOrNull(turn.speaker),
    toStorable(turn.content),
    turn.position,
    turn.saidAt,
    turn.disabled ? 1 : 0,
  ]
}

export function toTurn(row: SqlRow): Turn {
  const columns = {
    id: row.id,
    place: readPlace(row),
    version: row.version,
    role: row.role,
    speaker: fromStorableOrNull(row.speaker),
    content: fromStorable(String(row.content)),
    position: row.position,
    saidAt: row.said_at,
    disabled: row.disabled === 1,
  }
  return columns as unknown as Turn // STRICT columns that only `toTurnValues` writes
}
