/** Encrypting, decrypting and changing keys in place: nothing lost, nothing half done, whatever happens on the way. */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { describe, expect } from 'vitest'
import type { AppError } from '../../src/lib/errors.ts'
import {
  detectFileKind,
  openSqliteFile,
} from '../../src/storage/sqlite/connection/database-file.ts'
import type { DatabaseKey } from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { parseKey, parsePassphrase } from '../../src/storage/sqlite/encryption/encryption-key.ts'
import { toKeyVerifierPath } from '../../src/storage/sqlite/encryption/key-verifier.ts'
import { rekeyDatabase } from '../../src/storage/sqlite/encryption/rekey.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import {
  child,
  ended,
  errorOf,
  everythingIn,
  expectSame,
  expectSearchable,
  failingDriver,
  filledFile,
  itEncrypts,
  MARK,
  randomKey,
  released,
  using,
} from './sqlite-support.ts'

async function convert(path: string, from: DatabaseKey | null, to: DatabaseKey | null) {
  await released()
  return rekeyDatabase({ path, from, to, now: Date.now, busyTimeoutMs: 100 })
}

/** When the garbage is collected is up to V8; see `released`. */
async function convertOnceReleased(path: string, from: DatabaseKey | null, to: DatabaseKey | null) {
  for (let attempt = 1; ; attempt++) {
    const outcome = await convert(path, from, to).catch((error: AppError) => error.code)
    if (outcome !== 'busy' || attempt === 50) return expect(outcome).toHaveProperty('kind')
  }
}

const filesBeside = (path: string) => readdirSync(dirname(path)).sort()

