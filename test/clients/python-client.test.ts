/** The Python client against a real server: its own unittest suite, run by the Python of this machine. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import { startGateway } from '../api/gateway/support/gateway-host.ts'
import { isThorough } from '../support/thoroughness.ts'

const FOLDER = resolve('clients/python')
/** Kept between runs, because installing the SDKs takes longer than the tests. */
const VENV = resolve('.cache/python-client')
const SDKS = ['openai', 'anthropic', 'langgraph', 'langchain-core']

const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(command, args, { cwd: FOLDER, env: { ...process.env, ...env }, encoding: 'utf8' })

const version = run('python3', [
  '-c',
  'import sys; print(int(sys.version_info >= (3, 9)))',
]).stdout?.trim()
const missing = version === '1' ? null : 'there is no Python 3.9 or newer'

/** A Python with the SDKs where they can be installed; the plain one otherwise, which skips their tests. */
function findPython(): string {
  const python = join(VENV, 'bin', 'python')
  if (!isThorough) return existsSync(python) ? python : 'python3'
  if (!existsSync(python) && run('python3', ['-m', 'venv', VENV]).status !== 0) return 'python3'
  run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...SDKS])
  return python
}

it.skipIf(missing !== null)(
  `[KL8] the Python client passes its tests (skipped when ${missing ?? 'nothing is missing'})`,
  async () => {
    const { url, key, engine } = await startGateway({
      upstreamUrl: 'http://127.0.0.1:1',
      // A slow machine must not answer without memory.
      settings: { 'gateway.enabled': true, 'gateway.contextTimeoutMs': 30_000 },
    })
    const { secret } = await engine.admin.keys.create({
      name: 'python',
      defaultOwner: 'python' as OwnerId,
      role: 'superadmin',
    })
    expect(key).not.toBe('')
    const child = spawn(findPython(), ['-m', 'unittest', 'discover', '-s', 'tests'], {
      cwd: FOLDER,
      env: { ...process.env, PYTHONPATH: 'src', RECOLLECT_URL: url, RECOLLECT_API_KEY: secret },
    })
    let output = ''
    child.stderr.on('data', (data) => {
      output += data
    })
    const code = await new Promise((done) => child.once('exit', done))
    expect(output).toMatch(/\nOK/)
    expect(output).toMatch(/Ran (1[5-9]|[2-9]\d) tests/)
    expect(code).toBe(0)
  },
)
