/** Databases of other versions: newer ones, altered ones, and updates that fail half-way. */
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import { openConnection } from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { MIGRATIONS } from '../../src/storage/sqlite/schema/migrations.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import {
  errorOf,
  everythingIn,
  expectSame,
  failingDriver,
  filledFile,
  using,
} from './sqlite-support.ts'

const NEXT = [...MIGRATIONS, { name: 'a later step', sql: 'CREATE TABLE later (a TEXT) STRICT' }]
const backups = (path: string) =>
  readdirSync(dirname(path))
    .filter((name) => name.includes('.before-schema-') && !/-(?:wal|shm)$/.test(name))
    .map((name) => join(dirname(path), name))
const open = (path: string, migrations = NEXT, openWith = openConnection) =>
  openSqliteFile({ path, now: Date.now, migrations, openConnection: openWith })

describe('databases of other versions', () => {
  it('[ST19] refuses a newer one and names both versions', async () => {
    const path = temporaryFile('newer.db')
    await (await open(path)).close()
    const error = await errorOf(open(path, [...MIGRATIONS]))
    expect(error.code).toBe('schema_mismatch')
    expect(error.message).toContain(`schema version ${NEXT.length}`)
    expect(error.message).toContain(`only ${MIGRATIONS.length}`)
    expect(error.facts).toMatchObject({ database: NEXT.length, supported: MIGRATIONS.length })
    await (await open(path)).close()
  })

  it('[ST19] refuses one whose steps were other ones', async () => {
    const path = temporaryFile('altered.db')
    await filledFile(path, 3)
    const altered = MIGRATIONS.map((step) => ({ ...step, sql: `${step.sql} -- ` }))
    expect((await errorOf(open(path, altered))).code).toBe('schema_mismatch')
    expect((await everythingIn(path, null)).memory.size).toBe(3)
  })

  it('[ST19] makes a backup before the first step', async () => {
    const path = temporaryFile('updated.db')
    await filledFile(path, 30)
    const before = await everythingIn(path, null)
    const store = await open(path)
    expect((await store.getReport()).schemaVersion).toBe(NEXT.length)
    await store.close()
    const [backup, ...others] = backups(path)
    expect(others).toEqual([])
    expectSame(await everythingIn(String(backup), null), before)
  })

  it('[ST19] leaves the old version and a backup when a step fails', async () => {
    const path = temporaryFile('failed.db')
    await filledFile(path, 30)
    const before = await everythingIn(path, null)
    const broken = [
      ...NEXT.slice(0, -1),
      { name: 'broken', sql: 'CREATE TABLE half (a TEXT) STRICT; INSERT INTO nowhere VALUES (1);' },
    ]
    await expect(open(path, broken)).rejects.toThrow(/nowhere/)
    expectSame(await everythingIn(path, null), before)
    expect(backups(path)).toHaveLength(1)
    await using(path, null, async (store) => {
      expect((await store.getReport()).schemaVersion).toBe(MIGRATIONS.length)
    })
  })

  it('[ST23] ends up old or new whichever driver call of an update fails', async () => {
    for (let nth = 1; ; nth++) {
      const path = temporaryFile('update.db')
      await filledFile(path, 3)
      const driver = failingDriver(nth)
      const opened = await open(path, NEXT, driver.open).catch(() => null)
      await opened?.close()
      if (!driver.hasFailed()) break
      const store = await open(path)
      expect((await store.getReport()).schemaVersion).toBe(NEXT.length)
      expect((await store.getReport()).rows.memory).toBe(3)
      expect(await store.checkIntegrity({ repair: false })).toEqual([])
      await store.close()
    }
  })

  it('[ST23] can be created again whichever driver call of its creation failed', async () => {
    for (let nth = 1; ; nth++) {
      const path = temporaryFile('created.db')
      const driver = failingDriver(nth)
      const opened = await open(path, [...MIGRATIONS], driver.open).catch(() => null)
      await opened?.close()
      if (!driver.hasFailed()) break
      await filledFile(path, 2)
      expect((await everythingIn(path, null)).memory.size).toBe(2)
    }
  })
})
