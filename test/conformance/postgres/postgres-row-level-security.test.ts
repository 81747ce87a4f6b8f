/** Row-level security: the contracts hold behind it, and nothing is seen without naming an owner. */
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { OwnerId } from '../../../src/domain/ids.ts'
import { openPostgresStore } from '../../../src/storage/postgres/postgres-store.ts'
import { job, signal, entry as systemEntry, turn } from '../../fakes/entries.ts'
import { ADA, BOB, memory } from '../../fakes/memories.ts'
import { entry, unitVector } from '../../fakes/vectors.ts'
import {
  freshSchema,
  openFreshStore,
  type PrivateServer,
  runSql,
  startServer,
  withPgvector,
} from '../../support/postgres-servers.ts'
import { COMMITTED, create, describeStore } from '../store/store.suite.ts'
import { describeVectorIndex, SPACE } from '../vectors/vector-index.suite.ts'

const TABLES = [
  ...['memory', 'revision', 'tombstone', 'entry', 'turn', 'job', 'signal', 'posting', 'corpus'],
  'embedding',
]

const server = await startServer()
const found = await withPgvector(server)
if (server.kind === 'none' || 'reason' in found) {
  const reason = 'reason' in found ? found.reason : ''
  describe.skip(`row security: ${reason}`, () => it('was not run', () => {}))
} else {
  afterAll(() => server.stop())
  const url = await ordinaryUser(server)
  const fenced = () => openFreshStore(url, { rowLevelSecurity: true })
  describeStore('postgres (row security)', fenced, { histories: 10 })
  describeVectorIndex('postgres vectors (row security)', async () => {
    const store = await fenced()
    if (store.vectors === null) throw new Error('There is no pgvector.')
    return { store, vectors: store.vectors, close: () => store.close() }
  })
  describe('row security', () => describeFence(url, server.url))
}

/** Superusers see everything whatever is set. */
async function ordinaryUser({ url }: PrivateServer): Promise<string> {
  const name = freshSchema()
  await runSql(url, `CREATE ROLE ${name} LOGIN`)
  await runSql(url, `CREATE DATABASE ${name} OWNER ${name}`)
  const address = (username: string) =>
    Object.assign(new URL(url), { username, pathname: `/${name}` }).toString()
  await runSql(address('recollect'), 'CREATE EXTENSION vector')
  return address(name)
}

/** A store with something of two owners in every table that owners have rows in. */
async function openFilled(url: string) {
  const schema = freshSchema()
  const store = await openFreshStore(url, { schema, rowLevelSecurity: true })
  onTestFinished(() => store.close())
  for (const place of [ADA, BOB]) {
    const row = memory({ place, content: 'a walk by the sea' })
    const said = turn({ place, content: 'we walked' })
    const note = { ...systemEntry(), place }
    const grave = { id: `tmb_${place.owner}`, place, version: 1, forgottenAt: row.createdAt }
    const revision = {
      ...{ id: `rev_${place.owner}`, memory: row },
      ...{ replacedAt: row.updatedAt, replacedBy: row.change },
    }
    const outcome = await store.commit([
      create(row),
      { op: 'put', table: 'turn', row: said, expect: 'absent' },
      { op: 'put', table: 'entry', row: note, expect: 'absent' },
      { op: 'put', table: 'job', row: { ...job(), place }, expect: 'absent' },
      { op: 'put', table: 'signal', row: { ...signal(), place }, expect: 'absent' },
      // Ids of their kinds; nobody looks at them.
      { op: 'put', table: 'tombstone', row: grave as never, expect: 'absent' },
      { op: 'put', table: 'revision', row: revision as never, expect: 'absent' },
    ])
    expect(outcome).toEqual(COMMITTED)
    await store.vectors?.put(SPACE, [entry(row, unitVector(SPACE.dimensions, 1))])
  }
  return { store, schema }
}

const EVERYONE = `SET LOCAL recollect.owners = '*'; SET LOCAL recollect.owner_hashes = '*'`

function naming(owner: string, hash: string): string {
  return `SET LOCAL recollect.owners = '{${owner}}'; SET LOCAL recollect.owner_hashes = '{${hash}}'`
}

