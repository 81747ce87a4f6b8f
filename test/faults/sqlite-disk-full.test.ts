/**
 * A full disk, twice: as SQLite's own limit on pages, which fails at any chosen size, and as a real file system of
 * 2 MB, where there is no space for the log beside the database either.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import {
  type OpenConnection,
  openConnection,
} from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { rekeyDatabase } from '../../src/storage/sqlite/encryption/rekey.ts'
import { recoverDatabase } from '../../src/storage/sqlite/recovery/database-recovery.ts'
import type { SqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Change } from '../../src/storage/store.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'
import {
  errorOf,
  everything,
  everythingIn,
  expectSame,
  fill,
  filledFile,
  itEncrypts,
  numbered,
  randomKey,
  released,
} from './sqlite-support.ts'

const large = (number: number): Change => ({
  op: 'put',
  table: 'memory',
  row: numbered(number, { content: `large ${number} ${'z'.repeat(20_000)}` }),
  expect: 'absent',
})

async function expectNothingHalfWritten(store: SqliteStore, isFull: () => void, free: () => void) {
  await fill(store, 20)
  const before = await everything(store)
  isFull()
  const changes = Array.from({ length: 200 }, (_, index) => large(1_000 + index))
  const { code } = await errorOf(store.commit(changes))
  expect(code).toBe('disk_full')
  expectSame(await everything(store), before)
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
  free()
  expect(await store.commit(changes)).toEqual({ kind: 'committed' })
  expect(await store.checkIntegrity({ repair: false })).toEqual([])
  expect((await store.getReport()).rows.memory).toBe(220)
}

describe('a full disk', () => {
  it('[ST20] refuses a commit that finds no room as a whole, and takes it once there is room', async () => {
    const limits: ((pages: number) => void)[] = []
    const open: OpenConnection = async (path, key) => {
      const connection = await openConnection(path, key)
      limits.push((pages) => connection.exec(`PRAGMA max_page_count = ${pages}`))
      return connection
    }
    const path = temporaryFile('limited.db')
    const store = await openSqliteFile({ path, now: Date.now, openConnection: open })
    const limit = (pages: number) => () => {
      for (const set of limits) set(pages)
    }
    await expectNothingHalfWritten(store, limit(100), limit(1_000_000))
    await store.close()
  })

  it('[ST20] survives a file system without space', async ({ skip }) => {
    const folder = smallFileSystem() ?? skip('needs root and mount')
    const store = await openSqliteFile({ path: join(folder, 'store.db'), now: Date.now })
    const filler = join(folder, 'filler')
    const full = () => {
      try {
        writeFileSync(filler, Buffer.alloc(64 << 20))
      } catch {
        /* as much as there was room for */
      }
    }
    const grow = () => {
      rmSync(filler)
      spawnSync('mount', ['-o', 'remount,size=64m', folder])
    }
    await expectNothingHalfWritten(store, full, grow)
    await store.close()
  })

  it('[ST20] leaves a database in place that there is no room to salvage', async ({ skip }) => {
    const folder = smallFileSystem() ?? skip('needs root and mount')
    const path = join(folder, 'store.db')
    await filledFile(path, 1_000)
    const { code } = await errorOf(recoverDatabase({ path, key: null, now: Date.now }))
    expect(code).toBe('disk_full')
    const store = await openSqliteFile({ path, now: Date.now })
    expect((await store.getReport()).rows.memory).toBe(1_000)
    await store.close()
  })

  itEncrypts('[ST20] leaves a database in place that there is no room to convert', async () => {
    const folder = smallFileSystem()
    if (folder === null) return
    const path = join(folder, 'store.db')
    await filledFile(path, 1_300)
    await released()
    const conversion = { path, from: null, to: randomKey(), now: Date.now }
    expect((await errorOf(rekeyDatabase(conversion))).code).toBe('disk_full')
    expect(readdirSync(folder).filter((name) => name.includes('converting'))).toEqual([])
    expect((await everythingIn(path, null)).memory.size).toBe(1_300)
  })
})

function smallFileSystem(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null
  const folder = join(temporaryFolder(), 'small')
  mkdirSync(folder)
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder])
  if (status !== 0) return null
  onTestFinished(() => void spawnSync('umount', ['-l', folder]))
  return folder
}
