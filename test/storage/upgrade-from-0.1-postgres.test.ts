import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { openPostgresStore } from '../../src/storage/postgres/postgres-store.ts'
import { runSql, startPglite, startServer } from '../support/postgres-servers.ts'
import { describeUpgrade } from './upgrade-from-0.1.suite.ts'

const DUMP = readFileSync(
  join(import.meta.dirname, '..', 'fixtures', 'database-0.1.postgres.sql'),
  'utf8',
)
const FACTS = {
  secret: 'rc_00000001_joLDfD6W4nF2bp-syKeSVOqLM_nGR6zMIIbITQrmhcg',
  receiptLines: 19,
}

const found = await startServer()
const server = found.kind === 'server' ? found : await startPglite()
afterAll(() => server.stop())

/** The dump names its schema, so there is one at a time. */
async function load() {
  await runSql(server.url, 'DROP SCHEMA IF EXISTS recollect CASCADE')
  await runSql(server.url, DUMP)
}

const open = () =>
  openPostgresStore({
    ...{ connectionString: server.url, schema: 'recollect', poolSize: 4 },
    pgvectorFallback: 'exact' as const,
  })

describe('a PostgreSQL database of version 0.1', () => {
  describeUpgrade(async () => {
    await load()
    return open()
  }, FACTS)

  it('[ST19] is upgraded once by servers that start together', async () => {
    await load()
    const stores = await Promise.all([open(), open(), open()])
    onTestFinished(async () => {
      await Promise.all(stores.map((store) => store.close()))
    })
    const rows = await Promise.all(stores.map(async (store) => (await store.getReport()).rows))
    expect(rows).toMatchObject(Array(3).fill({ job: 17, signal: 12 }))
  })

  it('[ST19] keeps owners apart in the new tables where row security was on', async () => {
    await load()
    const store = await openPostgresStore({
      ...{ connectionString: server.url, schema: 'recollect', poolSize: 2 },
      ...{ pgvectorFallback: 'exact', rowLevelSecurity: true },
    })
    onTestFinished(() => store.close())
    const guarded = await runSql<{ relname: string }>(
      server.url,
      `SELECT relname FROM pg_class WHERE relforcerowsecurity AND relnamespace = 'recollect'::regnamespace
       ORDER BY relname`,
    )
    expect(guarded.map(({ relname }) => relname)).toEqual(expect.arrayContaining(['job', 'signal']))
  })

  it('[ST19] stays migrated after a move to another store, and can be taken back', async () => {
    await load()
    // As `recollect migrate` of version 0.1 left it.
    await runSql(
      server.url,
      `INSERT INTO recollect.entry (id, owner_id, version, kind, at, body) VALUES
         ('move', '@system', 2, 'move', 1, '{"state":"moved","move":"m1","to":"elsewhere"}');
       CREATE FUNCTION recollect.moved_away() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
         RAISE EXCEPTION USING ERRCODE = 'RC001', MESSAGE = TG_ARGV[0]; END $body$;
       ${['memory', 'entry', 'turn']
         .map(
           (
             table,
           ) => `CREATE TRIGGER moved_away BEFORE INSERT OR UPDATE OR DELETE ON recollect.${table}
             FOR EACH STATEMENT EXECUTE FUNCTION recollect.moved_away('This store has moved to elsewhere.');`,
         )
         .join('\n')}`,
    )
    const store = await open()
    onTestFinished(() => store.close())
    for (const table of ['job', 'signal', 'entry']) {
      await expect(runSql(server.url, `DELETE FROM recollect.${table}`)).rejects.toThrow('moved')
    }
    await store.migrationSource.resumeWrites()
    await runSql(server.url, 'DELETE FROM recollect.signal')
    expect((await store.getReport()).rows).toMatchObject({ job: 17, signal: 0 })
  })
})
