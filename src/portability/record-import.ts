/**
 * Imports records of other systems. Ids are derived from the names that records have in their source, so importing the
 * same source again changes nothing, and an interrupted import can be resumed.
 */
import type { Entry } from '../domain/entries/entry.ts'
import type { ChangeId, EntryId, MemoryId, OwnerId } from '../domain/ids.ts'
import type { Memory, Revision } from '../domain/memory.ts'
import { type Place, parseScope, type Scope } from '../domain/scope.ts'
import { listSettingNames, parseSettings, SETTINGS } from '../domain/settings/settings.ts'
import type { Turn } from '../domain/turn.ts'
import { AppError } from '../lib/errors.ts'
import { hashParts, sha256 } from '../lib/hash.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Instant } from '../lib/time.ts'
import { IMPORTANCE_DEFAULT, SALIENCE_DEFAULT } from '../memory/draft.ts'
import { buildReplacement } from '../memory/memory-changes.ts'
import { parseMemory, parseRevision, parseTurn } from '../memory/record-codec.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import { createChangeStamp } from '../storage/access/optimistic-commit.ts'
import { getEntry } from '../storage/access/system-entries.ts'
import type { Store, TableRow } from '../storage/store.ts'
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
import type {
  ImportedMemory,
  ImportedSettings,
  ImportedSignal,
  ImportedTurn,
  ImportFault,
  ImportRecord,
} from './importers/foreign-record.ts'
import {
  type ImportedSession,
  type ImportLearning,
  loadTurns,
  scheduleLearning,
} from './learning-scheduler.ts'

export type RecordImportOptions = {
  readonly onProgress?: (records: number) => void
  readonly signal?: AbortSignal
  /** The time of records without one, such as the modification time of the file. Default: now. */
  readonly observedAt?: number
  /** Assigns records to owners named as in the source instead of to the owner of the scope. */
  readonly keepOwners?: boolean
  /** With `keepOwners`: the owners of the source, which shared records are copied to. */
  readonly owners?: readonly string[]
  /** Only reports what would be imported and what would be skipped. */
  readonly dryRun?: boolean
  /** Whether imported conversations are learned from. Default: true. */
  readonly learns?: boolean
  /** Whether settings of the whole system may be changed. Default: true. */
  readonly allowsSystemSettings?: boolean
}

/** What an import uses besides the store. */
export type RecordImportServices = {
  readonly learning?: ImportLearning
  readonly changeSettings?: (owner: string | null, values: JsonObject) => Promise<unknown>
}

export type ImportPreview = {
  readonly line: number
  readonly kind: 'memory' | 'turn'
  readonly owner: string
  readonly user: string | null
  readonly session: string | null
  readonly text: string
}

export type RecordImportResult = ImportResult & {
  /** Imported records by kind. */
  readonly counts: {
    readonly memories: number
    readonly turns: number
    readonly settings: number
    /** Exchanges that wait to be learned from. */
    readonly signals: number
  }
  readonly owners: readonly string[]
  /** The first records that were imported, or would be in a dry run. */
  readonly preview: readonly ImportPreview[]
}

const PREVIEW_MAX = 20
const PREVIEW_CHARACTERS_MAX = 200

/** Invalid records are counted and reported without stopping the import; blank ones are skipped. */
export async function importRecords(
  ports: MemoryDependencies,
  scope: Scope,
  records: AsyncIterable<ImportRecord> | Iterable<ImportRecord>,
  options: RecordImportOptions = {},
  services: RecordImportServices = {},
): Promise<RecordImportResult> {
  const { change, now } = createChangeStamp(ports)
  const target: ImportTarget = {
    scope,
    change,
    observedAt: Math.min(Math.floor(options.observedAt ?? now), now) as Instant, // whole milliseconds, not in the future
    keepOwners: options.keepOwners ?? false,
    owners: options.owners ?? [],
  }
  const run = new RecordImportRun(ports, target, options, services)
  let count = 0
  for await (const record of records) {
    throwIfImportAborted(options.signal)
    count++
    if (await run.add(record)) options.onProgress?.(count)
  }
  const result = await run.finish()
  options.onProgress?.(count)
  return result
}

class RecordImportRun {
  readonly #ports: MemoryDependencies
  readonly #target: ImportTarget
  readonly #options: RecordImportOptions
  readonly #services: RecordImportServices
  readonly #batch: ImportBatch
  readonly #counts = { memories: 0, turns: 0, settings: 0, signals: 0 }
  readonly #owners = new Set<string>()
  readonly #preview: ImportPreview[] = []
  readonly #sessions = new Map<string, ImportedSession>()
  readonly #signals: ImportedSignal[] = []

