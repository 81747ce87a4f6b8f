/** What PostgreSQL derives from turns: made for those that were there before, looked through and mended. */
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { DOCUMENT_TYPES, toTurnDocument } from '../../../src/domain/search-document.ts'
import type { Turn } from '../../../src/domain/turn.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { openPostgresStore } from '../../../src/storage/postgres/postgres-store.ts'
import type { Change } from '../../../src/storage/store.ts'
import { entry, turn } from '../../fakes/entries.ts'
import { ADA, BOB, memory, session } from '../../fakes/memories.ts'
import { unitVector, entry as vectorEntry } from '../../fakes/vectors.ts'
import { freshSchema, openFreshStore, runSql, startPglite } from '../../support/postgres-servers.ts'
import { COMMITTED, create } from '../store/store.suite.ts'
import { SPACE } from '../vectors/vector-index.suite.ts'

const server = await startPglite({ pgvector: true })
afterAll(() => server.stop())

const BOTH = { types: DOCUMENT_TYPES }
const say = (row: Turn): Change => ({ op: 'put', table: 'turn', row, expect: 'absent' })

/** Takes the step back that made documents of turns. */
function withoutDocuments(schema: string): string {
  return `
    DELETE FROM "${schema}".posting WHERE memory < 0;
    DELETE FROM "${schema}".memory WHERE type = 'turn';
    DROP INDEX "${schema}".turn_document_by_owner, "${schema}".turn_document_by_user,
      "${schema}".turn_document_by_position;
    ALTER TABLE "${schema}".memory DROP COLUMN position;
    ALTER TABLE "${schema}".corpus RENAME COLUMN documents TO memories;
    UPDATE "${schema}".corpus AS c SET memories = (
      SELECT count(*) FROM "${schema}".memory AS m WHERE m.owner_id = c.owner_id);
    ALTER TABLE "${schema}".turn ADD COLUMN length integer NOT NULL DEFAULT 0;
    CREATE TABLE "${schema}".turn_posting (turn bigint, term text);
    CREATE TABLE "${schema}".turn_corpus (owner_id text, turns bigint);
    DROP TABLE "${schema}".job, "${schema}".signal;
    CREATE INDEX entry_by_time ON "${schema}".entry (owner_id, kind, at);
    DELETE FROM "${schema}".migration WHERE version > 7;`
}

/** The same for the steps that made turns searchable at all. */
function withoutSearch(schema: string): string {
  return `
    DROP FUNCTION "${schema}".sees_everyone, "${schema}".seen_owners, "${schema}".seen_owner_hashes CASCADE;
    DROP TABLE "${schema}".allowance, "${schema}".commit_mark, "${schema}".turn_posting,
      "${schema}".turn_corpus, "${schema}".embedding_migration, "${schema}".embedding_space,
      "${schema}".embedding;
    DROP FUNCTION "${schema}".forget_embeddings CASCADE;
    ALTER TABLE "${schema}".turn DROP COLUMN number, DROP COLUMN length, DROP COLUMN disabled;
    DROP INDEX "${schema}".turn_by_course, "${schema}".turn_by_time, "${schema}".entry_by_time,
      "${schema}".entry_by_session;
    DELETE FROM "${schema}".migration WHERE version > 2`
}

it.each([
  { name: 'could be searched', undo: [withoutDocuments, withoutSearch] },
  { name: 'were documents', undo: [withoutDocuments] },
])('[ST41] finds turns in PostgreSQL that were stored before they $name', async ({ undo }) => {
  const schema = freshSchema()
  const options = { connectionString: server.url, schema, poolSize: 1 }
  onTestFinished(() => runSql(server.url, `DROP SCHEMA "${schema}" CASCADE`).then(() => {}))
  const known = memory({ content: 'Ann walked to the lighthouse' })
  const rows = [
    turn({ content: 'the Lighthouses of Brittany', speaker: 'Ann' }),
    turn({ content: '' }),
    turn({ content: '我喜欢在北京喝咖啡 \ud800 \u0000', role: 'assistant' }),
    ...Array.from({ length: 230 }, (_, n) => turn({ content: `walk ${n}`, place: BOB })),
  ]
  const changes = [create(known), ...rows.map(say)]
  const before = await openPostgresStore(options)
  expect(await before.commit(changes)).toEqual(COMMITTED)
  await before.close()
  for (const step of undo) await runSql(server.url, step(schema))

  const store = await openPostgresStore(options)
  const reference = createInMemoryStore()
  await reference.commit(changes)
  for (const [scope, text] of [
    [ADA, 'lighthouse'],
    [ADA, 'ann brittany 咖啡'],
    [BOB, 'walk 229'],
    [BOB, 'lighthouse'],
  ] as const) {
    const query = { text, limit: 5, where: BOTH }
    const { hits } = await store.searchText(scope, query)
    const expected = (await reference.searchText(scope, query)).hits
    expect(hits.map((hit) => hit.id)).toEqual(expected.map((hit) => hit.id))
    hits.forEach((hit, n) => {
      expect(hit.score).toBeCloseTo(expected[n]?.score ?? 0, 9)
    })
  }
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
  const said = turn({ content: 'said afterwards' })
  const note = entry()
  const putNote: Change = { op: 'put', table: 'entry', row: note, expect: 'absent' }
  expect(await store.commit([say(said), putNote])).toEqual(COMMITTED)
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
  await store.close()
})

