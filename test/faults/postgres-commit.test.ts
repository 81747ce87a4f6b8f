/**
 * Commits on PostgreSQL when something goes wrong in the middle: connections that are cut, a server that dies, others in
 * the way, no connection to be had. What was committed is there once, and what was not can be done again.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Memory } from '../../src/domain/memory.ts'
import { AppError } from '../../src/lib/errors.ts'
import { openPostgresDatabase } from '../../src/storage/postgres/connection/postgres-driver.ts'
import {
  openPostgresStore,
  type PostgresStoreOptions,
} from '../../src/storage/postgres/postgres-store.ts'
import { createIdentifiers } from '../../src/storage/postgres/schema/identifiers.ts'
import { resolveCommitInDoubt } from '../../src/storage/postgres/store/commit.ts'
import { createCommitMarkers } from '../../src/storage/postgres/store/commit-markers.ts'
import type { Change, Store } from '../../src/storage/store.ts'
import { COMMITTED, create } from '../conformance/store/store.suite.ts'
import { ADA, instant, memory } from '../fakes/memories.ts'
import { expectSound } from '../support/doctor.ts'
import { cuttable } from '../support/faulty-connection.ts'
import {
  freshSchema,
  openFreshStore,
  type PrivateServer,
  runSql,
  startServer,
} from '../support/postgres-servers.ts'

const server = await startServer()
if (server.kind === 'none') {
  describe.skip(`commits on PostgreSQL: ${server.reason}`, () => it('was not run', () => {}))
} else {
  afterAll(() => server.stop())
  describe('commits on PostgreSQL', () => {
    describeCuts(server)
    describeCollisions(server)
    describeLimits(server)
    describeCrash(server)
  })
}

async function open(url: string, options: Omit<PostgresStoreOptions, 'connectionString'> = {}) {
  const schema = options.schema ?? freshSchema()
  const store = await openFreshStore(url, { poolSize: 2, ...options, schema })
  onTestFinished(() => store.close())
  onTestFinished(() => expectSound(store))
  return { store, schema }
}

const use = (row: Memory): Change => ({
  ...{ op: 'count', scope: ADA, id: row.id, uses: 1, usedAt: instant(9) },
})

const usesOf = async (store: Store, row: Memory) =>
  (await store.get('memory', ADA, row.id))?.useCount

function describeCuts({ url }: PrivateServer): void {
  for (const when of ['before', 'after'] as const) {
    it(`[PG1] commits once when the connection is cut ${when} the commit arrives`, async () => {
      const line = await cuttable(url)
      const { store } = await open(line.url)
      const row = memory()
      await store.commit([create(row)])
      for (let round = 1; round <= 5; round++) {
        line.cutAt('COMMIT', when)
        expect(await store.commit([use(row), create(memory())])).toEqual(COMMITTED)
        expect(await usesOf(store, row)).toBe(round)
      }
      expect(line.cuts).toBe(5)
      expect((await store.getReport()).rows.memory).toBe(6)
    })
  }

  it('[PG1] reports a conflict as such when the connection breaks during the answer', async () => {
    const line = await cuttable(url)
    const { store } = await open(line.url)
    const row = memory()
    await store.commit([create(row)])
    line.cutAt('COMMIT', 'after')
    expect(await store.commit([create(row)])).toMatchObject({ kind: 'conflict' })
    expect(line.cuts).toBe(1)
  })

  it('[PG1] begins again when the connection is cut in the middle', async () => {
    const line = await cuttable(url)
    const { store } = await open(line.url)
    for (const words of ['BEGIN', 'UNION ALL', 'INSERT INTO']) {
      line.cutAt(words)
      expect(await store.commit([create(memory())])).toEqual(COMMITTED)
    }
    expect(line.cuts).toBe(3)
    expect((await store.getReport()).rows.memory).toBe(3)
  })
}

function describeCollisions({ url }: PrivateServer): void {
  /** Has writes fail like those that met others, as often as told. */
  const failing = async (schema: string, times: number, sqlState: string) => {
    await runSql(
      url,
      `CREATE SEQUENCE "${schema}".attempts;
       CREATE FUNCTION "${schema}".collide() RETURNS trigger LANGUAGE plpgsql AS $body$
         BEGIN
           IF nextval('"${schema}".attempts') <= ${times} THEN
             RAISE EXCEPTION USING ERRCODE = '${sqlState}', MESSAGE = 'made up';
           END IF;
           RETURN NEW;
         END
       $body$;
       CREATE TRIGGER collide BEFORE INSERT ON "${schema}".memory
         FOR EACH ROW EXECUTE FUNCTION "${schema}".collide()`,
    )
  }

  it.each([
    ['deadlock', '40P01'],
    ['serialization failure', '40001'],
  ])('[PG2] tries again after a %s, and gives up in the end', async (_, sqlState) => {
    const { store, schema } = await open(url)
    await failing(schema, 3, sqlState)
    expect(await store.commit([create(memory())])).toEqual(COMMITTED)
    const [row] = await runSql(url, `SELECT last_value::int AS tries FROM "${schema}".attempts`)
    expect(row).toEqual({ tries: 4 })
    await runSql(url, `ALTER SEQUENCE "${schema}".attempts RESTART MINVALUE -99 START -99`)
    await expect(store.commit([create(memory())])).rejects.toMatchObject({ code: 'busy' })
    expect((await store.getReport()).rows.memory).toBe(1)
  })
}

