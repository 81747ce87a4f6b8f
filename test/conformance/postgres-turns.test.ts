/** What PostgreSQL derives from turns: made for those that were there before, looked through and mended. */
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { openPostgresStore } from '../../src/adapters/postgres/store.ts'
import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import type { Turn } from '../../src/core/transcript.ts'
import type { Change } from '../../src/ports/store.ts'
import { entry, turn } from '../fakes/entries.ts'
import { ADA, BOB } from '../fakes/memories.ts'
import { freshSchema, openFreshStore, runSql, startPglite } from '../support/postgres-servers.ts'
import { COMMITTED } from './store.suite.ts'

const server = await startPglite()
afterAll(() => server.stop())

const say = (row: Turn): Change => ({ op: 'put', table: 'turn', row, expect: 'absent' })

/** Takes the last steps back, as if the turns had been written before them. */
function backTo(schema: string, version: number): string {
  return `
    DROP FUNCTION "${schema}".sees_everyone, "${schema}".seen_owners, "${schema}".seen_owner_hashes CASCADE;
    DROP TABLE "${schema}".allowance;
    DROP TABLE "${schema}".commit_mark;
    DROP TABLE "${schema}".turn_posting, "${schema}".turn_corpus;
    ALTER TABLE "${schema}".turn DROP COLUMN number, DROP COLUMN length, DROP COLUMN disabled;
    DROP INDEX "${schema}".turn_by_course, "${schema}".turn_by_time, "${schema}".entry_by_time,
      "${schema}".entry_by_session;
    DELETE FROM "${schema}".migration WHERE version > ${version}`
}

it('[ST41] finds turns in PostgreSQL that were stored before they could be searched', async () => {
  const schema = freshSchema()
  const options = { connectionString: server.url, schema, poolSize: 1 }
  onTestFinished(() => runSql(server.url, `DROP SCHEMA "${schema}" CASCADE`).then(() => {}))
  const rows = [
    turn({ content: 'the Lighthouses of Brittany', speaker: 'Ann' }),
    turn({ content: '' }),
    turn({ content: '我喜欢在北京喝咖啡 \ud800 \u0000', role: 'assistant' }),
    ...Array.from({ length: 230 }, (_, n) => turn({ content: `walk ${n}`, place: BOB })),
  ]
  const before = await openPostgresStore(options)
  expect(await before.commit([...rows.map(say)])).toEqual(COMMITTED)
  await before.close()
  await runSql(server.url, backTo(schema, 2))

  const store = await openPostgresStore(options)
  const reference = createReferenceStore()
  await reference.commit(rows.map(say))
  for (const [scope, text] of [
    [ADA, 'lighthouse'],
    [ADA, 'ann brittany 咖啡'],
    [BOB, 'walk 229'],
    [BOB, 'lighthouse'],
  ] as const) {
    const query = { text, limit: 5, where: {} }
    const { hits } = await store.matchTurns(scope, query)
    const expected = (await reference.matchTurns(scope, query)).hits
    expect(hits.map((hit) => hit.id)).toEqual(expected.map((hit) => hit.id))
    hits.forEach((hit, n) => {
      expect(hit.score).toBeCloseTo(expected[n]?.score ?? 0, 9)
    })
  }
  expect(await store.inspect({ repair: false })).toEqual([])
  const said = turn({ content: 'said afterwards' })
  const note = entry({ kind: 'job' })
  const putNote: Change = { op: 'put', table: 'entry', row: note, expect: 'absent' }
  expect(await store.commit([say(said), putNote])).toEqual(COMMITTED)
  expect(await store.inspect({ repair: false })).toEqual([])
  await store.close()
})

it('[ST12] finds and mends every kind of data derived from turns that is wrong', async () => {
  const schema = freshSchema()
  const store = await openFreshStore(server.url, { schema, poolSize: 1 })
  onTestFinished(() => store.close())
  const rows = ['alpha beta', 'gamma', 'delta'].map((content) => turn({ content }))
  await store.commit(rows.map(say))
  const damage = [
    `DELETE FROM "${schema}".turn_posting WHERE term = 'alpha'`,
    `UPDATE "${schema}".turn SET length = 9 WHERE id = '${rows[1]?.id}'`,
    `INSERT INTO "${schema}".turn_posting VALUES (1, 999999, 0, 1, 1, 'ghost')`,
  ]
  for (const sql of damage) await runSql(server.url, sql)
  const counts = async (repair: boolean) =>
    (await store.inspect({ repair })).map((fault) => [fault.count, fault.repairable])
  const found = [
    [2, true],
    [1, true],
    [1, true],
  ]
  expect(await counts(false)).toEqual(found)
  expect(await counts(true)).toEqual(found)
  expect(await counts(false)).toEqual([])
  const { hits } = await store.matchTurns(ADA, { text: 'alpha', limit: 5, where: {} })
  expect(hits.map((hit) => hit.id)).toEqual([rows[0]?.id])
})

it('[ST40] walks along an index when it tells a conversation in its course', async () => {
  const schema = freshSchema()
  const store = await openFreshStore(server.url, { schema, poolSize: 1 })
  onTestFinished(() => store.close())
  const plan = async (sql: string) => {
    const rows = await runSql<{ 'QUERY PLAN': string }>(
      server.url,
      `EXPLAIN SELECT id FROM "${schema}".${sql}`,
    )
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  // An empty table is read as a whole, whatever indexes there are.
  await runSql(
    server.url,
    `INSERT INTO "${schema}".turn (id, owner_id, session_id, version, role, content, position, said_at)
     SELECT 'turn_' || n, 'ada', 's' || n % 100, 1, 'user', 'text', n, n FROM generate_series(1, 5000) AS n;
     INSERT INTO "${schema}".entry (id, owner_id, version, kind, at, body)
     SELECT 'aud_' || n, 'ada', 1, 'job', n, '{}' FROM generate_series(1, 5000) AS n;
     ANALYZE "${schema}".turn; ANALYZE "${schema}".entry`,
  )
  const inOrder = 'ORDER BY said_at, position, id LIMIT 5'
  expect(await plan(`turn WHERE owner_id = 'ada' AND session_id = 's1' ${inOrder}`)).toMatch(
    /turn_by_course/,
  )
  expect(await plan(`turn WHERE owner_id = 'ada' AND said_at >= 9 ${inOrder}`)).toMatch(
    /turn_by_time/,
  )
  expect(await plan(`entry WHERE owner_id = 'ada' AND kind = ANY ('{job}') AND at < 9`)).toMatch(
    /entry_by_time/,
  )
})
