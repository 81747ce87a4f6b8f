/**
 * The contract on a real server, and what only a real server shows: several pools at once, connections that die,
 * processes that start together.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { TombstoneId } from '../../../src/domain/ids.ts'
import type { Memory } from '../../../src/domain/memory.ts'
import { openPostgresStore } from '../../../src/storage/postgres/postgres-store.ts'
import type { Change, Store } from '../../../src/storage/store.ts'
import { ADA, BOB, instant, memory } from '../../fakes/memories.ts'
import { freshSchema, openFreshStore, runSql, startServer } from '../../support/postgres-servers.ts'
import { COMMITTED, create, describeStore } from '../store/store.suite.ts'

const server = await startServer()

if (server.kind === 'none') {
  describe.skip(`postgres (server): ${server.reason}`, () => it('was not run', () => {}))
} else {
  afterAll(() => server.stop())
  describeStore('postgres (server)', () => openFreshStore(server.url), { histories: 20 })
  describe('postgres (server): several pools', () => describeRaces(server.url))
  describe('postgres (server): failures', () => describeFailures(server.url))
  describe('postgres (server): migrations', () => describeMigrations(server.url))
  describe('postgres (server): inspection', () => describeInspection(server.url))
}

/** Stores with pools of their own on one schema, as so many processes would have. */
async function openTogether(url: string, stores: number): Promise<readonly [Store, ...Store[]]> {
  const schema = freshSchema()
  const first = await openFreshStore(url, { schema, poolSize: 4 })
  const others = await Promise.all(
    Array.from({ length: stores - 1 }, () =>
      openPostgresStore({ connectionString: url, schema, poolSize: 4 }),
    ),
  )
  onTestFinished(async () => {
    await Promise.all(others.map((store) => store.close()))
    await first.close()
  })
  return [first, ...others]
}

const any = (row: Memory): Change => ({ op: 'put', table: 'memory', row, expect: 'any' })

function describeRaces(url: string): void {
  it('[ST5] gives a key to exactly one of fifty writers from five pools', async () => {
    const stores = await openTogether(url, 5)
    const rivals = Array.from({ length: 50 }, () => memory({ key: 'crown' }))
    const outcomes = await Promise.all(
      rivals.map((row, n) => (stores[n % 5] ?? stores[0]).commit([create(row)])),
    )
    const winner = outcomes.findIndex((outcome) => outcome.kind === 'committed')
    outcomes.forEach((outcome, n) => {
      const lost = { kind: 'conflict', table: 'memory', id: rivals[n]?.id, reason: 'key' }
      expect(outcome).toEqual(n === winner ? COMMITTED : lost)
    })
  })

  it('[ST5] assigns an id to exactly one of two owners, and reports a conflict to the other', async () => {
    const [left, right] = await openTogether(url, 2)
    for (let round = 0; round < 30; round++) {
      const row = memory()
      const outcomes = await Promise.all([
        left.commit([create(memory()), create(row)]),
        (right ?? left).commit([create({ ...row, place: BOB })]),
      ])
      const lost = outcomes.filter((outcome) => outcome.kind === 'conflict')
      expect(lost).toEqual([{ kind: 'conflict', table: 'memory', id: row.id, reason: 'exists' }])
    }
  })

  it('[ST6] takes 400 opposing commits of two owners without a deadlock', async () => {
    const stores = await openTogether(url, 4)
    const [ours, theirs] = [memory(), memory({ place: BOB })]
    await stores[0].commit([create(ours), create(theirs)])
    const outcomes = await Promise.all(
      Array.from({ length: 400 }, (_, n) => {
        const changes = [any(ours), any(theirs)]
        return (stores[n % 4] ?? stores[0]).commit(n % 2 === 0 ? changes : changes.reverse())
      }),
    )
    expect(outcomes.filter((outcome) => outcome.kind !== 'committed')).toEqual([])
  })

  it('[ST10] loses no use count when many pools count at once', async () => {
    const stores = await openTogether(url, 3)
    const row = memory()
    await stores[0].commit([create(row)])
    const count: Change = { op: 'count', scope: ADA, id: row.id, uses: 1, usedAt: instant(9) }
    await Promise.all(Array.from({ length: 90 }, (_, n) => stores[n % 3]?.commit([count])))
    expect((await stores[0].get('memory', ADA, row.id))?.useCount).toBe(90)
  })

  it('[ST3] never writes what was forgotten first', async () => {
    const [writer, forgetter] = await openTogether(url, 2)
    for (let round = 0; round < 60; round++) {
      const id = `tmb_${round}` as TombstoneId // any id of its kind
      const row = memory()
      const grave = { id, place: ADA, version: 1, forgottenAt: instant(1) }
      const write = writer.commit([
        { op: 'check', table: 'tombstone', scope: ADA, id, expect: 'absent' },
        create(row),
      ])
      // Forgetting removes what is there and blocks what is not yet: the write comes before both or not at all.
      const forget = (forgetter ?? writer).commit([
        { op: 'put', table: 'tombstone', row: grave, expect: 'absent' },
        { op: 'remove', table: 'memory', scope: ADA, id: row.id, expect: 'any' },
      ])
      await Promise.all([write, forget])
      expect(await writer.get('memory', ADA, row.id)).toBeNull()
      expect(await writer.get('tombstone', ADA, id)).toEqual(grave)
    }
  })
}