function describeLimits({ url }: PrivateServer): void {
  it('[PG11] reports a full disk, rolls the commit back, and recovers when there is space', async () => {
    const { store, schema } = await open(url)
    const row = memory()
    await store.commit([create(row)])
    await runSql(
      url,
      `CREATE FUNCTION "${schema}".fill() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
         RAISE EXCEPTION USING ERRCODE = 'disk_full', MESSAGE = 'could not extend file'; END $body$;
       CREATE TRIGGER full_disk BEFORE INSERT ON "${schema}".posting
         FOR EACH STATEMENT EXECUTE FUNCTION "${schema}".fill()`,
    )
    await expect(store.commit([use(row), create(memory())])).rejects.toMatchObject({
      code: 'disk_full',
    })
    expect((await store.getReport()).rows.memory).toBe(1)
    expect(await usesOf(store, row)).toBe(0)
    await runSql(url, `DROP FUNCTION "${schema}".fill CASCADE`)
    expect(await store.commit([use(row), create(memory())])).toEqual(COMMITTED)
  })

  it('[PG3] reports `busy` while every connection is in use, and recovers', async () => {
    const { store, schema } = await open(url, { poolSize: 1, connectionTimeoutMs: 300 })
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    await holder.query(`BEGIN; LOCK TABLE "${schema}".memory`)
    const stuck = store.commit([create(memory())])
    await expect.poll(() => waitingOn(url, schema)).toBeGreaterThan(0)
    await expect(store.get('memory', ADA, memory().id)).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining('pool size'),
    })
    await holder.end()
    expect(await stuck).toEqual(COMMITTED)
    expect((await store.getReport()).rows.memory).toBe(1)
  })

  describe('a commit in doubt', () => {
    const asking = async () => {
      const { store, schema } = await open(url)
      await store.commit([create(memory())])
      const database = await openPostgresDatabase({
        ...{
          connectionString: url,
          poolSize: 1,
          statementTimeoutMs: 0,
          connectionTimeoutMs: 5_000,
        },
      })
      onTestFinished(() => database.close())
      const names = createIdentifiers(schema)
      const [mark] = await database.query<{ id: string }>(`SELECT id FROM ${names.commit_mark}`)
      const [number] = await database.query<{ last: number }>('SELECT txid_current() AS last')
      const isDone = (transaction: number, id: string) =>
        resolveCommitInDoubt(
          { database, markers: createCommitMarkers(database, names) },
          new AppError('unavailable', 'It is gone.', { transaction: String(transaction) }),
          id,
        )
      return { isDone, mark: mark?.id ?? '', last: number?.last ?? 0, database, names }
    }

    it('[PG1] is known not to be done when the server has lost its number in a crash', async () => {
      const { isDone, last } = await asking()
      expect(await isDone(last + 1_000_000, randomUUID())).toBe(false)
    })

    it('[PG1] is not taken for another one that got its number after a crash', async () => {
      const { isDone, last, mark } = await asking()
      expect(await isDone(last, randomUUID())).toBe(false)
      expect(await isDone(last, mark)).toBe(true)
    })

    it('[PG1] counts as committed when its marker exists, however old its number', async () => {
      const { isDone, mark } = await asking()
      expect(await isDone(3, mark)).toBe(true)
    })

    it('[PG1] makes obsolete markers removable', async () => {
      const { database, names, mark } = await asking()
      const marks = createCommitMarkers(database, names)
      await marks.removeExpired()
      const left = () => database.query(`SELECT 1 FROM ${names.commit_mark}`)
      expect(await left()).toHaveLength(1)
      await database.query(
        `UPDATE ${names.commit_mark} SET at = at - interval '2 hours' WHERE id = $1`,
        [mark],
      )
      await marks.removeExpired()
      expect(await left()).toEqual([])
    })
  })

  it('[PG3] gives up on a server that says nothing any more', async () => {
    const line = await cuttable(url)
    const { store } = await open(line.url, { statementTimeoutMs: 200 })
    line.cutAt('SELECT', 'silent')
    const { id } = memory()
    await expect(store.get('memory', ADA, id)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await store.get('memory', ADA, id)).toBeNull()
  })
}

async function waitingOn(url: string, schema: string): Promise<number> {
  const rows = await runSql(
    url,
    `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '"${schema}".memory'::regclass`,
  )
  return rows.length
}

function describeCrash(private_: PrivateServer): void {
  it('[PG1] loses nothing and repeats nothing when the server crashes and restarts', async () => {
    const address = new URL(private_.url)
    // As servers are run: what was acknowledged is on the disk.
    address.searchParams.set('options', '-c synchronous_commit=on')
    const { store, schema } = await open(address.toString())
    const row = memory()
    await store.commit([create(row)])
    let [acknowledged, isOver] = [0, false]
    const failures: unknown[] = []
    const writing = (async () => {
      while (!isOver) {
        try {
          await store.commit([use(row), create(memory())])
          acknowledged++
        } catch (thrown) {
          failures.push(thrown)
        }
      }
    })()
    for (let round = 0; round < 3; round++) {
      await delay(150)
      await private_.crash()
      await private_.restart()
    }
    await delay(150)
    isOver = true
    await writing
    // One that gave up while the server was away has done nothing, and knows it.
    for (const failure of failures) {
      expect(failure).toMatchObject({ code: 'unavailable' })
      expect(failure).not.toHaveProperty('facts.transaction')
    }
    expect(acknowledged).toBeGreaterThan(3)
    expect(await usesOf(store, row)).toBe(acknowledged)
    const again = await openPostgresStore({ connectionString: private_.url, schema })
    onTestFinished(() => again.close())
    expect((await again.getReport()).rows.memory).toBe(1 + acknowledged)
    expect(await again.checkIntegrity({ repair: false })).toEqual([])
  }, 60_000)
}
