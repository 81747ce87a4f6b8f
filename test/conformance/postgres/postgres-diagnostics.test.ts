/** What `doctor` finds of vectors in PostgreSQL, with pgvector and without. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashEmbeddingText } from '../../../src/domain/embedding-text.ts'
import { ADA, BOB, memory } from '../../fakes/memories.ts'
import {
  freshSchema,
  openFreshStore,
  type PostgresServer,
  runSql,
  startPglite,
} from '../../support/postgres-servers.ts'

const SPACE = { signature: 'reference:terms:3', dimensions: 3 }

describe.each([
  { kind: 'with pgvector', pgvector: true, table: 'embedding' },
  { kind: 'without pgvector', pgvector: false, table: 'plain_embedding' },
])('vectors $kind', ({ pgvector, table }) => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPglite({ pgvector })
  }, 120_000)
  afterAll(() => server.stop())

  it('[MH12] finds vectors that are not those of their memories, and removes them', async () => {
    const schema = freshSchema()
    const store = await openFreshStore(server.url, { schema, pgvectorFallback: 'exact' })
    const rows = [memory(), memory(), memory(), memory({ place: BOB })]
    await store.commit(rows.map((row) => ({ op: 'put', table: 'memory', row, expect: 'absent' })))
    await store.vectors?.put(
      SPACE,
      rows.map((row) => ({
        ...{ place: row.place, id: row.id, textHash: hashEmbeddingText(row) },
        vector: Float32Array.of(0, 0.6, 0.8),
      })),
    )
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
    const [first, second, third] = rows.map(
      ({ id }) => `memory = (SELECT number FROM "${schema}".memory WHERE id = '${id}')`,
    )
    const own = `"${schema}".${table}`
    for (const sql of [
      `UPDATE ${own} SET text_hash = 'of other words' WHERE ${first}`,
      `UPDATE ${own} SET owner_hash = 7 WHERE ${second}`,
      `UPDATE ${own} SET space = 99 WHERE ${third}`,
      `INSERT INTO "${schema}".${table}_space (signature, dimensions) VALUES (NULL, 3)`,
    ]) {
      await runSql(server.url, sql)
    }
    const found = [
      { description: 'vectors do not match their memories', count: 3, repairable: true },
      { description: 'vector spaces were not dropped completely', count: 1, repairable: true },
    ]
    expect(await store.checkIntegrity({ repair: false })).toEqual(found)
    expect(await store.checkIntegrity({ repair: true })).toEqual(found)
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
    expect(await store.vectors?.count(SPACE, { owner: ADA.owner })).toBe(0)
    expect(await store.vectors?.count(SPACE, { owner: BOB.owner })).toBe(1)
    await store.close()
  })
})
