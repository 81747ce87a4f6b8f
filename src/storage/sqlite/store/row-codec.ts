/** Rows of the port ↔ columns of SQLite. */

import type { Entry } from '../../../domain/entries/entry.ts'
import type { Job } from '../../../domain/job.ts'
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

/** Where a row lives, as numbers, and the tokens under which its memories and its turns are found and counted. */
export type StoredPlace = {
  readonly number: number
  readonly ownerNumber: number
  readonly tokens: Readonly<Record<DocumentKind, readonly [owner: string, place: string]>>
}

/** Begins a token that is not a word. Terms hold no control characters, so nobody can say one. */
const OWN = '\u0001'

/** What the tokens of an owner and of a place begin with, before their numbers. FTS5 ignores the case of ASCII letters. */
export const OWNER_TOKEN = { memory: `${OWN}o`, turn: `${OWN}to` } as const

export const PLACE_TOKEN = { memory: `${OWN}p`, turn: `${OWN}tp` } as const

/** Documents of the whole store are counted under these. */
export const STORE_TOKEN = { memory: '', turn: `${OWN}t` } as const

export function toOwnerToken(kind: DocumentKind, ownerNumber: number): string {
  return `${OWNER_TOKEN[kind]}${ownerNumber}`
}

export function toPlaceToken(kind: DocumentKind, placeNumber: number): string {
  return `${PLACE_TOKEN[kind]}${placeNumber}`
}

export function toFingerprintToken(fingerprint: string): string {
  return `${OWN}f${fingerprint}`
}

/** A quoted string is never read as syntax. */
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

/** Terms as a row keeps them: space-joined, and how many they are. */
export type IndexTerms = { readonly terms: string; readonly count: number }

/** The words that a row was indexed with. */
function wordsOf(row: SqlRow): IndexTerms {
  return { terms: String(row.terms), count: Number(row.terms_count) }
}

/** What the index knows of a document: its words, and of a memory its fingerprint. */
export type IndexEntry = IndexTerms & { readonly kind: DocumentKind; readonly fingerprint: string }

export function toIndexEntry(document: SearchDocument): IndexEntry {
  return {
    ...buildSearchText(document),
    kind: kindOf(document.type),
    // Turns are never looked up by their exact words.
    fingerprint: document.type === 'turn' ? '' : computeFingerprint(document.content),
  }
}

/** The entry that a row was indexed with. */
export function readIndexEntry(row: SqlRow): IndexEntry {
  return { ...wordsOf(row), kind: kindOf(row.type), fingerprint: String(row.fingerprint) }
}

function kindOf(type: SqlValue | undefined): DocumentKind {
  return type === 'turn' ? 'turn' : 'memory'
}

/** What a document is found by beside its words. */
export function toIndexTokens(
  { tokens }: StoredPlace,
  { kind, fingerprint }: IndexEntry,
): readonly string[] {
  return kind === 'turn' ? tokens.turn : [...tokens.memory, toFingerprintToken(fingerprint)]
}

/** The entry of a document as the index is told it. */
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

/** What belongs to the search index is not read: each column of a hundred memories takes its time. */
export const INDEX_COLUMNS: ReadonlySet<string> = new Set([
  'owner_number',
  'place_number',
  'fingerprint',
  'terms_count',
  'terms',
])

/** The columns that `toMemory` reads, by their names. */
export const MEMORY_SELECTION: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    MEMORY_COLUMNS.filter((column) => !INDEX_COLUMNS.has(column)).map((column) => [
      column,
      `memory.${column}`,
    ]),
  ),
  salience: "format('%!.17g', memory.salience)", // with all its digits
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

/** Reads a row of `memory`, which is no turn's, joined with its `place`. */
export function toMemory(row: SqlRow): Memory {
  return toDocument(row) as Memory // of a type that memories have
}

/** The same for documents of every type. The schema keeps the columns to these types. */
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
    // Nearly always empty, and recall reads a hundred memories at a time.
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
  return columns as unknown as SearchDocument // STRICT columns that only `memoryValues` writes
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
  return columns as unknown as Revision // as for memories
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
  return columns as unknown as Tombstone // as for memories
}

export function readPlace(row: SqlRow): Place {
  const place = {
    owner: fromStorable(String(row.owner)),
    user: row.user === '' ? null : fromStorable(String(row.user)),
    session: fromStorableOrNull(row.session),
  }
  return place as Place // names were checked when they came in
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

/** Without `terms` and `terms_count`, which rows of earlier versions hold. */
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
  return columns as unknown as Turn // STRICT columns that only `turnValues` writes
}
