/**
 * Operations on the vector replica. Paths and fields follow what clients of other systems use for
 * Qdrant, plus our own.
 */
import { z } from 'zod'
import type { QdrantSettings } from '../../../admin/replica-admin.ts'
import { parseScope } from '../../../domain/scope.ts'
import { QUANTIZATIONS } from '../../../domain/settings/setting-choices.ts'
import { AppError, toAppError } from '../../../lib/errors.ts'
import {
  REPLICA_STATES,
  type ReplicaState,
  type VectorReplicaStatus,
} from '../../../storage/vector-replication.ts'
import { isoTime } from '../memory-schema.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { resolveOwner, scopeFields } from '../scope-fields.ts'

const nothing = z.strictObject({})
const nullableText = z.string().nullable()
const stateNames = Object.keys(REPLICA_STATES) as [ReplicaState, ...ReplicaState[]] // a table that is never empty

export const replicaStatus = z
  .object({
    backend: z.enum(['qdrant', 'lancedb']).nullable().describe('The configured vector replica.'),
    servedBy: z
      .enum(['primary', 'qdrant', 'lancedb'])
      .describe('What serves vector searches now; `primary` is the index of the main store.'),
    state: z.enum(stateNames),
    since: z.string(),
    reason: nullableText.describe('Why the replica is in this state.'),
    nextRetryAt: nullableText,
    progress: z
      .object({ done: z.int(), total: z.int() })
      .nullable()
      .describe('Vectors that were compared, while the replica is synchronized.'),
    pendingMemories: z
      .int()
      .nullable()
      .describe('Memories whose current vector is not replicated yet; null: unknown.'),
  })
  .meta({ id: 'VectorReplicaStatus' })

/** Counts and reasons are for superadmins only. */
export function toWireReplicaStatus(
  status: VectorReplicaStatus,
  isWhole: boolean,
): z.output<typeof replicaStatus> {
  const { backend, servedBy, state, progress } = status
  return {
    ...{ backend, servedBy, state },
    since: isoTime(status.since),
    reason: isWhole ? status.reason : null,
    nextRetryAt: isoTime(status.nextRetryAt),
    progress: isWhole && progress !== null ? { ...progress } : null,
    pendingMemories: isWhole ? status.pendingMemories : null,
  }
}

const port = z.int().min(1).max(65_535)
const output = z.object({
  enabled: z.boolean().describe('Whether Qdrant is the configured vector store.'),
  url: nullableText,
  host: nullableText.describe('The same as host and port.'),
  port: port.nullable(),
  collection: z.string().describe('Prefix of its collection names.'),
  embeddingModel: nullableText.describe('The embedding model; all vectors share one.'),
  quantization: z.enum(QUANTIZATIONS),
  hasApiKey: z
    .boolean()
    .describe('Whether an API key is stored. A key from the environment is not reported.'),
  apiKeyMasked: nullableText,
  replica: replicaStatus,
})

async function toWire({ engine }: OperationContext): Promise<z.output<typeof output>> {
  const known = await engine.admin.replication.qdrant()
  const { url, prefix, quantization, maskedKey } = known
  return {
    enabled: known.isEnabled,
    url: url === '' ? null : url,
    ...hostAndPort(url),
    collection: prefix,
    embeddingModel: modelOf(engine),
    quantization,
    hasApiKey: maskedKey !== null,
    apiKeyMasked: maskedKey,
    replica: toWireReplicaStatus(await engine.admin.replication.current(), true),
  }
}

const PORT = 6_333

function hostAndPort(url: string): { readonly host: string | null; readonly port: number | null } {
  if (!URL.canParse(url)) return { host: null, port: null }
  const { hostname, port: given, protocol } = new URL(url)
  const usual = protocol === 'https:' ? 443 : 80
  return { host: hostname, port: given === '' ? usual : Number(given) }
}

function modelOf(engine: OperationContext['engine']): string | null {
  return engine.admin.getComponents().embedder?.model ?? null
}

export const getQdrant = defineOperation({
  name: 'settings.qdrant',
  summary: 'Qdrant configuration and state. The API key is never returned.',
  access: 'manage',
  input: nothing,
  output,
  http: { method: 'GET', path: '/api/settings/qdrant' },
  cli: 'vectors',
  run: toWire,
})

