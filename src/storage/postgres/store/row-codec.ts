/**
 * Converts rows to table columns and back. JSON is stored as text, because PostgreSQL's JSON types
 * reject strings that are valid in JavaScript. All other text goes through the storable-text codec.
 */
import type { Entry, EntryKind } from '../../../domain/entries/entry.ts'
import type {
  ChangeId,
  EntryId,
  JobId,
  MemoryId,
  OwnerId,
  RevisionId,
  SessionId,
  SignalId,
  TombstoneId,
  TurnId,
  UserId,
} from '../../../domain/ids.ts'
import type { Job, JobErrorCode, JobStatus } from '../../../domain/job-row.ts'
import type {
  Memory,
  MemoryCategory,
  MemoryStatus,
  Revision,
  Tombstone,
  Trust,
} from '../../../domain/memory.ts'
import type { Place } from '../../../domain/scope.ts'
import {
  type DocumentType,
  type SearchDocument,
  toTurnDocument,
} from '../../../domain/search-document.ts'
import type { Signal, SignalStatus } from '../../../domain/signal.ts'
import type { Turn, TurnRole } from '../../../domain/turn.ts'
import { quoteIdentifier } from '../../../lib/sql.ts'
import type { Instant } from '../../../lib/time.ts'
import { fromStorable, toStorable } from '../../../text/storable-text.ts'
import type { Row, Table } from '../../store.ts'

export type PlaceColumns = {
  owner_id: OwnerId
  user_id: UserId | null
  session_id: SessionId | null
}

/** Rows of the table that holds both memories and documents of turns. */
export type MemoryColumns = PlaceColumns & {
  id: MemoryId
  key: string | null
  content: string
  type: DocumentType
  category: MemoryCategory
  importance: number
  salience: number
  pinned: boolean
  trust: Trust
  status: MemoryStatus
  valid_from: Instant | null
  valid_until: Instant | null
  superseded_by: MemoryId | null
  conflicts_with: MemoryId | null
  expires_at: Instant | null
  provenance: string
  entities: string
  language: string | null
  metadata: string
  source_count: number
  use_count: number
  last_used_at: Instant | null
  version: number
  change: ChangeId
  created_at: Instant
  updated_at: Instant
}

export type RevisionColumns = PlaceColumns & {
  id: RevisionId
  memory_id: MemoryId
  made_by: ChangeId
  updated_at: Instant
  replaced_at: Instant
  replaced_by: ChangeId
  snapshot: string
}

export type TombstoneColumns = PlaceColumns & {
  id: TombstoneId
  version: number
  forgotten_at: Instant
}

export type EntryColumns = PlaceColumns & {
  id: EntryId
  version: number
  kind: EntryKind
  about: OwnerId | null
  at: Instant
  expires_at: Instant | null
  body: string
}

export type TurnColumns = PlaceColumns & {
  id: TurnId
  version: number
  role: TurnRole
  speaker: string | null
  content: string
  position: number
  said_at: Instant
  disabled: boolean
}

export type JobColumns = PlaceColumns & {
  id: JobId
  version: number
  kind: string
  key: string
  for_owner: OwnerId | null
  status: JobStatus
  due_at: Instant | null
  status_changed_at: Instant
  attempts: number
  lost_leases: number
  every_ms: number | null
  last_error: JobErrorCode | null
  claim: string | null
  cancelled_run: string | null
  expires_at: Instant | null
  input: string
  outcome: string | null
}

export type SignalColumns = PlaceColumns & {
  id: SignalId
  version: number
  status: SignalStatus
  position: number
  is_history: boolean
  is_pattern_scanned: boolean
  attempts: number
  error: string | null
  change: ChangeId | null
  turns: string
  created_at: Instant
  expires_at: Instant | null
}

type Columns = {
  memory: MemoryColumns
  revision: RevisionColumns
  tombstone: TombstoneColumns
  entry: EntryColumns
  turn: TurnColumns
  job: JobColumns
  signal: SignalColumns
}

type RowCodec<T extends Table> = {
  readonly columns: readonly (keyof Columns[T] & string)[]
  toColumns(row: Row<T>): Columns[T]
  fromColumns(columns: Columns[T]): Row<T>
}

const PLACE_COLUMNS = ['owner_id', 'user_id', 'session_id'] as const

const MEMORY_COLUMNS = [
  'id',
  ...PLACE_COLUMNS,
  'key',
  'content',
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
] as const satisfies readonly (keyof MemoryColumns)[]

/** A turn in the document table: its document and its position in the session. */
export type TurnDocumentColumns = MemoryColumns & { position: number }

export const TURN_DOCUMENT_COLUMNS = [...MEMORY_COLUMNS, 'position'] as const

export function toTurnDocumentColumns(turn: Turn): TurnDocumentColumns {
  return { ...toDocumentColumns(toTurnDocument(turn)), position: turn.position }
}

