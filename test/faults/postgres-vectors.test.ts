/**
 * Vectors on PostgreSQL when things go wrong or grow: pgvector is missing, comes later or is taken away, connections
 * die, processes race, and an owner gets so many vectors that an index is built.
 */
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Memory } from '../../src/domain/memory.ts'
import {
  DOCUMENT_TYPES,
  type DocumentType,
  toDocumentId,
  toTurnDocument,
} from '../../src/domain/search-document.ts'
import {
  openPostgresStore,
  type PostgresStoreOptions,
} from '../../src/storage/postgres/postgres-store.ts'
import type { Store } from '../../src/storage/store.ts'
import type { VectorIndex } from '../../src/storage/vector-index.ts'
import {
  ALL,
  commitAll,
  expectBest,
  idsOf,
  pairs,
  remember,
  SPACE,
} from '../conformance/vectors/vector-index.suite.ts'
import { turn } from '../fakes/entries.ts'
import { ADA, BOB, memory, user } from '../fakes/memories.ts'
import { atSimilarity, byLikeness, entry, unitVector, unitVectors } from '../fakes/vectors.ts'
import { expectSound } from '../support/doctor.ts'
import { cuttable } from '../support/faulty-connection.ts'
import {
  freshSchema,
  openFreshStore,
  runSql,
  startPglite,
  startServer,
  withPgvector,
} from '../support/postgres-servers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** PGlite builds an index slowly. */
const BUILDING = { timeout: 180_000 }

const folder = temporaryFolder()
const before = await openedBeforePgvector()
const pglite = await startPglite({ folder, pgvector: true })
afterAll(() => pglite.stop())
const server = await startServer()
if (server.kind === 'server') afterAll(() => server.stop())
const real = await withPgvector(server)

describe('postgres vectors (PGlite)', () => {
  describeExtension(pglite.url)
  describeLostConnections(pglite.url)
  describeVectors(pglite.url, { poolSize: 1 })
})
if ('url' in real) {
  describe('postgres vectors (server)', () => {
    describeRights(real.url)
    describeRaces(real.url)
    describeVectors(real.url, { poolSize: 4 })
  })
} else {
  describe.skip(`postgres vectors (server): ${real.reason}`, () => it('was not run', () => {}))
}

type Opened = {
  readonly store: Store
  readonly vectors: VectorIndex
  readonly schema: string
  close(): Promise<void>
}

async function open(
  url: string,
  options: Omit<PostgresStoreOptions, 'connectionString'> = {},
): Promise<Opened> {
  const schema = options.schema ?? freshSchema()
  const store = await openFreshStore(url, { poolSize: 1, ...options, schema })
  onTestFinished(() => store.close())
  if (store.vectors === null) throw new Error('There is no pgvector.')
  return { store, vectors: store.vectors, schema, close: () => store.close() }
}

const nearest = ({ vectors }: Opened, vector: Float32Array, limit = 10) =>
  vectors.search(SPACE, ALL, { vector, limit, where: {} })

/** A store on a server without pgvector, and what it said of itself. */
async function openedBeforePgvector() {
  const bare = await startPglite({ folder })
  const schema = freshSchema()
  const store = await openPostgresStore({ connectionString: bare.url, schema, poolSize: 1 })
  const row = memory()
  await commitAll(store, [row])
  const { facts } = await store.getReport()
  const { vectors } = store
  await store.close()
  await bare.stop()
  return { schema, row, facts, vectors }
}

function describeExtension(url: string): void {
  it('[VI30] opens without pgvector, reports it, and uses vectors once it is installed', async () => {
    expect(before.vectors).toBeNull()
    expect(before.facts.pgvector).toBe('not installed')
    const opened = await open(url, { schema: before.schema })
    expect((await opened.store.getReport()).facts.pgvector).toMatch(/^0\.\d+\.\d+$/)
    const vector = unitVector(SPACE.dimensions, 1)
    await opened.vectors.put(SPACE, [entry(before.row, vector)])
    expect(idsOf(await nearest(opened, vector))).toEqual([before.row.id])
  })

  it('[VI30] embeds again when the extension was removed and installed again', async () => {
    const opened = await open(url)
    const vector = unitVector(SPACE.dimensions, 2)
    const [row] = await remember(opened, SPACE, [vector])
    await runSql(url, 'DROP EXTENSION vector CASCADE')
    const again = await open(url, { schema: opened.schema })
    expect(await again.vectors.spaces()).toEqual([])
    await again.vectors.put(SPACE, [entry(row ?? memory(), vector)])
    expect(idsOf(await nearest(again, vector))).toEqual([row?.id])
  })

  it('[VI30] does without an extension that is too old, and names its version', async () => {
    const name = (version: string) =>
      runSql(url, `UPDATE pg_extension SET extversion = $1 WHERE extname = 'vector'`, [version])
    const { schema, store } = await open(url)
    const { pgvector } = (await store.getReport()).facts
    await name('0.4.4')
    onTestFinished(async () => void (await name(String(pgvector))))
    const old = await openPostgresStore({ connectionString: url, schema, poolSize: 1 })
    onTestFinished(() => old.close())
    expect(old.vectors).toBeNull()
    expect((await old.getReport()).facts.pgvector).toContain('0.4.4')
  })
}

