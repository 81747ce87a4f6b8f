import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { readFileIdentity, statOrNull, writeFileAtomic } from './atomic-file.ts'

it('replaces a file by another one with exactly the given mode, and leaves no temporary file', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'settings.json')
  writeFileSync(path, 'old')
  chmodSync(path, 0o600)
  const before = readFileIdentity(path)
  await writeFileAtomic(path, 'new', { mode: 0o666 })
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(readFileIdentity(path)).not.toBe(before)
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o666)
  expect(readdirSync(folder)).toEqual(['settings.json'])
})

it('leaves nothing behind when it fails', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'taken')
  await writeFileAtomic(join(folder, 'other'), '', { mode: 0o600 })
  await expect(writeFileAtomic(join(path, 'missing'), 'x', { mode: 0o600 })).rejects.toThrow()
  expect(readdirSync(folder)).toEqual(['other'])
})

it('distinguishes a missing file from an unreadable one', async () => {
  const path = join(temporaryFolder(), 'missing')
  expect([await statOrNull(path), readFileIdentity(path)]).toEqual([null, null])
  await expect(statOrNull('\0')).rejects.toThrow()
})
