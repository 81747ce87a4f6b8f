/** System operations: health, status, maintenance. */
import { z } from 'zod'
import { ROLES } from '../../../domain/access.ts'
import { parseScope } from '../../../domain/scope.ts'
import type { Engine } from '../../../engine/engine.ts'
import { describeHealth, HEALTH_REASONS } from '../../../engine/health.ts'
import { AppError } from '../../../lib/errors.ts'
import { REPLICA_STATES, type VectorReplicaStatus } from '../../../storage/vector-replication.ts'
import type { Caller } from '../authorization.ts'
import { learningFields, toWireLearning } from '../learning/signal-operations.ts'
import { defineOperation } from '../operation.ts'
import { readEmbeddingCacheStats } from './embedding-cache-stats.ts'
import { replicaStatus, toWireReplicaStatus } from './vector-store-operations.ts'

const nothing = z.strictObject({})

export const checkHealth = defineOperation({
  name: 'memory.health',
  summary: 'Health check: writes, finds and removes a test memory.',
  access: 'read',
  input: nothing,
  output: z.object({
    working: z.boolean(),
    latencyMs: z.number(),
    error: z.string().optional(),
  }),
  http: { method: 'GET', path: '/api/memory/health' },
  run: async ({ engine }) => {
    const started = performance.now()
    const { works, reason } = await engine.admin.testWrite()
    return {
      working: works,
      latencyMs: Math.round((performance.now() - started) * 100) / 100,
      ...(reason === null ? {} : { error: reason }),
    }
  },
})

export const listEmbeddingProviders = defineOperation({
  name: 'memory.embeddingProviders',
  summary: 'Lists embedding providers and whether their API keys are configured.',
  access: 'read',
  input: nothing,
  output: z.object({
    providers: z.array(
      z.object({
        provider: z.string(),
        hasKey: z.boolean(),
        models: z.array(
          z.object({ id: z.string(), name: z.string(), dimensions: z.int().nullable() }),
        ),
      }),
    ),
  }),
  http: { method: 'GET', path: '/api/memory/embedding-providers' },
  run: async ({ embeddingProviders }) => ({
    providers: embeddingProviders.map(({ provider, hasKey, models }) => ({
      provider,
      hasKey,
      models: models.map((model) => ({ ...model })),
    })),
  }),
})

const nullableText = z.string().nullable()
const facts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))

export const getEngineStatus = defineOperation({
  name: 'memory.engineStatus',
  summary: 'The components of recall and their state.',
  access: 'read',
  input: nothing,
  output: z.object({
    keyword: z.object({ available: z.boolean(), backend: z.string() }),
    embedding: z.object({
      source: nullableText,
      model: nullableText,
      dimensions: z.int().nullable(),
      available: z.boolean(),
      reason: nullableText,
      cacheStats: z.object({ hits: z.int(), misses: z.int(), size: z.int() }),
    }),
    vectorStore: z.object({
      backend: z.string(),
      available: z.boolean(),
      memories: z.int().nullable().describe('For all owners; superadmins only.'),
      turns: z.int().nullable().describe('Conversation turns of all owners; superadmins only.'),
      rowCount: z.int().nullable().describe('Vectors of all owners; superadmins only.'),
      needsReindex: z
        .int()
        .nullable()
        .describe('Memories and turns that are not embedded yet; superadmins only.'),
      reason: nullableText,
    }),
    qdrant: z.object({
      enabled: z.boolean(),
      healthy: z.boolean().nullable(),
      latencyMs: z.number().nullable(),
      error: nullableText,
    }),
    rerank: z.object({
      enabled: z.boolean(),
      provider: nullableText,
      model: nullableText,
      available: z.boolean(),
      reason: nullableText,
    }),
  }),
  http: { method: 'GET', path: '/api/memory/engine-status' },
  run: async (context) => {
    const { engine, caller } = context
    const {
      kind,
      index,
      vectorsUnavailableReason,
      rerankerProblem,
      replication: replica,
    } = await engine.status()
    const { embedder, reranker } = engine.admin.getComponents()
    const { 'recall.rerankEnabled': rerankEnabled } = await engine.admin.settings.resolve(
      homeOf(caller),
    )
    const isFailing = embedder?.state.kind === 'failing'
    // Totals over all owners reveal the size of other owners' data.
    const counts = caller.role === 'superadmin' ? index : null
    return {
      keyword: { available: true, backend: kind === 'sqlite' ? 'FTS5' : kind },
      embedding: {
        source: embedder?.source ?? null,
        model: embedder?.model ?? null,
        dimensions: dimensionsOf(index?.space ?? null),
        available: embedder !== null && !isFailing,
        reason:
          embedder === null
            ? 'no embedding model is configured'
            : embedder.state.kind === 'failing'
              ? embedder.state.reason
              : null,
        cacheStats: readEmbeddingCacheStats(context),
      },
      vectorStore: {
        backend: index === null ? 'none' : replica.servedBy === 'primary' ? kind : replica.servedBy,
        available: index !== null,
        memories: counts?.memories ?? null,
        turns: counts?.turns ?? null,
        rowCount: counts?.vectors ?? null,
        needsReindex: counts?.withoutVector ?? null,
        reason: index === null ? vectorsUnavailableReason : index.reason,
      },
      qdrant: await describeQdrant(engine, replica, caller.role === 'superadmin'),
      rerank: {
        enabled: reranker !== null && rerankEnabled,
        provider: reranker?.provider ?? null,
        model: reranker?.name ?? null,
        available: reranker !== null && rerankerProblem === null,
        reason: reranker === null ? 'no reranker is configured' : rerankerProblem,
      },
    }
  },
})