function describeRights(url: string): void {
  it('[VI30] opens for a role that may not create the extension, and uses an existing one', async () => {
    const name = freshSchema()
    await runSql(url, `CREATE ROLE ${name} LOGIN`)
    await runSql(url, `CREATE DATABASE ${name} OWNER ${name}`)
    const address = (role: string) =>
      Object.assign(new URL(url), { username: role, pathname: `/${name}` }).toString()
    const opened = async () => {
      const store = await openPostgresStore({ connectionString: address(name), poolSize: 1 })
      onTestFinished(() => store.close())
      return store
    }
    const without = await opened()
    expect(without.vectors).toBeNull()
    expect((await without.getReport()).facts.pgvector).toContain(
      'available, but CREATE EXTENSION failed',
    )
    await runSql(address('recollect'), 'CREATE EXTENSION vector')
    expect((await opened()).vectors).not.toBeNull()
  })
}

function describeRaces(url: string): void {
  it('[VI32] lets many processes create one database and one space at once', async () => {
    const schema = freshSchema()
    const rows = Array.from({ length: 40 }, () => memory())
    const newVectors = unitVectors(rows.length, SPACE.dimensions, 5)
    const opened = await Promise.all([1, 2, 3, 4].map(() => open(url, { schema })))
    await commitAll(opened[0]?.store as Store, rows) // there are four
    await Promise.all(
      opened.map(({ vectors }, n) => vectors.put(SPACE, pairs(rows, newVectors).slice(n * 10))),
    )
    for (const { vectors } of opened) {
      expect(await vectors.spaces()).toEqual([{ ...SPACE, vectors: 40 }])
    }
    await Promise.all(opened.map(({ vectors }) => vectors.drop(SPACE)))
    expect(await opened[0]?.vectors.spaces()).toEqual([])
    await expectSound(...opened.map(({ store }) => store))
  })
}

function describeLostConnections(url: string): void {
  it('[VI31] searches on another connection when one is lost, names it when all are, and recovers', async () => {
    const line = await cuttable(url)
    const opened = await open(line.url)
    const vector = unitVector(SPACE.dimensions, 3)
    const [row] = await remember(opened, SPACE, [vector])
    for (const where of [{}, { ids: row === undefined ? [] : [row.id] }]) {
      const query = { vector, limit: 5, where }
      const search = () => opened.vectors.search(SPACE, ALL, query)
      line.cutAt('<#>')
      expect(idsOf(await search())).toEqual([row?.id])
      line.cutAt('<#>', 'before', Number.POSITIVE_INFINITY)
      await expect(search()).rejects.toMatchObject({ name: 'AppError', code: 'unavailable' })
      line.cutAt('<#>', 'before', 0)
      expect(idsOf(await search())).toEqual([row?.id])
    }
    await expectSound(opened.store)
  })

  it('[VI31] leaves nothing of a put whose connection is lost', async () => {
    const line = await cuttable(url)
    const opened = await open(line.url)
    const rows = [memory(), memory()]
    await commitAll(opened.store, rows)
    const entries = pairs(rows, unitVectors(2, SPACE.dimensions, 4))
    line.cutAt('COMMIT')
    const put = opened.vectors.put(SPACE, entries)
    await expect(put).rejects.toMatchObject({ name: 'AppError', code: 'unavailable' })
    expect(await opened.vectors.spaces()).toEqual([])
    await opened.vectors.put(SPACE, entries)
    expect(await opened.vectors.count(SPACE, ALL)).toBe(2)
    await expectSound(opened.store)
  })
}

