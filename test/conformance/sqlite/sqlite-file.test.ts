/** What SQLite leaves in its file: nothing of what was removed, and one schema, however it came about. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import type { Turn } from '../../../src/domain/turn.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { openConnection } from '../../../src/storage/sqlite/connection/sqlite-driver.ts'
import { recoverDatabase } from '../../../src/storage/sqlite/recovery/database-recovery.ts'
import { MIGRATIONS } from '../../../src/storage/sqlite/schema/migrations.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts'
import type { Change } from '../../../src/storage/store.ts'
import { toStorable } from '../../../src/text/storable-text.ts'
import { entry, turn } from '../../fakes/entries.ts'
import { ADA, memory, revision } from '../../fakes/memories.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { COMMITTED } from '../store/store.suite.ts'

const MARK = 'Xylophonist'

async function opened(path: string, migrations = MIGRATIONS) {
  const store = await openSqliteStore({ path, now: Date.now, migrations })
  onTestFinished(() => store.close())
  return store
}

function filesHold(path: string, mark: string): boolean {
  return [path, `${path}-wal`].some((file) => existsSync(file) && readFileSync(file).includes(mark))
}

const stored = memory({ content: `${MARK} in a revision` })
const ROWS = {
  memory: memory({ content: `${MARK} in a memory`, key: `${MARK} key` }),
  revision: revision(stored),
  entry: entry({ body: { text: `${MARK} in an entry`, long: `${MARK} `.repeat(3_000) } }),
  turn: turn({ content: `${MARK} in a turn, ${MARK.repeat(3_000)}`, speaker: MARK }),
}

it.each(Object.entries(ROWS))('[ST35] leaves nothing of a removed %s', async (table, row) => {
  const path = temporaryFile('erased.db')
  const store = await opened(path)
  const put = { op: 'put', table, row, expect: 'absent' } as Change // each row goes with its table
  expect(await store.commit([put])).toEqual(COMMITTED)
  expect(filesHold(path, MARK)).toBe(true)
  const remove = { op: 'remove', table, scope: ADA, id: row.id, expect: 'any' } as Change // as above
  expect(await store.commit([remove])).toEqual(COMMITTED)
  expect(filesHold(path, MARK)).toBe(false)
  expect(filesHold(path, MARK.toLowerCase())).toBe(false)
})

async function schemaOf(path: string): Promise<readonly unknown[]> {
  const connection = await openConnection(path, null)
  try {
    return connection
      .prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name')
      .all()
  } finally {
    connection.close()
  }
}

it.each(MIGRATIONS.slice(0, -1).map((step, index) => [index + 1, step.name] as const))(
  '[ST36] brings a database of schema %i ("%s") up to date with all it holds',
  async (version) => {
    const path = temporaryFile('old.db')
    const row = memory({ content: 'written long ago', key: 'old' })
    const before = await opened(path, MIGRATIONS.slice(0, version))
    expect(
      await before.commit([
        { op: 'put', table: 'memory', row, expect: 'absent' },
        { op: 'put', table: 'revision', row: revision(row), expect: 'absent' },
      ]),
    ).toEqual(COMMITTED)
    await before.close()

    const after = await opened(path)
    expect((await after.getReport()).schemaVersion).toBe(MIGRATIONS.length)
    expect(await after.get('memory', ADA, row.id)).toEqual(row)
    expect((await after.getReport()).rows).toMatchObject({
      memory: 1,
      revision: 1,
      entry: 0,
      turn: 0,
    })
    const said = turn()
    await after.commit([{ op: 'put', table: 'turn', row: said, expect: 'absent' }])
    expect(await after.get('turn', ADA, said.id)).toEqual(said)
    expect(await after.checkIntegrity({ repair: false })).toEqual([])
    await after.close()

    const fresh = temporaryFile('fresh.db')
    await (await opened(fresh)).close()
    expect(await schemaOf(path)).toEqual(await schemaOf(fresh))
  },
)

/** The last schema in which turns could not be searched. */
const UNSEARCHABLE = 4

