import { describe, expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { GAUGES } from '../telemetry/telemetry.ts'
import type { EngineStatus } from './engine.ts'
import { describeHealth, HEALTH_REASONS, readGauges } from './health.ts'

type Index = NonNullable<EngineStatus['index']>

const SOUND: Index = {
  space: 'a',
  buildingSpace: null,
  memories: 500,
  turns: 0,
  vectors: 500,
  withoutVector: 0,
  reason: null,
  queued: 0,
  embedder: { source: 'local', model: 'small', state: { kind: 'ready' }, facts: {} },
  facts: {},
}

/** Only what is looked at. */
function statusWith(index: Partial<Index> | null): EngineStatus {
  const replication = { state: 'off', pendingMemories: 0 }
  const nothing = { rerankerProblem: null, vectorsUnavailableReason: null }
  const status = { rows: { memory: 500, turn: 40 }, sizeBytes: 4_096, ...nothing, replication }
  return { ...status, index: index === null ? null : { ...SOUND, ...index } } as EngineStatus
}

function failing(reason: string): Partial<Index> {
  return { embedder: { ...SOUND.embedder, state: { kind: 'failing', reason } } }
}

describe('health', () => {
  it('[TE11] is ok when nothing is amiss, with vectors or without', () => {
    const ok = { state: 'ok', reasons: [], codes: [] }
    expect(describeHealth(statusWith({}))).toEqual(ok)
    expect(describeHealth(statusWith(null))).toEqual(ok)
    const cold = { ...SOUND.embedder, state: { kind: 'cold' } } as const
    expect(describeHealth(statusWith({ embedder: cold }))).toEqual(ok)
  })

  it('[TE11] is degraded when something is found less well than it could be, and says why', () => {
    expect(
      describeHealth(statusWith({ ...failing('It ran out of memory.'), withoutVector: 3 })),
    ).toEqual({
      state: 'degraded',
      codes: ['embedder_failing', 'embeddings_pending'],
      reasons: [
        `${HEALTH_REASONS.embedder_failing} It ran out of memory.`,
        `${HEALTH_REASONS.embeddings_pending} 3 of 500 lack their vectors.`,
      ],
    })
    const codes = (index: Partial<Index>) => describeHealth(statusWith(index)).codes
    expect(codes({ reason: 'The index is full.', withoutVector: 1 })).toEqual([
      'vectors_failing',
      'embeddings_pending',
    ])
    expect(codes({ withoutVector: 65 })).toEqual(['embeddings_pending'])
    expect(codes({ buildingSpace: 'b' })).toEqual(['reembedding'])
  })

  it('[TE11] is degraded where a model makes vectors that the store can’t keep', () => {
    const status = { ...statusWith(null), vectorsUnavailableReason: 'pgvector is missing.' }
    expect(describeHealth(status)).toEqual({
      state: 'degraded',
      codes: ['vectors_not_stored'],
      reasons: [`${HEALTH_REASONS.vectors_not_stored} pgvector is missing.`],
    })
  })

  it('[TE11] is degraded while the reranker is skipped, with vectors or without', () => {
    for (const index of [{}, null]) {
      const status = { ...statusWith(index), rerankerProblem: 'It hangs.' }
      expect(describeHealth(status)).toEqual({
        state: 'degraded',
        codes: ['reranker_failing'],
        reasons: [`${HEALTH_REASONS.reranker_failing} It hangs.`],
      })
    }
  })

  it('[VT13] is degraded while an external vector store does not answer, with the reason', () => {
    const codes = (tier: object) =>
      describeHealth({ ...statusWith({}), replication: tier } as EngineStatus).codes
    expect(codes({ state: 'active', pendingMemories: 0 })).toEqual([])
    expect(codes({ state: 'checking', pendingMemories: 0 })).toEqual([])
    for (const state of ['down', 'misconfigured']) {
      expect(codes({ state, reason: 'x' })).toEqual(['vector_replica_failing'])
    }
    for (const state of ['backfilling', 'lagging', 'recovering']) {
      expect(codes({ state, reason: null, progress: null })).toEqual(['vector_replica_lagging'])
    }
    const tier = {
      state: 'backfilling',
      pendingMemories: null,
      reason: null,
      progress: { done: 1, total: 3 },
    }
    const status = { ...statusWith({}), replication: tier } as EngineStatus
    expect(describeHealth(status).reasons[0]).toContain('1 of 3')
    const gauges = readGauges(status).filter(
      ({ name }) => name === 'recollect_vector_replica_state',
    )
    expect(gauges.filter(({ value }) => value === 1)).toMatchObject([
      { labels: { state: 'backfilling' } },
    ])
  })

  it('[TE11] memories that were just written and are about to get their vectors are no trouble', () => {
    expect(describeHealth(statusWith({ withoutVector: 64 })).state).toBe('ok')
  })

  it('[TE11] is unavailable when the store does not answer, by the kind of its failure', () => {
    const cases = {
      locked: 'store_locked',
      read_only: 'store_read_only',
      disk_full: 'store_full',
      damaged: 'store_corrupt',
      busy: 'store_busy',
      schema_mismatch: 'store_incompatible',
      unavailable: 'store_unreachable',
    } as const
    for (const [code, reason] of Object.entries(cases)) {
      const error = new AppError(code as keyof typeof cases, 'So it is.')
      expect(describeHealth(error)).toEqual({
        state: 'unavailable',
        codes: [reason],
        reasons: [`${HEALTH_REASONS[reason]} So it is.`],
      })
    }
    const bug = describeHealth(new AppError('internal', 'near "secret": syntax error'))
    expect(bug.reasons).toEqual([HEALTH_REASONS.store_unreachable])
  })

  it('[TE11] a store that can only be read is degraded, and a server that stops is not ready', () => {
    expect(describeHealth(statusWith({}), { writeFailure: 'disk_full' })).toMatchObject({
      state: 'degraded',
      codes: ['store_full'],
    })
    expect(describeHealth(statusWith({}), { writeFailure: 'conflict' }).state).toBe('ok')
    expect(describeHealth(statusWith({}), { isStopping: true })).toMatchObject({
      state: 'unavailable',
      codes: ['stopping'],
    })
  })

  it('[TE11] gauges report the same, with every reason, so that alarms also end', () => {
    const readings = readGauges(statusWith({ ...failing('x'), withoutVector: 3, queued: 2 }))
    const value = (name: string, reason?: string) =>
      readings.find((each) => each.name === name && each.labels.reason === reason)?.value
    expect(value('recollect_ready')).toBe(1)
    expect(value('recollect_degraded', 'embedder_failing')).toBe(1)
    expect(value('recollect_degraded', 'store_busy')).toBe(0)
    expect(value('recollect_memories')).toBe(500)
    expect(value('recollect_turns')).toBe(40)
    expect(value('recollect_memories_without_vector')).toBe(3)
    expect(value('recollect_embedding_queue')).toBe(2)
    expect(value('recollect_store_bytes')).toBe(4_096)
    expect(new Set(readings.map(({ name }) => name))).toEqual(new Set(Object.keys(GAUGES)))
    expect(readings.filter(({ name }) => name === 'recollect_degraded')).toHaveLength(
      Object.keys(HEALTH_REASONS).length,
    )
  })

  it('[TE11] unknown values have no gauge', () => {
    const names = readGauges(new AppError('busy', 'x')).map(({ name }) => name)
    expect(new Set(names)).toEqual(new Set(['recollect_ready', 'recollect_degraded']))
    const wordsOnly = readGauges({ ...statusWith(null), sizeBytes: null }).map(({ name }) => name)
    expect(wordsOnly).not.toContain('recollect_memories_without_vector')
    expect(wordsOnly).not.toContain('recollect_store_bytes')
  })
})
