/** Several servers on one PostgreSQL: what one changes the others know at once, and limits are those of all together. */
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { SharedTokenBucket } from '../../src/api/http/security/shared-token-bucket.ts'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import type { OwnerId } from '../../src/domain/ids.ts'
import type { SettingValues } from '../../src/domain/settings/settings.ts'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import { ModelBudget } from '../../src/models/model-budget.ts'
import { openPostgresDatabase } from '../../src/storage/postgres/connection/postgres-driver.ts'
import { openPostgresStore } from '../../src/storage/postgres/postgres-store.ts'
import { type Started, start } from '../api/http/http-support.ts'
import { create } from '../conformance/store/store.suite.ts'
import { FakeClock } from '../fakes/clock.ts'
import { turn } from '../fakes/entries.ts'
import { memory } from '../fakes/memories.ts'
import {
  freshSchema,
  openFreshStore,
  type PrivateServer,
  runSql,
  startServer,
} from '../support/postgres-servers.ts'

const server = await startServer()
if (server.kind === 'none') {
  describe.skip(`servers on one PostgreSQL: ${server.reason}`, () => it('was not run', () => {}))
} else {
  afterAll(() => server.stop())
  describe('servers on one PostgreSQL', () => {
    describeNews(server)
    describeDoors(server)
    describeLimits(server)
    describeUpgrades(server)
  })
}

const OWNER = 'ada' as OwnerId // any text is an owner

/** Time stands still in them, so that nothing is looked at again because it has got old. */
async function openEngines(url: string): Promise<readonly [Engine, Engine]> {
  const schema = freshSchema()
  const first = await openFreshStore(url, { schema, poolSize: 2 })
  const second = await openPostgresStore({ connectionString: url, schema, poolSize: 2 })
  const [here, there] = [first, second].map((store) =>
    createEngineWith({ store, clock: new FakeClock(), ids: createIdGenerator(), settings: {} }),
  )
  if (here === undefined || there === undefined) throw new Error('There are two.')
  onTestFinished(async () => {
    expect(await here.admin.checkIntegrity()).toEqual([])
    await there.close()
    await here.close()
  })
  for (const engine of [here, there]) {
    await expect
      .poll(async () => (await engine.status()).facts.changeFeed)
      .toMatch(/listening|verified/)
  }
  return [here, there]
}

