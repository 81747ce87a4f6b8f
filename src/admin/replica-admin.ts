/** Where vectors are kept besides the memories, for people who set it up or look at it. */
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
import { explainMissingVectors } from '../storage/vector-index.ts'
import { buildSecretChange, maskSecret, readSecret } from './secrets.ts'
import type { SettingChanges, StoredSettings } from './stored-settings.ts'

export type QdrantSettings = {
  /** Whether the settings name it as what finds memories by meaning. */
  readonly isEnabled: boolean
  readonly url: string
  readonly prefix: string
  readonly quantization: Settings['vectorStore.qdrantQuantization']
  /** Of the stored key; null when none is stored. */
  readonly maskedKey: string | null
}

export interface ReplicaAdmin {
  status(): VectorReplicaStatus
  /** The same, once the settings have been read. */
  current(): Promise<VectorReplicaStatus>
  subscribe(listener: ReplicationListener): () => void
  qdrant(): Promise<QdrantSettings>
  /** Changes what is given; an empty key takes the stored one away. Tries it at once, and says what came of that. */
  changeQdrant(changes: SettingChanges, key: string | undefined): Promise<VectorReplicaStatus>
  /** Null where there is no mirror. */
  health(): Promise<ReplicaHealth | null>
  /** What the mirror alone finds. */
  searchReplica(
    scope: Scope,
    query: { readonly text: string; readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly VectorHit[]>
  cleanUp(options: { readonly dryRun: boolean }): Promise<number>
}

/** Who saves settings wants to know whether they work, but does not wait for ever. */
const TRIAL_MS = 10_000

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
  const { replication: tiers, embedder, clock, vectorsUnavailableReason: withoutVectors } = ports
  const off = createOffStatus(clock.now(), explainMissingVectors(ports))
  const current = async () =>
    (await tiers?.current()) ?? omitReplica(off, withoutVectors, await settings.resolve(null))
  return {
    status: () => tiers?.status() ?? off,
    current,
    subscribe: (listener) => tiers?.subscribe(listener) ?? (() => {}),
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
      if (tiers === undefined && withoutVectors !== undefined && changes.vectorStore === 'qdrant') {
        throw new AppError('missing_part', withoutVectors) // it would copy what there is not
      }
      // At once: no server may be asked with a key that is meant for another address.
      await settings.change(null, changes, async () =>
        key === undefined
          ? []
          : [await buildSecretChange(ports, 'qdrant', key === '' ? null : key)],
      )
      await withTimeout(TRIAL_MS, async () => tiers?.reconfigure())
      return current()
    },
    health: async () => (await tiers?.health()) ?? null,
    searchReplica: async (scope, { text, limit, signal }) => {
      if (tiers === undefined || embedder === undefined) {
        throw new AppError('missing_part', explainMissingVectors(ports))
      }
      const model = await embedder.describe(signal)
      const [vector] = await embedder.embed([text], { purpose: 'query', signal })
      const signature = buildSpaceSignature(model, ports.vectorEncoding ?? 'float32')
      const space = { signature, dimensions: model.dimensions }
      return vector === undefined ? [] : tiers.searchReplica(space, scope, { vector, limit })
    },
    cleanUp: async (options) => {
      if (tiers === undefined) throw new AppError('missing_part', explainMissingVectors(ports))
      return tiers.cleanUp(options)
    },
  }
}

function isQdrantSetting({
  'vectorStore.backend': vectorStore,
  'vectorStore.qdrantUrl': qdrantUrl,
}: Settings): boolean {
  return vectorStore === 'qdrant' || (vectorStore === 'auto' && qdrantUrl !== '')
}

/** A vector store that the settings name and that can't be: it would be made from vectors that nobody keeps. */
function omitReplica(
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

/** Without vectors there is nothing to keep anywhere. */
function createOffStatus(since: Instant, because: string): VectorReplicaStatus {
  return {
    ...{ backend: null, servedBy: 'primary', state: 'off', since },
    reason: because,
    ...{ nextRetryAt: null, progress: null, pendingMemories: 0 },
  }
}