it('[ST41] builds turn documents in a migrated store, which stays migrated', async () => {
  const schema = freshSchema()
  const options = { connectionString: server.url, schema, poolSize: 1 }
  onTestFinished(() => runSql(server.url, `DROP SCHEMA "${schema}" CASCADE`).then(() => {}))
  const before = await openPostgresStore(options)
  const [said, marker] = [turn({ content: 'before the move' }), entry()]
  const putMarker: Change = { op: 'put', table: 'entry', row: marker, expect: 'absent' }
  expect(await before.commit([say(said), putMarker])).toEqual(COMMITTED)
  await before.close()
  await runSql(server.url, withoutDocuments(schema))
  // As leaving it has left it.
  await runSql(
    server.url,
    `CREATE FUNCTION "${schema}".moved_away() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
       RAISE EXCEPTION 'moved'; END $body$;
     CREATE TRIGGER moved_away BEFORE INSERT OR UPDATE OR DELETE ON "${schema}".memory
       FOR EACH STATEMENT EXECUTE FUNCTION "${schema}".moved_away()`,
  )
  const store = await openPostgresStore(options)
  const { hits } = await store.searchText(ADA, { text: 'move', limit: 5, where: BOTH })
  expect(hits.map((hit) => hit.id)).toEqual([said.id])
  await expect(store.commit([create(memory())])).rejects.toThrow('P0001')
  await store.close()
})

it('[ST12] finds and mends every kind of data derived from turns that is wrong', async () => {
  const schema = freshSchema()
  const store = await openFreshStore(server.url, { schema, poolSize: 1 })
  onTestFinished(() => store.close())
  const contents = ['alpha beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta']
  const rows = contents.map((content) => turn({ content }))
  const [known] = [memory({ content: 'theta' })]
  await store.commit([...rows.map(say), create(known)])
  const id = (n: number) => `id = '${rows[n]?.id}'`
  const damage = [
    `DELETE FROM "${schema}".posting WHERE term = 'alpha'`,
    `UPDATE "${schema}".memory SET length = 9 WHERE ${id(1)}`,
    `UPDATE "${schema}".memory SET status = 'disabled', use_count = 7 WHERE ${id(2)}`,
    `DELETE FROM "${schema}".memory WHERE ${id(3)}`,
    `UPDATE "${schema}".memory SET number = DEFAULT WHERE ${id(4)}`,
    `DELETE FROM "${schema}".turn WHERE ${id(5)}`,
    `INSERT INTO "${schema}".posting VALUES (1, -999999, 0, 1, 1, 'ghost')`,
  ]
  for (const sql of damage) await runSql(server.url, sql)
  const counts = async (repair: boolean) =>
    (await store.checkIntegrity({ repair })).map((fault) => [
      fault.description,
      fault.count,
      fault.repairable,
    ])
  const found = [
    ['turns with missing or wrong search index entries', 5, true],
    ['search documents of deleted turns', 1, true],
    // Those of the document that is gone, those under the former number of another, and the ghost.
    ['index entries of deleted documents', 5, true],
    ['owners with wrong word statistics', 1, true],
  ]
  expect(await counts(false)).toEqual(found)
  expect(await counts(true)).toEqual(found)
  expect(await counts(false)).toEqual([])
  const documents = await store.findDocuments(ADA, { where: BOTH, limit: 9, order: 'oldest' })
  expect(documents.rows).toEqual([known, ...rows.slice(0, 5).map(toTurnDocument)])
  for (const [n, text] of contents.slice(0, 5).entries()) {
    const { hits } = await store.searchText(ADA, { text, limit: 5, where: BOTH })
    expect(hits.map((hit) => hit.id)).toEqual([rows[n]?.id])
  }
})