const changes = z.strictObject({
  enabled: z.boolean().optional().describe('False disables the replica.'),
  url: z.string().max(200).nullable().optional().describe('Such as `http://127.0.0.1:6333`.'),
  host: z.string().min(1).max(200).nullable().optional().describe('With `port`, instead of `url`.'),
  port: port.nullable().optional(),
  collection: z.string().min(1).max(60).optional(),
  embeddingModel: nullableText.optional().describe('Must be the model in use.'),
  quantization: z.enum(QUANTIZATIONS).optional(),
  apiKey: z.string().max(4_000).optional().describe('An empty value removes the stored key.'),
  hasApiKey: z.boolean().optional().describe('Read-only; ignored.'),
  apiKeyMasked: z
    .string()
    .regex(/^\*{3}.{0,8}$/u)
    .nullable()
    .optional()
    .describe('Read-only; ignored.'),
  replica: z.record(z.string(), z.json()).optional().describe('Read-only; ignored.'),
})

export const changeQdrant = defineOperation({
  name: 'settings.changeQdrant',
  summary:
    'Configures Qdrant and tests it with a write and a search. It is backfilled in the background and serves searches once complete.',
  access: 'manage',
  isIdempotent: true,
  input: changes,
  output,
  http: { method: 'PUT', path: '/api/settings/qdrant' },
  cli: 'vectors',
  targets: (_, given) => Object.keys(given),
  run: async (context, given) => {
    const { engine } = context
    assertSupportedModel(modelOf(engine), given.embeddingModel)
    const known = await engine.admin.replication.qdrant()
    const { enabled, collection, quantization, url, apiKey } = omitUnchanged(given, known)
    const isUnchanged = [enabled, collection, quantization, url, apiKey].every(
      (value) => value === undefined,
    )
    if (isUnchanged) return toWire(context)
    await engine.admin.replication.changeQdrant(
      {
        ...(enabled === undefined
          ? {}
          : { 'vectorStore.backend': enabled ? 'qdrant' : 'embedded' }),
        ...(url === undefined ? {} : { 'vectorStore.qdrantUrl': url }),
        ...(collection === undefined ? {} : { 'vectorStore.qdrantCollectionPrefix': collection }),
        ...(quantization === undefined ? {} : { 'vectorStore.qdrantQuantization': quantization }),
      },
      apiKey,
    )
    return toWire(context)
  },
})

function assertSupportedModel(inUse: string | null, wanted: string | null | undefined): void {
  if (wanted == null || wanted === inUse) return
  throw new AppError(
    'invalid_input',
    'There is one embedding model for all vectors. Set `embedding.model` in the settings.',
    { field: 'embeddingModel' },
  )
}

/** Clients send back everything they received. An enabled replica is tested again. */
function omitUnchanged(given: z.output<typeof changes>, known: QdrantSettings) {
  const url = addressOf(given, known)
  const { enabled, collection, quantization, apiKey } = given
  return {
    apiKey,
    enabled: enabled === false && !known.isEnabled ? undefined : enabled,
    collection: collection === known.prefix ? undefined : collection,
    quantization: quantization === known.quantization ? undefined : quantization,
    url: (url ?? '') === known.url ? undefined : url,
  }
}

/** Two spellings of one value: a client that sends both back changed the URL. */
function addressOf(
  { url, host, port: given }: z.output<typeof changes>,
  { url: known }: QdrantSettings,
): string | null | undefined {
  const before = hostAndPort(known)
  const isChanged =
    (host != null && host !== before.host) || (given != null && given !== before.port)
  if (url !== undefined && (!isChanged || url !== known)) return url
  if (!isChanged) return undefined
  const name = host ?? before.host ?? '127.0.0.1'
  const protocol = known.startsWith('https:') ? 'https:' : 'http:'
  return name.includes('://') ? name : `${protocol}//${name}:${given ?? before.port ?? PORT}`
}

const NOT_CONFIGURED = 'not_configured'

