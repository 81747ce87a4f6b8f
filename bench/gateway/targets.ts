/** What is measured side by side: the upstream itself, Recollect without and with memory, and a peer. */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPackageFolder } from '../../src/lib/package-folder.ts'
import { EMBEDDING, fillFolder } from './gateway-data.ts'
import {
  answering,
  firstLine,
  freePort,
  processorMs,
  residentMb,
  startProgram,
  stopProcess,
} from './processes.ts'

export const PEER = '@portkey-ai/gateway'
export const DIRECT = 'direct'
export const CHAT = '/chat/completions'

export type Target = {
  readonly name: string
  /** Ends in `/v1`. */
  readonly baseUrl: string
  readonly model: string
  readonly headers: { readonly [name: string]: string }
  /** What its process holds; null where there is none of its own. */
  residentMb(): number | null
  /** The processor time that its process has used; null where it is unknown. */
  processorMs(): number | null
  stop(): Promise<void>
}

export function direct(baseUrl: string): Target {
  return {
    name: DIRECT,
    baseUrl,
    model: 'gpt-test',
    headers: { authorization: 'Bearer sk-test' },
    residentMb: () => null,
    processorMs: () => null,
    stop: async () => {},
  }
}

export async function startRecollect(
  name: string,
  options: {
    readonly folder: string
    readonly baseUrl: string
    readonly memories: number
    readonly turns: number
    readonly hasMemory: boolean
  },
): Promise<Target> {
  mkdirSync(options.folder, { recursive: true })
  const secret = await fillFolder(options)
  const program = join(findPackageFolder(), 'dist', 'app', 'cli-main.js')
  const log = join(options.folder, 'server.log')
  const child = startProgram(
    [program, 'serve', '--json', '--port', '0', '--data', options.folder],
    { RECOLLECT_EMBEDDING_SOURCE: EMBEDDING, RECOLLECT_REQUESTS_PER_MINUTE: '0' },
    ['ignore', 'pipe', openSync(log, 'w')],
  )
  const { url } = JSON.parse(await firstLine(child, name, log)) as { url: string } // what `serve --json` prints
  return target(child, {
    name,
    baseUrl: `${url}/v1`,
    model: 'openai/gpt-test',
    headers: { authorization: `Bearer ${secret}` },
  })
}

export async function startPortkey(baseUrl: string): Promise<Target> {
  const port = await freePort()
  const program = join(peerFolder(), 'node_modules', PEER, 'build', 'start-server.js')
  const child = startProgram([program, '--headless', `--port=${port}`], {}, 'ignore')
  await answering(`http://127.0.0.1:${port}/`, child, PEER)
  return target(child, {
    name: `Portkey ${installedVersion()}`,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    model: 'gpt-test',
    headers: {
      authorization: 'Bearer sk-test',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': baseUrl,
    },
  })
}

function target(
  child: ChildProcess,
  what: Omit<Target, 'residentMb' | 'processorMs' | 'stop'>,
): Target {
  return {
    ...what,
    residentMb: () => residentMb(child),
    processorMs: () => processorMs(child),
    stop: () => stopProcess(child),
  }
}

function peerFolder(): string {
  return join(findPackageFolder(), 'bench', 'peers', 'gateway')
}

/** Installs the peer, which is no dependency. What stands in the way, as a sentence; null when nothing does. */
export function installPortkey(progress: (what: string) => void): string | null {
  if (installedVersion() === wantedVersion()) return null
  progress(`installing ${PEER} with npm, once`)
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const { status, stderr } = spawnSync('npm', args, {
    cwd: peerFolder(),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status === 0 && installedVersion() === wantedVersion()) return null
  return `npm could not install it: ${complaint(stderr ?? '') ?? 'there is no npm'}`
}

/** What npm says is wrong; its first line is a bare code and its last one only where the log is. */
function complaint(stderr: string): string | undefined {
  const lines = stderr.split('\n').map((line) => line.replace(/^npm (error|ERR!)/, '').trim())
  return lines.find((line) => line !== '' && !/^code /.test(line))
}

function wantedVersion(): string {
  return readJson(join(peerFolder(), 'package.json')).dependencies[PEER]
}

function installedVersion(): string | null {
  try {
    return readJson(join(peerFolder(), 'node_modules', PEER, 'package.json')).version
  } catch {
    return null
  }
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