function describeVectors(
  url: string,
  options: Omit<PostgresStoreOptions, 'connectionString'>,
): void {
  it('[VI9] finds vectors in a space that another process has recreated', async () => {
    const opened = await open(url, options)
    const vector = unitVector(SPACE.dimensions, 60)
    const [row] = await remember(opened, SPACE, [vector])
    expect(idsOf(await nearest(opened, vector))).toEqual([row?.id])
    const other = await open(url, { ...options, schema: opened.schema })
    await other.vectors.drop(SPACE)
    expect(await nearest(opened, vector)).toEqual([])
    const [later] = await remember(other, SPACE, [vector])
    expect(idsOf(await nearest(opened, vector))).toEqual([later?.id])
    await other.vectors.drop(SPACE)
    const [last] = await remember(other, SPACE, [vector])
    expect(idsOf(await nearest(opened, vector))).toEqual([last?.id])
  })

  it('[VI34] removes vectors whose text is changed by a process without vectors', async () => {
    const opened = await open(url, options)
    const { store, vectors, schema } = opened
    const quote = { ...memory().provenance, speaker: 'Ann "the\\ one" \ud800\u0000' }
    const rows = [memory(), memory(), memory({ provenance: quote }), memory({ provenance: quote })]
    await commitAll(store, rows)
    await vectors.put(SPACE, pairs(rows, unitVectors(4, SPACE.dimensions, 6)))
    const update = (row: Memory | undefined, column: string, value: string) =>
      runSql(url, `UPDATE "${schema}".memory SET ${column} = $1 WHERE id = $2`, [value, row?.id])
    const said = (fields: object) => JSON.stringify({ ...quote, ...fields })
    await update(rows[0], 'content', 'other words')
    await update(rows[1], 'metadata', '{"speaker":"Ben"}')
    await update(rows[2], 'provenance', said({ speaker: 'Ann "the\\ one" \ud801\u0000' }))
    await update(rows[3], 'provenance', said({ source: 'elsewhere', extractor: '"speaker":"Ben"' }))
    const stored = await vectors.list(SPACE, ALL, { limit: 9 })
    expect(idsOf(stored)).toEqual([rows[1]?.id, rows[3]?.id])
    await runSql(url, `DELETE FROM "${schema}".memory WHERE id = $1`, [rows[1]?.id])
    expect(await vectors.spaces()).toEqual([{ ...SPACE, vectors: 1 }])
  })

  describe('an owner with many vectors', () => describeIndex(url, options))
}

