/** Encryption at rest: what is on disk, what a wrong key or damage is called, keys from everywhere. */
import { randomBytes } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/lib/errors.ts'
import {
  detectFileKind,
  openSqliteFile,
} from '../../src/storage/sqlite/connection/database-file.ts'
import {
  describeCipherIncompatibility,
  openConnection,
} from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import {
  generateKeyFile,
  isSameKey,
  loadKeyFile,
  parseKey,
  parsePassphrase,
} from '../../src/storage/sqlite/encryption/encryption-key.ts'
import { toKeyVerifierPath } from '../../src/storage/sqlite/encryption/key-verifier.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'
import {
  errorOf,
  everythingIn,
  expectSame,
  fill,
  filledFile,
  itEncrypts,
  MARK,
  randomKey,
  using,
} from './sqlite-support.ts'

const open = (path: string, key: Parameters<typeof using>[1]) =>
  openSqliteFile({ path, key, now: Date.now })

describe('opening by the first bytes', () => {
  it('[ST24] distinguishes plain, empty, missing and unknown files', async () => {
    const path = temporaryFile('kinds.db')
    expect(detectFileKind(path)).toBe('absent')
    writeFileSync(path, '')
    expect(detectFileKind(path)).toBe('empty')
    await filledFile(path, 3)
    expect(detectFileKind(path)).toBe('plain')
    writeFileSync(path, randomBytes(8_192).fill(7, 16, 24))
    expect(detectFileKind(path)).toBe('unknown')
    expect((await errorOf(open(path, null))).code).toBe('damaged')
    expect((await errorOf(open(path, randomKey()))).code).toBe('damaged')
  })

  it('[ST24] opens a plain database with any key, and reports that none is needed', async () => {
    const path = temporaryFile('plain.db')
    await filledFile(path, 3)
    await using(path, randomKey(), async (store) => {
      const report = await store.getReport()
      expect(report.kind).toBe('sqlite')
      expect(report.facts.key).toMatch(/not needed/)
    })
    expect(detectFileKind(path)).toBe('plain')
  })

  it('[ST24] refuses databases of other programs', async () => {
    const path = temporaryFile('other.db')
    const connection = await openConnection(path, null)
    connection.exec('CREATE TABLE bookmarks (url TEXT)')
    connection.close()
    const bytes = readFileSync(path)
    const error = await errorOf(open(path, null))
    expect(error.code).toBe('invalid_input')
    expect(error.message).toMatch(/another program/)
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  it('[ST24] does not touch the file of a database that this process has open', async () => {
    const path = temporaryFile('twice.db')
    await using(path, null, async (first) => {
      expect(detectFileKind(path)).toBe('plain')
      await using(path, null, (second) => fill(second, 5))
      expect((await first.getReport()).rows.memory).toBe(5)
    })
  })

  it('[ST24] never loads a cipher that would crash the process', () => {
    expect(describeCipherIncompatibility(20, '13.0.3')).toMatch(/Node 22/)
    expect(describeCipherIncompatibility(20, null)).toMatch(/npm install/)
    expect(describeCipherIncompatibility(20, '12.11.1')).toBeNull()
    expect(describeCipherIncompatibility(24, '13.0.3')).toBeNull()
  })
})

describe('encrypted files', () => {
  itEncrypts('[ST24] contain no text of a memory, neither the database nor its WAL', async () => {
    const path = temporaryFile('secret.db')
    const key = randomKey()
    await using(path, key, async (store) => {
      await fill(store, 300)
      await store.backup(`${path}.copy`)
      expect((await store.getReport()).facts.encrypted).toBe(true)
      for (const name of readdirSync(dirname(path))) {
        const bytes = readFileSync(join(dirname(path), name))
        expect(bytes.includes(MARK), name).toBe(false)
        expect(bytes.includes('SQLite format 3'), name).toBe(false)
      }
      expect(readdirSync(dirname(path))).toContain('secret.db-wal')
    })
    expect(detectFileKind(path)).toBe('encrypted')
    expectSame(await everythingIn(`${path}.copy`, key), await everythingIn(path, key))
  })

  itEncrypts('[ST24] are locked without their key', async () => {
    const path = temporaryFile('locked.db')
    await filledFile(path, 5, randomKey())
    const none = await errorOf(open(path, null))
    expect(none.code).toBe('locked')
    expect(none.message).toMatch(/RECOLLECT_ENCRYPTION_KEY_FILE/)
    const wrong = await errorOf(open(path, randomKey()))
    expect(wrong.code).toBe('locked')
    expect(wrong.message).toMatch(/encrypted with another key/)
    rmSync(toKeyVerifierPath(path))
    const unsure = await errorOf(open(path, randomKey()))
    expect(unsure.code).toBe('locked')
    expect(unsure.message).toMatch(/the key is wrong, or .* damaged/)
  })

  itEncrypts('[ST24] that are damaged are called so when the key is right', async () => {
    const path = temporaryFile('broken.db')
    for (const key of [randomKey(), parsePassphrase('correct horse battery')]) {
      rmSync(path, { force: true })
      await filledFile(path, 50, key)
      const bytes = readFileSync(path)
      bytes[1_000] = (bytes[1_000] ?? 0) ^ 0xff
      writeFileSync(path, bytes)
      expect((await errorOf(open(path, key))).code).toBe('damaged')
      expect((await errorOf(open(path, randomKey()))).code).toBe('locked')
    }
  })

  itEncrypts('[ST24] open with a passphrase however it was typed', async () => {
    const path = temporaryFile('phrase.db')
    await filledFile(path, 5, parsePassphrase('fünf grüne Gänse'.normalize('NFD')))
    const rows = await everythingIn(path, parsePassphrase('fünf grüne Gänse'.normalize('NFC')))
    expect(rows.memory.size).toBe(5)
    const wrong = parsePassphrase('fünf rote Gänse')
    expect((await errorOf(open(path, wrong))).code).toBe('locked')
  })
})

describe('keys', () => {
  it('[ST24] come from a file that only its owner can read', () => {
    const path = join(temporaryFolder(), 'key')
    generateKeyFile(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const key = loadKeyFile(path)
    expect(isSameKey(key, parseKey(readFileSync(path, 'utf8')))).toBe(true)
    expect(() => generateKeyFile(path)).toThrow(/never overwritten/)
    chmodSync(path, 0o644)
    expect(() => loadKeyFile(path)).toThrow(/chmod 600/)
    chmodSync(path, 0o440)
    expect(isSameKey(loadKeyFile(path), key)).toBe(true)
    chmodSync(path, 0o600)
    writeFileSync(path, Buffer.from(readFileSync(path, 'utf8').trim(), 'hex'))
    expect(isSameKey(loadKeyFile(path), key)).toBe(true)
    writeFileSync(path, 'too short')
    expect(() => loadKeyFile(path)).toThrow(/64 hex digits/)
    expect(() => loadKeyFile(`${path}-none`)).toThrow(AppError)
  })

  it('[ST24] are refused when they are weak or ambiguous', () => {
    expect(() => parseKey('secret')).toThrow(/64 hex digits/)
    expect(() => parsePassphrase('short')).toThrow(/at least 12/)
    expect(() => parsePassphrase(`raw:${'0'.repeat(64)}`)).toThrow(/must not begin/)
  })

  it('[ST24] never show themselves', () => {
    const hex = randomBytes(32).toString('hex')
    const keys = [parseKey(hex), parsePassphrase('correct horse battery')]
    const shown = [
      ...keys.map((key) => inspect({ key })),
      JSON.stringify(keys),
      ...keys.map(String),
    ]
    expect(shown.join()).not.toContain(hex)
    expect(shown.join()).not.toContain('horse')
    try {
      parseKey(`${hex}0`)
    } catch (error) {
      expect(inspect(error, { depth: 9 })).not.toContain(hex)
    }
  })
})
