#!/usr/bin/env node
/** The program `recollect`: builds the host of the command line from this process, and runs one command. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommandLine } from '../api/cli/command-runner.ts'
import type { Host, McpStdioOptions } from '../api/cli/host.ts'
import { askSecret, confirm, createInput, createOutput } from '../api/cli/terminal.ts'
import { createCliEnvironment } from './cli-environment.ts'
import { isColorEnabled, processEnvironment, readConfig } from './config/config.ts'
import { systemClock } from './system-clock.ts'

const FORCED_EXIT_CODE = 130

/** The first signal asks the command to stop; the second does not wait for it. */
function stopOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(FORCED_EXIT_CODE)
      stop.abort()
    })
  }
  return stop.signal
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  const { version }: { version: unknown } = JSON.parse(readFileSync(file, 'utf8'))
  return String(version)
}

/** Whoever runs a clone wants that one, not whatever the registry has under the name. */
function findProgram(file: string): readonly [string, ...string[]] | null {
  return file.split(sep).includes('node_modules') ? null : [process.execPath, file]
}

function createHost(): Host {
  const environment = processEnvironment()
  const terminal = { input: process.stdin, output: process.stderr }
  const stop = stopOnSignals()
  const stdin = createInput(process.stdin, stop)
  const stderr = createOutput(process.stderr)
  const now = () => systemClock.now()
  const canAsk = stdin.isTerminal && stderr.isTerminal
  const system = { platform: process.platform, home: homedir() }
  return {
    version: readVersion(),
    stdin,
    stdout: createOutput(process.stdout),
    stderr,
    hasColor: isColorEnabled(environment),
    stopSignal: stop,
    now,
    confirm: (question) => confirm(terminal, question),
    askSecret: (question) => askSecret(terminal, question),
    configure: (flags) =>
      createCliEnvironment({
        config: readConfig(flags, environment, system),
        environment,
        now,
        askPassphrase: canAsk ? () => askSecret(terminal, 'Passphrase: ') : null,
        serveMcp,
      }),
    makeTemporaryFolder: () => mkdtempSync(join(tmpdir(), 'recollect-demo-')),
    runTool,
    program: findProgram(fileURLToPath(import.meta.url)),
    homes: system,
  }
}

async function serveMcp(options: McpStdioOptions): Promise<void> {
  const { serveMcpStdio: serveOverStreams } = await import('./mcp-mount.ts')
  return serveOverStreams(options, { stdin: process.stdin, stdout: process.stdout })
}

const TOOLS = { eval: 'evals', bench: 'bench' } as const

/** In a clone the tools are built when they are needed; the package has neither them nor the script that builds. */
async function runTool(name: keyof typeof TOOLS, argv: readonly string[]): Promise<number | null> {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const builder = join(root, 'scripts', 'ready.mjs')
  if (!existsSync(builder) || !existsSync(join(root, TOOLS[name]))) return null
  const options = { cwd: root, stdio: 'inherit' } as const
  const built = spawnSync(process.execPath, [builder, '--tools'], options)
  if (built.status !== 0) return built.status ?? 1
  const tool = join(root, '.build', TOOLS[name], 'main.js')
  return spawnSync(process.execPath, [tool, ...argv], options).status ?? 1
}

// Files we make hold memories or keys: they are for this user alone.
process.umask(0o077)
process.exitCode = await runCommandLine(process.argv.slice(2), createHost())