describe('conversion', () => {
  itEncrypts(
    '[ST24] keeps every row and the keyword search through encrypt, rekey and decrypt',
    async () => {
      const path = temporaryFile('store.db')
      const [one, two, phrase] = [
        randomKey(),
        randomKey(),
        parsePassphrase('correct horse battery'),
      ]
      await filledFile(path, 600)
      chmodSync(path, 0o600)
      const before = await everythingIn(path, null)
      const steps = [null, one, two, phrase, null] as const
      for (const [index, to] of steps.slice(1).entries()) {
        const from = steps[index] ?? null
        expect((await convert(path, from, to)).kind).toBe('converted')
        expect(detectFileKind(path)).toBe(to === null ? 'plain' : 'encrypted')
        expect(statSync(path).mode & 0o777).toBe(0o600)
        expect(existsSync(toKeyVerifierPath(path))).toBe(to !== null)
        expectSame(await everythingIn(path, to), before)
        await using(path, to, async (store) => {
          await expectSearchable(store, 377)
          expect(await store.checkIntegrity({ repair: false })).toEqual([])
        })
        expect(readFileSync(path).includes(MARK)).toBe(to === null)
        if (from !== null && to !== null) {
          expect((await errorOf(openSqliteFile({ path, key: from, now: Date.now }))).code).toBe(
            'locked',
          )
        }
        expect((await convert(path, to, to)).kind).toBe('unchanged')
      }
      await released()
      expect(filesBeside(path).filter((name) => name.includes('converting'))).toEqual([])
    },
  )

  itEncrypts(
    '[ST24] refuses while a process has the database open, and disturbs no process',
    async () => {
      const path = temporaryFile('used.db')
      await filledFile(path, 20)
      await using(path, null, async (store) => {
        expect((await errorOf(convert(path, null, randomKey()))).code).toBe('busy')
        expect((await store.getReport()).rows.memory).toBe(20)
      })
      await released()
      const other = child('sqlite-hold.child.ts', { path })
      await new Promise((resolve) => other.stdout?.once('data', resolve))
      // An error keeps the statement that failed, and with it the lock, for as long as it is kept itself.
      const { code, message } = await errorOf(convert(path, null, randomKey()))
      expect(code).toBe('busy')
      expect(message).toMatch(/Stop every process/)
      other.kill('SIGKILL')
      await ended(other)
      expect((await everythingIn(path, null)).memory.size).toBe(20)
      expect((await convert(path, null, randomKey())).kind).toBe('converted')
    },
  )

  itEncrypts('[ST24] requires the right key first', async () => {
    const path = temporaryFile('keyed.db')
    await filledFile(path, 5, randomKey())
    expect((await errorOf(convert(path, randomKey(), null))).code).toBe('locked')
    expect((await errorOf(convert(path, null, null))).code).toBe('locked')
    expect((await errorOf(convert(`${path}-none`, null, null))).code).toBe('not_found')
  })

  itEncrypts('[ST24] follows symbolic links and spares hard links', async () => {
    const path = temporaryFile('real.db')
    await filledFile(path, 5)
    symlinkSync(path, `${path}-link`)
    linkSync(path, `${path}-hard`)
    const plain = readFileSync(path)
    const key = randomKey()
    expect((await convert(`${path}-link`, null, key)).isOldFileErased).toBe(false)
    expect(detectFileKind(path)).toBe('encrypted')
    expect(detectFileKind(`${path}-hard`)).toBe('plain')
    expect(readFileSync(`${path}-hard`).length).toBe(plain.length)
  })

  itEncrypts('[ST24] names the plain backups that are still there', async () => {
    const path = temporaryFile('backed.db')
    await filledFile(path, 5)
    const backup = `${path}.before-schema-2-1`
    writeFileSync(backup, readFileSync(path))
    const key = randomKey()
    const { plainCopies, isOldFileErased: isOldFileWiped } = await convert(path, null, key)
    expect(isOldFileWiped).toBe(true)
    expect((await convert(path, null, key)).kind).toBe('unchanged')
    expect((await errorOf(convert(path, null, randomKey()))).code).toBe('locked')
    expect(plainCopies.map((copy) => basename(copy))).toEqual([basename(backup)])
  })

  itEncrypts(
    '[ST23] leaves a whole database whichever driver call fails',
    async () => {
      const key = randomKey()
      const path = temporaryFile('failing.db')
      await filledFile(path, 8)
      const before = await everythingIn(path, null)
      await released()
      const plain = readFileSync(path)
      let failures = 0
      for (let nth = 1; ; nth++) {
        const copy = temporaryFile('failing.db')
        writeFileSync(copy, plain)
        const driver = failingDriver(nth)
        const options = {
          path: copy,
          from: null,
          to: key,
          now: () => 1,
          openConnection: driver.open,
        }
        const outcome = await rekeyDatabase(options).catch((error: unknown) => error)
        if (!driver.hasFailed()) break
        failures++
        expect(outcome, `call ${nth}`).toBeInstanceOf(Error)
        expect(filesBeside(copy).filter((name) => name.includes('converting'))).toEqual([])
        const kind = detectFileKind(copy)
        expectSame(await everythingIn(copy, kind === 'plain' ? null : key), before)
      }
      expect(failures).toBeGreaterThan(50)
    },
    120_000,
  )

  itEncrypts(
    '[ST23] leaves a whole database wherever it is killed',
    async () => {
      const hex = randomBytes(32).toString('hex')
      const key = parseKey(hex)
      const path = temporaryFile('killed.db')
      await filledFile(path, 40)
      const before = await everythingIn(path, null)
      await released()
      const plain = readFileSync(path)
      const kinds = new Set<string>()
      const calls = await callsOf(plain, hex)
      const points = [1, 8, 30, calls - 30, calls - 4, calls - 2, calls - 1, calls]
      for (const stopAt of points) {
        const copy = temporaryFile('killed.db')
        writeFileSync(copy, plain)
        const process = child('sqlite-convert.child.ts', {
          path: copy,
          from: null,
          to: hex,
          stopAt,
        })
        await new Promise((resolve) => process.stdout?.once('data', resolve))
        process.kill('SIGKILL')
        expect(await ended(process), `stopped at ${stopAt}`).toBe('SIGKILL')
        kinds.add(detectFileKind(copy))
        const isPlain = detectFileKind(copy) === 'plain'
        expectSame(await everythingIn(copy, isPlain ? null : key), before)
        await convertOnceReleased(copy, isPlain ? null : key, key)
        expectSame(await everythingIn(copy, key), before)
        if (isPlain)
          expect(filesBeside(copy).filter((name) => name.includes('converting'))).toEqual([])
      }
      expect([...kinds].sort()).toEqual(['encrypted', 'plain'])
    },
    120_000,
  )

  itEncrypts(
    '[ST24] loses no write of a process that opens the database at the same time',
    async () => {
      const hex = randomBytes(32).toString('hex')
      const path = temporaryFile('raced.db')
      await filledFile(path, 400)
      await released()
      const writers = [1, 2].map((writer) =>
        child('sqlite-write.child.ts', { path, key: hex, writer, rows: 40, pauseMs: 5, opens: 40 }),
      )
      let converted = 0
      for (
        let from: string | null = null, tries = 0;
        tries < 400 && writers.some((one) => one.exitCode === null);
        tries++
      ) {
        const to: string | null = from === null ? hex : null
        const keyOf = (text: string | null) => (text === null ? null : parseKey(text))
        const outcome = await rekeyDatabase({
          path,
          from: keyOf(from),
          to: keyOf(to),
          now: Date.now,
          busyTimeoutMs: 0,
        }).catch((error: unknown) => error)
        if (!(outcome instanceof Error)) {
          converted++
          from = to
        }
        await released()
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      expect(await Promise.all(writers.map(ended))).toEqual([0, 0])
      const rows = await everythingIn(path, parseKey(hex))
      expect(rows.memory.size).toBe(400 + 80)
      expect(converted).toBeGreaterThan(0)
      await using(path, parseKey(hex), async (store) => {
        expect(await store.checkIntegrity({ repair: false })).toEqual([])
      })
    },
    120_000,
  )
})

async function callsOf(plain: Buffer, hex: string): Promise<number> {
  const path = temporaryFile('counted.db')
  writeFileSync(path, plain)
  const process = child('sqlite-convert.child.ts', { path, from: null, to: hex, stopAt: -1 })
  let output = ''
  process.stdout?.on('data', (chunk) => {
    output += chunk
  })
  expect(await ended(process)).toBe(0)
  return Number(output.match(/done (\d+)/)?.[1])
}