  constructor(
    ports: MemoryDependencies,
    target: ImportTarget,
    options: RecordImportOptions,
    services: RecordImportServices,
  ) {
    this.#ports = ports
    this.#target = target
    this.#options = options
    this.#services = services
    this.#batch = new ImportBatch(ports, {
      resolveConflict,
      ...(options.dryRun === true ? { preview: previewUnit } : {}),
      onResult: (unit, result) => this.#note(unit, result),
    })
  }

  /** Resolves to true when this call wrote a batch. */
  async add(record: ImportRecord): Promise<boolean> {
    if (record.kind === 'settings') {
      await this.#importSettings(record)
      return false
    }
    if (record.kind === 'signal') {
      this.#signals.push(record)
      return false
    }
    let isWritten = false
    for (const each of this.#copiesOf(record)) {
      const unit = this.#batch.parse(each.at, () => buildRows(each, this.#target))
      if (unit === null) continue
      const [first] = unit.rows
      if (each.kind === 'turn' && first?.table === 'turn') this.#noteSession(first.row, each)
      isWritten = (await this.#batch.add(unit)) || isWritten
    }
    return isWritten
  }

  async finish(): Promise<RecordImportResult> {
    await this.#batch.flush()
    await this.#importSignals()
    await this.#scheduleLearning()
    return {
      ...this.#batch.result(),
      counts: this.#counts,
      owners: [...this.#owners].sort(),
      preview: this.#preview,
    }
  }

  /** A shared record belongs to every owner of the source. */
  #copiesOf(
    record: ImportedMemory | ImportedTurn | ImportFault,
  ): readonly (ImportedMemory | ImportedTurn | ImportFault)[] {
    const { keepOwners, owners } = this.#target
    const isShared = record.kind === 'memory' && record.isShared === true && keepOwners
    if (!isShared || owners.length === 0) return [record]
    return owners.map((owner) => ({ ...record, owner }))
  }

  #note({ line, rows: [first] }: ImportUnit, result: ImportUnitResult): void {
    if (first?.table !== 'memory' && first?.table !== 'turn') return
    const { place, content } = first.row
    if (result === 'imported' || result === 'updated') {
      this.#owners.add(place.owner)
      this.#counts[first.table === 'memory' ? 'memories' : 'turns']++
      if (this.#preview.length < PREVIEW_MAX) {
        const text = content.slice(0, PREVIEW_CHARACTERS_MAX)
        this.#preview.push({ line, kind: first.table, ...place, text })
      }
    }
    const session = this.#sessions.get(JSON.stringify(place))
    if (first.table === 'turn' && result === 'imported' && session !== undefined) {
      session.isNew = true
    }
  }

  #noteSession({ place }: Turn, { isLearned = true }: ImportedTurn): void {
    const { owner, user, session } = place
    const name = JSON.stringify(place)
    if (!isLearned || session === null || this.#sessions.has(name)) return
    this.#sessions.set(name, { place: { owner, user, session }, isNew: false, userTexts: null })
  }

  /** Signals name exchanges by their text: where no turn of the session has it, the turns are added. */
  async #importSignals(): Promise<void> {
    for (const signal of this.#signals) {
      throwIfImportAborted(this.#options.signal)
      const turns = toTurnRecords(signal)
      const units = turns.map((turn) =>
        this.#batch.parse(signal.at, () => buildRows(turn, this.#target)),
      )
      const [first] = units
      const row = first?.rows[0]
      if (row?.table !== 'turn' || row.row.place.session === null) continue
      const place = { ...row.row.place, session: row.row.place.session }
      const name = JSON.stringify(row.row.place)
      const session = this.#sessions.get(name) ?? {
        place,
        isNew: true,
        userTexts: new Set<string>(),
      }
      session.userTexts?.add(signal.userText.trim())
      session.isNew = true
      this.#sessions.set(name, session)
      const stored = await loadTurns(this.#ports, place)
      const isStored = stored.some(({ content }) => content.trim() === signal.userText.trim())
      if (isStored) continue
      for (const unit of units) if (unit !== null) await this.#batch.add(unit)
      await this.#batch.flush()
    }
  }

  async #scheduleLearning(): Promise<void> {
    const { learning } = this.#services
    const { dryRun, learns = true, signal } = this.#options
    if (learning === undefined || dryRun === true || !learns) return
    for (const session of this.#sessions.values()) {
      throwIfImportAborted(signal)
      this.#counts.signals += await scheduleLearning(this.#ports, learning, session)
    }
  }

  async #importSettings({ at, values, ignored }: ImportedSettings): Promise<void> {
    const { changeSettings } = this.#services
    const { dryRun, allowsSystemSettings = true } = this.#options
    for (const { name, reason } of ignored) this.#batch.skip(at, `\`${name}\`: ${reason}.`)
    for (const scope of ['owner', 'system'] as const) {
      const own = Object.entries(values).filter(([name]) => getSettingScope(name) === scope)
      if (own.length === 0) continue
      if (changeSettings === undefined || (scope === 'system' && !allowsSystemSettings)) {
        const names = own.map(([name]) => `\`${name}\``).join(', ')
        this.#batch.skip(at, `${names}: only a superadmin can change settings of the system.`)
        continue
      }
      try {
        parseSettings(Object.fromEntries(own))
        const owner = scope === 'system' ? null : this.#target.scope.owner
        if (dryRun !== true) await changeSettings(owner, Object.fromEntries(own))
        this.#counts.settings += own.length
      } catch (error) {
        this.#batch.fail(at, error)
      }
    }
  }
}

