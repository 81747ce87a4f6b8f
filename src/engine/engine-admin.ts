/** Administration: keys, settings, import and export, and the state of the store and its indexes. */

import { type ApiKeys, createApiKeys } from '../admin/api-keys.ts'
import { type AuditLog, createAuditLog } from '../admin/audit-log.ts'
import type { IdempotencyKeys } from '../admin/idempotency.ts'
import { type ErasedOwner, eraseOwner } from '../admin/owner-erasure.ts'
import type { ReplicaAdmin } from '../admin/replica-admin.ts'
import type { SettingChanges, StoredSettings } from '../admin/stored-settings.ts'
import type { OwnerId } from '../domain/ids.ts'
import { parseScope, type ScopeInput, SYSTEM_OWNER } from '../domain/scope.ts'
import type { Settings, SettingValues } from '../domain/settings/settings.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { AppError } from '../lib/errors.ts'
import { probeWrite, type WriteProbeResult } from '../memory/write-probe.ts'
import type { GuardedModels } from '../models/guarded-models.ts'
import { createModelService, type ModelService } from '../models/model-service.ts'
import { exportLines, type ImportResult, importLines } from '../portability/export-import.ts'
import {
  type ImportReader,
  type ImportSource,
  listSourceOwners,
  openImport,
} from '../portability/import-source.ts'
import type { ImportRecord } from '../portability/importers/foreign-record.ts'
import {
  findImportedMemoryId,
  importRecords,
  type RecordImportOptions,
  type RecordImportResult,
} from '../portability/record-import.ts'
import type { IndexStatus, ReindexOptions } from '../recall/indexing/indexer.ts'
import type { MemoryOverview } from '../recall/memory-overview.ts'
import type { RecallModels, RecallService } from '../recall/recall-service.ts'
import type { ChangeFeed } from '../storage/access/change-feed.ts'
import type { Change, IntegrityProblem } from '../storage/store.ts'
import type { VectorReplicaStatus } from '../storage/vector-replication.ts'
import type { EngineDependencies } from './engine-dependencies.ts'

export type EngineComponents = RecallModels & {
  /** What searches vectors: the store, a vector replica, or nothing. */
  readonly vectors: 'store' | 'none' | Exclude<VectorReplicaStatus['servedBy'], 'primary'>
}

export type PlaceCounts = {
  readonly owner: string
  readonly user: string | null
  readonly memories: number
  readonly turns: number
}

/** Stored settings of an owner, or of the system (`null`). */
export interface SettingsAdmin {
  /**
   * The settings in effect: stored ones of the owner and the system over those of the operator and the defaults.
   *
   * @example
   * const settings = await engine.admin.settings.resolve('ada')
   * console.log(settings['recall.limit'])
   */
  resolve(owner: string | null): Promise<Settings>
  /**
   * The same from the cache; null when it is not cached.
   *
   * @example
   * const settings = engine.admin.settings.peek('ada')
   */
  peek(owner: string | null): Settings | null
  /**
   * Only what is stored at this level.
   *
   * @example
   * const stored = await engine.admin.settings.getStored('ada')
   */
  getStored(owner: string | null): Promise<SettingValues>
  /**
   * Stores settings and returns those in effect; null removes one. `beside` builds changes for the same commit.
   *
   * @example
   * await engine.admin.settings.change('ada', { 'recall.limit': 20, 'recall.fusion': null })
   */
  change(
    owner: string | null,
    changes: SettingChanges,
    beside?: () => Promise<readonly Change[]>,
  ): Promise<Settings>
  /**
   * Drops cached settings.
   *
   * @example
   * engine.admin.settings.invalidate()
   */
  invalidate(): void
}