function describeNews({ url }: PrivateServer): void {
  it('[PG6] applies a setting on all servers at once', async () => {
    const [here, there] = await openEngines(url)
    const limitThere = async () => (await there.admin.settings.resolve(OWNER))['recall.limit']
    const before = await limitThere()
    await here.admin.settings.change(OWNER, { 'recall.limit': before + 1 })
    await expect.poll(limitThere).toBe(before + 1)
    await here.admin.settings.change(null, { 'server.requestsPerMinute': 77 })
    await expect
      .poll(async () => (await there.admin.settings.resolve(null))['server.requestsPerMinute'])
      .toBe(77)
  })

  it('[PG6] updates counts and identities on all servers at once', async () => {
    const [here, there] = await openEngines(url)
    const scope = { owner: OWNER }
    const total = async () => (await there.memories.count(scope)).total
    expect(await total()).toBe(0)
    await here.remember(scope, { content: 'I live in Bergen', category: 'identity', pinned: true })
    await expect.poll(total).toBe(1)
    const events: unknown[] = []
    there.admin.changeFeed.subscribe((news) => events.push(news))
    const { key } = await here.admin.keys.create({ name: 'app', defaultOwner: OWNER })
    await here.admin.keys.revoke(key.id)
    await expect.poll(() => events).toContainEqual({ owners: [], kinds: ['key'], memories: [] })
  })

  it('[PG6] announces the API key of another service to all servers', async () => {
    const [here, there] = await openEngines(url)
    const events: unknown[] = []
    there.admin.changeFeed.subscribe((news) => events.push(news))
    await here.admin.replication.changeQdrant({}, 'a-key-for-qdrant')
    const news = { owners: [], kinds: ['setting', 'secret'], memories: [] }
    await expect.poll(() => events).toContainEqual(news)
    expect((await there.admin.replication.qdrant()).maskedKey).toBe('***rant')
  })

  it('[PG6] announces replaced and removed turns, but not new ones', async () => {
    const schema = freshSchema()
    const here = await openFreshStore(url, { schema, poolSize: 2 })
    onTestFinished(() => here.close())
    const there = await openPostgresStore({ connectionString: url, schema, poolSize: 2 })
    onTestFinished(() => there.close())
    const events: unknown[] = []
    const stop = there.onRemoteChange?.((news) => events.push(news.owners))
    onTestFinished(() => stop?.())
    await expect
      .poll(async () => (await there.getReport()).facts.changeFeed)
      .toMatch(/listening|verified/)
    events.length = 0
    const said = turn()
    const put = { op: 'put', table: 'turn', row: said } as const
    await here.commit([{ ...put, expect: 'absent' }])
    await here.commit([{ ...put, row: { ...said, version: 2 }, expect: { version: 1 } }])
    await expect.poll(() => events).toEqual([[said.place.owner]])
    const removal = { op: 'remove', table: 'turn', scope: said.place, id: said.id } as const
    await here.commit([{ ...removal, expect: 'any' }])
    await expect.poll(() => events).toEqual([[said.place.owner], [said.place.owner]])
  })

  it('[PG6] listens again after a lost connection, and invalidates everything', async () => {
    const [here, there] = await openEngines(url)
    const total = async () => (await there.memories.count({ owner: OWNER })).total
    expect(await total()).toBe(0)
    await runSql(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'`,
    )
    await here.remember({ owner: OWNER }, { content: 'There was no line then' })
    await expect.poll(total, { timeout: 10_000 }).toBe(1)
    await here.remember({ owner: OWNER }, { content: 'Now there is one again' })
    await expect.poll(total, { timeout: 10_000 }).toBe(2)
  })

  it('[PG6] leaves no connection behind when it is not allowed to listen', async () => {
    const database = await openPostgresDatabase({
      ...{ connectionString: url, poolSize: 2, statementTimeoutMs: 0, connectionTimeoutMs: 5_000 },
    })
    onTestFinished(() => database.close())
    const left = async () =>
      runSql(url, `SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN no such%'`)
    let losses = 0
    for (let attempt = 0; attempt < 3; attempt++) {
      const ears = { onNotification: () => {}, onLost: () => losses++ }
      await expect(database.listen('no such channel', ears)).rejects.toThrow()
    }
    await expect.poll(left).toEqual([])
    expect(losses).toBe(0)
  })

  it('[PG6] ignores malformed messages, and announces many owners at once', async () => {
    const [here, there] = await openEngines(url)
    const events: { owners: unknown }[] = []
    there.admin.changeFeed.subscribe((news) => events.push(news))
    const [line] = await runSql<{ channel: string }>(
      url,
      `SELECT substring(query FROM 'LISTEN (\\w+)') AS channel FROM pg_stat_activity
       WHERE query LIKE 'LISTEN %' ORDER BY backend_start DESC LIMIT 1`,
    )
    for (const payload of [
      '',
      'null',
      '{"by":1}',
      '{"by":"x","owners":[1],"kinds":[]}',
      '{"by":"x","owners":[],"kinds":[],"memories":[1]}',
    ]) {
      await runSql(url, 'SELECT pg_notify($1, $2)', [line?.channel, payload])
    }
    const rows = Array.from({ length: 400 }, (_, n) =>
      memory({
        place: { owner: `owner-${n}-${'x'.repeat(20)}` as OwnerId, user: null, session: null },
      }),
    )
    const store = await openPostgresStore({
      ...{ connectionString: url, schema: String((await here.status()).facts.schema) },
    })
    onTestFinished(() => store.close())
    await store.commit(rows.map(create))
    await expect.poll(() => events).toEqual([{ owners: 'any', kinds: [], memories: [] }])
  })
}

/** Two servers with doors of their own, for which time stands still. */
async function startTwo(
  url: string,
  settings: SettingValues,
): Promise<readonly [Started, Started]> {
  const schema = freshSchema()
  onTestFinished(async () => void (await runSql(url, `DROP SCHEMA "${schema}" CASCADE`)))
  const options = { postgres: url, postgresOptions: { schema, poolSize: 2 }, settings }
  const clock = () => new FakeClock(Date.now())
  const here = await start({ clock: clock() }, options)
  const there = await start({ clock: clock() }, options)
  await expect
    .poll(async () => (await there.engine.status()).facts.changeFeed)
    .toMatch(/listening|verified/)
  return [here, there]
}

function describeDoors({ url }: PrivateServer): void {
  it('[PG6] rejects a revoked key on all servers at once', async () => {
    const [here, there] = await startTwo(url, {})
    const { key, secret } = await here.engine.admin.keys.create({
      name: 'app',
      defaultOwner: OWNER,
    })
    const asked = async () => {
      const headers = { authorization: `Bearer ${secret}` }
      return (await fetch(`${there.url}/api/memory`, { headers })).status
    }
    expect(await asked()).toBe(200)
    await here.engine.admin.keys.revoke(key.id)
    await expect.poll(asked).toBe(401)
  })

  it('[PG9] refuses requests beyond the limit of all servers together', async () => {
    const [here, there] = await startTwo(url, { 'server.requestsPerMinute': 40 })
    const { secret } = await here.engine.admin.keys.create({ name: 'app', defaultOwner: OWNER })
    const headers = { authorization: `Bearer ${secret}` }
    const statuses: number[] = []
    for (let round = 0; round < 40; round++) {
      for (const server of [here, there]) {
        statuses.push((await fetch(`${server.url}/api/memory`, { headers })).status)
      }
    }
    const answered = statuses.filter((status) => status === 200).length
    expect(answered).toBeGreaterThanOrEqual(40)
    // Each on its own would have answered all of them; some seconds pass meanwhile.
    expect(statuses).toContain(429)
    expect(answered).toBeLessThan(75)
  })
}

