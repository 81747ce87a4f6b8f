/**
 * How well the engine is: one reading of its status for `/health/ready`, the metrics and the command line, so that
 * they never disagree.
 */
import { AppError, type ErrorCode } from '../lib/errors.ts'
import { REPLICA_STATES, type ReplicaState } from '../storage/vector-replication.ts'
import type { GaugeReading } from '../telemetry/telemetry.ts'
import type { EngineStatus } from './engine.ts'

/** Everything that can be amiss. The names are label values and part of what the server answers. */
export const HEALTH_REASONS = {
  embedder_failing: 'The embedding model fails; memories are found by their words alone.',
  reranker_failing: 'The reranker fails; memories stay in the order that they were found in.',
  vectors_failing: 'Memories can’t be given their vectors at the moment.',
  vectors_not_stored: 'The store keeps no vectors; memories are found by their words alone.',
  embeddings_pending:
    'Some memories and turns are not embedded yet and are found by their words alone.',
  vector_replica_failing:
    'The vector store beside the memories can’t be used; their own index answers.',
  vector_replica_lagging:
    'The vector store beside the memories is being brought up to date; their own index answers.',
  reembedding: 'The vectors of a new model are being made; the former one answers meanwhile.',
  store_locked: 'The database is encrypted and its key is missing or wrong.',
  store_read_only: 'The database can’t be written to.',
  store_full: 'There is no space left for the database.',
  store_corrupt: 'The database is damaged.',
  store_busy: 'Another process keeps the database locked.',
  store_incompatible: 'The database was written by another version.',
  store_unreachable: 'The database can’t be reached.',
  stopping: 'The server is about to stop.',
} as const
export type HealthReason = keyof typeof HEALTH_REASONS

export type Health = {
  /** `degraded`: questions are answered, though not as well as they could be. */
  readonly state: 'ok' | 'degraded' | 'unavailable'
  /** For people: what is amiss and why. */
  readonly reasons: readonly string[]
  /** For programs: the same, in the same order. */
  readonly codes: readonly HealthReason[]
}

/** What an engine said of itself, and what its surroundings know. */
export type ServerConditions = {
  /** The server has been asked to stop, and nobody should send it more. */
  readonly isStopping?: boolean
  /** How the last write failed, while none has worked since. */
  readonly writeFailure?: ErrorCode | null
}

type HealthFinding = {
  readonly code: HealthReason
  readonly reason: string | null
  readonly isFatal: boolean
}

/** Reads a status, or the error that came instead of one. */
export function describeHealth(
  status: EngineStatus | AppError,
  surroundings: ServerConditions = {},
): Health {
  const findings = [
    ...(status instanceof AppError ? [storeFinding(status)] : modelFindings(status)),
    ...writeFindings(status, surroundings),
    ...(surroundings.isStopping === true ? [unavailableFinding('stopping')] : []),
  ]
  const state = findings.some(({ isFatal }) => isFatal)
    ? 'unavailable'
    : findings.length > 0
      ? 'degraded'
      : 'ok'
  return {
    state,
    reasons: findings.map(toSentence),
    codes: findings.map(({ code }) => code),
  }
}

/** The gauges of the metrics table, as they stand now. Every reason is there, so that alarms also end. */
export function readGauges(
  status: EngineStatus | AppError,
  surroundings: ServerConditions = {},
): readonly GaugeReading[] {
  const { state, codes } = describeHealth(status, surroundings)
  const plain = (name: GaugeReading['name'], value: number) => ({ name, labels: {}, value })
  const health = [
    plain('recollect_ready', state === 'unavailable' ? 0 : 1),
    ...reasonNames().map((reason) => ({
      name: 'recollect_degraded' as const,
      labels: { reason },
      value: codes.includes(reason) ? 1 : 0,
    })),
  ]
  if (status instanceof AppError) return health
  const { index, rows, sizeBytes, replication: tier } = status
  return [
    ...health,
    ...tierStates().map((state) => ({
      name: 'recollect_vector_replica_state' as const,
      labels: { state },
      value: tier.state === state ? 1 : 0,
    })),
    ...(tier.pendingMemories === null
      ? []
      : [plain('recollect_vector_replica_pending', tier.pendingMemories)]),
    plain('recollect_memories', rows.memory),
    plain('recollect_turns', rows.turn),
    ...(sizeBytes === null ? [] : [plain('recollect_store_bytes', sizeBytes)]),
    ...(index === null ? [] : [plain('recollect_memories_without_vector', index.withoutVector)]),
    ...(index?.queued === undefined ? [] : [plain('recollect_embedding_queue', index.queued)]),
  ]
}