async function describeQdrant(engine: Engine, replica: VectorReplicaStatus, isSuperadmin: boolean) {
  if (replica.backend !== 'qdrant') {
    return { enabled: false, healthy: null, latencyMs: null, error: null }
  }
  const health = await engine.admin.replication.health()
  const isFailing = replica.state === 'down' || replica.state === 'misconfigured'
  const error = isFailing ? (isSuperadmin ? replica.reason : REPLICA_STATES[replica.state]) : null
  return {
    enabled: true,
    healthy: health?.isReady === true && !isFailing,
    latencyMs: health?.latencyMs ?? null,
    error,
  }
}

function homeOf({ home }: Caller) {
  return parseScope({ owner: home }).owner
}

/** A signature is `source:model:dimensions` followed by the encoding. */
function dimensionsOf(space: string | null): number | null {
  const found = /:(\d+)(?::\w+)?$/.exec(space ?? '')?.[1]
  return found === undefined ? null : Number(found)
}

type Reindexing = {
  done: number
  total: number
  error: string | null
  running: boolean
  readonly startedAt: number
  readonly cancel: () => void
}
const reindexing = new WeakMap<Engine, Reindexing>()

const reindexProgress = z.object({
  running: z.boolean(),
  done: z.int(),
  total: z.int(),
  pending: z.int(),
  error: nullableText,
  perSecond: z.number().nullable().describe('Texts embedded per second; null when nothing runs.'),
})

export const reindex = defineOperation({
  name: 'memory.reindex',
  summary: 'Embeds all memories and turns without a vector, in the background.',
  access: 'manage',
  isIdempotent: true,
  input: z.strictObject({ force: z.boolean().default(false).describe('Re-embeds everything.') }),
  output: z.object({ started: z.boolean(), pending: z.int() }),
  http: { method: 'POST', path: '/api/memory/reindex', status: 202 },
  targets: () => ['vectors'],
  run: async ({ engine }, { force }) => {
    const { index, vectorsUnavailableReason } = await engine.status()
    if (index === null) {
      throw new AppError(
        'missing_part',
        vectorsUnavailableReason ?? 'No embedding model is configured.',
      )
    }
    const pending = force ? index.memories + index.turns : index.withoutVector
    if (reindexing.get(engine)?.running === true) return { started: false, pending }
    const abort = new AbortController()
    const progress: Reindexing = {
      ...{ done: 0, total: pending, error: null, running: true },
      startedAt: performance.now(),
      cancel: () => abort.abort(),
    }
    reindexing.set(engine, progress)
    engine.admin
      .reindex({
        force,
        signal: abort.signal,
        onProgress: ({ done, total }) => Object.assign(progress, { done, total }),
      })
      .catch((error: unknown) => {
        if (abort.signal.aborted) return
        progress.error = error instanceof AppError ? error.message : 'Failed; see the log.'
      })
      .finally(() => {
        progress.running = false
      })
    return { started: true, pending }
  },
})

export const getReindexStatus = defineOperation({
  name: 'memory.reindexStatus',
  summary: 'Progress of the embedding run.',
  access: 'manage',
  input: nothing,
  output: reindexProgress,
  http: { method: 'GET', path: '/api/memory/reindex' },
  run: async ({ engine }) => {
    const { index } = await engine.status()
    const progress = reindexing.get(engine)
    return {
      running: progress?.running ?? false,
      done: progress?.done ?? 0,
      total: progress?.total ?? 0,
      pending: index?.withoutVector ?? 0,
      error: progress?.error ?? null,
      perSecond: progress?.running === true ? getRate(progress) : null,
    }
  },
})

function getRate({ done, startedAt }: Reindexing): number {
  const seconds = (performance.now() - startedAt) / 1_000
  return seconds === 0 ? 0 : Math.round((done / seconds) * 10) / 10
}

export const cancelReindex = defineOperation({
  name: 'memory.cancelReindex',
  summary: 'Stops the embedding run. What it has embedded stays.',
  access: 'manage',
  isIdempotent: true,
  input: nothing,
  output: z.object({ cancelled: z.boolean() }),
  http: { method: 'DELETE', path: '/api/memory/reindex' },
  targets: () => ['vectors'],
  run: async ({ engine }) => {
    const progress = reindexing.get(engine)
    if (progress?.running !== true) return { cancelled: false }
    progress.cancel()
    return { cancelled: true }
  },
})