function getSettingScope(name: string): 'owner' | 'system' | null {
  const known = listSettingNames().find((each) => each === name)
  return known === undefined ? null : SETTINGS[known].scope
}

function toTurnRecords(signal: ImportedSignal): readonly ImportedTurn[] {
  const { userText, assistantText, kind: _, ...origin } = signal
  // Behind the turns of the transcript, which are numbered from zero.
  const position = SIGNAL_POSITION + signal.at * 2
  const turn = (role: 'user' | 'assistant', content: string, offset: number): ImportedTurn => ({
    ...origin,
    kind: 'turn',
    name: `${signal.name}:${role}`,
    role,
    content,
    position: position + offset,
  })
  return [
    turn('user', userText, 0),
    ...(assistantText === null ? [] : [turn('assistant', assistantText, 1)]),
  ]
}

const SIGNAL_POSITION = 100_000

type ImportTarget = {
  readonly scope: Scope
  readonly change: ChangeId
  readonly observedAt: Instant
  readonly keepOwners: boolean
  readonly owners: readonly string[]
}

/** Null for records without content. */
function buildRows(
  record: ImportedMemory | ImportedTurn | ImportFault,
  target: ImportTarget,
): readonly TableRow[] | null {
  if (record.kind === 'fault') throw new AppError('invalid_input', record.message)
  if (record.content.trim() === '') return null
  return record.kind === 'turn' ? [buildTurnRow(record, target)] : buildMemoryRows(record, target)
}

/** The result that an import of the unit would have. */
async function previewUnit(
  { store }: MemoryDependencies,
  { rows: [first] }: ImportUnit,
): Promise<ImportUnitResult> {
  if (first === undefined) return 'skipped'
  if (first.table !== 'memory') return (await isRowPresent(store, first)) ? 'skipped' : 'imported'
  const { owner, user } = first.row.place
  const existing = await store.get('memory', { owner, user }, first.row.id)
  if (existing === null) return 'imported'
  return isNewer(first.row, existing) ? 'updated' : 'skipped'
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
    validFrom: record.validFrom ?? null,
    validUntil: record.validUntil ?? null,
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
    { table: 'entry', row: buildImportedIdEntry(memory, record.name, target.observedAt) },
  ]
}

function buildImportedIdEntry({ id, place }: Memory, name: string, at: Instant): Entry {
  return {
    id: buildImportedIdEntryId(place.owner, name) as EntryId, // created from a hash
    place: { owner: place.owner, user: place.user, session: null },
    kind: 'imported-id',
    about: null,
    at,
    expiresAt: null,
    version: 1,
    body: { memory: id },
  }
}

function buildImportedIdEntryId(owner: string, name: string): string {
  return `old_${hashParts(owner, name)}`
}

/** The memory that was imported from a source where it had this id; null when there is none. */
export async function findImportedMemoryId(
  ports: { readonly store: Store },
  scope: Scope,
  sourceId: string,
): Promise<MemoryId | null> {
  const id = buildImportedIdEntryId(scope.owner, sourceId)
  return (await getEntry(ports, scope, 'imported-id', id))?.body.memory ?? null
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
  return conflict.reason === 'key' ? insertWithoutKey(ports, unit, first.row) : 'elsewhere'
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
