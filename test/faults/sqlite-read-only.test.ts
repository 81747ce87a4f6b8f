/**
 * Files and folders that cannot be written. Permissions do not bind root, so a file system is mounted read-only
 * where that is possible, and permissions are used where we are not root.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteFile } from '../../src/storage/sqlite/connection/database-file.ts'
import { rekeyDatabase } from '../../src/storage/sqlite/encryption/rekey.ts'
import { recoverDatabase } from '../../src/storage/sqlite/recovery/database-recovery.ts'
import { expectSound } from '../support/doctor.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorOf, filledFile, itEncrypts, numbered, randomKey, released } from './sqlite-support.ts'

const change = {
  op: 'put',
  table: 'memory',
  row: numbered(500),
  expect: 'absent',
} as const

type Place = {
  readonly path: string
  /** Makes the folder and all in it read-only. */
  readonly close: () => void
  readonly open: () => void
  /** Makes the file of the database read-only. */
  readonly closeFile: () => void
  readonly openFile: () => void
}

const isRoot = process.getuid?.() === 0
const canProtect = process.platform !== 'win32' && (!isRoot || canMount())
const protects = canProtect ? it : it.skip
const reason = canProtect ? '' : ' (not run: needs permissions that bind, or mount)'

describe('what cannot be written', () => {
  protects(
    `[ST21] reads a read-only file, and refuses writes with the reason${reason}`,
    async () => {
      const place = protectedPlace()
      await filledFile(place.path, 10)
      await released()
      place.closeFile()
      try {
        const store = await openSqliteFile({ path: place.path, now: Date.now })
        expect((await store.getReport()).rows.memory).toBe(10)
        expect(await store.get('memory', numbered(3).place, numbered(3).id)).not.toBeNull()
        const { code } = await errorOf(store.commit([change]))
        expect(code).toBe('read_only')
        expect((await store.getReport()).rows.memory).toBe(10)
        await store.close()
      } finally {
        await released()
        place.openFile()
      }
      const store = await openSqliteFile({ path: place.path, now: Date.now })
      expect(await store.commit([change])).toEqual({ kind: 'committed' })
      await expectSound(store)
      await store.close()
    },
  )

  protects(`[ST21] names what is in the way when it cannot even be opened${reason}`, async () => {
    const place = protectedPlace()
    try {
      await filledFile(place.path, 10)
      await released()
      place.close()
      const error = await errorOf(openSqliteFile({ path: place.path, now: Date.now }))
      expect(error.code).toBe('read_only')
      expect(error.message).toContain(dirname(place.path))
      expect(
        (await errorOf(recoverDatabase({ path: place.path, key: null, now: Date.now }))).code,
      ).toBe('read_only')
      place.open()
      const store = await openSqliteFile({ path: place.path, now: Date.now })
      expect((await store.getReport()).rows.memory).toBe(10)
      await expectSound(store)
      await store.close()
    } finally {
      place.open()
    }
  })

  itEncrypts(`[ST21] does not begin to convert what cannot be written${reason}`, async () => {
    if (!canProtect) return
    const place = protectedPlace()
    try {
      await filledFile(place.path, 10)
      await released()
      place.close()
      const conversion = { path: place.path, from: null, to: randomKey(), now: Date.now }
      expect((await errorOf(rekeyDatabase(conversion))).code).toBe('read_only')
    } finally {
      place.open()
    }
  })

  it('[ST21] says that a folder is missing', async () => {
    const path = join(temporaryFolder(), 'none', 'store.db')
    const error = await errorOf(openSqliteFile({ path, now: Date.now }))
    expect(error.code).toBe('unavailable')
    expect(error.message).toMatch(/folder .* does not exist/)
  })
})

function protectedPlace(): Place {
  const folder = join(temporaryFolder(), 'place')
  mkdirSync(folder)
  const path = join(folder, 'store.db')
  if (!isRoot) {
    return {
      path,
      close: () => chmodSync(folder, 0o500),
      open: () => chmodSync(folder, 0o700),
      closeFile: () => chmodSync(path, 0o400),
      openFile: () => chmodSync(path, 0o600),
    }
  }
  mount('-t', 'tmpfs', 'tmpfs', folder)
  onTestFinished(() => void spawnSync('umount', ['-l', folder]))
  return {
    path,
    close: () => mount('-o', 'remount,ro', folder),
    open: () => mount('-o', 'remount,rw', folder),
    closeFile: () => {
      mount('--bind', path, path)
      mount('-o', 'remount,bind,ro', path)
    },
    openFile: () => spawnSync('umount', ['-l', path]),
  }
}

function mount(...options: readonly string[]): boolean {
  return spawnSync('mount', options).status === 0
}

function canMount(): boolean {
  const folder = join(temporaryFolder(), 'probe')
  mkdirSync(folder)
  if (!mount('-t', 'tmpfs', 'tmpfs', folder)) return false
  spawnSync('umount', [folder])
  return true
}
