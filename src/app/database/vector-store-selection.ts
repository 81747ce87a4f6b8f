/** Selects the vector replica from settings, secrets and the options of the process. */

import { readSecret } from '../../admin/secrets.ts'
import { createStoredSettings } from '../../admin/stored-settings.ts'
import {
  resolveSettings,
  type Settings,
  type SettingValues,
} from '../../domain/settings/settings.ts'
import { sha256 } from '../../lib/hash.ts'
import type { Store } from '../../storage/store.ts'
import type { VectorIndex } from '../../storage/vector-index.ts'
import {
  type ReplicatedStore,
  withVectorReplica,
} from '../../storage/vector-replica/failover-vector-index.ts'
import type { ReplicaConfiguration } from '../../storage/vector-replica/replica-controller.ts'
import { createIdGenerator } from '../id-generator.ts'
import { systemClock } from '../system-clock.ts'

export {
  type PluginHit,
  type PluginMemory as PluginEntry,
  type PluginMemoryDraft as PluginDraft,
  PluginMemoryTable as LancePlugin,
  type PluginMemoryTableOptions as PluginOptions,
} from '../../storage/lancedb/plugin-memory-table.ts'

export type VectorStoreOptions = {
  /** The API key for Qdrant, where none is stored. */
  readonly qdrantKey?: string
  /** The only URL that this key is sent to. Default: any configured one. */
  readonly qdrantKeyUrl?: string
  /** The folder of LanceDB when the setting is empty. */
  readonly folder?: string
  readonly isEncrypted?: boolean
}

/** The store and its index with the configured replica, which follows changes of the settings. */
export function openReplicatedStore<Kept extends Store>(
  store: Kept,
  vectors: VectorIndex,
  started: SettingValues,
  options: VectorStoreOptions,
): ReplicatedStore<Kept> {
  return withVectorReplica({
    store,
    vectors,
    clock: systemClock,
    configuration: async () => {
      const ports = { store, clock: systemClock, ids: createIdGenerator(), settings: {} }
      // Read from the store every time: cached values may predate the change.
      const stored = await createStoredSettings(ports).getStored(null)
      const settings = resolveSettings(started, stored)
      const key = (await readSecret(ports, 'qdrant')) ?? environmentQdrantKey(settings, options)
      return selectVectorReplica(settings, key, { ...options, index: vectors.report() })
    },
  })
}

/** A key that came with a URL is only for that URL, wherever somebody points Qdrant later. */
export function environmentQdrantKey(
  { 'vectorStore.qdrantUrl': qdrantUrl }: Settings,
  options: VectorStoreOptions,
): string | null {
  const { qdrantKey = null, qdrantKeyUrl = qdrantUrl } = options
  return qdrantUrl === qdrantKeyUrl ? qdrantKey : null
}

/** `index` is the report of the primary index. */
export function selectVectorReplica(
  settings: Settings,
  qdrantKey: string | null,
  options: VectorStoreOptions & { readonly index?: ReturnType<VectorIndex['report']> },
): ReplicaConfiguration {
  const {
    'vectorStore.backend': vectorStore,
    'vectorStore.qdrantUrl': qdrantUrl,
    'vectorStore.lancedbFolder': lancedbFolder,
  } = settings
  const byItself = qdrantUrl !== '' ? 'qdrant' : lancedbFolder !== '' ? 'lancedb' : 'embedded'
  switch (vectorStore === 'auto' ? byItself : vectorStore) {
    case 'qdrant':
      return qdrant(settings, qdrantKey)
    case 'lancedb':
      return lancedb(lancedbFolder === '' ? options.folder : lancedbFolder, options)
    case 'pgvector':
      return pgvector(options.index ?? {})
    default:
      return { kind: 'none' }
  }
}

function pgvector({ kind, reason }: ReturnType<VectorIndex['report']>): ReplicaConfiguration {
  if (kind === 'pgvector') return { kind: 'none' }
  return rejectedReplica(
    null,
    kind === 'plain'
      ? `pgvector cannot be used: ${reason}. Vectors are compared without it.`
      : '`vectorStore.backend` must not be pgvector unless the memories are in PostgreSQL. Set RECOLLECT_POSTGRES_URL, or another backend.',
  )
}

function qdrant(settings: Settings, apiKey: string | null): ReplicaConfiguration {
  const {
    'vectorStore.qdrantUrl': url,
    'vectorStore.qdrantQuantization': quantisation,
    'vectorStore.qdrantCollectionPrefix': qdrantPrefix,
  } = settings
  if (url === '')
    return rejectedReplica('qdrant', 'No Qdrant URL is configured: set vectorStore.qdrantUrl.')
  const collectionPrefix = qdrantPrefix === '' ? undefined : qdrantPrefix
  return {
    kind: 'mirror',
    name: 'qdrant',
    // Hashed, so that the identity contains no key.
    identity: sha256(JSON.stringify([url, apiKey, quantisation, qdrantPrefix])),
    open: async () => {
      const { openQdrantVectorReplica: openQdrantMirror } = await import(
        '../../storage/qdrant/qdrant-vector-replica.ts'
      )
      return openQdrantMirror({
        ...{ url, clock: systemClock, quantization: quantisation },
        ...(apiKey === null ? {} : { apiKey }),
        ...(collectionPrefix === undefined ? {} : { collectionPrefix }),
      })
    },
  }
}

function lancedb(
  folder: string | undefined,
  { isEncrypted = false }: VectorStoreOptions,
): ReplicaConfiguration {
  if (isEncrypted) {
    return rejectedReplica(
      'lancedb',
      'The memories are encrypted, and LanceDB would store vectors unencrypted.',
    )
  }
  if (folder === undefined)
    return rejectedReplica(
      'lancedb',
      'No LanceDB folder is configured: set vectorStore.lancedbFolder.',
    )
  return {
    kind: 'mirror',
    name: 'lancedb',
    identity: folder,
    open: async () => {
      const { openLanceVectorReplica: openLanceMirror } = await import(
        '../../storage/lancedb/lancedb-vector-replica.ts'
      )
      return openLanceMirror({ folder, clock: systemClock })
    },
  }
}

function rejectedReplica(
  name: (ReplicaConfiguration & { kind: 'refused' })['name'],
  because: string,
): ReplicaConfiguration {
  return { kind: 'refused', name, because }
}
