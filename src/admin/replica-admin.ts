/** Where vectors are kept besides the memories, for people who set it up or look at it. */
import { spaceSignature } from '../domain/embedding-text.ts'
import { AppError } from '../domain/errors.ts'
import type { Scope } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import type { EnginePorts } from '../engine/engine-dependencies.ts'
import type { Instant } from '../lib/time.ts'
import { withinTime } from '../lib/timeout.ts'
import type { VectorHit } from '../storage/vector-index.ts'
import type { MirrorHealth } from '../storage/vector-replica.ts'
import type { TierListener, TierStatus } from '../storage/vector-replication.ts'
import { whyByWords } from '../storage/vectors-unavailable.ts'
import { masked, putSecret, readSecret } from './secrets.ts'
import type { SettingChanges, StoredSettings } from './stored-settings.ts'

export type QdrantSettings = {
  /** Whether the settings name it as what finds memories by meaning. */
  readonly isEnabled: boolean
  readonly url: string
  readonly prefix: string
  readonly quantization: Settings['qdrantQuantization']
  /** Of the stored key; null when none is stored. */
  readonly maskedKey: string | null
}

export interface EngineTiers {
  status(): TierStatus
  /** The same, once the settings have been read. */
  current(): Promise<TierStatus>
  watch(listener: TierListener): () => void
  qdrant(): Promise<QdrantSettings>
  /** Changes what is given; an empty key takes the stored one away. Tries it at once, and says what came of that. */
  changeQdrant(changes: SettingChanges, key: string | undefined): Promise<TierStatus>
  /** Null where there is no mirror. */
  health(): Promise<MirrorHealth | null>
  /** What the mirror alone finds. */
  search(
    scope: Scope,
    query: { readonly text: string; readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly VectorHit[]>
  cleanUp(options: { readonly dryRun: boolean }): Promise<number>
}

/** Who saves settings wants to know whether they work, but does not wait for ever. */
const TRIAL_MS = 10_000

export function createTiers(ports: EnginePorts, settings: StoredSettings): EngineTiers {
  const { tiers, embedder, clock, withoutVectors } = ports
  const off = offSince(clock.now(), whyByWords(ports))
  const current = async () =>
    (await tiers?.current()) ?? without(off, withoutVectors, await settings.effective(null))
  return {
    status: () => tiers?.status() ?? off,
    current,
    watch: (listener) => tiers?.watch(listener) ?? (() => {}),
    qdrant: async () => {
      const inForce = await settings.effective(null)
      const key = await readSecret(ports, 'qdrant')
      return {
        isEnabled: namesQdrant(inForce),
        url: inForce.qdrantUrl,
        prefix: inForce.qdrantPrefix,
        quantization: inForce.qdrantQuantization,
        maskedKey: key === null ? null : masked(key),
      }
    },
    changeQdrant: async (changes, key) => {
      if (tiers === undefined && withoutVectors !== undefined && changes.vectorStore === 'qdrant') {
        throw new AppError('missing_part', withoutVectors) // it would copy what there is not
      }
      // At once: no server may be asked with a key that is meant for another address.
      await settings.change(null, changes, async () =>
        key === undefined ? [] : [await putSecret(ports, 'qdrant', key === '' ? null : key)],
      )
      await withinTime(TRIAL_MS, async () => tiers?.reconsider())
      return current()
    },
    health: async () => (await tiers?.health()) ?? null,
    search: async (scope, { text, limit, signal }) => {
      if (tiers === undefined || embedder === undefined) {
        throw new AppError('missing_part', whyByWords(ports))
      }
      const model = await embedder.describe(signal)
      const [vector] = await embedder.embed([text], { purpose: 'query', signal })
      const signature = spaceSignature(model, ports.vectorForm ?? 'float32')
      const space = { signature, dimensions: model.dimensions }
      return vector === undefined ? [] : tiers.searchMirror(space, scope, { vector, limit })
    },
    cleanUp: async (options) => {
      if (tiers === undefined) throw new AppError('missing_part', whyByWords(ports))
      return tiers.cleanUp(options)
    },
  }
}

function namesQdrant({ vectorStore, qdrantUrl }: Settings): boolean {
  return vectorStore === 'qdrant' || (vectorStore === 'auto' && qdrantUrl !== '')
}

/** A vector store that the settings name and that can't be: it would be made from vectors that nobody keeps. */
function without(off: TierStatus, because: string | undefined, inForce: Settings): TierStatus {
  const { vectorStore, lancedbFolder } = inForce
  const isLance = vectorStore === 'lancedb' || (vectorStore === 'auto' && lancedbFolder !== '')
  const mirror = namesQdrant(inForce) ? 'qdrant' : isLance ? 'lancedb' : null
  if (because === undefined || (mirror === null && vectorStore !== 'pgvector')) return off
  return { ...off, mirror, state: 'refused' }
}

/** Without vectors there is nothing to keep anywhere. */
function offSince(since: Instant, because: string): TierStatus {
  return {
    ...{ mirror: null, answering: 'embedded', state: 'off', since },
    because,
    ...{ nextTryAt: null, progress: null, behind: 0 },
  }
}