export const getSystemStatus = defineOperation({
  name: 'system.status',
  summary: 'Status: components, counts and problems.',
  access: 'read',
  input: nothing,
  output: z.object({
    version: z.string(),
    state: z.enum(['ok', 'degraded', 'unavailable']),
    reasons: z.array(z.string()),
    store: z.object({
      kind: z.string(),
      location: z.string().nullable().describe('Superadmins only.'),
      schemaVersion: z.int(),
      sizeBytes: z.int().nullable(),
      memories: z.int().nullable().describe('For all owners; superadmins only.'),
      turns: z.int().nullable().describe('Conversation turns of all owners; superadmins only.'),
      facts: facts.describe('Details of the store, such as encryption; superadmins only.'),
    }),
    memories: z.int().describe('Active memories of the default owner.'),
    index: z
      .object({
        space: nullableText,
        buildingSpace: nullableText.describe(
          'The vector space of a new model while it is being built.',
        ),
        vectors: z.int().nullable().describe('For all owners; superadmins only.'),
        withoutVector: z
          .int()
          .nullable()
          .describe('Memories and turns that are not embedded yet; superadmins only.'),
        reason: nullableText.describe('Why embedding fails; null while it works.'),
        facts: facts.describe('Details of vector storage and cache size; superadmins only.'),
        embedder: z.object({
          source: z.string(),
          model: z.string(),
          state: z.string(),
          facts: facts.describe(
            'Runtime, start-up time, and why another runtime is not used; superadmins only.',
          ),
        }),
      })
      .nullable(),
    vectors: replicaStatus.describe('The backend of vector searches.'),
    learning: z
      .object({
        ...learningFields,
        reason: nullableText.describe('Why the job queue could not be read.'),
      })
      .describe('Signals of the default owner.'),
    caller: z.object({
      role: z.enum(ROLES),
      home: z.string(),
      actsFor: z.array(z.string()),
    }),
  }),
  http: { method: 'GET', path: '/api/status' },
  mcp: {
    tool: 'memory_status',
    description: 'Check whether memory works, how much is stored and what is degraded.',
    fields: [],
  },
  cli: 'status',
  run: async ({ engine, version, caller }) => {
    const home = { owner: caller.home }
    const [status, { total }, learning] = await Promise.all([
      engine.status(),
      engine.memories.count(home, {}),
      engine.learning.status(home),
    ])
    const isSuperadmin = caller.role === 'superadmin'
    const { index } = status
    const health = describeHealth(status)
    return {
      version,
      state: health.state,
      // Reasons contain counts of all owners.
      reasons: isSuperadmin
        ? [...health.reasons]
        : health.codes.map((code) => HEALTH_REASONS[code]),
      store: {
        kind: status.kind,
        location: isSuperadmin ? status.location : null,
        schemaVersion: status.schemaVersion,
        sizeBytes: isSuperadmin ? status.sizeBytes : null,
        memories: isSuperadmin ? status.rows.memory : null,
        turns: isSuperadmin ? status.rows.turn : null,
        facts: isSuperadmin ? { ...status.facts } : {},
      },
      memories: total,
      index:
        index === null
          ? null
          : {
              space: index.space,
              buildingSpace: index.buildingSpace,
              vectors: isSuperadmin ? index.vectors : null,
              withoutVector: isSuperadmin ? index.withoutVector : null,
              reason: index.reason,
              facts: isSuperadmin ? { ...index.facts } : {},
              embedder: {
                source: index.embedder.source,
                model: index.embedder.model,
                state: index.embedder.state.kind,
                facts: isSuperadmin ? { ...index.embedder.facts } : {},
              },
            },
      vectors: toWireReplicaStatus(status.replication, isSuperadmin),
      learning: { ...toWireLearning(learning), reason: status.learning.lastError },
      caller: { role: caller.role, home: caller.home, actsFor: [...caller.actsFor] },
    }
  },
})

const integrityReport = z.object({
  problems: z.array(z.object({ description: z.string(), count: z.int(), repairable: z.boolean() })),
  isRepaired: z.boolean(),
})

async function runIntegrityCheck(engine: Engine, repair: boolean) {
  const found = await engine.admin.checkIntegrity({ repair })
  return { problems: found.map((problem) => ({ ...problem })), isRepaired: repair }
}

export const checkIntegrity = defineOperation({
  name: 'system.doctor',
  summary: 'Integrity check: compares rows with their indexes.',
  access: 'manage',
  input: nothing,
  output: integrityReport,
  http: { method: 'GET', path: '/api/doctor' },
  cli: 'doctor',
  run: ({ engine }) => runIntegrityCheck(engine, false),
})

export const repairIntegrity = defineOperation({
  name: 'system.repair',
  summary: 'Integrity check with repair of the indexes.',
  access: 'manage',
  isIdempotent: true,
  input: nothing,
  output: integrityReport,
  http: { method: 'POST', path: '/api/doctor' },
  cli: 'doctor',
  targets: () => ['store'],
  run: ({ engine }) => runIntegrityCheck(engine, true),
})
