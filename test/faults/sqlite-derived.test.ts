/** What is derived from the memories can be thrown away, and erasing leaves nothing of it behind. */
import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { createEngineWith } from '../../src/engine/engine.ts'
import { openConnection } from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { create } from '../conformance/store/store.suite.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'
import { turn } from '../fakes/entries.ts'
import { ADA, memory } from '../fakes/memories.ts'
import { temporaryFile } from '../support/temporary-folder.ts'

const DAMAGE = {
  'a memory that is not in the index': `INSERT INTO memory_terms (memory_terms, rowid, terms)
    SELECT 'delete', number, char(1) || 'o1 ' || char(1) || 'p1 ' || char(1) || 'f' || fingerprint || ' ' || terms FROM memory WHERE number = 2`,
  'a word too many in the index': `INSERT INTO memory_terms (rowid, terms) VALUES (3, 'zebra')`,
  'an entry of a memory that is gone': `INSERT INTO memory_terms (rowid, terms) VALUES (99, 'zebra')`,
  'wrong terms in a row': `UPDATE memory SET terms = 'zebra', terms_count = 1 WHERE number = 1`,
  'a wrong fingerprint': `UPDATE memory SET fingerprint = '0' WHERE number = 1`,
  'wrong counts': `UPDATE corpus SET memories = memories + 1`,
  'no counts': `DELETE FROM corpus`,
} as const

it.each(Object.entries(DAMAGE))('[ST12] finds and mends %s', async (_, sql) => {
  const path = temporaryFile('derived.db')
  const store = await openSqliteStore({ path, now: Date.now })
  onTestFinished(() => store.close())
  const rows = ['one lamb', 'two lambs', 'three wolves'].map((content) => memory({ content }))
  await store.commit(rows.map(create))
  const other = await openConnection(path, null)
  other.exec(sql)
  other.close()
  const faults = await store.checkIntegrity({ repair: true })
  expect(faults.length).toBeGreaterThan(0)
  expect(faults.every((fault) => fault.repairable && fault.count > 0)).toBe(true)
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
  const { hits } = await store.searchText(ADA, { text: 'lamb zebra', limit: 5, where: {} })
  expect(hits.map((hit) => hit.id).sort()).toEqual(rows.slice(0, 2).map((row) => row.id))
})

const DAMAGE_OF_TURNS = {
  'a turn whose document is not in the index': `INSERT INTO memory_terms (memory_terms, rowid, terms)
    SELECT 'delete', number, char(1) || 'to1 ' || char(1) || 'tp1 ' || terms FROM memory WHERE content = 'two lambs'`,
  'a word too many in the index': `INSERT INTO memory_terms (rowid, terms) VALUES (3, 'zebra')`,
  'wrong terms in a document': `UPDATE memory SET terms = 'zebra', terms_count = 1 WHERE content = 'one lamb'`,
  'turns without a document': `DELETE FROM memory WHERE type = 'turn'`,
  'a document of other words': `UPDATE memory SET content = 'zebra' WHERE content = 'one lamb'`,
  'a document of another session': `UPDATE memory SET session = 'zebra' WHERE content = 'one lamb'`,
  'a document without a turn': `DELETE FROM turn WHERE content = 'three wolves';
    UPDATE memory SET content = 'lamb zebra' WHERE content = 'three wolves'`,
  'wrong counts': `UPDATE corpus SET terms = terms + 1 WHERE token = char(1) || 'to1'`,
} as const

it.each(Object.entries(DAMAGE_OF_TURNS))('[ST12] finds and mends, of turns, %s', async (_, sql) => {
  const path = temporaryFile('derived.db')
  const store = await openSqliteStore({ path, now: Date.now })
  onTestFinished(() => store.close())
  const rows = ['one lamb', 'two lambs', 'three wolves'].map((content) => turn({ content }))
  const known = memory({ content: 'a lamb that is known' })
  await store.commit([
    create(known),
    ...rows.map((row) => ({ op: 'put', table: 'turn', row, expect: 'absent' }) as const),
  ])
  const other = await openConnection(path, null)
  other.exec(sql)
  other.close()
  const faults = await store.checkIntegrity({ repair: true })
  expect(faults.length).toBeGreaterThan(0)
  expect(faults.every((fault) => fault.repairable && fault.count > 0)).toBe(true)
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
  const query = { text: 'lamb zebra', limit: 5, where: {} }
  const { hits } = await store.searchText(ADA, { ...query, where: { types: ['turn'] } })
  expect(hits.map((hit) => hit.id).sort()).toEqual(rows.slice(0, 2).map((row) => row.id))
  expect((await store.searchText(ADA, query)).hits.map((hit) => hit.id)).toEqual([known.id])
})

it('[ST45] the index keeps the tokens of memories and turns apart', async () => {
  const path = temporaryFile('tokens.db')
  const store = await openSqliteStore({ path, now: Date.now })
  await store.commit([
    create(memory()),
    { op: 'put', table: 'turn', row: turn(), expect: 'absent' },
  ])
  await store.close()
  const connection = await openConnection(path, null)
  const tokens = connection
    .prepare(`SELECT term, doc FROM memory_vocabulary WHERE unicode(term) = 1 ORDER BY term`)
    .all()
    .filter(({ term }) => !String(term).startsWith('\u0001f'))
  connection.close()
  expect(tokens.map(({ doc }) => doc)).toEqual([1, 1, 1, 1])
})

it('[FO3] erasing leaves no trace of the words in the file', async () => {
  const path = temporaryFile('erased.db')
  const store = await openSqliteStore({ path, now: Date.now })
  const engine = createEngineWith({
    store,
    clock: new FakeClock(),
    ids: countingIds(),
    settings: {},
  })
  const owner = { owner: 'ada' }
  for (let n = 0; n < 200; n++) await engine.remember(owner, { content: `ordinary statement ${n}` })
  const { memory } = await engine.remember(owner, {
    content: 'the code is xyzzyplugh',
    key: 'k-xyzzyplugh',
  })
  await engine.edit(owner, memory.id, { content: 'the code was xyzzyplugh' })
  for (let n = 0; n < 200; n++) await engine.remember(owner, { content: `further statement ${n}` })
  await engine.memories.erase(owner, memory.id)
  await engine.close()
  expect(readFileSync(path).includes('ordinary statement')).toBe(true)
  expect(readFileSync(path).includes('xyzzyplugh')).toBe(false)
})