/** The first row of a statement that anybody might run, after naming owners or not. */
async function inOneTransaction(
  url: string,
  named: string,
  sql: string,
): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`BEGIN; ${named}`)
    const { rows } = await client.query<Record<string, number>>(sql)
    await client.query('COMMIT')
    return rows[0] ?? {}
  } finally {
    await client.end()
  }
}

function describeFence(url: string, superuserUrl: string): void {
  const seen = async (schema: string, named: string) => {
    const counted = TABLES.map(
      (table) => `(SELECT count(*)::int FROM "${schema}".${table}) AS ${table}`,
    )
    return Object.values(await inOneTransaction(url, named, `SELECT ${counted.join(', ')}`))
  }
  const asSuperuser = superuserUrl.replace('/postgres?', `${new URL(url).pathname}?`)

  it('[PG4] shows nothing without an owner, nothing to another, and their own to each', async () => {
    const { schema } = await openFilled(url)
    const nothing = TABLES.map(() => 0)
    expect(await seen(schema, '')).toEqual(nothing)
    expect(await seen(schema, naming('carol', '12345'))).toEqual(nothing)
    const [hash] = await runSql<{ hash: string }>(
      asSuperuser,
      `SELECT p.owner_hash::text AS hash FROM "${schema}".posting AS p
         JOIN "${schema}".memory AS m ON m.number = p.memory WHERE m.owner_id = $1 LIMIT 1`,
      [ADA.owner],
    )
    const own = await seen(schema, naming(ADA.owner, hash?.hash ?? ''))
    const all = await seen(schema, EVERYONE)
    own.forEach((count, table) => {
      expect(count, TABLES[table]).toBeGreaterThan(0)
      expect(all[table], TABLES[table]).toBe(2 * count)
    })
  })

  it('[PG4] refuses writes for another owner than the named one', async () => {
    const { schema } = await openFilled(url)
    const forged = inOneTransaction(
      url,
      naming(ADA.owner, '1'),
      `INSERT INTO "${schema}".tombstone VALUES ('tmb_forged', 'bob', NULL, NULL, 1, 1)`,
    )
    await expect(forged).rejects.toMatchObject({ code: '42501' })
    await inOneTransaction(url, naming(ADA.owner, '1'), `DELETE FROM "${schema}".turn`)
    expect((await seen(schema, EVERYONE))[TABLES.indexOf('turn')]).toBe(1)
  })

  it('[PG4] leaves nothing of an owner on a connection that others use next', async () => {
    const schema = freshSchema()
    const options = { schema, rowLevelSecurity: true, poolSize: 1 }
    const store = await openFreshStore(url, options)
    onTestFinished(() => store.close())
    const odd = `o'd"d \\ {,} \u0000 ${'ö'.repeat(9)}` as OwnerId // any text is an owner
    const place = { ...ADA, owner: odd }
    const row = memory({ place })
    await store.commit([create(row)])
    expect(await store.get('memory', place, row.id)).toEqual(row)
    expect(await store.get('memory', ADA, row.id)).toBeNull()
    expect(await store.listPlaces()).toHaveLength(1)
    expect(await store.checkIntegrity({ repair: true })).toEqual([])
  })

  it('[PG4] applies to servers that were started without it, and reports roles that bypass it', async () => {
    const schema = freshSchema()
    const before = await openFreshStore(url, { schema })
    onTestFinished(() => before.close())
    const row = memory()
    await before.commit([create(row)])
    const stop = before.onRemoteChange?.(() => {})
    onTestFinished(() => stop?.())
    await expect
      .poll(async () => (await before.getReport()).facts.changeFeed)
      .toMatch(/listening|verified/)
    const after = await openPostgresStore({ connectionString: url, schema, rowLevelSecurity: true })
    onTestFinished(() => after.close())
    expect((await after.getReport()).facts.rowLevelSecurity).toBe('on')
    await expect.poll(() => before.get('memory', ADA, row.id)).toEqual(row)
    const later = await openPostgresStore({ connectionString: url, schema })
    onTestFinished(() => later.close())
    expect(await later.get('memory', ADA, row.id)).toEqual(row)
    const superuser = await openPostgresStore({ connectionString: asSuperuser, schema })
    onTestFinished(() => superuser.close())
    expect((await superuser.getReport()).facts.rowLevelSecurity).toContain('bypasses')
  })
}