function describeLimits({ url }: PrivateServer): void {
  it('[PG9] limits the requests of all servers together', async () => {
    const schema = freshSchema()
    const stores = [
      await openFreshStore(url, { schema, poolSize: 2 }),
      await openPostgresStore({ connectionString: url, schema, poolSize: 2 }),
    ]
    onTestFinished(async () => {
      await stores[1]?.close()
      await stores[0]?.close()
    })
    const clock = new FakeClock()
    const servers = stores.map(({ takeTokens: takeAllowance }) => {
      if (takeAllowance === undefined) throw new Error('It shares its limits.')
      return new SharedTokenBucket(clock, takeAllowance)
    })
    const limit = 100
    const taken = await Promise.all(
      Array.from({ length: 300 }, (_, n) => servers[n % 2]?.take('key', 1, limit)),
    )
    const granted = taken.filter((one) => one?.isGranted === true).length
    expect(granted).toBeGreaterThanOrEqual(limit)
    // The bucket fills while it is emptied; a slow machine takes some seconds for this.
    expect(granted).toBeLessThan(limit + 50)
    expect(await servers[0]?.take('another key', 1, limit)).toMatchObject({ isGranted: true })
    expect(await servers[0]?.take('key', 60, limit)).toMatchObject({ isGranted: false })
  })

  it('[PG9] counts what models cost on all servers as one sum', async () => {
    const schema = freshSchema()
    const first = await openFreshStore(url, { schema, poolSize: 2 })
    const second = await openPostgresStore({ connectionString: url, schema, poolSize: 2 })
    onTestFinished(async () => {
      await second.close()
      await first.close()
    })
    const clock = new FakeClock()
    const [here, there] = [first, second].map(
      (store) => new ModelBudget({ store, clock, ids: createIdGenerator() }, async () => 1_000),
    )
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? here : there)?.charge(OWNER, { input: 40, output: 10 }),
      ),
    )
    expect(await there?.of(OWNER)).toMatchObject({ calls: 20, input: 800, output: 200 })
    await expect(here?.check(OWNER)).rejects.toMatchObject({ code: 'too_many_requests' })
  })
}

function describeUpgrades({ url }: PrivateServer): void {
  it('[PG10] serves a schema that the next version has added to, and none that is further on', async () => {
    const schema = freshSchema()
    const store = await openFreshStore(url, { schema })
    onTestFinished(() => store.close())
    const { schemaVersion } = await store.getReport()
    const row = memory()
    const step = (version: number, onlyAdds: boolean) =>
      runSql(
        url,
        `INSERT INTO "${schema}".migration (version, name, checksum, only_adds)
         VALUES ($1, 'later', 'x', $2)`,
        [version, onlyAdds],
      )
    await runSql(url, `ALTER TABLE "${schema}".memory ADD COLUMN mood text DEFAULT 'fine'`)
    await step(schemaVersion + 1, true)
    const opened = async () => {
      const again = await openPostgresStore({ connectionString: url, schema, poolSize: 1 })
      onTestFinished(() => again.close())
      return again
    }
    const older = await opened()
    // Both the one that was there and one that starts now go on.
    expect(await store.commit([create(memory())])).toEqual({ kind: 'committed' })
    expect(await older.commit([create(row)])).toEqual({ kind: 'committed' })
    expect(await older.get('memory', row.place, row.id)).toEqual(row)
    await step(schemaVersion + 2, true)
    await expect(opened()).rejects.toMatchObject({ code: 'schema_mismatch' })
    await runSql(url, `DELETE FROM "${schema}".migration WHERE version > ${schemaVersion}`)
    await step(schemaVersion + 1, false)
    await expect(opened()).rejects.toMatchObject({ code: 'schema_mismatch' })
  })

  it('[PG10] waits for a migration that takes longer than a statement may', async () => {
    const schema = freshSchema()
    const options = { connectionString: url, schema, poolSize: 1, statementTimeoutMs: 300 }
    const { toMigrationLock: migrationLock, createIdentifiers: namesIn } = await import(
      '../../src/storage/postgres/schema/identifiers.ts'
    )
    const holding = runSql(
      url,
      `SELECT pg_advisory_lock(${migrationLock(namesIn(schema))}), pg_sleep(1.2)`,
    )
    const store = await openPostgresStore(options)
    await holding
    expect((await store.getReport()).rows.memory).toBe(0)
    await store.close()
    await runSql(url, `DROP SCHEMA "${schema}" CASCADE`)
  })
}
