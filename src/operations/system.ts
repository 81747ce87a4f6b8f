/** Operations on the system itself: health, status, upkeep, keys, owners, audit. */
import { z } from 'zod'
import { type ApiKey, ROLES } from '../core/access.ts'
import { AppError } from '../core/errors.ts'
import type { Engine } from '../engine/engine.ts'
import { describeHealth } from '../engine/health.ts'
import { defineOperation } from './operation.ts'
import { ownerOf, scopeFields } from './scope.ts'
import { isoTime, timeInput } from './wire.ts'

const nothing = z.strictObject({})

export const checkHealth = defineOperation({
  name: 'memory.health',
  summary: 'Writes, finds and removes something, to see whether memory works.',
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
    const { works, because } = await engine.probe()
    return {
      working: works,
      latencyMs: Math.round((performance.now() - started) * 100) / 100,
      ...(because === null ? {} : { error: because }),
    }
  },
})

export const listEmbeddingProviders = defineOperation({
  name: 'memory.embeddingProviders',
  summary: 'Where vectors could come from, and whether the key for it is here.',
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

export const engineStatus = defineOperation({
  name: 'memory.engineStatus',
  summary: 'What recall is made of, and what of it works.',
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
      rowCount: z.int(),
      needsReindex: z.int(),
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
  run: async ({ engine }) => {
    const { kind, index } = await engine.status()
    const { embedder, reranks } = engine.parts()
    const isFailing = embedder?.state.kind === 'failing'
    const facts = embedder?.facts ?? {}
    return {
      keyword: { available: true, backend: kind === 'sqlite' ? 'FTS5' : kind },
      embedding: {
        source: embedder?.source ?? null,
        model: embedder?.model ?? null,
        dimensions: dimensionsOf(index?.space ?? null),
        available: embedder !== null && !isFailing,
        reason:
          embedder === null
            ? 'there is no embedding model'
            : embedder.state.kind === 'failing'
              ? embedder.state.because
              : null,
        cacheStats: {
          hits: Number(facts.cacheHits ?? 0),
          misses: Number(facts.cacheMisses ?? 0),
          size: Number(facts.cacheSize ?? 0),
        },
      },
      vectorStore: {
        backend: index === null ? 'none' : kind,
        available: index !== null,
        rowCount: index?.vectors ?? 0,
        needsReindex: index?.missing ?? 0,
        reason: index?.because ?? null,
      },
      qdrant: { enabled: false, healthy: null, latencyMs: null, error: null },
      rerank: {
        enabled: reranks,
        provider: null,
        model: null,
        available: reranks,
        reason: reranks ? null : 'no reranker is configured',
      },
    }
  },
})

/** A signature is `source:model:dimensions`, with its form behind it. */
function dimensionsOf(space: string | null): number | null {
  const found = /:(\d+)(?::\w+)?$/.exec(space ?? '')?.[1]
  return found === undefined ? null : Number(found)
}

type Reindexing = { done: number; total: number; error: string | null; running: boolean }
const reindexing = new WeakMap<Engine, Reindexing>()

const reindexProgress = z.object({
  running: z.boolean(),
  done: z.int(),
  total: z.int(),
  pending: z.int(),
  error: nullableText,
})

export const reindex = defineOperation({
  name: 'memory.reindex',
  summary: 'Gives every memory its vector, to the end, in the background.',
  access: 'manage',
  isIdempotent: true,
  input: z.strictObject({ force: z.boolean().default(false).describe('Makes all of them anew.') }),
  output: z.object({ started: z.boolean(), pending: z.int() }),
  http: { method: 'POST', path: '/api/memory/reindex', status: 202 },
  targets: () => ['vectors'],
  run: async ({ engine }, { force }) => {
    const { index } = await engine.status()
    if (index === null) {
      throw new AppError('missing_part', 'There is no embedding model to make vectors with.')
    }
    const pending = force ? index.memories : index.missing
    if (reindexing.get(engine)?.running === true) return { started: false, pending }
    const progress: Reindexing = { done: 0, total: pending, error: null, running: true }
    reindexing.set(engine, progress)
    engine
      .reindex({
        force,
        onProgress: ({ done, total }) => Object.assign(progress, { done, total }),
      })
      .catch((error: unknown) => {
        progress.error = error instanceof AppError ? error.message : 'It failed; see the log.'
      })
      .finally(() => {
        progress.running = false
      })
    return { started: true, pending }
  },
})

export const reindexStatus = defineOperation({
  name: 'memory.reindexStatus',
  summary: 'How far giving every memory its vector has come.',
  access: 'read',
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
      pending: index?.missing ?? 0,
      error: progress?.error ?? null,
    }
  },
})

