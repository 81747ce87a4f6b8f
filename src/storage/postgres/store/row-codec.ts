/**
 * Converts rows to table columns and back. JSON is stored as text, because PostgreSQL's JSON types
 * reject strings that are valid in JavaScript. All other text goes through the storable-text codec.
 */
import type { Entry, EntryKind } from '../../../domain/entry.ts'
import type {
  ChangeId,
  EntryId,
  MemoryId,
  OwnerId,
  RevisionId,
  SessionId,
  TombstoneId,
  TurnId,
  UserId,
} from '../../../domain/ids.ts'
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
import type { Turn, TurnRole } from '../../../domain/turn.ts'
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

type Columns = {
  memory: MemoryColumns
  revision: RevisionColumns
  tombstone: TombstoneColumns
  entry: EntryColumns
  turn: TurnColumns
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

/** The codec only changes the encoding of a name, so the brand still holds. */
export function encodeText<T extends string | null>(text: T): T {
  return (text === null ? null : toStorable(text)) as T // see above
}

export function decodeText<T extends string | null>(text: T): T {
  return (text === null ? null : fromStorable(text)) as T // see above
}