export const checkQdrantHealth = defineOperation({
  name: 'settings.qdrantHealth',
  summary: 'Health of the vector replica, with latency.',
  access: 'manage',
  input: nothing,
  output: z.object({
    ok: z.boolean(),
    latencyMs: z.number().nullable(),
    error: z.string().optional().describe(`\`${NOT_CONFIGURED}\` where there is none.`),
    detail: nullableText.describe('Details from the replica.'),
    replica: replicaStatus,
  }),
  http: { method: 'GET', path: '/api/settings/qdrant/health' },
  cli: 'vectors',
  run: async ({ engine }) => {
    const health = await engine.admin.replication.health()
    const replica = toWireReplicaStatus(await engine.admin.replication.current(), true)
    if (health === null) {
      const error = replica.state === 'off' ? NOT_CONFIGURED : (replica.reason ?? NOT_CONFIGURED)
      return { ok: false, latencyMs: null, error, detail: null, replica }
    }
    const { isReady, latencyMs, detail } = health
    return { ok: isReady, latencyMs, detail, replica, ...(isReady ? {} : { error: detail }) }
  },
})

export const searchQdrant = defineOperation({
  name: 'settings.qdrantSearch',
  summary: 'Searches the vector replica directly, for diagnosis.',
  access: 'manage',
  input: z.strictObject({
    owner: scopeFields.owner,
    apiKeyId: scopeFields.apiKeyId,
    query: z.string().min(1).max(2_000),
    topK: z.int().min(1).max(50).default(5),
  }),
  output: z.object({
    ok: z.boolean(),
    results: z.array(z.object({ id: z.string(), score: z.number() })),
    error: z.string().optional(),
  }),
  http: { method: 'POST', path: '/api/settings/qdrant/search' },
  run: async (context, { query, topK, ...input }) => {
    const { engine, signal } = context
    const scope = parseScope({ owner: resolveOwner(context, input, 'read') })
    try {
      const hits = await engine.admin.replication.searchReplica(scope, {
        text: query,
        limit: topK,
        signal,
      })
      return { ok: true, results: hits.map(({ id, similarity }) => ({ id, score: similarity })) }
    } catch (error) {
      return { ok: false, results: [], error: describeFailure(error) }
    }
  },
})

export const cleanUpQdrant = defineOperation({
  name: 'settings.qdrantCleanup',
  summary: 'Removes expired and orphaned points from the vector replica.',
  access: 'manage',
  isIdempotent: true,
  input: z.strictObject({
    dryRun: z.boolean().default(false).describe('Only counts.'),
  }),
  output: z.object({
    ok: z.boolean(),
    deletedCount: z.int(),
    retentionDays: z
      .int()
      .describe('Days after which unused memories are moved to the trash; 0: never.'),
    error: z.string().optional(),
  }),
  http: { method: 'POST', path: '/api/settings/qdrant/cleanup' },
  cli: 'vectors',
  targets: () => ['vectors'],
  run: async ({ engine }, { dryRun }) => {
    const { 'retention.unusedDays': retentionDays } = await engine.admin.settings.resolve(null)
    try {
      return {
        ok: true,
        deletedCount: await engine.admin.replication.cleanUp({ dryRun }),
        retentionDays,
      }
    } catch (error) {
      return { ok: false, deletedCount: 0, retentionDays, error: describeFailure(error) }
    }
  },
})

/** Failures are the result here, except for bugs. */
function describeFailure(thrown: unknown): string {
  const error = toAppError(thrown)
  if (error.code === 'internal' || error.code === 'cancelled') throw error
  return error.message
}

export const listQdrantModels = defineOperation({
  name: 'settings.qdrantModels',
  summary: 'Embedding models, including the one in use.',
  access: 'read',
  input: nothing,
  output: z.object({ models: z.array(z.object({ value: z.string(), label: z.string() })) }),
  http: { method: 'GET', path: '/api/settings/qdrant/embedding-models' },
  run: async ({ engine, embeddingProviders }) => {
    const inUse = modelOf(engine)
    const known = embeddingProviders.flatMap(({ provider, models }) =>
      models.map(({ id, name }) => ({ value: id, label: `${provider}: ${name}` })),
    )
    const isListed = known.some(({ value }) => value === inUse)
    const all = inUse === null || isListed ? known : [...known, { value: inUse, label: inUse }]
    return { models: all.sort((a, b) => (a.value < b.value ? -1 : 1)) }
  },
})
