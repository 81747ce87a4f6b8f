/** Encrypting from the command line. The cipher package needs a newer Node than some; see `test/lts/run.mjs`. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { describeMissingCipher } from '../../../src/storage/sqlite/connection/sqlite-driver.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { added, type Cli, createCli } from './cli-host.ts'

const missing = describeMissingCipher()

/** SQLite keeps a closed connection to a plain file half alive until its statements are collected. */
async function settle(): Promise<void> {
  setFlagsFromString('--expose_gc')
  runInNewContext('gc')()
  await new Promise((resolve) => setImmediate(resolve))
}

describe.skipIf(missing === null)('without the cipher package (not run: it is installed)', () => {
  it('[CL2] encrypt reports what is missing, and leaves neither a change nor a key', async () => {
    const cli = createCli()
    const { id } = await added(cli, 'I like tea')
    const keyFile = temporaryFile('key')
    const { exit, err } = await cli(['encrypt', '--generate-key-file', keyFile])
    expect(exit).toBe(14)
    expect(err).toContain('better-sqlite3-multiple-ciphers')
    expect(existsSync(keyFile)).toBe(false)
    expect((await cli(['get', id])).exit).toBe(0)
  })
})

describe.skipIf(missing !== null)(`encryption (not run: ${missing})`, () => {
  it('[CL1] encrypt, rekey and decrypt keep the memories and change who can read them', async () => {
    const cli = createCli()
    const { id } = await added(cli, 'I like tea')
    const [first, second] = [temporaryFile('first.key'), temporaryFile('second.key')]
    await settle()
    const { out } = await cli(['encrypt', '--generate-key-file', first])
    expect(out).toMatch(/^Encrypted .*\nKeep a copy of .*first\.key in a safe place/)
    expect(statSync(first).mode & 0o777).toBe(0o600)
    expect(fileOf(cli)).not.toContain('I like tea')
    expect(await cli(['get', id])).toMatchObject({ exit: 7, out: '' })
    expect((await cli(['get', id, '--encryption-key-file', first])).out).toContain('I like tea')
    const environment = { RECOLLECT_ENCRYPTION_KEY_FILE: first }
    expect((await cli(['status'], { environment })).out).toMatch(
      /encrypted +yes\n +key +RECOLLECT_ENCRYPTION_KEY_FILE/,
    )
    const copy = temporaryFile('recollect.db')
    expect((await cli(['backup', copy], { environment })).out).toContain('with the same key')
    expect((await cli(['rekey', '--generate-key-file', second], { environment })).exit).toBe(0)
    expect(await cli(['get', id], { environment })).toMatchObject({ exit: 7, out: '' })
    expect((await cli(['get', id, '--encryption-key-file', second], { environment })).exit).toBe(0)
    expect(
      (await cli(['get', id, '--encryption-key-file', first, '--data', join(copy, '..')])).exit,
    ).toBe(0)
    expect((await cli(['decrypt', '--encryption-key-file', second])).out).toMatch(/^Decrypted /)
    expect((await cli(['get', id])).out).toContain('I like tea')
  })

  it('[CL1] encrypt asks twice for a passphrase, which then opens the database', async () => {
    const cli = createCli()
    const { id } = await added(cli, 'I like tea')
    const passphrase = 'correct horse battery'
    await settle()
    const ran = await cli(['encrypt'], { columns: 80, answers: [passphrase, passphrase] })
    expect(ran).toMatchObject({ exit: 0, asked: ['New passphrase: ', 'Repeat the passphrase: '] })
    expect(ran.out).toContain('Keep the passphrase in a safe place.')
    expect(ran.out + ran.err).not.toContain(passphrase)
    const environment = { RECOLLECT_ENCRYPTION_PASSPHRASE: passphrase }
    expect((await cli(['get', id], { environment })).exit).toBe(0)
    expect(await cli(['encrypt'], { environment })).toMatchObject({ exit: 5 })
    expect((await cli(['doctor'], { environment })).out).toBe('No problems found.\n')
  })

  it('[CL1] a new database is encrypted at once when a key is given', async () => {
    const cli = createCli()
    const environment = { RECOLLECT_ENCRYPTION_KEY: 'ab'.repeat(32) }
    const { json } = await cli(['add', 'I like tea', '--json'], { environment })
    expect(fileOf(cli)).not.toContain('SQLite format 3')
    expect(await cli(['get', json.memory.id])).toMatchObject({ exit: 7 })
  })
})

function fileOf(cli: Cli): string {
  return readFileSync(join(cli.folder, 'recollect.db'), 'latin1')
}