export const systemStatus = defineOperation({
  name: 'system.status',
  summary: 'What is there, how much of it, and what does not work.',
  access: 'read',
  input: nothing,
  output: z.object({
    version: z.string(),
    state: z.enum(['ok', 'degraded', 'unavailable']),
    reasons: z.array(z.string()),
    store: z.object({
      kind: z.string(),
      location: z.string().nullable().describe('For superadmins only.'),
      schemaVersion: z.int(),
      sizeBytes: z.int().nullable(),
      memories: z.int().nullable().describe('Of all owners; for superadmins only.'),
    }),
    memories: z.int().describe('Of the home owner, active.'),
    index: z
      .object({
        space: nullableText,
        filling: nullableText,
        vectors: z.int(),
        missing: z.int(),
        because: nullableText,
        embedder: z.object({ source: z.string(), model: z.string(), state: z.string() }),
      })
      .nullable(),
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
    const [status, { total }] = await Promise.all([
      engine.status(),
      engine.tally({ owner: caller.home }, {}),
    ])
    const isSuperadmin = caller.role === 'superadmin'
    const { index } = status
    const health = describeHealth(status)
    return {
      version,
      state: health.state,
      reasons: [...health.reasons],
      store: {
        kind: status.kind,
        location: isSuperadmin ? status.location : null,
        schemaVersion: status.schemaVersion,
        sizeBytes: isSuperadmin ? status.sizeBytes : null,
        memories: isSuperadmin ? status.rows.memory : null,
      },
      memories: total,
      index:
        index === null
          ? null
          : {
              space: index.space,
              filling: index.filling,
              vectors: index.vectors,
              missing: index.missing,
              because: index.because,
              embedder: {
                source: index.embedder.source,
                model: index.embedder.model,
                state: index.embedder.state.kind,
              },
            },
      caller: { role: caller.role, home: caller.home, actsFor: [...caller.actsFor] },
    }
  },
})

const faults = z.object({
  faults: z.array(z.object({ what: z.string(), count: z.int(), repairable: z.boolean() })),
  isRepaired: z.boolean(),
})

async function examine(engine: Engine, repair: boolean) {
  const found = await engine.doctor({ repair })
  return { faults: found.map((fault) => ({ ...fault })), isRepaired: repair }
}

export const doctor = defineOperation({
  name: 'system.doctor',
  summary: 'Compares what is stored with what is derived from it.',
  access: 'manage',
  input: nothing,
  output: faults,
  http: { method: 'GET', path: '/api/doctor' },
  cli: 'doctor',
  run: ({ engine }) => examine(engine, false),
})

export const repair = defineOperation({
  name: 'system.repair',
  summary: 'Does the same, and mends what is derived.',
  access: 'manage',
  isIdempotent: true,
  input: nothing,
  output: faults,
  http: { method: 'POST', path: '/api/doctor' },
  cli: 'doctor',
  targets: () => ['store'],
  run: ({ engine }) => examine(engine, true),
})

const wireKey = z
  .object({
    id: z.string(),
    name: z.string(),
    role: z.enum(ROLES),
    home: z.string(),
    actsFor: z.array(z.string()),
    isManagement: z.boolean(),
    createdAt: z.string(),
    expiresAt: nullableText,
    lastUsedAt: nullableText,
  })
  .meta({ id: 'Key' })

function toWireKey({ hash: _h, version: _v, ...key }: ApiKey): z.output<typeof wireKey> {
  return {
    ...key,
    actsFor: [...key.actsFor],
    createdAt: isoTime(key.createdAt),
    expiresAt: isoTime(key.expiresAt),
    lastUsedAt: isoTime(key.lastUsedAt),
  }
}

export const listKeys = defineOperation({
  name: 'key.list',
  summary: 'All keys, without their secrets, which nobody knows.',
  access: 'manage',
  input: nothing,
  output: z.object({ keys: z.array(wireKey) }),
  http: { method: 'GET', path: '/api/keys' },
  cli: 'keys',
  run: async ({ engine }) => ({ keys: (await engine.keys.list()).map(toWireKey) }),
})

export const createKey = defineOperation({
  name: 'key.create',
  summary: 'Makes a key. Its secret is in the answer and can never be shown again.',
  access: 'manage',
  isSecret: true,
  input: z.strictObject({
    name: z.string().min(1).max(100).describe('What it is for.'),
    home: z.string().min(1).max(200).describe('The owner that is meant when none is named.'),
    actsFor: z.array(z.string().min(1).max(200)).max(100).optional(),
    role: z.enum(ROLES).default('user'),
    expiresAt: timeInput.nullable().optional(),
  }),
  output: z.object({ key: wireKey, secret: z.string() }),
  http: { method: 'POST', path: '/api/keys', status: 201 },
  cli: 'keys',
  targets: ({ key }) => [key.id],
  run: async ({ engine }, { name, home, actsFor, role, expiresAt }) => {
    const { key, secret } = await engine.keys.create({
      name,
      home,
      role,
      actsFor: actsFor ?? [],
      expiresAt: expiresAt ?? null,
    })
    return { key: toWireKey(key), secret }
  },
})

export const revokeKey = defineOperation({
  name: 'key.revoke',
  summary: 'Ends a key at once.',
  access: 'manage',
  isDestructive: true,
  input: z.strictObject({ id: z.string().min(1).max(100) }),
  output: z.object({ key: wireKey }),
  http: { method: 'DELETE', path: '/api/keys/{id}' },
  cli: 'keys',
  targets: ({ key }) => [key.id],
  run: async ({ engine }, { id }) => ({ key: toWireKey(await engine.keys.revoke(id)) }),
})

export const listOwners = defineOperation({
  name: 'owner.list',
  summary: 'Who has memories here, and how many; for others than superadmins, of their own owners.',
  access: 'read',
  input: nothing,
  output: z.object({
    owners: z.array(
      z.object({ owner: z.string(), user: z.string().nullable(), memories: z.int() }),
    ),
  }),
  http: { method: 'GET', path: '/api/owners' },
  cli: 'owners',
  run: async ({ engine, caller }) => {
    const reachable = new Set([caller.home, ...caller.actsFor])
    const places = await engine.places()
    return {
      owners: places
        .filter(({ owner }) => caller.role === 'superadmin' || reachable.has(owner))
        .map((place) => ({ ...place })),
    }
  },
})

export const eraseOwner = defineOperation({
  name: 'owner.erase',
  summary:
    'Removes everything of an owner for good: memories, history, conversations, settings, keys.',
  access: 'manage',
  isDestructive: true,
  input: z.strictObject({
    owner: z.string().min(1).max(200),
    dryRun: z.boolean().optional().describe('Only counts.'),
  }),
  output: z.object({ rows: z.record(z.string(), z.int()), dryRun: z.boolean() }),
  http: { method: 'DELETE', path: '/api/owners/{owner}' },
  cli: 'owners',
  targets: (_, { owner }) => [String(owner)],
  run: async ({ engine }, { owner, dryRun = false }) => ({
    rows: (await engine.eraseOwner(owner, { dryRun })).rows,
    dryRun,
  }),
})

export const listAudit = defineOperation({
  name: 'audit.list',
  summary: 'Who did what to which memory, newest first.',
  access: 'manage',
  input: z.strictObject({
    owner: scopeFields.owner,
    from: timeInput.optional(),
    before: timeInput.optional(),
    limit: z.int().min(1).max(1_000).default(50),
    after: z.string().max(200).optional(),
  }),
  output: z.object({
    entries: z.array(
      z.object({
        id: z.string(),
        at: z.string(),
        actor: nullableText,
        operation: z.string(),
        owner: z.string(),
        targets: z.array(z.string()),
        targetCount: z.int(),
      }),
    ),
    next: nullableText,
  }),
  http: { method: 'GET', path: '/api/audit' },
  cli: 'audit',
  run: async (context, { owner, from, before, limit, after }) => {
    if (owner !== undefined) ownerOf(context, { owner }, 'manage')
    const { rows, next } = await context.engine.audit.list({
      limit,
      ...(owner === undefined ? {} : { owner }),
      ...(from === undefined ? {} : { from }),
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    })
    const entries = rows.map((entry) => ({
      ...entry,
      at: isoTime(entry.at),
      targets: [...entry.targets],
    }))
    return { entries, next }
  },
})