export interface EngineAdmin {
  /** API keys of servers that are open to others. */
  readonly keys: ApiKeys
  /** Settings that are stored with the data. */
  readonly settings: SettingsAdmin
  readonly audit: AuditLog
  readonly idempotency: IdempotencyKeys
  /** The vector replica and its configuration. */
  readonly replication: ReplicaAdmin
  /** Changes by other processes on the same store. */
  readonly changeFeed: ChangeFeed
  /** Maps of memories: vectors, entities and timelines. */
  readonly overview: MemoryOverview
  /** The embedder, the reranker and the language model, for direct use. */
  readonly models: ModelService
  /**
   * Owners and users with their number of memories and turns.
   *
   * @example
   * const places = await engine.admin.listPlaces()
   */
  listPlaces(): Promise<readonly PlaceCounts[]>
  /**
   * The models and the vector search in use, without calling them.
   *
   * @example
   * const { embedder, vectors } = engine.admin.getComponents()
   */
  getComponents(): EngineComponents
  /**
   * Erases everything of an owner permanently: memories, history, conversations, settings, keys and the file index.
   *
   * @example
   * const { rows } = await engine.admin.eraseOwner('ada', { dryRun: true })
   */
  eraseOwner(owner: string, options?: { readonly dryRun?: boolean }): Promise<ErasedOwner>
  /**
   * Lines of an export, of a scope or of everything (`null`); encrypted when there is a passphrase.
   *
   * @example
   * for await (const line of engine.admin.export({ owner: 'ada' })) console.log(line)
   */
  export(
    scope: ScopeInput | null,
    options?: { readonly passphrase?: string },
  ): AsyncIterable<string>
  /**
   * Imports the lines of an export; with `owner`, everything goes to that owner as a copy.
   *
   * @example
   * const lines = engine.admin.export({ owner: 'ada' })
   * const imported = await engine.admin.import(lines, { owner: 'grace' })
   */
  import(
    lines: AsyncIterable<string>,
    options?: {
      readonly owner?: string
      readonly passphrase?: string
      readonly signal?: AbortSignal
      readonly onProgress?: (lines: number) => void
    },
  ): Promise<ImportResult>
  /**
   * Imports records that were read from another memory system.
   *
   * @example
   * async function copy(records: Parameters<typeof engine.admin.importRecords>[1]) {
   *   return engine.admin.importRecords({ owner: 'ada' }, records)
   * }
   */
  importRecords(
    scope: ScopeInput,
    records: AsyncIterable<ImportRecord>,
    options?: RecordImportOptions,
  ): Promise<RecordImportResult>
  /**
   * Opens a file, folder, stream or database of another system, and detects its format.
   *
   * @example
   * const source = await engine.admin.openImport({ source: 'conversations.json' })
   */
  openImport(source: ImportSource): Promise<ImportReader>
  /**
   * Imports an opened source. Owners of the source become owners here when there are several, unless `ownerPerKey` says
   * otherwise. Conversations are learned from in the background.
   *
   * @example
   * const source = await engine.admin.openImport({ source: 'conversations.json' })
   * const { imported } = await engine.admin.importSource({ owner: 'ada' }, source, { dryRun: true })
   */
  importSource(
    scope: ScopeInput,
    source: ImportReader,
    options?: SourceImportOptions,
  ): Promise<RecordImportResult>
  /**
   * The id of the memory that was imported from a source where it had this id; null when there is none.
   *
   * @example
   * const id = await engine.admin.findImportedMemory('ada', '6f1e…')
   */
  findImportedMemory(owner: string, sourceId: string): Promise<string | null>
  /**
   * Embeds every memory that has no vector; `force` embeds all of them again. Resumes where a canceled run stopped.
   *
   * @example
   * await engine.admin.reindex({ onProgress: ({ done, total }) => console.log(`${done}/${total}`) })
   */
  reindex(options?: ReindexOptions): Promise<IndexStatus>
  /**
   * Compares indexes with the canonical rows; with `repair`, rebuilds what differs.
   *
   * @example
   * const problems = await engine.admin.checkIntegrity({ repair: true })
   */
  checkIntegrity(options?: { readonly repair?: boolean }): Promise<readonly IntegrityProblem[]>
  /**
   * Writes, searches and removes a probe memory.
   *
   * @example
   * const result = await engine.admin.testWrite()
   */
  testWrite(): Promise<WriteProbeResult>
  /**
   * Reports commits that were made to the store directly, so that vectors and cached counts follow.
   *
   * @example
   * async function commit(store: Store, changes: Change[]) {
   *   await store.commit(changes)
   *   engine.admin.applyExternalCommit(changes)
   * }
   */
  applyExternalCommit(changes: readonly Change[]): void
}

export type SourceImportOptions = Omit<RecordImportOptions, 'keepOwners' | 'owners'> & {
  /** Default: when the source has several owners. */
  readonly ownerPerKey?: boolean
}

export type EngineAdminDependencies = Pick<
  EngineAdmin,
  'idempotency' | 'replication' | 'changeFeed' | 'applyExternalCommit'
