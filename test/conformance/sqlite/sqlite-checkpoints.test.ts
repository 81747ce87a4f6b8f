/** The thread that moves the log into the file. It runs only from what is built, so the built store is tested. */
import { statSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import type { SqliteConnection } from '../../../src/storage/sqlite/connection/sqlite-driver.ts'
import type { Change } from '../../../src/storage/store.ts'
import { ADA, memory } from '../../fakes/memories.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { create } from '../store/store.suite.ts'

type StoreModule = typeof import('../../../src/storage/sqlite/sqlite-store.ts')
const BUILT = '../../../dist/storage/sqlite/sqlite-store.js'

type DriverModule = typeof import('../../../src/storage/sqlite/connection/sqlite-driver.ts')
const BUILT_DRIVER = '../../../dist/storage/sqlite/connection/sqlite-driver.js'
// That of the build: two copies of the SQLite library in one process release each other's locks.
const { openConnection }: DriverModule = await import(BUILT_DRIVER)

/** Enough that there is something to move, so that the thread is there. */
const MEMORIES = 1_000

async function openFilled() {
  const { openSqliteStore }: StoreModule = await import(BUILT)
  const path = temporaryFile('moved.db')
  let own: SqliteConnection | undefined
  const store = await openSqliteStore({
    path,
    now: Date.now,
    openConnection: async (...given) => {
      own = await openConnection(...given)
      return own
    },
  })
  onTestFinished(() => store.close())
  const rows = Array.from({ length: MEMORIES }, (_, n) => memory({ content: `tea of day ${n}` }))
  await store.commit(rows.map(create))
  const removal = (index: number): Change => ({
    ...{ op: 'remove', table: 'memory', scope: ADA, expect: 'any' },
    id: (rows[index] as (typeof rows)[number]).id, // there are as many
  })
  return {
    path,
    remove: (index: number) => store.commit([removal(index)]),
    find: (text: string) => store.searchText(ADA, { text, limit: 3, where: {} }),
    /** Changes when another process has written, or seems to have. */
    version: () => own?.prepare('PRAGMA data_version').all()[0]?.data_version,
    /** How long the connection holds everything up when it meets another one. */
    busyMs: () => Number(Object.values(own?.prepare('PRAGMA busy_timeout').all()[0] ?? {})[0]),
    logBytes: () => statSync(`${path}-wal`).size,
  }
}

/** Somebody who has begun to read and goes on. */
async function openReader(path: string): Promise<SqliteConnection> {
  const reader = await openConnection(path, null)
  onTestFinished(() => reader.close())
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM memory').all()
  return reader
}

it('[ST43] erased rows leave the WAL, which does not count as a change of another process', async () => {
  const { remove, find, version, logBytes } = await openFilled()
  await find('tea')
  const before = version()
  for (let index = 0; index < 3; index++) {
    await remove(index)
    expect(logBytes()).toBe(0)
    await find('tea')
    expect(version()).toBe(before)
  }
})

it('[ST43] a commit succeeds during a read, and the WAL is truncated after it', async () => {
  const { path, remove, logBytes } = await openFilled()
  const reader = await openReader(path)
  const removing = remove(1)
  setTimeout(() => reader.exec('COMMIT'), 300)
  expect(await removing).toEqual({ kind: 'committed' })
  expect(logBytes()).toBe(0)
})

it('[ST43] truncating the WAL blocks no process, also during long reads', async () => {
  const { path, remove, busyMs } = await openFilled()
  await openReader(path)
  const before = busyMs()
  let turns = 0
  const counting = setInterval(() => turns++, 5)
  onTestFinished(() => clearInterval(counting))
  expect(await remove(1)).toEqual({ kind: 'committed' })
  expect(turns).toBeGreaterThan(20) // of the second that the thread waits
  expect(busyMs()).toBe(before)
})
