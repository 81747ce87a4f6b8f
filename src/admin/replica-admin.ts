/** Administration of the vector replica: status, Qdrant settings, health checks and cleanup. */

import { buildSpaceSignature, type VectorEncoding } from '../domain/embedding-text.ts'
import type { Scope } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { AppError } from '../lib/errors.ts'
import type { Instant } from '../lib/time.ts'
import { withTimeout } from '../lib/timeout.ts'
import type { Embedder } from '../models/embedder.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { VectorHit } from '../storage/vector-index.ts'
import type { ReplicaHealth } from '../storage/vector-replica.ts'
import type {
  ReplicationListener,
  VectorReplicaStatus,
  VectorReplication,
} from '../storage/vector-replication.ts'
import { explainMissingVectors } from '../storage/vectors-unavailable.ts'
import { buildSecretChange, maskSecret, readSecret } from './secrets.ts'
import type { SettingChanges, StoredSettings } from './stored-settings.ts'

export type QdrantSettings = {
  /** Whether the settings select Qdrant for vector search. */
  readonly isEnabled: boolean
  readonly url: string
  readonly prefix: string
  readonly quantization: Settings['vectorStore.qdrantQuantization']
  /** Null when no key is stored. */
  readonly maskedKey: string | null
}

export interface ReplicaAdmin {
  /**
   * The last known state of the vector replica.
   *
   * @example
   * const { state, servedBy } = engine.admin.replication.status()
   */
  status(): VectorReplicaStatus
  /**
   * The state once the stored settings have been read.
   *
   * @example
   * const status = await engine.admin.replication.current()
   */
  current(): Promise<VectorReplicaStatus>
  /**
   * Reports state changes and searches until the returned function is called.
   *
   * @example
   * const unsubscribe = engine.admin.replication.subscribe({
   *   onState: ({ state }) => console.log(state),
   *   onSearch: (backend, outcome) => console.log(backend, outcome),
   * })
   */
  subscribe(listener: ReplicationListener): () => void
  /**
   * The Qdrant settings, without the key.
   *
   * @example
   * const { url } = await engine.admin.replication.qdrant()
   */
  qdrant(): Promise<QdrantSettings>
  /**
   * Changes Qdrant settings and tries them at once; an empty key removes the stored one.
   *
   * @example
   * const status = await engine.admin.replication.changeQdrant(
   *   { 'vectorStore.backend': 'qdrant', 'vectorStore.qdrantUrl': 'http://localhost:6333' },
   *   undefined,
   * )
   */
  changeQdrant(changes: SettingChanges, key: string | undefined): Promise<VectorReplicaStatus>
  /**
   * Null without a vector replica.
   *
   * @example
   * const health = await engine.admin.replication.health()
   */
  health(): Promise<ReplicaHealth | null>
  /**
   * Searches the vector replica alone.
   *
   * @example
   * const memory = await engine.get({ owner: 'ada' }, 'mem_01jf8t3z9k')
   * const hits =
   *   memory === null
   *     ? []
   *     : await engine.admin.replication.searchReplica(memory.place, {
   *         text: memory.content,
   *         limit: 5,
   *         signal: AbortSignal.timeout(5_000),
   *       })
   */
  searchReplica(
    scope: Scope,
    query: { readonly text: string; readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly VectorHit[]>
  /**
   * Removes collections of former models and returns how many.
   *
   * @example
   * const count = await engine.admin.replication.cleanUp({ dryRun: true })
   */
  cleanUp(options: { readonly dryRun: boolean }): Promise<number>
}

/** How long saving the settings waits for the first connection with them. */
const RECONFIGURE_TIMEOUT_MS = 10_000

export type ReplicaAdminDependencies = StoreDependencies & {
  readonly embedder?: Embedder
  readonly vectorEncoding?: VectorEncoding
  readonly replication?: VectorReplication
  readonly vectorsUnavailableReason?: string
}

export function createReplicaAdmin(
  ports: ReplicaAdminDependencies,
  settings: StoredSettings,
): ReplicaAdmin {
  const { replication, embedder, clock, vectorsUnavailableReason } = ports
  const off = createOffStatus(clock.now(), explainMissingVectors(ports))
  const current = async () =>
    (await replication?.current()) ??
    buildRefusedStatus(off, vectorsUnavailableReason, await settings.resolve(null))
  return {
    status: () => replication?.status() ?? off,
    current,
    subscribe: (listener) => replication?.subscribe(listener) ?? (() => {}),
    qdrant: async () => {
      const inForce = await settings.resolve(null)
      const key = await readSecret(ports, 'qdrant')
      return {
        isEnabled: isQdrantSetting(inForce),
        url: inForce['vectorStore.qdrantUrl'],
        prefix: inForce['vectorStore.qdrantCollectionPrefix'],
        quantization: inForce['vectorStore.qdrantQuantization'],
        maskedKey: key === null ? null : maskSecret(key),
      }
    },
    changeQdrant: async (changes, key) => {
      if (
        replication === undefined &&
        vectorsUnavailableReason !== undefined &&
        changes['vectorStore.backend'] === 'qdrant'
      ) {
        throw new AppError('missing_part', vectorsUnavailableReason)
      }
      // One commit, so that no server ever receives a key that was meant for another address.
      await settings.change(null, changes, async () =>
        key === undefined
          ? []
          : [await buildSecretChange(ports, 'qdrant', key === '' ? null : key)],
      )
      await withTimeout(RECONFIGURE_TIMEOUT_MS, async () => replication?.reconfigure())
      return current()
    },
    health: async () => (await replication?.health()) ?? null,
    searchReplica: async (scope, { text, limit, signal }) => {
      if (replication === undefined || embedder === undefined) {
        throw new AppError('missing_part', explainMissingVectors(ports))
      }
      const model = await embedder.describe(signal)
      const [vector] = await embedder.embed([text], { purpose: 'query', signal })
      const signature = buildSpaceSignature(model, ports.vectorEncoding ?? 'float32')
      const space = { signature, dimensions: model.dimensions }
      return vector === undefined ? [] : replication.searchReplica(space, scope, { vector, limit })
    },
    cleanUp: async (options) => {
      if (replication === undefined)
        throw new AppError('missing_part', explainMissingVectors(ports))
      return replication.cleanUp(options)
    },
  }
}

function isQdrantSetting({
  'vectorStore.backend': backend,
  'vectorStore.qdrantUrl': url,
}: Settings): boolean {
  return backend === 'qdrant' || (backend === 'auto' && url !== '')
}

/** Reports the configured vector store as refused when there are no vectors to replicate. */
function buildRefusedStatus(
  off: VectorReplicaStatus,
  reason: string | undefined,
  inForce: Settings,
): VectorReplicaStatus {
  const { 'vectorStore.backend': vectorStore, 'vectorStore.lancedbFolder': lancedbFolder } = inForce
  const isLance = vectorStore === 'lancedb' || (vectorStore === 'auto' && lancedbFolder !== '')
  const backend = isQdrantSetting(inForce) ? 'qdrant' : isLance ? 'lancedb' : null
  if (reason === undefined || (backend === null && vectorStore !== 'pgvector')) return off
  return { ...off, backend, state: 'misconfigured', reason }
}

function createOffStatus(since: Instant, reason: string): VectorReplicaStatus {
  return {
    ...{ backend: null, servedBy: 'primary', state: 'off', since },
    reason,
    ...{ nextRetryAt: null, progress: null, pendingMemories: 0 },
  }
}