export const ROW_CODECS: { readonly [T in Table]: RowCodec<T> } = {
  memory: {
    columns: MEMORY_COLUMNS,
    toColumns: toDocumentColumns,
    fromColumns: (columns) => toDocument(columns) as Memory, // the statements exclude turns
  },
  revision: {
    columns: [
      'id',
      ...PLACE_COLUMNS,
      'memory_id',
      'made_by',
      'updated_at',
      'replaced_at',
      'replaced_by',
      'snapshot',
    ],
    toColumns: revisionToColumns,
    fromColumns: revisionFromColumns,
  },
  tombstone: {
    columns: ['id', ...PLACE_COLUMNS, 'version', 'forgotten_at'],
    toColumns: tombstoneToColumns,
    fromColumns: tombstoneFromColumns,
  },
  entry: {
    columns: ['id', ...PLACE_COLUMNS, 'version', 'kind', 'about', 'at', 'expires_at', 'body'],
    toColumns: entryToColumns,
    fromColumns: entryFromColumns,
  },
  turn: {
    columns: [
      'id',
      ...PLACE_COLUMNS,
      'version',
      'role',
      'speaker',
      'content',
      'position',
      'said_at',
      'disabled',
    ],
    toColumns: turnToColumns,
    fromColumns: turnFromColumns,
  },
  job: {
    columns: [
      'id',
      ...PLACE_COLUMNS,
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
    ],
    toColumns: jobToColumns,
    fromColumns: jobFromColumns,
  },
  signal: {
    columns: [
      'id',
      ...PLACE_COLUMNS,
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
    ],
    toColumns: signalToColumns,
    fromColumns: signalFromColumns,
  },
}

/** Inserts the rows of the parameter `$1`, a JSON list of columns. */
export function insertRowsSql(name: string, table: Table): string {
  const list = ROW_CODECS[table].columns.map(quoteIdentifier).join(', ')
  return `INSERT INTO ${name} (${list}) SELECT ${list} FROM json_populate_recordset(NULL::${name}, $1)
    ON CONFLICT (id) DO NOTHING`
}

export function readPlace(columns: PlaceColumns): Place {
  return {
    owner: decodeText(columns.owner_id),
    user: decodeText(columns.user_id),
    session: decodeText(columns.session_id),
  }
}

function placeToColumns(place: Place): PlaceColumns {
  return {
    owner_id: encodeText(place.owner),
    user_id: encodeText(place.user),
    session_id: encodeText(place.session),
  }
}

export function toDocumentColumns(memory: SearchDocument): MemoryColumns {
  return {
    id: encodeText(memory.id),
    ...placeToColumns(memory.place),
    key: encodeText(memory.key),
    content: encodeText(memory.content),
    type: memory.type,
    category: memory.category,
    importance: memory.importance,
    salience: memory.salience,
    pinned: memory.pinned,
    trust: memory.trust,
    status: memory.status,
    valid_from: memory.validFrom,
    valid_until: memory.validUntil,
    superseded_by: encodeText(memory.supersededBy),
    conflicts_with: encodeText(memory.conflictsWith),
    expires_at: memory.expiresAt,
    provenance: JSON.stringify(memory.provenance),
    entities: JSON.stringify(memory.entities),
    language: encodeText(memory.language),
    metadata: JSON.stringify(memory.metadata),
    source_count: memory.sourceCount,
    use_count: memory.useCount,
    last_used_at: memory.lastUsedAt,
    version: memory.version,
    change: encodeText(memory.change),
    created_at: memory.createdAt,
    updated_at: memory.updatedAt,
  }
}

export function toDocument(columns: MemoryColumns): SearchDocument {
  return {
    id: decodeText(columns.id),
    place: readPlace(columns),
    key: decodeText(columns.key),
    content: decodeText(columns.content),
    type: columns.type,
    category: columns.category,
    importance: columns.importance,
    salience: columns.salience,
    pinned: columns.pinned,
    trust: columns.trust,
    status: columns.status,
    validFrom: columns.valid_from,
    validUntil: columns.valid_until,
    supersededBy: decodeText(columns.superseded_by),
    conflictsWith: decodeText(columns.conflicts_with),
    expiresAt: columns.expires_at,
    provenance: parseProvenance(columns.provenance),
    entities: JSON.parse(columns.entities),
    language: decodeText(columns.language),
    metadata: JSON.parse(columns.metadata),
    sourceCount: columns.source_count,
    useCount: columns.use_count,
    lastUsedAt: columns.last_used_at,
    version: columns.version,
    change: decodeText(columns.change),
    createdAt: columns.created_at,
    updatedAt: columns.updated_at,
  }
}

/** Rows that predate speakers have none. */
export function parseProvenance(json: string): Memory['provenance'] {
  return { speaker: null, ...JSON.parse(json) }
}

function revisionToColumns(revision: Revision): RevisionColumns {
  return {
    id: encodeText(revision.id),
    ...placeToColumns(revision.memory.place),
    memory_id: encodeText(revision.memory.id),
    made_by: encodeText(revision.memory.change),
    updated_at: revision.memory.updatedAt,
    replaced_at: revision.replacedAt,
    replaced_by: encodeText(revision.replacedBy),
    snapshot: JSON.stringify(revision.memory),
  }
}