> & {
  readonly ports: EngineDependencies
  readonly settings: StoredSettings
  readonly recall: RecallService
  readonly models: GuardedModels | null
  readonly jobs: Pick<Jobs, 'buildScheduleChanges'>
  readonly purgeCaches: () => Promise<void>
  /** Called before an owner is erased: stops whatever would write for the owner. */
  readonly stopOwner: (owner: OwnerId) => Promise<void>
  readonly eraseFiles: (owner: OwnerId) => Promise<void>
}

export function createEngineAdmin(dependencies: EngineAdminDependencies): EngineAdmin {
  const { ports, settings, recall, models, replication, purgeCaches } = dependencies
  const { idempotency, changeFeed, applyExternalCommit } = dependencies
  const importForeign: EngineAdmin['importRecords'] = async (scope, records, options) =>
    importRecords(ports, parseScope(scope), records, options, {
      learning: {
        jobs: dependencies.jobs,
        resolveSettings: (owner) => settings.resolve(parseScope({ owner }).owner),
      },
      changeSettings: (owner, values) =>
        settings.change(owner === null ? null : parseScope({ owner }).owner, values),
    })
  return {
    settings: createSettingsAdmin(settings),
    ...{ idempotency, replication, changeFeed, applyExternalCommit },
    overview: recall.overview,
    keys: createApiKeys(ports),
    audit: createAuditLog(ports, async () => (await settings.resolve(null))['retention.auditDays']),
    models: createModelService(ports, (owner) => models?.for(owner, 'waited-for') ?? null),
    // The place of system entries belongs to nobody.
    listPlaces: async () =>
      (await ports.store.listPlaces()).filter(({ owner }) => owner !== SYSTEM_OWNER),
    getComponents: () => ({
      ...recall.describeModels(),
      vectors: ports.vectors === undefined ? 'none' : describeVectorSource(replication.status()),
    }),
    eraseOwner: async (name, options = {}) => {
      const { owner } = parseScope({ owner: name })
      if (options.dryRun === true) return eraseOwner(ports, owner, options)
      await dependencies.stopOwner(owner)
      const erased = await eraseOwner(ports, owner, options)
      // Only now: while the roots existed, a scan could have indexed the files again.
      await dependencies.eraseFiles(owner)
      await purgeCaches()
      return erased
    },
    export: (scope, options = {}) =>
      exportLines(ports, scope === null ? null : parseScope(scope), options),
    import: async (lines, { owner, ...options } = {}) =>
      importLines(ports, lines, {
        ...options,
        ...(owner === undefined ? {} : { owner: parseScope({ owner }).owner }),
      }),
    importRecords: importForeign,
    openImport: (source) => openImport(source, ports.foreignDrivers),
    importSource: async (scope, source, { ownerPerKey, ...options } = {}) => {
      if (source.kind === 'lines') {
        throw new AppError('invalid_input', 'An export of Recollect is imported with `import`.')
      }
      const owners = ownerPerKey === false ? [] : [...(await listSourceOwners(source))]
      return importForeign(scope, source.records, {
        ...(source.observedAt === null ? {} : { observedAt: source.observedAt }),
        ...options,
        keepOwners: ownerPerKey ?? owners.length > 1,
        owners,
      })
    },
    findImportedMemory: async (owner, sourceId) =>
      findImportedMemoryId(ports, parseScope({ owner }), sourceId),
    reindex: recall.reindex,
    checkIntegrity: (options) => ports.store.checkIntegrity({ repair: options?.repair ?? false }),
    testWrite: () => probeWrite(ports),
  }
}

function createSettingsAdmin(settings: StoredSettings): SettingsAdmin {
  const parseOwner = (owner: string | null) => (owner === null ? null : parseScope({ owner }).owner)
  return {
    resolve: async (owner) => settings.resolve(parseOwner(owner)),
    peek: (owner) => settings.peek(parseOwner(owner)),
    getStored: async (owner) => settings.getStored(parseOwner(owner)),
    change: async (owner, ...change) => settings.change(parseOwner(owner), ...change),
    invalidate: () => settings.invalidate(),
  }
}

function describeVectorSource({ servedBy }: VectorReplicaStatus): EngineComponents['vectors'] {
  return servedBy === 'primary' ? 'store' : servedBy
}
