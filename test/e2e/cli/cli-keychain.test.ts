/** Keys in the keychain of the system. The tools of the platforms are stand-ins that speak their protocols. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { describeMissingCipher } from '../../../src/storage/sqlite/connection/sqlite-driver.ts'
import { openKeychain } from '../../../src/storage/sqlite/encryption/keychain.ts'
import { temporaryFile, temporaryFolder } from '../../support/temporary-folder.ts'
import { added, createCli } from './cli-host.ts'

const PROGRAMS = { linux: 'secret-tool', darwin: 'security', win32: 'powershell.exe' } as const

/** A folder for PATH in which the tool of the platform stands. */
function placeTool(platform: keyof typeof PROGRAMS) {
  const folder = temporaryFolder()
  const name = PROGRAMS[platform]
  const start = [process.execPath, resolve('test/fakes/keychain.mjs'), folder, name]
  const script = `#!/bin/sh\nexec ${start.map((word) => `'${word}'`).join(' ')} "$@"\n`
  writeFileSync(join(folder, name), script, { mode: 0o755 })
  return {
    folder,
    environment: { PATH: folder },
    lock: () => writeFileSync(join(folder, 'locked'), ''),
    secrets: (): Record<string, string> =>
      existsSync(join(folder, 'secrets.json'))
        ? JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'))
        : {},
  }
}

describe.each(['linux', 'darwin', 'win32'] as const)('the keychain on %s', (platform) => {
  it('[CL26.1] keeps, replaces and removes a secret', async () => {
    const { environment } = placeTool(platform)
    const keychain = openKeychain({ platform, environment })
    expect(await keychain.read('a')).toBe(null)
    await keychain.write('a', 'one')
    await keychain.write('b', 'two')
    await keychain.write('a', 'three')
    expect([await keychain.read('a'), await keychain.read('b')]).toEqual(['three', 'two'])
    await keychain.remove('a')
    await keychain.remove('a')
    expect([await keychain.read('a'), await keychain.read('b')]).toEqual([null, 'two'])
  })

  it('[CL26.4] says what is wrong', async () => {
    const missing = openKeychain({ platform, environment: { PATH: temporaryFolder() } })
    await expect(missing.read('a')).rejects.toMatchObject({
      code: 'missing_part',
      message: expect.stringContaining(PROGRAMS[platform]),
    })
    const tool = placeTool(platform)
    tool.lock()
    const locked = openKeychain({ platform, environment: tool.environment })
    await expect(locked.write('a', 'one')).rejects.toMatchObject({ code: 'unavailable' })
    expect(tool.secrets()).toEqual({})
  })
})

/** SQLite keeps a closed connection to a plain file half alive until its statements are collected. */
async function settle(): Promise<void> {
  setFlagsFromString('--expose_gc')
  runInNewContext('gc')()
  await new Promise((done) => setImmediate(done))
}

const missing = describeMissingCipher()
const isLinux = process.platform === 'linux'
const reason = missing ?? (isLinux ? null : 'it uses the tool of Linux')
describe.skipIf(reason !== null)(`a database (not run: ${reason})`, () => {
  const open = async () => {
    const tool = placeTool('linux')
    const cli = createCli()
    const { id } = await added(cli, 'I like tea')
    await settle()
    const run = (...argv: readonly string[]) => cli(argv, { environment: tool.environment })
    return { cli, tool, id, run }
  }

  it('[CL26.2] Osaurus: the encryption key can be in the keychain of the system', async () => {
    const { cli, tool, id, run } = await open()
    const { out, exit } = await run('encrypt', '--keychain')
    expect([exit, out]).toEqual([0, expect.stringContaining('in the keychain of this user')])
    const [[account = '', key = ''] = []] = Object.entries(tool.secrets())
    expect(account).toMatch(/^recollect-[0-9a-f]{16}$/)
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    for (const name of readdirSync(cli.folder)) {
      expect(readFileSync(join(cli.folder, name), 'latin1')).not.toContain(key)
    }
    expect((await run('get', id)).out).toContain('I like tea')
    expect((await cli(['get', id])).exit).not.toBe(0)
    // A key that is given takes precedence, as for a copy on another machine.
    const file = temporaryFile('copy.key')
    writeFileSync(file, key, { mode: 0o600 })
    expect((await cli(['get', id, '--encryption-key-file', file])).out).toContain('I like tea')
  })

  it('[CL26.2] the data folder can be moved', async () => {
    const { cli, tool, id, run } = await open()
    await run('encrypt', '--keychain')
    const moved = join(temporaryFolder(), 'elsewhere')
    renameSync(cli.folder, moved)
    const there = await createCli(moved)(['get', id], { environment: tool.environment })
    expect(there.out).toContain('I like tea')
  })

  it('[CL26.3] rekey and decrypt leave no key behind that opens nothing', async () => {
    const { cli, tool, id, run } = await open()
    await run('encrypt', '--keychain')
    const [first] = Object.values(tool.secrets())
    expect((await run('rekey', '--keychain')).exit).toBe(0)
    const [second, ...others] = Object.values(tool.secrets())
    expect(others).toEqual([])
    expect(second).not.toBe(first)
    expect((await run('get', id)).out).toContain('I like tea')
    const file = temporaryFile('new.key')
    expect((await run('rekey', '--generate-key-file', file)).exit).toBe(0)
    expect(tool.secrets()).toEqual({})
    expect((await cli(['get', id, '--encryption-key-file', file])).out).toContain('I like tea')
    await run('rekey', '--keychain', '--encryption-key-file', file)
    expect((await run('decrypt')).exit).toBe(0)
    expect(tool.secrets()).toEqual({})
    expect(readdirSync(cli.folder).filter((name) => name.endsWith('.keychain'))).toEqual([])
    expect((await cli(['get', id])).out).toContain('I like tea')
  })

  it('[CL26.4] a keychain that refuses leaves the database as it was', async () => {
    const { cli, tool, id, run } = await open()
    tool.lock()
    const refused = await run('encrypt', '--keychain')
    expect([refused.exit === 0, refused.err]).toEqual([
      false,
      expect.stringContaining('Cannot autolaunch D-Bus'),
    ])
    expect((await cli(['get', id])).out).toContain('I like tea')
    expect((await run('encrypt', '--keychain', '--generate-key-file', '/tmp/x')).exit).toBe(2)
  })

  it('[CL26.4] a key that is gone from the keychain is told from a damaged database', async () => {
    const { cli, tool, id, run } = await open()
    await run('encrypt', '--keychain')
    rmSync(join(tool.folder, 'secrets.json'))
    const { err, exit } = await run('get', id)
    expect([exit, err]).toEqual([7, expect.stringContaining('not in the keychain of this user')])
    expect(existsSync(join(cli.folder, 'recollect.db'))).toBe(true)
  })
})