function revisionFromColumns(columns: RevisionColumns): Revision {
  return {
    id: decodeText(columns.id),
    memory: JSON.parse(columns.snapshot),
    replacedAt: columns.replaced_at,
    replacedBy: decodeText(columns.replaced_by),
  }
}

function tombstoneToColumns(tombstone: Tombstone): TombstoneColumns {
  return {
    id: encodeText(tombstone.id),
    ...placeToColumns(tombstone.place),
    version: tombstone.version,
    forgotten_at: tombstone.forgottenAt,
  }
}

function tombstoneFromColumns(columns: TombstoneColumns): Tombstone {
  return {
    id: decodeText(columns.id),
    place: readPlace(columns),
    version: columns.version,
    forgottenAt: columns.forgotten_at,
  }
}

function entryToColumns(entry: Entry): EntryColumns {
  return {
    id: encodeText(entry.id),
    ...placeToColumns(entry.place),
    version: entry.version,
    kind: entry.kind,
    about: encodeText(entry.about),
    at: entry.at,
    expires_at: entry.expiresAt,
    body: JSON.stringify(entry.body),
  }
}

function entryFromColumns(columns: EntryColumns): Entry {
  return {
    id: decodeText(columns.id),
    place: readPlace(columns),
    kind: columns.kind,
    about: decodeText(columns.about),
    at: columns.at,
    expiresAt: columns.expires_at,
    version: columns.version,
    body: JSON.parse(columns.body),
  }
}

function turnToColumns(turn: Turn): TurnColumns {
  return {
    id: encodeText(turn.id),
    ...placeToColumns(turn.place),
    version: turn.version,
    role: turn.role,
    speaker: encodeText(turn.speaker),
    content: encodeText(turn.content),
    position: turn.position,
    said_at: turn.saidAt,
    disabled: turn.disabled,
  }
}

function turnFromColumns(columns: TurnColumns): Turn {
  return {
    id: decodeText(columns.id),
    place: readPlace(columns),
    version: columns.version,
    role: columns.role,
    speaker: decodeText(columns.speaker),
    content: decodeText(columns.content),
    position: columns.position,
    saidAt: columns.said_at,
    disabled: columns.disabled,
  }
}

function jobToColumns(job: Job): JobColumns {
  return {
    id: encodeText(job.id),
    ...placeToColumns(job.place),
    version: job.version,
    kind: job.kind,
    key: encodeText(job.key),
    for_owner: encodeText(job.owner),
    status: job.status,
    due_at: job.dueAt,
    status_changed_at: job.statusChangedAt,
    attempts: job.attempts,
    lost_leases: job.lostLeases,
    every_ms: job.everyMs,
    last_error: job.lastError,
    claim: job.claim,
    cancelled_run: job.cancelledRun,
    expires_at: job.expiresAt,
    input: JSON.stringify(job.input),
    outcome: job.outcome === null ? null : JSON.stringify(job.outcome),
  }
}

function jobFromColumns(columns: JobColumns): Job {
  return {
    id: decodeText(columns.id),
    place: readPlace(columns),
    version: columns.version,
    kind: columns.kind,
    key: decodeText(columns.key),
    owner: decodeText(columns.for_owner),
    input: JSON.parse(columns.input),
    status: columns.status,
    dueAt: columns.due_at,
    statusChangedAt: columns.status_changed_at,
    attempts: columns.attempts,
    lostLeases: columns.lost_leases,
    everyMs: columns.every_ms,
    lastError: columns.last_error,
    outcome: columns.outcome === null ? null : JSON.parse(columns.outcome),
    claim: columns.claim,
    cancelledRun: columns.cancelled_run,
    expiresAt: columns.expires_at,
  }
}

function signalToColumns(signal: Signal): SignalColumns {
  return {
    id: encodeText(signal.id),
    ...placeToColumns(signal.place),
    version: signal.version,
    status: signal.status,
    position: signal.position,
    is_history: signal.isHistory,
    is_pattern_scanned: signal.isPatternScanned,
    attempts: signal.attempts,
    error: encodeText(signal.error),
    change: encodeText(signal.change),
    turns: JSON.stringify(signal.turns),
    created_at: signal.createdAt,
    expires_at: signal.expiresAt,
  }
}

function signalFromColumns(columns: SignalColumns): Signal {
  return {
    id: decodeText(columns.id),
    place: readPlace(columns),
    version: columns.version,
    turns: JSON.parse(columns.turns),
    position: columns.position,
    isHistory: columns.is_history,
    status: columns.status,
    isPatternScanned: columns.is_pattern_scanned,
    attempts: columns.attempts,
    error: decodeText(columns.error),
    change: decodeText(columns.change),
    createdAt: columns.created_at,
    expiresAt: columns.expires_at,
  }
}

/** The codec changes how a name is written, never whose name it is: brands stay. */
/** The codec only changes the encoding of a name, so the brand still holds. */
export function encodeText<T extends string | null>(text: T): T {
  return (text === null ? null : toStorable(text)) as T // see above
}

export function decodeText<T extends string | null>(text: T): T {
  return (text === null ? null : fromStorable(text)) as T // see above
}