it('[MH1] notes turns and their vectors for a move as turns, and no document twice', async () => {
  const store = await openFreshStore(server.url, { schema: freshSchema(), poolSize: 1 })
  onTestFinished(() => store.close())
  await store.migrationSource.startChangeLog()
  const changed = async () => {
    const { rows, sequenceNumbers: numbers } = await store.migrationSource.readChangeLog(100)
    await store.migrationSource.acknowledgeChanges(numbers)
    return rows
  }
  const [said, known] = [turn(), memory()]
  await store.commit([say(said), create(known)])
  const both = [
    { table: 'memory', owner: ADA.owner, id: known.id },
    { table: 'turn', owner: ADA.owner, id: said.id },
  ]
  expect(await changed()).toEqual(both)
  const vector = unitVector(SPACE.dimensions, 1)
  await store.vectors?.put(SPACE, [
    vectorEntry(known, vector),
    vectorEntry(toTurnDocument(said), vector),
  ])
  expect(await changed()).toEqual(both)
  const removal = { op: 'remove', scope: ADA, expect: 'any' } as const
  await store.commit([
    { ...removal, table: 'turn', id: said.id },
    { ...removal, table: 'memory', id: known.id },
  ])
  const removed = await changed()
  expect(removed).toHaveLength(2)
  expect(removed).toEqual(expect.arrayContaining(both))
})

it('[ST40] reads a conversation in order through an index', async () => {
  const schema = freshSchema()
  const store = await openFreshStore(server.url, { schema, poolSize: 1 })
  onTestFinished(() => store.close())
  // An empty table is read as a whole, whatever indexes there are.
  await runSql(
    server.url,
    `INSERT INTO "${schema}".turn (id, owner_id, session_id, version, role, content, position, said_at)
     SELECT 'turn_' || n, 'ada', 's' || n % 100, 1, 'user', 'text', n, n FROM generate_series(1, 5000) AS n;
     INSERT INTO "${schema}".job (id, owner_id, version, kind, key, status, due_at, status_changed_at,
       attempts, lost_leases, input)
     SELECT 'job_' || n, 'ada', 1, 'distill', n, 'waiting', n, n, 0, 0, '{}'
     FROM generate_series(1, 5000) AS n;
     ANALYZE "${schema}".turn; ANALYZE "${schema}".job`,
  )
  const plan = (sql: string) => planOf(`SELECT id FROM "${schema}".${sql}`)
  const inOrder = 'ORDER BY said_at, position, id LIMIT 5'
  expect(await plan(`turn WHERE owner_id = 'ada' AND session_id = 's1' ${inOrder}`)).toMatch(
    /turn_by_course/,
  )
  expect(await plan(`turn WHERE owner_id = 'ada' AND said_at >= 9 ${inOrder}`)).toMatch(
    /turn_by_time/,
  )
  expect(await plan(`job WHERE owner_id = 'ada' AND due_at < 9`)).toMatch(/job_by_due/)
})

it('[ST46] reads memories along indexes that hold no turn', async () => {
  const schema = freshSchema()
  const store = await openFreshStore(server.url, { schema, poolSize: 1 })
  onTestFinished(() => store.close())
  const talk = { ...ADA, session: session('talk') }
  await store.commit([
    ...Array.from({ length: 40 }, () => create(memory({ place: talk }))),
    ...Array.from({ length: 1_500 }, (_, n) => say(turn({ place: n % 40 === 0 ? talk : BOB }))),
  ])
  await runSql(server.url, `ANALYZE "${schema}".memory`)
  const table = `"${schema}".memory`
  const memories = `${table} WHERE owner_id = 'ada' AND type <> 'turn'`
  expect(await planOf(`SELECT * FROM ${memories} ORDER BY id DESC LIMIT 9`)).toMatch(
    /memory_by_owner/,
  )
  expect(await planOf(`SELECT id FROM ${memories} AND fingerprint = 'x'`)).toMatch(
    /memory_by_fingerprint/,
  )
  const turns = `${table} WHERE owner_id = 'ada' AND type = 'turn'`
  expect(await planOf(`SELECT * FROM ${turns} AND id > 'turn_' ORDER BY id LIMIT 9`)).toMatch(
    /turn_document_by_owner/,
  )
  const course = `owner_id = 'ada' AND session_id = 'talk' AND type = 'turn'`
  expect(
    await planOf(
      `SELECT id FROM ${table} WHERE ${course} AND (position, id) > (5, 'x') ORDER BY position, id LIMIT 3`,
    ),
  ).toMatch(/turn_document_by_position/)
})

async function planOf(sql: string): Promise<string> {
  const rows = await runSql<{ 'QUERY PLAN': string }>(server.url, `EXPLAIN ${sql}`)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}
