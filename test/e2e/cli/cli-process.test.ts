/** The program as it is installed: a few runs of the real process for what only a process can show. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { added, createCli } from './cli-host.ts'

const BUILT = resolve('dist/app/cli-main.js')
/** Below `node_modules`, so that packages are found from there. */
const OWN_BUILD = resolve(`node_modules/.cache/recollect-cli-test-${process.pid}`)
let program = BUILT

beforeAll(() => {
  if (existsSync(BUILT)) return
  const compiler = resolve('node_modules/typescript/bin/tsc')
  mkdirSync(OWN_BUILD, { recursive: true })
  const folder = join(OWN_BUILD, 'dist')
  spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', folder])
  copyFileSync('package.json', join(OWN_BUILD, 'package.json'))
  program = join(folder, 'main', 'cli.js')
})

afterAll(() => rmSync(OWN_BUILD, { recursive: true, force: true }))

const environment = { PATH: process.env.PATH, HOME: temporaryFolder() }

function recollect(argv: readonly string[], input?: string) {
  const options = { env: environment, input: input ?? '', encoding: 'utf8' } as const
  return spawnSync(process.execPath, [program, ...argv], options)
}

function start(argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, [program, ...argv], { env: environment })
}

async function exitOf(child: ChildProcess): Promise<unknown> {
  const [code, signal] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
  return signal ?? code
}

describe('the process', () => {
  it('[CL1] remembers from a pipe in the place of the platform, and leaves only the database', () => {
    expect(recollect(['--version']).stdout).toMatch(/^recollect \d+\.\d+\.\d+/)
    const added = recollect(['add'], 'I like tea 🍵\n')
    expect({ status: added.status, err: added.stderr }).toEqual({ status: 0, err: '' })
    const found = JSON.parse(recollect(['search', 'tea', '--json']).stdout)
    expect(found.results[0].memory.content).toBe('I like tea 🍵')
    const { folder } = JSON.parse(recollect(['status', '--json']).stdout).database
    expect(folder.startsWith(environment.HOME)).toBe(true)
    expect(readdirSync(folder)).toEqual(['recollect.db'])
  })

  it('[CL2] ends with the code of the error', () => {
    const { status, stdout, stderr } = recollect(['get', 'mem_0none'])
    expect({ status, stdout }).toEqual({ status: 4, stdout: '' })
    expect(stderr).toMatch(/^recollect: Memory mem_0none not found\./)
  })

  it('[CL2] ends quietly when its output is closed', async () => {
    const folder = await folderWithMemories(1_000)
    const child = start(['export', '--data', folder])
    let err = ''
    child.stderr?.on('data', (chunk) => {
      err += chunk
    })
    child.stdout?.once('data', () => child.stdout?.destroy())
    expect(await exitOf(child)).toBe(0)
    expect(err).toBe('')
  })

  it('[CL2] Ctrl-C stops an import that waits for input, and the database stays intact', async () => {
    const folder = join(temporaryFolder(), 'data')
    const child = start(['import', '-', '--data', folder])
    // As much as is looked at to see what it is; blank lines are nothing to an export.
    child.stdin?.write(`{"format":"recollect-export","version":1}${'\n'.repeat(70_000)}`)
    while (!existsSync(join(folder, 'recollect.db'))) await new Promise((go) => setTimeout(go, 20))
    child.kill('SIGINT')
    expect(await exitOf(child)).toBe(130)
    expect(recollect(['doctor', '--data', folder]).status).toBe(0)
  })

  it('[CL1] serves until it gets a signal', async () => {
    const folder = join(temporaryFolder(), 'data')
    const child = start(['serve', '--port', '0', '--json', '--data', folder])
    const [line] = await once(child.stdout ?? child, 'data')
    const { url, managementKey } = JSON.parse(String(line))
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
    const asked = recollect(['status', '--url', url, '--key', managementKey])
    expect(asked.stdout).toMatch(/as +superadmin of default/)
    child.kill('SIGTERM')
    expect(await exitOf(child)).toBe(0)
    expect(readdirSync(folder)).toEqual(['recollect.db'])
  })
})

/** One memory under many ids, taken in as an export. */
async function folderWithMemories(count: number): Promise<string> {
  const cli = createCli()
  const { id } = await added(cli, 'x'.repeat(500))
  const [header, row = ''] = (await cli(['export'])).out.split('\n')
  const rows = Array.from({ length: count }, (_, index) => row.replace(id, `${id}_${index}`))
  await cli(['import', '-'], { stdin: [header, ...rows].join('\n') })
  return cli.folder
}