function describeFailures(url: string): void {
  const killConnections = () =>
    runSql(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'recollect'`,
    )

  it('[ST18] leaves nothing half-done when connections are killed, and recovers', async () => {
    const [store] = await openTogether(url, 1)
    let killed = 0
    const rounds = 12
    for (let round = 0; round < rounds; round++) {
      const write = store.commit(Array.from({ length: 400 }, () => create(memory())))
      // A little later each time, so that every part of a commit is hit.
      await delay(round * 8)
      killed += (await killConnections()).length
      // Nothing was done, or it is known that all was: so it is done once.
      expect(await write).toEqual(COMMITTED)
    }
    expect(killed).toBeGreaterThan(0)
    const { memory: there } = (await store.getReport()).rows
    expect(there).toBe(rounds * 400)
    expect(await store.checkIntegrity({ repair: false })).toEqual([])
  })

  it('[ST18] survives the death of idle connections', async () => {
    const [store] = await openTogether(url, 1)
    await store.commit([create(memory())])
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 4 }, () => store.getReport()))
      expect((await killConnections()).length).toBeGreaterThan(0)
      expect((await store.getReport()).rows.memory).toBe(1)
    }
  })

  it('[ST18] says that a server cannot be reached, without showing the password', async () => {
    const connectionString = 'postgresql://ada:secret@127.0.0.1:1/none'
    const opening = openPostgresStore({ connectionString })
    await expect(opening).rejects.toMatchObject({ code: 'unavailable' })
    await expect(opening).rejects.not.toThrow('secret')
  })

  it('[ST18] gives up on a lock that is not released, and says it is busy', async () => {
    const schema = freshSchema()
    const store = await openFreshStore(url, { schema, statementTimeoutMs: 300 })
    onTestFinished(() => store.close())
    await store.commit([create(memory())])
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    await holder.query(`BEGIN; LOCK TABLE "${schema}".memory`)
    await expect(store.commit([create(memory())])).rejects.toMatchObject({ code: 'busy' })
    await holder.end()
    expect(await store.commit([create(memory())])).toEqual(COMMITTED)
  })

  it('[ST18] takes no calls after it was closed', async () => {
    const store = await openFreshStore(url)
    await store.close()
    await store.close()
    await expect(store.getReport()).rejects.toMatchObject({ code: 'unavailable' })
  })
}

function describeMigrations(url: string): void {
  it('[ST19] lets many processes create one schema at once', async () => {
    const schema = freshSchema()
    const stores = await Promise.all(
      Array.from({ length: 6 }, () =>
        openPostgresStore({ connectionString: url, schema, poolSize: 2 }),
      ),
    )
    onTestFinished(() => runSql(url, `DROP SCHEMA "${schema}" CASCADE`).then(() => {}))
    const steps = await runSql<{ version: number }>(
      url,
      `SELECT version FROM "${schema}".migration`,
    )
    expect(steps).toHaveLength((await stores[0]?.getReport())?.schemaVersion ?? -1)
    await Promise.all(stores.map((store) => store.close()))
  })

  it('[ST19] opens what it wrote before, with everything in it', async () => {
    const schema = freshSchema()
    const before = await openPostgresStore({ connectionString: url, schema })
    const row = memory()
    await before.commit([create(row)])
    await before.close()
    const after = await openFreshStore(url, { schema })
    onTestFinished(() => after.close())
    expect(await after.get('memory', ADA, row.id)).toEqual(row)
  })

  it('[ST19] refuses a database that is newer, or was made by another build', async () => {
    const schema = freshSchema()
    const store = await openFreshStore(url, { schema })
    onTestFinished(() => store.close())
    const opening = () => openPostgresStore({ connectionString: url, schema })
    const { schemaVersion } = await store.getReport()
    await runSql(url, `INSERT INTO "${schema}".migration VALUES (99, 'later', 'x', now())`)
    await expect(opening()).rejects.toMatchObject({
      code: 'schema_mismatch',
      facts: { found: 99, known: schemaVersion },
      message: expect.stringMatching(new RegExp(`99.*${schemaVersion}`)),
    })
    await runSql(url, `DELETE FROM "${schema}".migration WHERE version = 99`)
    await runSql(url, `UPDATE "${schema}".migration SET checksum = 'edited' WHERE version = 1`)
    await expect(opening()).rejects.toMatchObject({ code: 'schema_mismatch' })
  })

  it('[ST19] uses only its own schema, with any name', async () => {
    const schema = `odd "name'; ${freshSchema()}`.slice(0, 63)
    const store = await openPostgresStore({ connectionString: url, schema })
    await store.commit([create(memory())])
    expect((await store.getReport()).facts.schema).toBe(schema)
    await store.close()
    await runSql(url, `DROP SCHEMA "${schema.replaceAll('"', '""')}" CASCADE`)
  })
}

