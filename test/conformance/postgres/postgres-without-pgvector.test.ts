/**
 * Vectors on servers that can do less: without pgvector, and with early versions of it. Those are named only: the
 * extension is a recent one that says it is older, so that nothing is used that it would not have.
 */
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { describeHealth } from '../../../src/engine/health.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { openPostgresStore } from '../../../src/storage/postgres/postgres-store.ts'
import { memory } from '../../fakes/memories.ts'
import { entry, unitVector, unitVectors } from '../../fakes/vectors.ts'
import { freshSchema, openFreshStore, runSql, startPglite } from '../../support/postgres-servers.ts'
import {
  ALL,
  commitAll,
  describeVectorIndex,
  idsOf,
  pairs,
  SPACE,
} from '../vectors/vector-index.suite.ts'

const bare = await startPglite()
afterAll(() => bare.stop())
describeVectorIndex('postgres vectors without pgvector', async () => {
  const store = await openFreshStore(bare.url, { poolSize: 1, pgvectorFallback: 'exact' })
  if (store.vectors === null) throw new Error('There are no vectors.')
  return { store, vectors: store.vectors, close: () => store.close() }
})

describe('postgres vectors without pgvector', () => {
  it('[PG7] says why vectors are compared one by one, or why there are none', async () => {
    const exact = await openFreshStore(bare.url, { poolSize: 1, pgvectorFallback: 'exact' })
    onTestFinished(() => exact.close())
    expect(exact.vectors?.report()).toMatchObject({ kind: 'plain', reason: 'not installed' })
    expect((await exact.getReport()).facts.pgvector).toBe('not installed')
    const keyword = await openFreshStore(bare.url, { poolSize: 1 })
    onTestFinished(() => keyword.close())
    expect(keyword.vectors).toBeNull()
    expect((await keyword.getReport()).facts.pgvector).toBe('not installed')
  })

  it('[PG7] refuses a vector store for memories without vectors, with the reason', async () => {
    const schema = freshSchema()
    onTestFinished(async () => void (await runSql(bare.url, `DROP SCHEMA "${schema}" CASCADE`)))
    const engine = await createEngine({
      ...{ postgres: bare.url, postgresOptions: { schema, poolSize: 1 } },
      embedding: createHashingEmbedder(),
    })
    onTestFinished(() => engine.close())
    await engine.remember({ owner: 'ada' }, { content: 'The lamp is blue.' })
    const { vector: meaning } = (await engine.recall({ owner: 'ada' }, { text: 'the lamp' }))
      .retrievers
    expect(meaning).toMatchObject({ state: 'skipped', reason: 'the store keeps no vectors' })
    const because = expect.stringContaining('pgvector cannot be used: not installed')
    expect(describeHealth(await engine.status())).toMatchObject({ codes: ['vectors_not_stored'] })
    await expect(
      engine.admin.replication.changeQdrant({ 'vectorStore.backend': 'qdrant' }, 'key'),
    ).rejects.toMatchObject({ code: 'missing_part', message: because })
    expect(await engine.admin.replication.current()).toMatchObject({
      backend: null,
      state: 'off',
      reason: because,
    })
    expect((await engine.admin.replication.qdrant()).maskedKey).toBeNull()
    for (const [vectorStore, mirror] of [
      ['lancedb', 'lancedb'],
      ['pgvector', null],
    ] as const) {
      await engine.admin.settings.change(null, { 'vectorStore.backend': vectorStore })
      expect(await engine.admin.replication.current()).toMatchObject({
        backend: mirror,
        state: 'misconfigured',
        reason: because,
      })
    }
    expect(describeHealth(await engine.status()).codes).toEqual([
      'vectors_not_stored',
      'vector_replica_failing',
    ])
  })

  it('[PG7] reads more vectors than fit into memory', async () => {
    const store = await openFreshStore(bare.url, { poolSize: 1, pgvectorFallback: 'exact' })
    onTestFinished(() => store.close())
    const rows = Array.from({ length: 5_100 }, () => memory({ content: 'x' }))
    for (let at = 0; at < rows.length; at += 1_700)
      await commitAll(store, rows.slice(at, at + 1_700))
    const newVectors = unitVectors(rows.length, SPACE.dimensions, 3)
    await store.vectors?.put(SPACE, pairs(rows, newVectors))
    for (const n of [0, 4_999, 5_000, 5_099]) {
      const query = { vector: newVectors[n] ?? new Float32Array(), limit: 1, where: {} }
      const hits = (await store.vectors?.search(SPACE, ALL, query)) ?? []
      expect(idsOf(hits)).toEqual([rows[n]?.id])
    }
  }, 120_000)
})

const pgvector = await startPglite({ pgvector: true })
afterAll(() => pgvector.stop())

describe.each(['0.5.1', '0.7.4'])('pgvector that calls itself %s', (version) => {
  it('[PG8] is used for all that it can do, and its index as soon as there are many', async () => {
    const schema = freshSchema()
    await runSql(pgvector.url, 'CREATE EXTENSION IF NOT EXISTS vector')
    const [now] = await runSql<{ version: string }>(
      pgvector.url,
      `SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'`,
    )
    const name = (to: string) =>
      runSql(pgvector.url, `UPDATE pg_extension SET extversion = $1 WHERE extname = 'vector'`, [to])
    await name(version)
    const options = { schema, poolSize: 1, exactSearchVectorsMax: 1_500 }
    const store = await openPostgresStore({ connectionString: pgvector.url, ...options })
    await name(now?.version ?? '')
    onTestFinished(() => store.close())
    const { vectors } = store
    if (vectors === null) throw new Error('There is no pgvector.')
    expect(vectors.report()).toMatchObject({ kind: 'pgvector', version })
    const halved = { ...SPACE, signature: `${SPACE.signature}:int8` }
    const rows = Array.from({ length: 1_600 }, () => memory({ content: 'x' }))
    await commitAll(store, rows)
    const newVectors = unitVectors(rows.length, SPACE.dimensions, 4)
    await vectors.put(SPACE, pairs(rows, newVectors))
    await vectors.put(halved, [entry(rows[0] ?? memory(), unitVector(SPACE.dimensions, 5))])
    const indexes = () =>
      runSql<{ name: string; definition: string }>(
        pgvector.url,
        `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
         WHERE schemaname = $1 AND indexname LIKE 'embedding_nearest_%'`,
        [schema],
      )
    await expect
      .poll(() => vectors.report().indexBuildsRunning, { timeout: 60_000, interval: 200 })
      .toBe(0)
    const [index] = await indexes()
    expect(index?.definition).toContain(version === '0.5.1' ? 'vector_ip_ops' : 'halfvec_ip_ops')
    for (const n of [7, 1_200]) {
      const query = { vector: newVectors[n] ?? new Float32Array(), limit: 3, where: {} }
      expect((await vectors.search(SPACE, ALL, query))[0]?.id).toBe(rows[n]?.id)
    }
    await runSql(pgvector.url, `DROP SCHEMA "${schema}" CASCADE`)
  }, 120_000)
})
