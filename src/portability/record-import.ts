/**
 * Imports records of other systems. Ids are derived from the names that records have in their source, so importing the
 * same source again changes nothing, and an interrupted import can be resumed.
 */
import type { ChangeId, OwnerId } from '../domain/ids.ts'
import type { Memory, Revision } from '../domain/memory.ts'
import { type Place, parseScope, type Scope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import { sha256 } from '../lib/hash.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Instant } from '../lib/time.ts'
import { IMPORTANCE_DEFAULT, SALIENCE_DEFAULT } from '../memory/draft.ts'
import { buildReplacement } from '../memory/memory-changes.ts'
import { parseMemory, parseRevision, parseTurn } from '../memory/record-codec.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import { createChangeStamp } from '../storage/access/optimistic-commit.ts'
import type { TableRow } from '../storage/store.ts'
import { hashToAlphabet, ID_ALPHABET } from './id-mapping.ts'
import {
  buildInsertChanges,
  type ConflictResolution,
  ImportBatch,
  type ImportConflict,
  type ImportResult,
  type ImportUnit,
  type ImportUnitResult,
  isRowPresent,
  throwIfImportAborted,
} from './import-rows.ts'
import type { ImportedMemory, ImportedTurn, ImportRecord } from './importers/foreign-record.ts'

export type RecordImportOptions = {
  readonly onProgress?: (records: number) => void
  readonly signal?: AbortSignal
  /** The time of records without one, such as the modification time of the file. Default: now. */
  readonly observedAt?: number
  /** Assigns records to owners named as in the source instead of to the owner of the scope. */
  readonly keepOwners?: boolean
}

/** Invalid records are counted and reported without stopping the import; blank ones are skipped. */
export async function importRecords(
  ports: MemoryDependencies,
  scope: Scope,
  records: AsyncIterable<ImportRecord> | Iterable<ImportRecord>,
  options: RecordImportOptions = {},
): Promise<ImportResult> {
  const { change, now } = createChangeStamp(ports)
  const target: ImportTarget = {
    scope,
    change,
    observedAt: Math.min(Math.floor(options.observedAt ?? now), now) as Instant, // whole milliseconds, not in the future
    keepOwners: options.keepOwners ?? false,
  }
  const batch = new ImportBatch(ports, resolveConflict)
  let count = 0
  for await (const record of records) {
    throwIfImportAborted(options.signal)
    count++
    const unit = batch.parse(record.at, () => buildRows(record, target))
    if (unit !== null && (await batch.add(unit))) options.onProgress?.(count)
  }
  await batch.flush()
  options.onProgress?.(count)
  return batch.result()
}

type ImportTarget = {
  readonly scope: Scope
  readonly change: ChangeId
  readonly observedAt: Instant
  readonly keepOwners: boolean
}

/** Null for records without content. */
function buildRows(record: ImportRecord, target: ImportTarget): readonly TableRow[] | null {
  if (record.kind === 'fault') throw new AppError('invalid_input', record.message)
  if (record.content.trim() === '') return null
  return record.kind === 'turn' ? [buildTurnRow(record, target)] : buildMemoryRows(record, target)
}

function buildTurnRow(record: ImportedTurn, target: ImportTarget): TableRow {
  const { role, speaker, content, position } = record
  const place = toPlace(record, target)
  const sortTime = Math.max(0, record.saidAt ?? 0)
  const row = parseTurn({
    // The position keeps turns of the same second in order.
    id: `turn_${toSortableId(sortTime, TIME_CHARACTERS)}${toSortableId(position, POSITION_CHARACTERS)}${hashId(place, record, 8)}`,
    place,
    version: 1,
    role,
    speaker: speaker ?? null,
    content,
    position,
    saidAt: record.saidAt ?? target.observedAt,
  })
  return { table: 'turn', row }
}

function buildMemoryRows(record: ImportedMemory, target: ImportTarget): readonly TableRow[] {
  const place = toPlace(record, target)
  const createdAt = record.createdAt ?? record.updatedAt ?? target.observedAt
  const earlier = (record.earlier ?? []).slice(-EARLIER_MAX)
  const memory = parseMemory({
    // Memories without a date sort before all others.
    id: `mem_${toSortableId(record.createdAt ?? 0, TIME_CHARACTERS)}${hashId(place, record, 12)}`,
    place,
    key: record.key ?? null,
    content: record.content,
    type: record.type ?? 'factual',
    category: record.category ?? 'general',
    importance: record.importance ?? IMPORTANCE_DEFAULT,
    salience: record.salience ?? SALIENCE_DEFAULT,
    pinned: record.pinned ?? false,
    trust: 'import',
    status: record.isDisabled === true ? 'disabled' : 'active',
    validFrom: null,
    validUntil: null,
    supersededBy: null,
    conflictsWith: null,
    expiresAt: record.expiresAt ?? null,
    provenance: { source: 'import' },
    entities: record.entities ?? [],
    language: null,
    metadata: buildMetadata(record, target),
    sourceCount: record.sourceCount ?? 1,
    useCount: record.useCount ?? 0,
    lastUsedAt: record.lastUsedAt ?? null,
    version: earlier.length + 1,
    change: target.change,
    createdAt,
    updatedAt: Math.max(createdAt, record.updatedAt ?? createdAt),
  })
  return [
    { table: 'memory', row: memory },
    ...buildRevisions(memory, earlier, target).map((row): TableRow => ({ table: 'revision', row })),
  ]
}

/** Turns each earlier wording into a revision that the next one replaced. */
function buildRevisions(
  memory: Memory,
  earlier: NonNullable<ImportedMemory['earlier']>,
  target: ImportTarget,
): readonly Revision[] {
  return earlier.map(({ content, since }, index) => {
    const replacedAt = earlier[index + 1]?.since ?? memory.updatedAt
    return parseRevision({
      id: `rev_${memory.id.slice('mem_'.length)}${toSortableId(index, POSITION_CHARACTERS)}`,
      memory: { ...memory, content, version: index + 1, updatedAt: since },
      replacedAt,
      replacedBy: target.change,
    })
  })
}

/** `parseScope` rejects invalid names with the reason. */
function toPlace(
  record: ImportedMemory | ImportedTurn,
  { scope, keepOwners }: ImportTarget,
): Place {
  const owner: OwnerId =
    keepOwners && record.owner != null ? parseScope({ owner: record.owner }).owner : scope.owner
  const { user, session } = parseScope({
    owner,
    user: record.user ?? scope.user ?? null,
    session: record.session ?? scope.session ?? null,
  })
  return { owner, user: user ?? null, session: session ?? null }
}

/** Records the origin under the metadata field `imported`. */
function buildMetadata(record: ImportedMemory, { keepOwners }: ImportTarget): JsonObject {
  const { system, name, owner } = record
  const imported = {
    from: system,
    id: name.length > NAME_CHARACTERS_MAX ? sha256(name) : name,
    ...(owner == null || keepOwners ? {} : { owner }),
  }
  return { ...record.metadata, imported }
}

const NAME_CHARACTERS_MAX = 200

/** A memory and its revisions must fit into one commit. */
const EARLIER_MAX = 500

/** The newer wording of an existing memory wins; a key that another memory holds stays there. */
async function resolveConflict(
  ports: MemoryDependencies,
  unit: ImportUnit,
  conflict: ImportConflict,
): Promise<ConflictResolution> {
  const [first] = unit.rows
  if (first?.table === 'turn') {
    return (await isRowPresent(ports.store, first)) ? 'skipped' : 'elsewhere'
  }
  if (first?.table !== 'memory') return 'skipped'
  const { owner, user } = first.row.place
  const existing = await ports.store.get('memory', { owner, user }, first.row.id)
  if (existing !== null) return updateExisting(ports, existing, first.row)
  return conflict.because === 'key' ? insertWithoutKey(ports, unit, first.row) : 'elsewhere'
}

async function updateExisting(
  ports: MemoryDependencies,
  existing: Memory,
  arriving: Memory,
): Promise<ImportUnitResult> {
  if (!isNewer(arriving, existing)) return 'skipped'
  const { content, type, category, expiresAt, updatedAt, change } = arriving
  const metadata = { ...existing.metadata, ...arriving.metadata }
  const version = existing.version + 1
  const changed = { content, type, category, expiresAt, updatedAt, change, metadata, version }
  // Each side respects the limits, but the merged metadata may not.
  const after = parseMemory({ ...existing, ...changed })
  const outcome = await ports.store.commit(buildReplacement(ports, existing, after))
  if (outcome.kind === 'committed') return 'updated'
  throw new AppError(
    'conflict',
    'The memory changed during the import. Import again to update it.',
    { id: existing.id },
  )
}

/** A memory whose key is taken is stored without it; `imported.key` records the key. */
async function insertWithoutKey(
  { store }: MemoryDependencies,
  { line, rows }: ImportUnit,
  memory: Memory,
): Promise<ImportUnitResult> {
  const { imported } = memory.metadata
  const origin = { ...(isObject(imported) ? imported : {}), key: memory.key }
  const row = parseMemory({
    ...memory,
    key: null,
    metadata: { ...memory.metadata, imported: origin },
  })
  const unit = { line, rows: [{ table: 'memory' as const, row }, ...rows.slice(1)] }
  const outcome = await store.commit(buildInsertChanges(unit))
  if (outcome.kind === 'committed') return 'imported'
  throw new AppError('conflict', 'The memory was added during the import.', { id: memory.id })
}

/** Memories that were forgotten or changed later stay as they are. */
function isNewer(arriving: Memory, existing: Memory): boolean {
  const isInUse = existing.status === 'active' || existing.status === 'disabled'
  return isInUse && arriving.updatedAt > existing.updatedAt && arriving.content !== existing.content
}

const TIME_CHARACTERS = 10
const POSITION_CHARACTERS = 4

/** Encodes a number in the alphabet of ids, so that ids sort by it. */
function toSortableId(value: number, characters: number): string {
  let rest = Math.min(Math.max(0, Math.floor(value)), 32 ** characters - 1)
  let text = ''
  for (let place = 0; place < characters; place++) {
    text = (ID_ALPHABET[rest % 32] ?? '0') + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** Identifies a record by its place, source system, kind and name. */
function hashId(
  { owner, user }: Place,
  { system, kind, name }: ImportedMemory | ImportedTurn,
  characters: number,
): string {
  return hashToAlphabet([owner, user, system, kind, name], characters)
}