function describeIndex(url: string, options: Omit<PostgresStoreOptions, 'connectionString'>): void {
  const indexesOf = (schema: string) =>
    runSql<{ name: string; valid: boolean; scans: string }>(
      url,
      `SELECT relname AS name, indisvalid AS valid, pg_stat_get_numscans(oid) AS scans
       FROM pg_class JOIN pg_index ON indexrelid = oid
       WHERE relnamespace = $1::regnamespace AND starts_with(relname, 'embedding_nearest_')`,
      [schema],
    )
  const untilIndexed = ({ schema, vectors }: Opened, indexes = [true]) =>
    expect
      .poll(
        async () => [
          vectors.report().indexBuildsRunning,
          (await indexesOf(schema)).map(({ valid }) => valid),
        ],
        { timeout: 60_000 },
      )
      .toEqual([0, indexes])

  /** As few vectors as fill the candidates even when every other is filtered out. */
  async function openMany() {
    const opened = await open(await preferringIndexes(url), {
      ...options,
      exactSearchVectorsMax: 500,
    })
    const vectors = unitVectors(2_400, SPACE.dimensions, 7)
    const rows = await remember(opened, SPACE, vectors, (n) => ({
      place: n % 2 === 0 ? { ...ADA, user: user('eve') } : ADA,
      pinned: n % 4 < 2,
    }))
    await remember(opened, SPACE, unitVectors(50, SPACE.dimensions, 8), () => ({ place: BOB }))
    await untilIndexed(opened)
    const known = new Map(pairs(rows, vectors).map(({ id, vector }) => [id, vector] as const))
    const best = (query: Float32Array, among: (row: Memory) => boolean = () => true) =>
      byLikeness(
        rows.filter(among).map((row) => [row.id, known.get(row.id) ?? query] as const),
        query,
      )
    return { ...opened, rows, best }
  }

  it(
    '[VI33] gets an index with the same results for every limit, scope and filter',
    BUILDING,
    async () => {
      const opened = await openMany()
      const { vectors, store, rows, best } = opened
      const few = idsOf(rows.slice(100, 105))
      for (const query of unitVectors(5, SPACE.dimensions, 9)) {
        const all = await nearest(opened, query, 1_000)
        expectBest(all.slice(0, 50), best(query), 50)
        for (const limit of [1, 7, 50, 999]) {
          expect(await nearest(opened, query, limit)).toEqual(all.slice(0, limit))
        }
        const search = { vector: query, limit: 20 }
        const pinned = await vectors.search(SPACE, ALL, { ...search, where: { pinned: true } })
        expectBest(pinned, best(query, (row) => row.pinned).slice(0, 20), 20)
        const eve = { ...ALL, user: user('eve') }
        const hers = await vectors.search(SPACE, eve, { ...search, where: {} })
        expectBest(
          hers,
          best(query, (row) => row.place.user !== null),
          20,
        )
        const chosen = await vectors.search(SPACE, ALL, { ...search, where: { ids: few } })
        expectBest(
          chosen,
          best(query, (row) => few.includes(row.id)),
          20,
        )
        expect(await vectors.search(SPACE, BOB, { ...search, where: {} })).toHaveLength(20)
      }
      await expect
        .poll(async () => Number((await indexesOf(opened.schema))[0]?.scans), { timeout: 10_000 })
        .toBeGreaterThan(0)
      const away = new Set(idsOf(rows.slice(0, 1_200)))
      await store.commit(
        [...away].map((id) => ({ op: 'remove', table: 'memory', scope: ALL, id, expect: 'any' })),
      )
      const query = unitVector(SPACE.dimensions, 10)
      expectBest(
        await nearest(opened, query, 30),
        best(query, (row) => !away.has(row.id)),
        30,
      )
    },
  )

  it(
    '[VI35] gives memories and turns an index each, and searches each in its own',
    BUILDING,
    async () => {
      const opened = await open(await preferringIndexes(url), {
        ...options,
        exactSearchVectorsMax: 500,
      })
      const { store, vectors, schema } = opened
      const query = unitVector(SPACE.dimensions, 21)
      const near = (count: number, similarity: number) =>
        Array.from({ length: count }, (_, n) => atSimilarity(query, similarity - n * 1e-4, n))
      const facts = near(1_100, 0.5)
      const known = await remember(opened, SPACE, facts)
      const turns = Array.from({ length: 1_100 }, () => turn())
      await store.commit(
        turns.map((row) => ({ op: 'put', table: 'turn', row, expect: 'absent' }) as const),
      )
      // Closer than every memory but the first, which is as close as the sixth of them.
      const spoken = near(1_100, 0.5005)
      await vectors.put(
        SPACE,
        turns.map((row, n) => entry(toTurnDocument(row), spoken[n] ?? query)),
      )
      await untilIndexed(opened, [true, true])
      const scans = async () => {
        const indexes = await indexesOf(schema)
        return new Map(indexes.map(({ name, scans }) => [name.split('_').at(-1), Number(scans)]))
      }
      const found = async (types?: readonly DocumentType[]) => {
        const where = types === undefined ? {} : { types }
        return idsOf(await vectors.search(SPACE, ALL, { vector: query, limit: 8, where }))
      }
      const saidIds = turns.map(({ id }) => toDocumentId(id))
      expect(await found()).toEqual(idsOf(known.slice(0, 8)))
      await expect.poll(async () => (await scans()).get('memory')).toBeGreaterThan(0)
      expect((await scans()).get('turn')).toBe(0)
      expect(await found(['turn'])).toEqual(saidIds.slice(0, 8))
      const both = await found(DOCUMENT_TYPES)
      expect(both.slice(0, 5)).toEqual(saidIds.slice(0, 5))
      expect(both).toHaveLength(8)
      expect(both).toContain(known[0]?.id)
    },
  )

  it(
    '[VI33] finds a handful behind thousands, builds an index again that was cut off, and drops it',
    BUILDING,
    async () => {
      const opened = await openMany()
      const { schema, vectors, rows } = opened
      const query = unitVector(SPACE.dimensions, 11)
      const far = [-0.9, -0.95].map((similarity, n) => atSimilarity(query, similarity, n))
      const rare = await remember(opened, SPACE, far, () => ({ status: 'disabled' }))
      const search = { vector: query, limit: 5, where: { statuses: ['disabled'] } } as const
      expect(idsOf(await vectors.search(SPACE, ALL, search))).toEqual(idsOf(rare))

      const [index] = await indexesOf(schema)
      await runSql(
        url,
        `UPDATE pg_index SET indisvalid = false WHERE indexrelid = '"${schema}"."${index?.name}"'::regclass`,
      )
      expect(await nearest(opened, query, 5)).toHaveLength(5)
      await vectors.put(SPACE, [entry(rows[0] ?? memory(), query)])
      await untilIndexed(opened)
      expect((await nearest(opened, query, 1))[0]?.id).toBe(rows[0]?.id)

      await vectors.drop(SPACE)
      expect(await indexesOf(schema)).toEqual([])
      expect(await vectors.spaces()).toEqual([])
    },
  )
}

/**
 * With as few vectors as a test has, PostgreSQL rightly sorts them all instead of using an index. This makes it do
 * otherwise: by the address on a server, and by a setting on PGlite, where one connection's settings are everybody's.
 */
async function preferringIndexes(url: string): Promise<string> {
  await runSql(url, 'SET enable_sort = off')
  onTestFinished(async () => void (await runSql(url, 'SET enable_sort = on')))
  const address = new URL(url)
  address.searchParams.set('options', '-c enable_sort=off')
  return address.toString()
}