function describeInspection(url: string): void {
  it('[ST12] finds and mends every kind of derived data that is wrong', async () => {
    const schema = freshSchema()
    const store = await openFreshStore(url, { schema })
    onTestFinished(() => store.close())
    const rows = ['alpha beta', 'gamma', 'delta'].map((content) => memory({ content }))
    await store.commit(rows.map(create))
    const damage = [
      `DELETE FROM "${schema}".posting WHERE term = 'alpha'`,
      `UPDATE "${schema}".posting SET frequency = 7 WHERE term = 'gamma'`,
      `INSERT INTO "${schema}".posting VALUES (1, 999999, 0, 1, 1, 'ghost')`,
      `UPDATE "${schema}".memory SET fingerprint = 'wrong' WHERE id = '${rows[2]?.id}'`,
      `UPDATE "${schema}".corpus SET documents = 70`,
    ]
    for (const sql of damage) await runSql(url, sql)
    const counts = async (repair: boolean) =>
      (await store.checkIntegrity({ repair })).map((fault) => [fault.count, fault.repairable])
    const found = [
      [2, true],
      [1, true],
      [1, true],
      [1, true],
    ]
    expect(await counts(false)).toEqual(found)
    expect(await counts(true)).toEqual(found)
    expect(await counts(false)).toEqual([])
    expect((await store.searchText(ADA, { text: 'alpha', limit: 5, where: {} })).hits).toHaveLength(
      1,
    )
  })
}
