/** What SQLite leaves in its file: nothing of what was removed, and one schema, however it came about. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { openConnection } from '../../src/adapters/sqlite/driver.ts'
import { MIGRATIONS } from '../../src/adapters/sqlite/migrations.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import type { Change } from '../../src/ports/store.ts'
import { entry, turn } from '../fakes/entries.ts'
import { ADA, memory, revision } from '../fakes/memories.ts'
import { temporaryFile } from '../support/temporary.ts'
import { COMMITTED } from './store.suite.ts'

const MARK = 'Xylophonist'

async function opened(path: string, migrations = MIGRATIONS) {
  const store = await openSqliteStore({ path, now: Date.now, migrations })
  onTestFinished(() => store.close())
  return store
}

function filesHold(path: string, mark: string): boolean {
  return [path, `${path}-wal`].some((file) => existsSync(file) && readFileSync(file).includes(mark))
}

const kept = memory({ content: `${MARK} in a revision` })
const ROWS = {
  memory: memory({ content: `${MARK} in a memory`, key: `${MARK} key` }),
  revision: revision(kept),
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
    expect((await after.report()).schemaVersion).toBe(MIGRATIONS.length)
    expect(await after.get('memory', ADA, row.id)).toEqual(row)
    expect((await after.report()).rows).toMatchObject({ memory: 1, revision: 1, entry: 0, turn: 0 })
    const said = turn()
    await after.commit([{ op: 'put', table: 'turn', row: said, expect: 'absent' }])
    expect(await after.get('turn', ADA, said.id)).toEqual(said)
    expect(await after.inspect({ repair: false })).toEqual([])
    await after.close()

    const fresh = temporaryFile('fresh.db')
    await (await opened(fresh)).close()
    expect(await schemaOf(path)).toEqual(await schemaOf(fresh))
  },
)