/** A database of that schema with turns as it wrote them. */
async function oldTurns(path: string, rows: readonly Turn[]): Promise<void> {
  await (await opened(path, MIGRATIONS.slice(0, UNSEARCHABLE))).close()
  const connection = await openConnection(path, null)
  connection.exec(`INSERT INTO place (number, owner, user, owner_number) VALUES (1, 'ada', '', 1)`)
  const insert = connection.prepare('INSERT INTO turn VALUES (?, 1, 1, NULL, ?, ?, ?, ?, ?, ?)')
  for (const { id, version, role, speaker, content, position, saidAt } of rows) {
    const text = toStorable(content)
    insert.run(id, version, role, speaker, text, position, saidAt)
  }
  connection.close()
}

const TURNS = { types: ['turn'] } as const

it('[ST41] finds turns in SQLite that were stored before they could be searched', async () => {
  const path = temporaryFile('unsearchable.db')
  const rows = [
    turn({ content: 'the Lighthouses of Brittany', speaker: 'Ann' }),
    turn({ content: '' }),
    turn({ content: '我喜欢在北京喝咖啡 \ud800 \u0000', role: 'assistant' }),
    turn({ content: 'x'.repeat(20_000), version: 3 }),
  ]
  await oldTurns(path, rows)
  const store = await opened(path)
  const found = await store.find('turn', ADA, { where: {}, limit: 10, order: 'oldest' })
  expect(found.rows).toEqual(rows)
  const reference = createInMemoryStore()
  for (const row of rows) {
    await reference.commit([{ op: 'put', table: 'turn', row, expect: 'absent' }])
  }
  for (const text of ['lighthouse', 'ann', '北京', 'brittany 咖啡']) {
    const query = { text, limit: 5, where: TURNS }
    const { hits } = await store.searchText(ADA, query)
    expect(hits).not.toEqual([])
    expect(hits).toEqual((await reference.searchText(ADA, query)).hits)
  }
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
  const replaced = { ...rows[0], content: 'of Normandy', version: 2 } as Turn
  const put = { op: 'put', table: 'turn', row: replaced, expect: { version: 1 } } as const
  expect(await store.commit([put])).toEqual(COMMITTED)
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
})

it('[ST25] salvages turns of a database of that schema', async () => {
  const path = temporaryFile('old-damaged.db')
  const rows = Array.from({ length: 400 }, (_, n) => turn({ content: `sentence ${n} of a walk` }))
  await oldTurns(path, rows)
  const bytes = readFileSync(path)
  bytes.fill(0x55, 0, 16)
  writeFileSync(path, bytes)
  const { copied, lost } = await recoverDatabase({ path, key: null, now: Date.now })
  expect(copied).toMatchObject({ turn: rows.length, place: 1 })
  expect(lost.rows).toEqual({})
  const store = await opened(path)
  const found = await store.find('turn', ADA, { where: {}, limit: 1_000, order: 'oldest' })
  expect(found.rows).toEqual(rows)
  const { hits } = await store.searchText(ADA, { text: '123 walk', limit: 1, where: TURNS })
  expect(hits.map((hit) => hit.id)).toEqual([rows[123]?.id])
})

it('[ST37] searches in a copy of the file as in the file itself', async () => {
  const [path, copy] = [temporaryFile('original.db'), temporaryFile('copy.db')]
  const store = await opened(path)
  const rows = Array.from({ length: 30 }, (_, n) => turn({ content: `word${n} and others` }))
  const put = (row: Turn) => ({ op: 'put', table: 'turn', row, expect: 'any' }) as const
  await store.commit(rows.map(put))
  await store.commit(
    rows
      .filter((_, n) => n % 3 === 0)
      .map(({ id }) => ({ op: 'remove', table: 'turn', scope: ADA, id, expect: 'any' }) as const),
  )
  await store.backup(copy)
  const copied = await opened(copy)
  expect(await copied.checkIntegrity({ repair: false })).toEqual([])
  for (const text of ['word10', 'word29', 'word3', 'others']) {
    const query = { text, limit: 50, where: TURNS }
    expect(await copied.searchText(ADA, query)).toEqual(await store.searchText(ADA, query))
  }
})