function tierStates(): readonly ReplicaState[] {
  return Object.keys(REPLICA_STATES) as ReplicaState[] // the keys of that very table
}

function reasonNames(): readonly HealthReason[] {
  return Object.keys(HEALTH_REASONS) as HealthReason[] // the keys of this very table
}

function modelFindings(status: EngineStatus): readonly HealthFinding[] {
  const { rerankerProblem: rerankTrouble } = status
  return [
    ...indexFindings(status),
    ...tierFindings(status),
    ...(rerankTrouble === null ? [] : [degradedFinding('reranker_failing', rerankTrouble)]),
  ]
}

function indexFindings({
  index,
  vectorsUnavailableReason: withoutVectors,
}: EngineStatus): readonly HealthFinding[] {
  if (index === null) {
    // Without a model, by words alone is what was asked for.
    return withoutVectors === null ? [] : [degradedFinding('vectors_not_stored', withoutVectors)]
  }
  const {
    embedder,
    withoutVector: missing,
    memories,
    turns,
    reason: because,
    buildingSpace: filling,
  } = index
  const failing =
    embedder.state.kind === 'failing'
      ? [degradedFinding('embedder_failing', embedder.state.reason)]
      : because === null
        ? []
        : [degradedFinding('vectors_failing', because)]
  const isBehind = missing > (failing.length > 0 ? 0 : AWAITED_MEMORIES_MAX)
  return [
    ...failing,
    ...(isBehind
      ? [
          degradedFinding(
            'embeddings_pending',
            `${missing} of ${memories + turns} lack their vectors.`,
          ),
        ]
      : []),
    ...(filling === null ? [] : [degradedFinding('reembedding')]),
  ]
}

function tierFindings({ replication: tier }: EngineStatus): readonly HealthFinding[] {
  const { state, reason: because, progress } = tier
  if (state === 'down' || state === 'misconfigured')
    return [degradedFinding('vector_replica_failing', because)]
  if (state !== 'backfilling' && state !== 'lagging' && state !== 'recovering') return []
  const { done, total } = progress ?? { done: 0, total: 0 }
  return [
    degradedFinding(
      'vector_replica_lagging',
      total === 0 ? because : `${done} of ${total} are compared.`,
    ),
  ]
}

/** Recall waits until so few are embedded: as long as that works, they are missed by nobody. */
const AWAITED_MEMORIES_MAX = 64

const STORE_REASONS: { readonly [Code in ErrorCode]?: HealthReason } = {
  locked: 'store_locked',
  read_only: 'store_read_only',
  disk_full: 'store_full',
  damaged: 'store_corrupt',
  busy: 'store_busy',
  schema_mismatch: 'store_incompatible',
  unavailable: 'store_unreachable',
}

/** A store that can't even tell its status. The message of a bug may quote anything, and stays inside. */
function storeFinding({ code, message }: AppError): HealthFinding {
  return unavailableFinding(
    STORE_REASONS[code] ?? 'store_unreachable',
    code === 'internal' ? null : message,
  )
}

/** What can't be written can still be read. */
function writeFindings(
  status: EngineStatus | AppError,
  surroundings: ServerConditions,
): readonly HealthFinding[] {
  const ofEngine = status instanceof AppError ? null : status.writeFailure
  const writeFailure = surroundings.writeFailure ?? ofEngine
  const code = writeFailure == null ? undefined : STORE_REASONS[writeFailure]
  return code === undefined ? [] : [degradedFinding(code)]
}

function degradedFinding(code: HealthReason, because: string | null = null): HealthFinding {
  return { code, reason: because, isFatal: false }
}

function unavailableFinding(code: HealthReason, because: string | null = null): HealthFinding {
  return { code, reason: because, isFatal: true }
}

function toSentence({ code, reason: because }: HealthFinding): string {
  return because === null ? HEALTH_REASONS[code] : `${HEALTH_REASONS[code]} ${because}`
}
